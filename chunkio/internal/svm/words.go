package svm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// wordReader splits a text into lines of words. It uses one buffer, for lines of any length.
type wordReader struct {
	from  io.Reader
	buf   []byte // bytes read; the unread words begin at buf[at]
	at    int
	atEnd bool // the text ends at the end of buf
	line  int64
}

func (w *wordReader) readMore() error {
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

// nextWord returns the next word of the line, which is valid until the next call. It returns nil at the end of the line
// or at a #, which begins a comment.
func (w *wordReader) nextWord() ([]byte, error) {
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
		for n < len(rest) && n <= maxWord && !isSpace(rest[n]) && rest[n] != '\n' && rest[n] != '#' {
			n++
		}
		switch {
		case n > maxWord:
			return nil, fmt.Errorf("%q… is no label and no index:value", rest[:20])
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

// nextLine moves to the next line. It returns false if the text ends.
func (w *wordReader) nextLine() (bool, error) {
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
