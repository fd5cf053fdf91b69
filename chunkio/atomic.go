package chunkio

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// AtomicFile is a file that appears at its place whole or not at all: bytes go to a
// hidden temporary in the same folder, locked while its process lives, which Commit
// renames. Not safe for concurrent use.
type AtomicFile struct {
	path, temp string
	f          *os.File
	buf        *bufio.Writer
	written    int64 // bytes the file has taken
	err        error // first failure; every later call returns it
	done       bool
}

// CreateAtomic begins to write the file at path and removes the temporaries that
// killed runs have left for it. Errors are *OutputError.
func CreateAtomic(path string) (*AtomicFile, error) {
	if fi, err := os.Stat(path); path == "" || os.IsPathSeparator(path[len(path)-1]) || err == nil && !fi.Mode().IsRegular() {
		return nil, &OutputError{path, errors.New("this is no regular file"), "name a file to create"}
	}
	a := &AtomicFile{path: path}
	err := makeTemp(path, func(temp string) (err error) {
		a.temp = temp
		// 0o666 leaves the permissions to the user's umask, as for any other file.
		a.f, err = os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		return err
	}, func() (*os.File, error) { return a.f, nil })
	if err != nil {
		return nil, err
	}
	a.buf = bufio.NewWriterSize((*atomicSink)(a), 1<<16)
	return a, nil
}

// atomicSink counts what reaches the file, behind the buffer.
type atomicSink AtomicFile

func (s *atomicSink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.written += int64(n)
	return n, err
}

// Write implements io.Writer, buffered. After an error every call returns that error.
func (a *AtomicFile) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.done {
		return 0, &OutputError{a.path, fs.ErrClosed, ""}
	}
	n, err := a.buf.Write(p)
	return n, a.fail(err)
}

// Commit makes the file durable and puts it at its place, replacing what was there.
// If it fails, or a write had failed, nothing is left behind.
func (a *AtomicFile) Commit() error {
	if a.err == nil && a.done {
		return &OutputError{a.path, fs.ErrClosed, ""}
	}
	if a.err == nil {
		_ = a.fail(a.buf.Flush())
	}
	if a.err == nil {
		_ = a.fail(a.f.Sync())
	}
	if a.err != nil {
		a.Abort()
		return a.err
	}
	if closeBeforeRename {
		_ = a.fail(a.f.Close())
	}
	if a.err == nil {
		_ = a.fail(os.Rename(a.temp, a.path))
	}
	if a.err != nil {
		a.Abort()
		return a.err
	}
	a.done = true
	_ = a.fail(syncDir(filepath.Dir(a.path)))
	a.f.Close() // synced above: nothing is left to fail
	return a.err
}

// Abort removes the temporary; after Commit it does nothing.
func (a *AtomicFile) Abort() {
	if a.done {
		return
	}
	a.done = true
	if closeBeforeRename {
		a.f.Close()
	}
	os.Remove(a.temp) // before the lock is given up
	a.f.Close()
}

// Close is Abort, so that `defer f.Close()` cleans up whatever happens before Commit.
func (a *AtomicFile) Close() error {
	a.Abort()
	return nil
}

// fail records the first error, with the place and what to do.
func (a *AtomicFile) fail(err error) error {
	if err == nil || a.err != nil {
		return a.err
	}
	a.err = &OutputError{a.path, fmt.Errorf("%w after %d bytes", err, a.written), outputRemedy(err)}
	return a.err
}
