// Package screen writes what people read on a terminal. Names of columns, files and classes may
// hold anything: a line break that forges a line, an escape that moves the cursor, a mark that turns
// the direction of what follows. [Text] shows such characters as Go writes them in a string, \n, \x1b,
// \u202e, and takes out what may be secret in a URL. A [Page] does so with every value that is put into it,
// so that whoever prints need not think of it:
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

// Text is s as one line of a terminal may show it, by [Redact] without what may be secret. A backslash stays as it is, so that paths of
// Windows do: the text is for reading, and cannot always be turned back.
func Text(s string) string { return shown(s, false) }

// Lines is [Text] but for line breaks, which stay.
func Lines(s string) string { return shown(s, true) }

// Name is the name of a column among others: in quotes where it is empty, or begins or ends with space, and
// so would not be seen.
func Name(s string) string {
	if s == "" || strings.TrimSpace(s) != s {
		return `"` + s + `"`
	}
	return s
}

// Names is [Name] for each of a list.
func Names(list []string) []string {
	shown := make([]string, len(list))
	for i, s := range list {
		shown[i] = Name(s)
	}
	return shown
}

func shown(s string, lines bool) string {
	s = Redact(s)
	if isPlain(s, lines) {
		return s
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if part := rest[:n]; n == 1 && r == utf8.RuneError {
			b.WriteString(`\x` + strconv.FormatUint(uint64(rest[0])|1<<8, 16)[1:])
		} else if isShown(r, lines) {
			b.WriteString(part)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		rest = rest[n:]
	}
	return b.String()
}

// isPlain reports whether all of s is shown as it is; nearly all there is to show is.
func isPlain(s string, lines bool) bool {
	for _, r := range s {
		if r == utf8.RuneError || !isShown(r, lines) {
			return false
		}
	}
	return true
}

// isShown reports whether a character stands for itself: letters, marks, digits, signs and spaces of
// every script do. Controls do not, nor what is invisible: marks of direction, joiners, the byte order
// mark, characters that nobody has assigned.
func isShown(r rune, lines bool) bool {
	return r >= ' ' && r < 0x7f || lines && r == '\n' || r > 0x7f && (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r))
}
