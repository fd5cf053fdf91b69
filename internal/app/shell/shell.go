// Package shell writes commands that people copy to a shell.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote writes words as a command for a POSIX shell. It quotes words with special characters, such as the & of a URL's
// query, and escapes invisible characters, such as a line break.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case !utf8.ValidString(w) || strings.ContainsFunc(w, isHidden):
			w = escapeHidden(w)
		case w == "" || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?[]{}~#!`"):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

// IsPlain reports whether bash, zsh, fish and PowerShell all use the word unchanged without quotes. Visible letters of
// all scripts are plain. Other characters outside ASCII are not, because PowerShell treats curly quotes and long dashes
// like quotes and dashes of ASCII. The first character must be a letter, a digit or _, because words that begin with -,
// ~ or $ may mean options, home folders or variables.
func IsPlain(word string) bool {
	for i, r := range word {
		switch {
		case r == '_', unicode.IsDigit(r):
		case r == utf8.RuneError, unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return false
		case unicode.IsLetter(r):
		case i > 0 && (unicode.IsMark(r) || strings.ContainsRune(".:/@%+,=-", r)):
		default:
			return false
		}
	}
	return word != ""
}

// isHidden reports whether a terminal obeys or ignores a character instead of showing it. Copied text lacks such
// characters.
func isHidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// escapeHidden writes w in quotes $'…' (POSIX 2024, bash, zsh, ksh, busybox), with hidden characters as octal bytes.
func escapeHidden(w string) string {
	var b strings.Builder
	b.WriteString("$'")
	for rest := w; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch part := rest[:n]; {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + part)
		case r == utf8.RuneError && n == 1, isHidden(r):
			for i := range n { // always three digits, so that a following digit is not read as part of the number
				fmt.Fprintf(&b, `\%03o`, part[i])
			}
		default:
			b.WriteString(part)
		}
		rest = rest[n:]
	}
	return b.String() + "'"
}
