// Package wordstest checks the properties that all binary forms written with package words must have.
package wordstest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/ufs-stream/ufs-stream/internal/disk/words"
)

// State is a state with a binary form.
type State interface {
	io.WriterTo
	io.ReaderFrom
}

// EncodeState returns the bytes that w writes.
func EncodeState(tb testing.TB, w io.WriterTo) []byte {
	tb.Helper()
	var b bytes.Buffer
	if n, err := w.WriteTo(&b); err != nil || n != int64(b.Len()) {
		tb.Fatalf("%d bytes of %d, err = %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// CheckReread passes b, followed by other bytes, to ReadFrom of the state empty. It checks that this reads only b, and
// that WriteTo then writes b again.
func CheckReread(tb testing.TB, b []byte, empty State) {
	tb.Helper()
	more := append(bytes.Clone(b), 1, 2, 3)
	if n, err := empty.ReadFrom(iotest.OneByteReader(bytes.NewReader(more))); err != nil || n != int64(len(b)) {
		tb.Fatalf("read %d of %d, err = %v", n, len(b), err)
	}
	if !bytes.Equal(b, EncodeState(tb, empty)) {
		tb.Error("other bytes after a round trip")
	}
}

// CheckState writes the state full and reads it into states that the function empty makes. The same bytes must come
// back. Bytes that are cut short, of the next version, or from a broken reader must be refused and change nothing. An
// error of the writer must be reported.
func CheckState(t *testing.T, full State, empty func() State) {
	b := EncodeState(t, full)
	CheckReread(t, b, empty())
	for cut := 0; cut < len(b); cut += max(1, len(b)/300) {
		got := empty()
		if _, err := got.ReadFrom(bytes.NewReader(b[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: err = %v", cut, err)
		}
		if !reflect.DeepEqual(empty(), got) {
			t.Fatalf("cut at %d: state changed", cut)
		}
	}
	broken := errors.New("broken")
	if _, err := empty().ReadFrom(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	const piece = 64 << 10 // package words reads and writes this many bytes at a time
	for _, room := range []int{0, 1, piece - 1, piece + 1, len(b) - 1} {
		if room >= len(b) {
			continue
		}
		if n, err := full.WriteTo(&limitedWriter{room}); !errors.Is(err, io.ErrShortWrite) || n != int64(room) {
			t.Errorf("room for %d: wrote %d, err = %v", room, n, err)
		}
	}
	b[7]++ // version
	if _, err := empty().ReadFrom(bytes.NewReader(b)); !errors.Is(err, words.ErrFormat) {
		t.Errorf("next version: err = %v", err)
	}
}

type limitedWriter struct{ n int }

func (f *limitedWriter) Write(b []byte) (int, error) {
	n := min(len(b), f.n)
	f.n -= n
	if n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
