package main

import (
	"context"
	"io"
	"io/fs"
)

// interruptibleReader returns r with reads that end when ctx does. Nothing can interrupt a read
// from a pipe whose other end is silent, so each read runs in a goroutine of its own. A
// read that is still waiting when ctx ends goes on waiting until the process exits: it is
// the one goroutine that [run] may leave behind.
func interruptibleReader(ctx context.Context, r io.Reader) io.Reader {
	type result struct {
		n   int
		err error
	}
	var (
		buf  []byte // 64 KiB is what a pipe holds
		rest []byte // the part of buf that was read and not handed out yet
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

// fileReader reads a file that tells which one it is.
type fileReader struct {
	readerFunc
	stat func() (fs.FileInfo, error)
}

// Stat tells of the file.
func (f fileReader) Stat() (fs.FileInfo, error) { return f.stat() }

// readerFunc is a function as an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
