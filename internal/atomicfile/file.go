package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// File is a file that appears at its place whole or not at all: bytes go to a
// hidden temporary in the same folder, locked while its process lives, which Commit
// renames. The bytes of an object in a store go to a Spool, which Commit uploads. Not safe
// for concurrent use.
type File struct {
	path    string // where it is to appear, for people
	target  string // what temp is renamed to
	temp    string
	f       *os.File
	spool   *Spool       // in place of temp, for an object; f is its file
	upload  func() error // of the spool
	object  store.Object // that the upload has made
	dir     *Dir         // that temp is in, of ResumeFile; else nil
	marks   int          // so far
	refused Fate         // of the first mark behind those that ResumeFile took
	buf     *bufio.Writer
	disk    *faults.Disk
	written int64 // bytes the file has taken
	sum     *xxhash.Digest
	err     error // first failure; every later call returns it
	advice  stream.Text
	done    bool
}

// Create begins to write the file or object at path, and removes the temporaries that
// killed runs have left for a file. An upload ends with ctx. Errors are
// *stream.OutputError, or *stream.UsageError for a URL that cannot be one of an output.
func Create(ctx context.Context, path string) (*File, error) {
	if place.IsURL(path) {
		l, err := locateFile(path)
		if err != nil {
			return nil, err
		}
		return createObject(ctx, store.New(store.Options{}), l, nil, nil)
	}
	local, err := place.Local(path)
	if err != nil {
		return nil, err
	}
	sweepTemps(local)
	return createLocal(ctx, local, local)
}

// createLocal is Create for a file where nothing is to be swept; shown is how errors call it.
func createLocal(ctx context.Context, path, shown string) (*File, error) {
	if err := checkFile(path, shown); err != nil {
		return nil, err
	}
	a := &File{path: shown, target: path, disk: faults.Of(ctx)}
	err := makeTemp(path, func(temp string) (err error) {
		a.temp = temp
		// 0o666 leaves the permissions to the user's umask, as for any other file.
		a.f, err = os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		return err
	}, func() (*os.File, error) { return a.f, nil })
	if err != nil {
		if out := (*stream.OutputError)(nil); errors.As(err, &out) {
			out.Path = shown
		}
		return nil, err
	}
	a.buffer()
	return a, nil
}

// checkFile refuses what is no place for a file.
func checkFile(path, shown string) error {
	if fi, err := os.Stat(path); path == "" || os.IsPathSeparator(path[len(path)-1]) || err == nil && !fi.Mode().IsRegular() {
		return &stream.OutputError{Path: shown, Err: errors.New("this is no regular file"), Remedy: stream.PlainText("name a file to create")}
	}
	return nil
}

func (a *File) buffer() {
	a.buf, a.sum = bufio.NewWriterSize((*atomicSink)(a), 1<<16), xxhash.New()
}

// atomicSink counts and sums up what reaches the file, behind the buffer.
type atomicSink File

func (s *atomicSink) Write(p []byte) (int, error) {
	if err := s.disk.Changing(s.target, "write"); err != nil {
		return 0, err
	}
	n, err := s.f.Write(p)
	s.written += int64(n)
	s.sum.Write(p[:n])
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

// Restart empties the file, to write something else.
func (a *File) Restart() error {
	if a.err != nil {
		return a.err
	}
	a.written = 0
	a.buffer()
	if err := a.f.Truncate(0); err != nil {
		return a.fail(err)
	}
	_, err := a.f.Seek(0, io.SeekStart)
	return a.fail(err)
}

// Private keeps other users from reading the file. Who may read an object, its bucket says.
func (a *File) Private() error {
	if a.err != nil || a.spool != nil {
		return a.err
	}
	return a.fail(a.f.Chmod(0o600))
}

// Advise sets what to do where the file cannot be written: to name another place for it, unless its caller knows better.
func (a *File) Advise(remedy stream.Text) { a.advice = remedy }

// Path is where the file is to appear, as people may see it.
func (a *File) Path() string { return a.path }

// Reader reads what was written of a File.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// spoolReader reads a spool, which has no name to be opened by again.
type spoolReader struct{ *io.SectionReader }

func (spoolReader) Close() error { return nil }

// Reopen opens for reading what was written so far.
func (a *File) Reopen() (Reader, error) {
	if a.err == nil {
		_ = a.fail(a.buf.Flush())
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.spool != nil {
		return spoolReader{io.NewSectionReader(a.f, 0, a.written)}, nil
	}
	f, err := os.Open(a.temp)
	if err != nil {
		return nil, &stream.OutputError{Path: a.path, Err: err, Remedy: Remedy(err)}
	}
	return f, nil
}

// Commit makes the file durable, or uploads it, and so puts it at its place, replacing what was there.
// If it fails, or a write had failed, nothing is left behind.
func (a *File) Commit() error {
	if a.err == nil && a.done {
		return &stream.OutputError{Path: a.path, Err: fs.ErrClosed}
	}
	if a.spool != nil {
		return a.commitObject()
	}
	steps := []func() error{a.buf.Flush, a.sync, a.rename}
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
	_ = a.fail(syncDir(filepath.Dir(a.target)))
	a.f.Close() // synced above: nothing is left to fail
	a.endDir()
	return a.err
}

func (a *File) sync() error {
	if err := a.disk.Changing(a.target, "sync"); err != nil {
		return err
	}
	return a.f.Sync()
}

func (a *File) rename() error {
	if err := a.disk.Changing(a.target, "rename"); err != nil {
		return err
	}
	return os.Rename(a.temp, a.target)
}

// commitObject uploads the spool. The store's own errors say where they happened.
func (a *File) commitObject() error {
	if a.err == nil {
		_ = a.fail(a.buf.Flush())
	}
	if a.err == nil {
		a.err = a.upload()
	}
	a.Abort() // of the spool, which has served
	return a.err
}

// Abort removes the temporary; after Commit it does nothing.
func (a *File) Abort() {
	if a.done {
		return
	}
	a.done = true
	if a.spool != nil {
		a.spool.Close()
		return
	}
	if closeBeforeRename {
		a.f.Close()
	}
	os.Remove(a.temp) // before the lock is given up
	a.f.Close()
	a.endDir()
}

// endDir removes the folder that temp was in.
func (a *File) endDir() {
	if a.dir != nil {
		_ = a.dir.Abort(context.Background()) // nothing can be left of a local folder that is worth a word
	}
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
	remedy := Remedy(err)
	switch {
	case a.advice.Format != "":
		remedy = a.advice
	case a.spool != nil:
		remedy = spoolRemedy()
	}
	a.err = &stream.OutputError{Path: a.path, Err: fmt.Errorf("%w after %d bytes", err, a.written), Remedy: remedy}
	return a.err
}
