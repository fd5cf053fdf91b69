package svm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// WordReader splits a text into lines of words. It uses one buffer of pieceBytes, for lines of any length.
type WordReader struct {
	from    io.Reader
	buf     []byte // bytes read; the unread words begin at buf[at]
	at      int
	atEnd   bool // the text ends at the end of buf
	line    int64
	comment byte // the character that begins a comment, up to the end of the line
}

// NewWordReader returns a WordReader of a text without comments.
func NewWordReader(from io.Reader) *WordReader {
	return &WordReader{from: from, buf: make([]byte, 0, pieceBytes), line: 1, comment: '\n'}
}

// SkipComments skips comments from now on. They begin with the character and end with the line.
func (w *WordReader) SkipComments(begin byte) { w.comment = begin }

// Line returns the number of the current line, from 1.
func (w *WordReader) Line() int64 { return w.line }

func (w *WordReader) readMore() error {
	n := copy(w.buf[:cap(w.buf)], w.buf[w.at:])
	w.buf, w.at = w.buf[:n], 0
	for tries := 0; tries < 100; tries++ {
		read, err := w.from.Read(w.buf[n:cap(w.buf)])
		w.buf = w.buf[:n+read]
		switch {
		case errors.Is(err, io.EOF):
			w.atEnd = true
			return nil
		case err != nil:
			return err
		case read > 0:
			return nil
		}
	}
	return io.ErrNoProgress
}

// NextWord returns the next word of the line, which is valid until the next call. It returns nil at the end of the line
// or at the beginning of a comment.
func (w *WordReader) NextWord() ([]byte, error) {
	for {
		for w.at < len(w.buf) && isSpace(w.buf[w.at]) {
			w.at++
		}
		if w.at < len(w.buf) {
			break
		}
		if w.atEnd {
			return nil, nil
		}
		if err := w.readMore(); err != nil {
			return nil, err
		}
	}
	for n := 0; ; {
		rest := w.buf[w.at:]
		for n < len(rest) && n <= maxWord && !isSpace(rest[n]) && rest[n] != '\n' && rest[n] != w.comment {
			n++
		}
		switch {
		case n > maxWord:
			return nil, fmt.Errorf("%q… is longer than %d bytes, no number", rest[:20], maxWord)
		case n < len(rest) || w.atEnd:
			if w.at += n; n == 0 {
				return nil, nil
			}
			return rest[:n:n], nil
		}
		if err := w.readMore(); err != nil {
			return nil, err
		}
	}
}

// NextLine moves to the next line. It returns false if the text ends.
func (w *WordReader) NextLine() (bool, error) {
	for {
		if i := bytes.IndexByte(w.buf[w.at:], '\n'); i >= 0 {
			w.at += i + 1
			w.line++
			return true, nil
		}
		if w.at = len(w.buf); w.atEnd {
			return false, nil
		}
		if err := w.readMore(); err != nil {
			return false, err
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
