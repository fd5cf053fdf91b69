package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ufs-stream/ufs-stream/stream"
)

// File is a file that appears at its place whole or not at all: bytes go to a
// hidden temporary in the same folder, locked while its process lives, which Commit
// renames. Not safe for concurrent use.
type File struct {
	path, temp string
	f          *os.File
	buf        *bufio.Writer
	written    int64 // bytes the file has taken
	err        error // first failure; every later call returns it
	done       bool
}

// Create begins to write the file at path and removes the temporaries that
// killed runs have left for it. Errors are *stream.OutputError.
func Create(path string) (*File, error) {
	if fi, err := os.Stat(path); path == "" || os.IsPathSeparator(path[len(path)-1]) || err == nil && !fi.Mode().IsRegular() {
		return nil, &stream.OutputError{Path: path, Err: errors.New("this is no regular file"), Remedy: stream.PlainText("name a file to create")}
	}
	a := &File{path: path}
	err := MakeTemp(path, func(temp string) (err error) {
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
type atomicSink File

func (s *atomicSink) Write(p []byte) (int, error) {
	n, err := s.f.Write(p)
	s.written += int64(n)
	return n, err
}

// Write implements io.Writer, buffered. After an error every call returns that error.
func (a *File) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.done {
		return 0, &stream.OutputError{Path: a.path, Err: fs.ErrClosed}
	}
	n, err := a.buf.Write(p)
	return n, a.fail(err)
}

// Path is where the file is to appear.
func (a *File) Path() string { return a.path }

// Reopen opens for reading what was written so far.
func (a *File) Reopen() (*os.File, error) {
	if a.err == nil {
		_ = a.fail(a.buf.Flush())
	}
	if a.err != nil {
		return nil, a.err
	}
	f, err := os.Open(a.temp)
	if err != nil {
		return nil, &stream.OutputError{Path: a.path, Err: err, Remedy: Remedy(err)}
	}
	return f, nil
}

// Commit makes the file durable and puts it at its place, replacing what was there.
// If it fails, or a write had failed, nothing is left behind.
func (a *File) Commit() error {
	if a.err == nil && a.done {
		return &stream.OutputError{Path: a.path, Err: fs.ErrClosed}
	}
	steps := []func() error{a.buf.Flush, a.f.Sync, func() error { return os.Rename(a.temp, a.path) }}
	if closeBeforeRename {
		steps = slices.Insert(steps, 2, a.f.Close)
	}
	for _, step := range steps {
		if a.err == nil {
			_ = a.fail(step())
		}
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
func (a *File) Abort() {
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
func (a *File) Close() error {
	a.Abort()
	return nil
}

// fail records the first error, with the place and what to do.
func (a *File) fail(err error) error {
	if err == nil || a.err != nil {
		return a.err
	}
	a.err = &stream.OutputError{Path: a.path, Err: fmt.Errorf("%w after %d bytes", err, a.written), Remedy: Remedy(err)}
	return a.err
}
