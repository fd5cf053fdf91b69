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

	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/ownfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
	"github.com/ufs-stream/ufs-stream/stream"
)

// File writes a file that appears at its place complete or not at all. Bytes are written to a hidden temporary file in
// the same folder, which is locked while its process is alive and which Commit renames. The bytes of an object in a
// store are written to a Spool, which Commit uploads. A File is not safe for concurrent use.
type File struct {
	path           string   // final place, for messages
	parent         *os.Root // the folder of the final place
	name           string   // final name in parent
	temp           string   // name in parent until Commit
	file           *os.File
	replaced       fs.FileInfo  // the file to be replaced if its mode is copied; else nil
	spool          *Spool       // for an object, used instead of temp; field file is its file
	upload         func() error // uploads the spool
	uploadedObject store.Object // the object after its upload
	dir            *Dir         // set by ResumeFile: contains temp; else nil
	markCount      int          // number of marks so far
	refusalFate    Fate         // fate of the first mark that ResumeFile did not keep
	buffer         *bufio.Writer
	disk           *faults.Disk
	written        int64 // number of bytes in the file, not counting the bytes in the buffer
	sum            *xxhash.Digest
	err            error // first error, which every later call returns
	advice         stream.Text
	closed         bool
}

// Create begins to write the file or object at path. It removes temporary files that killed runs have left for a local
// file. An upload ends with ctx. Errors are *stream.OutputError, or *stream.UsageError if the URL cannot be that of an
// output.
func Create(ctx context.Context, path string) (*File, error) {
	if place.IsURL(path) {
		l, err := parseObjectURL(path)
		if err != nil {
			return nil, err
		}
		return createObject(ctx, store.New(store.Options{}), l, nil, nil)
	}
	return createLocal(ctx, path, 0o666)
}

// CreatePrivate is Create for a file that no other user may read. The bucket of an object determines who may read it.
func CreatePrivate(ctx context.Context, path string) (*File, error) {
	if place.IsURL(path) {
		return Create(ctx, path)
	}
	return createLocal(ctx, path, 0o600)
}

// CreateIn is CreatePrivate for the file called name in an open folder. Errors contain shown as the name of the file.
func CreateIn(ctx context.Context, folder *os.Root, name, shown string) (*File, error) {
	in, err := folder.OpenRoot(".")
	if err != nil {
		return nil, &stream.OutputError{Path: shown, Err: err, Remedy: RemedyFor(err)}
	}
	sweepTemps(in, name)
	return createInFolder(ctx, in, name, shown, 0o600)
}

// createLocal begins to write a local file with the rights perm, reduced by the umask and the mode of the file to be
// replaced.
func createLocal(ctx context.Context, path string, perm fs.FileMode) (*File, error) {
	path, err := place.LocalPath(path)
	if err != nil {
		return nil, err
	}
	if err := checkCanBecomeFile(path); err != nil {
		return nil, err
	}
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	sweepTemps(in, name)
	var replaced fs.FileInfo
	if perm != 0o600 { // a private file must not get the mode of the replaced file
		replaced = findReplacedFile(in, name)
	}
	if replaced != nil {
		perm &= replaced.Mode().Perm() | 0o600
	}
	a, err := createInFolder(ctx, in, name, path, perm)
	if err != nil {
		return nil, err
	}
	a.replaced = replaced
	return a, nil
}

func findReplacedFile(in *os.Root, name string) fs.FileInfo {
	if existing, err := in.Lstat(name); err == nil && existing.Mode().IsRegular() {
		return existing
	}
	return nil
}

// copyReplacedMode gives the file the mode of the file that it replaces. If that file belongs to another user, its mode
// can only remove rights, not add them.
func (a *File) copyReplacedMode() error {
	switch {
	case a.replaced == nil:
		return nil
	case ownfile.IsOurs(a.replaced):
		return ownfile.CopyMode(a.file, a.replaced)
	}
	now, err := a.file.Stat()
	if err != nil {
		return err
	}
	if mode := now.Mode().Perm() & (a.replaced.Mode().Perm() | 0o600); mode != now.Mode().Perm() {
		return a.file.Chmod(mode)
	}
	return nil
}

