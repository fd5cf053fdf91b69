// Package screen writes text for people to a terminal. Names of columns, files and classes may contain any characters:
// a line break that forges a line, an escape that moves the cursor, a mark that reverses the direction of the following
// text. [EscapeText] shows such characters as in a Go string, \n, \x1b, \u202e, and removes possible secrets from URLs.
// A [Page] applies it to every argument, so that callers need not:
//
//	p := screen.NewPage(os.Stdout)
//	p.Printf("%s: %d rows\n", name, rows)
//	p.Table([]string{"column", ">mean"}, cells)
//	return p.Err()
package screen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeText returns s as one line that is safe to show on a terminal, without possible secrets (see [Redact]). A
// backslash is not escaped, because of Windows paths. The text is for reading, and cannot always be converted back.
func EscapeText(s string) string { return escapeText(s, false) }

// EscapeLines escapes as [EscapeText] does, but keeps line breaks.
func EscapeLines(s string) string { return escapeText(s, true) }

// QuoteName returns the name of a column for a list of names. A name that is empty, or begins or ends with a space, is
// put in quotes, because these would otherwise not be visible.
func QuoteName(s string) string {
	if s == "" || strings.TrimSpace(s) != s {
		return `"` + s + `"`
	}
	return s
}

// QuoteNames applies [QuoteName] to each name of a list.
func QuoteNames(list []string) []string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = QuoteName(s)
	}
	return shown
}

func escapeText(s string, lines bool) string {
	s = Redact(s)
	if isPlain(s, lines) {
		return s
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if part := rest[:n]; n == 1 && r == utf8.RuneError {
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0])|1<<8, 16)[1:])
		} else if isVisible(r, lines) {
			b.WriteString(part)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		rest = rest[n:]
	}
	return b.String()
}

func isPlain(s string, lines bool) bool {
	for _, r := range s {
		if r == utf8.RuneError || !isVisible(r, lines) {
			return false
		}
	}
	return true
}

// isVisible reports whether a character is shown unescaped. Letters, marks, digits, signs and spaces of every script
// are shown. Control and invisible characters are escaped: marks of direction, joiners, byte order marks, unassigned.
func isVisible(r rune, lines bool) bool {
	return r >= ' ' && r < 0x7f || lines && r == '\n' || r > 0x7f && (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r))
}
