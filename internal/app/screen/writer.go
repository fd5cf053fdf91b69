package screen

import (
	"io"
	"slices"
	"unicode/utf8"
)

// Writer escapes output that is meant for programs, such as CSV, as [EscapeLines] does, so that it is safe on a
// terminal.
type Writer struct {
	w    io.Writer
	part []byte // beginning of a character whose other bytes have not been written yet
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	text := slices.Concat(w.part, p)
	whole := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if begin := len(text) - n; utf8.RuneStart(text[begin]) {
			if !utf8.FullRune(text[begin:]) {
				whole = begin
			}
			break
		}
	}
	w.part = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(w.w, EscapeLines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