// createInFolder begins to write the file called name in the open folder `in`. The File closes this folder in the end.
// Errors contain shown as the name of the file.
func createInFolder(ctx context.Context, in *os.Root, name, shown string, perm fs.FileMode) (a *File, err error) {
	a = &File{path: shown, parent: in, name: name, disk: faults.DiskOf(ctx)}
	a.file, a.temp, err = makeTemp(in, name, shown, func(temp string) (*os.File, error) {
		return in.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	a.resetBuffer()
	return a, nil
}

func checkCanBecomeFile(path string) error {
	if fi, err := os.Stat(path); path == "" || os.IsPathSeparator(path[len(path)-1]) || err == nil && !fi.Mode().IsRegular() {
		return &stream.OutputError{Path: path, Err: errors.New("this is no regular file"), Remedy: stream.PlainText("name a file to create")}
	}
	return nil
}

func (a *File) resetBuffer() {
	a.buffer, a.sum = bufio.NewWriterSize((*hashingSink)(a), 1<<16), xxhash.New()
}

// hashingSink counts and hashes the bytes that leave the buffer of a File, and writes them to its temporary file.
type hashingSink File

func (s *hashingSink) Write(p []byte) (int, error) {
	if err := s.disk.CheckChange(s.path, "write"); err != nil {
		return 0, err
	}
	n, err := s.file.Write(p)
	s.written += int64(n)
	s.sum.Write(p[:n])
	return n, err
}

// ContentSum returns the xxhash64 of everything written, after Commit.
func (a *File) ContentSum() uint64 { return a.sum.Sum64() }

// Write implements io.Writer with a buffer. After an error every call returns that error.
func (a *File) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.closed {
		return 0, &stream.OutputError{Path: a.path, Err: fs.ErrClosed}
	}
	n, err := a.buffer.Write(p)
	return n, a.recordError(err)
}

// Restart empties the file, so that it can be written anew.
func (a *File) Restart() error {
	if a.err != nil {
		return a.err
	}
	a.written = 0
	a.resetBuffer()
	if err := a.file.Truncate(0); err != nil {
		return a.recordError(err)
	}
	_, err := a.file.Seek(0, io.SeekStart)
	return a.recordError(err)
}

// SetRemedy replaces the remedy in errors of writing the file. The default remedy is to name another place.
func (a *File) SetRemedy(remedy stream.Text) { a.advice = remedy }

// Path returns the final place of the file, for messages.
func (a *File) Path() string { return a.path }

// Reader reads the bytes that were written to a File.
type Reader interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// spoolReader reads a spool. A spool has no name by which it could be opened again.
type spoolReader struct{ *io.SectionReader }

func (spoolReader) Close() error { return nil }

// Reopen opens the bytes written so far for reading.
func (a *File) Reopen() (Reader, error) {
	if a.err == nil {
		_ = a.recordError(a.buffer.Flush())
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.spool != nil {
		return spoolReader{io.NewSectionReader(a.file, 0, a.written)}, nil
	}
	f, err := a.parent.Open(a.temp)
	if err != nil {
		return nil, &stream.OutputError{Path: a.path, Err: err, Remedy: RemedyFor(err)}
	}
	return f, nil
}

// Commit makes the file durable, or uploads the object, and so puts it at its place. It replaces an existing file
// there. If Commit or an earlier write fails, nothing remains.
func (a *File) Commit() error {
	if a.err == nil && a.closed {
		return &stream.OutputError{Path: a.path, Err: fs.ErrClosed}
	}
	if a.spool != nil {
		return a.commitObject()
	}
	steps := []func() error{a.buffer.Flush, a.syncToDisk, a.moveIntoPlace}
	if closeBeforeRename {
		steps = slices.Insert(steps, 2, a.file.Close)
	}
	for _, step := range steps {
		if a.err == nil {
			_ = a.recordError(step())
		}
	}
	if a.err != nil {
		a.Abort()
		return a.err
	}
	a.closed = true
	_ = a.recordError(syncDir(a.parent, "."))
	a.file.Close() // cannot lose data, because all data are synced
	a.closeFolder()
	return a.err
}

func (a *File) syncToDisk() error {
	if err := a.disk.CheckChange(a.path, "sync"); err != nil {
		return err
	}
	if err := a.copyReplacedMode(); err != nil {
		return err
	}
	return a.file.Sync()
}

func (a *File) moveIntoPlace() error {
	if err := a.disk.CheckChange(a.path, "rename"); err != nil {
		return err
	}
	return a.parent.Rename(a.temp, a.name)
}

// commitObject uploads the spool. Errors of the store already name the object.
func (a *File) commitObject() error {
	if a.err == nil {
		_ = a.recordError(a.buffer.Flush())
	}
	if a.err == nil {
		a.err = a.upload()
	}
	a.Abort() // removes only the spool, which is no longer needed
	return a.err
}

// Abort removes the temporary file. After Commit it does nothing.
func (a *File) Abort() {
	if a.closed {
		return
	}
	a.closed = true
	if a.spool != nil {
		a.spool.Close()
		return
	}
	if closeBeforeRename {
		a.file.Close()
	}
	_ = a.parent.Remove(a.temp) // while the file is still locked; if this fails, the file stays
	a.file.Close()
	a.closeFolder()
}

// closeFolder closes the folder of the final file. If ResumeFile made the file, it removes the temporary folder too.
func (a *File) closeFolder() {
	if a.dir != nil {
		_ = a.dir.Abort(context.Background()) // for a local folder there is nothing to report
		return
	}
	a.parent.Close()
}

// Close is Abort, so that `defer f.Close()` removes the temporary file if Commit is never called.
func (a *File) Close() error {
	a.Abort()
	return nil
}

func (a *File) recordError(err error) error {
	if err == nil || a.err != nil {
		return a.err
	}
	remedy := RemedyFor(err)
	switch {
	case a.advice.Format != "":
		remedy = a.advice
	case a.spool != nil:
		remedy = spoolRemedy()
	}
	a.err = &stream.OutputError{Path: a.path, Err: fmt.Errorf("%w after %d bytes", err, a.written), Remedy: remedy}
	return a.err
}
