package program

import (
	"context"
	"io"
	"io/fs"
)

// InterruptibleReader returns a reader of r whose reads end with ctx. A read from a pipe cannot be interrupted while
// the writer is silent. So each read runs in a goroutine of its own. If such a read still waits when ctx ends, its
// goroutine remains until the process exits.
func InterruptibleReader(ctx context.Context, r io.Reader) io.Reader {
	type result struct {
		n   int
		err error
	}
	var (
		buf  []byte // 64 KiB, the capacity of a pipe
		rest []byte // bytes that were read but not returned yet
	)
	read := readerFunc(func(p []byte) (int, error) {
		if len(rest) == 0 {
			if buf == nil {
				buf = make([]byte, 1<<16)
			}
			done := make(chan result, 1)
			go func() {
				n, err := r.Read(buf)
				done <- result{n, err}
			}()
			select {
			case got := <-done:
				if rest = buf[:got.n]; got.n == 0 {
					return 0, got.err
				}
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		n := copy(p, rest)
		rest = rest[n:]
		return n, nil
	})
	if file, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return fileReader{read, file.Stat}
	}
	return read
}

// fileReader is a reader of a file. Its Stat allows others to identify the file.
type fileReader struct {
	readerFunc
	stat func() (fs.FileInfo, error)
}

func (f fileReader) Stat() (fs.FileInfo, error) { return f.stat() }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
