package atomicfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ufs-stream/ufs-stream/internal/faults"
	"github.com/ufs-stream/ufs-stream/internal/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// File is a file that appears at its place whole or not at all: bytes go to a
// hidden temporary in the same folder, locked while its process lives, which Commit
// renames. The bytes of an object in a store go to a Spool, which Commit uploads. Not safe
// for concurrent use.
type File struct {
	path    string   // where it is to appear, for people
	in      *os.Root // the folder that it is to appear in,
	name    string   // which has it by this name,
	temp    string   // and until then by this one
	f       *os.File
	there   fs.FileInfo  // the file that it replaces, whose mode it takes; else nil
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
	return createLocal(ctx, path, 0o666)
}

// CreatePrivate is Create for a file that no other user is to read. Who may read an object, its bucket says.
func CreatePrivate(ctx context.Context, path string) (*File, error) {
	if place.IsURL(path) {
		return Create(ctx, path)
	}
	return createLocal(ctx, path, 0o600)
}

// CreateIn is CreatePrivate for the file called name in an open folder; shown is how errors call it.
func CreateIn(ctx context.Context, folder *os.Root, name, shown string) (*File, error) {
	in, err := folder.OpenRoot(".")
	if err != nil {
		return nil, &stream.OutputError{Path: shown, Err: err, Remedy: Remedy(err)}
	}
	sweepTemps(in, name)
	return createIn(ctx, in, name, shown, 0o600)
}

// createLocal makes a file of at most these rights, which the umask may lessen, and what it replaces.
func createLocal(ctx context.Context, path string, perm fs.FileMode) (*File, error) {
	path, err := place.Local(path)
	if err != nil {
		return nil, err
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	sweepTemps(in, name)
	var there fs.FileInfo
	if perm != 0o600 { // else that is all the same
		there = replacedFile(in, name)
	}
	if there != nil {
		perm &= there.Mode().Perm() | 0o600
	}
	a, err := createIn(ctx, in, name, path, perm)
	if err != nil {
		return nil, err
	}
	a.there = there
	return a, nil
}

// replacedFile is the file that one of that name takes the place of, nil if there is none or a link to one.
func replacedFile(in *os.Root, name string) fs.FileInfo {
	if there, err := in.Lstat(name); err == nil && there.Mode().IsRegular() {
		return there
	}
	return nil
}

// keepMode gives the file the mode of the one that it replaces. What somebody else has put there gives
// nobody a right that a new file would not, and may take some.
func (a *File) keepMode() error {
	switch {
	case a.there == nil:
		return nil
	case ownfile.IsOurs(a.there):
		return ownfile.KeepMode(a.f, a.there)
	}
	now, err := a.f.Stat()
	if err != nil {
		return err
	}
	if mode := now.Mode().Perm() & (a.there.Mode().Perm() | 0o600); mode != now.Mode().Perm() {
		return a.f.Chmod(mode)
	}
	return nil
}

// createIn makes a file called name in a folder, which is the file's from now on; shown is how errors call it.
func createIn(ctx context.Context, in *os.Root, name, shown string, perm fs.FileMode) (a *File, err error) {
	a = &File{path: shown, in: in, name: name, disk: faults.Of(ctx)}
	a.f, a.temp, err = makeTemp(in, name, shown, func(temp string) (*os.File, error) {
		return in.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	a.buffer()
	return a, nil
}

// checkFile refuses what is no place for a file.
func checkFile(path string) error {
	if fi, err := os.Stat(path); path == "" || os.IsPathSeparator(path[len(path)-1]) || err == nil && !fi.Mode().IsRegular() {
		return &stream.OutputError{Path: path, Err: errors.New("this is no regular file"), Remedy: stream.PlainText("name a file to create")}
	}
	return nil
}

func (a *File) buffer() {
	a.buf, a.sum = bufio.NewWriterSize((*atomicSink)(a), 1<<16), xxhash.New()
}

// atomicSink counts and sums up what reaches the file, behind the buffer.
type atomicSink File

func (s *atomicSink) Write(p []byte) (int, error) {
	if err := s.disk.Changing(s.path, "write"); err != nil {
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
	f, err := a.in.Open(a.temp)
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
	_ = a.fail(syncDir(a.in, "."))
	a.f.Close() // synced above: nothing is left to fail
	a.endDir()
	return a.err
}

func (a *File) sync() error {
	if err := a.disk.Changing(a.path, "sync"); err != nil {
		return err
	}
	if err := a.keepMode(); err != nil {
		return err
	}
	return a.f.Sync()
}

func (a *File) rename() error {
	if err := a.disk.Changing(a.path, "rename"); err != nil {
		return err
	}
	return a.in.Rename(a.temp, a.name)
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
	_ = a.in.Remove(a.temp) // before the lock is given up; what is there in spite of that stays
	a.f.Close()
	a.endDir()
}

// endDir removes the folder that temp was in, and leaves the one that the file is in.
func (a *File) endDir() {
	if a.dir != nil {
		_ = a.dir.Abort(context.Background()) // nothing can be left of a local folder that is worth a word
		return
	}
	a.in.Close()
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
