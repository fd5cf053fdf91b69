// Package screen writes text for people to a terminal. Names of columns, files and classes may contain any characters:
// for example a line break that forges a line, an escape that moves the cursor, or a mark that reverses the direction
// of the following text. [EscapeText] shows such characters in the notation of Go strings, such as \n, \x1b and \u202e,
// and removes possible secrets from URLs. A [Page] escapes every argument in this way, so that callers need not:
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

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// EscapeText returns s as one line that is safe to show on a terminal, without possible secrets (see [Redact]).
// Backslashes are not escaped, because they are common in Windows paths. So the result is for people: a program cannot
// always recover s from it.
func EscapeText(s string) string { return escapeText(s, false) }

// EscapeLines escapes as [EscapeText] does, but keeps line breaks.
func EscapeLines(s string) string { return escapeText(s, true) }

// QuoteName returns the name of a column for a list of names. It puts a name in quotes if the name is empty or begins
// or ends with a space, because this would otherwise not be visible.
func QuoteName(s string) string {
	if s == "" || strings.TrimSpace(s) != s {
		return `"` + s + `"`
	}
	return s
}

// QuoteNames applies [QuoteName] to each name of a list.
func QuoteNames(list []string) []string {
	return convert.Each(list, QuoteName)
}

func escapeText(s string, keepLineBreaks bool) string {
	s = Redact(s)
	if needsNoEscape(s, keepLineBreaks) {
		return s
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if part := rest[:n]; n == 1 && r == utf8.RuneError {
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0])|1<<8, 16)[1:])
		} else if isVisible(r, keepLineBreaks) {
			b.WriteString(part)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		rest = rest[n:]
	}
	return b.String()
}

func needsNoEscape(s string, lineBreaks bool) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !isVisible(r, lineBreaks) })
}

// isVisible reports whether a character is shown unescaped. Letters, marks, digits, signs and spaces of every script
// are shown. Control characters and invisible characters are escaped, such as marks of direction, joiners, byte order
// marks and unassigned characters.
func isVisible(r rune, lineBreaks bool) bool {
	return r >= ' ' && r < 0x7f || lineBreaks && r == '\n' || r > 0x7f && (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r))
}
