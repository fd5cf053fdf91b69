package formattest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Memory is a format.Input that consists of bytes in memory.
type Memory struct {
	*bytes.Reader
	Closed int // number of calls to Close
}

// NewMemory returns an input with these bytes.
func NewMemory(b []byte) *Memory { return &Memory{Reader: bytes.NewReader(b)} }

// Name implements format.Input: it returns the name for messages.
func (*Memory) Name() string { return "memory" }

// Close implements format.Input.
func (m *Memory) Close() error {
	m.Closed++
	return nil
}

// faultyInput is an input of which one read fails or returns too few bytes.
type faultyInput struct {
	*Memory
	left  int // number of reads up to and including the faulty read
	short bool
}

var errDisk = errors.New("disk on fire")

func (f *faultyInput) ReadAt(b []byte, at int64) (int, error) {
	f.left--
	switch {
	case f.left != 0:
		return f.Memory.ReadAt(b, at)
	case f.short:
		n, _ := f.Memory.ReadAt(b, at)
		return n / 2, io.EOF
	}
	return 0, errDisk
}

// FailEveryRead calls the function read once for each ReadAt of the file. In each call of read, a different ReadAt
// fails or, if short is set, returns too few bytes. The function must return this fault, and nil if no ReadAt was
// faulty.
func FailEveryRead(t *testing.T, file []byte, short bool, read func(format.Input) error) {
	t.Helper()
	want := errDisk
	if short {
		want = io.ErrUnexpectedEOF
	}
	for n := 1; ; n++ {
		in := &faultyInput{NewMemory(file), n, short}
		err := read(in)
		if in.left > 0 { // there are fewer reads than n
			Must(t, err)
			return
		}
		if !errors.Is(err, want) {
			t.Fatalf("fault at read %d came up as %v", n, err)
		}
	}
}

type localFile struct {
	*os.File
	size int64
}

func (f localFile) Size() int64 { return f.size }

// OpenFile opens a file as an input. The format.File that is opened from this input closes it.
func OpenFile(t testing.TB, path string) format.Input {
	t.Helper()
	f, err := os.Open(path)
	Must(t, err)
	info, err := f.Stat()
	Must(t, err)
	return localFile{f, info.Size()}
}
