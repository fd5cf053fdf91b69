package screen

import (
	"io"
	"slices"
	"unicode/utf8"
)

// Writer shows on a terminal what is not made for one, such as CSV: all but line breaks as [Text] does.
type Writer struct {
	w    io.Writer
	part []byte // of a character whose other bytes are still to come
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
	if _, err := io.WriteString(w.w, Lines(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
