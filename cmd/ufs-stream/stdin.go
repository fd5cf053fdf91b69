package main

import (
	"context"
	"io"
	"io/fs"
)

// interruptibleReader returns a reader of r whose reads end with ctx. A read from a pipe with a silent writer cannot
// be interrupted, so each read runs in its own goroutine. A read that still waits when ctx ends keeps waiting until
// the process exits: it is the one goroutine that [run] may leave behind.
func interruptibleReader(ctx context.Context, r io.Reader) io.Reader {
	type result struct {
		n   int
		err error
	}
	var (
		buf  []byte // 64 KiB, the capacity of a pipe
		rest []byte // bytes read, but not returned yet
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

// fileReader is a reader of a file that can also be identified by Stat.
type fileReader struct {
	readerFunc
	stat func() (fs.FileInfo, error)
}

func (f fileReader) Stat() (fs.FileInfo, error) { return f.stat() }

// readerFunc makes a function an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
