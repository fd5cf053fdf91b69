// Package shell writes commands that people copy to a shell.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote writes words as a shell takes them. One that could mean something else, as the & of a
// URL's query, is quoted; what cannot be seen, as a line break, is spelled out.
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

// IsPlain reports whether every shell takes the word for itself without quotes: bash, zsh, fish and PowerShell. Letters
// of all scripts are, of those that are seen; no other character outside of ASCII is, as PowerShell takes curly quotes
// and long dashes for straight and short ones. What begins like an option, a home folder or a variable is not plain.
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

// isHidden is true of what a terminal obeys or does not show: it would be no part of what is copied.
func isHidden(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// escapeHidden is w in the quotes $'…' of POSIX 2024, bash, zsh, ksh and busybox, byte by byte where it is not
// printable.
func escapeHidden(w string) string {
	var b strings.Builder
	b.WriteString("$'")
	for rest := w; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch part := rest[:n]; {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + part)
		case r == utf8.RuneError && n == 1, isHidden(r):
			for i := range n { // three digits: what follows is no fourth one
				fmt.Fprintf(&b, `\%03o`, part[i])
			}
		default:
			b.WriteString(part)
		}
		rest = rest[n:]
	}
	return b.String() + "'"
}
