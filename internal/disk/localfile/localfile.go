// Package localfile opens regular files and pipes that people name, and devices for writing. Opening a pipe ends with
// the context, because open(2) of a pipe without a writer does not return, and neither Ctrl-C nor a deadline would end
// it. Files without an end, such as /dev/zero, or without bytes, such as a folder, are refused. Errors omit the path,
// which callers add.
package localfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/faults"
)

// File is a regular file, or a pipe whose reads and writes end with the context.
type File struct {
	*os.File
	ctx          context.Context //nolint:containedctx // for Read, which has no parameter for a context
	disk         *faults.Disk
	stopWatching func() bool
}

// Open opens a file or pipe for reading.
func Open(ctx context.Context, path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, stripPathError(err)
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		return openPipe(ctx, path, os.O_RDONLY)
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, stripPathError(err)
	}
	return &File{File: f, ctx: ctx, disk: faults.DiskOf(ctx), stopWatching: func() bool { return true }}, nil
}

// OpenDevice opens an existing device or pipe, such as /dev/null, for writing.
func OpenDevice(ctx context.Context, path string) (*File, error) {
	f, err := openPipe(ctx, path, os.O_WRONLY)
	return f, stripPathError(err)
}

// ReadAll returns the contents of a regular file. Pipes are refused, because they cannot be read twice.
func ReadAll(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: opening a pipe waits for its writer
	if err == nil {
		err = checkRegular(info)
	}
	if err != nil {
		return nil, stripPathError(err)
	}
	b, err := os.ReadFile(path)
	return b, stripPathError(err)
}

func checkRegular(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return syscall.EISDIR
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a pipe, which cannot be read twice")
	case mode&fs.ModeSocket != 0:
		return errors.New("is a socket")
	case mode&fs.ModeDevice != 0:
		return errors.New("is a device")
	}
	return errors.New("is not a regular file")
}

// openPipe opens a pipe in a goroutine, which has ended when openPipe returns.
func openPipe(ctx context.Context, path string, mode int) (*File, error) {
	type result struct {
		f   *os.File
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(path, mode, 0)
		done <- result{f, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		// Opening the other end for a moment makes the waiting open(2) return. If open(2) had not begun yet, the other
		// end must be opened again.
		for r.f == nil && r.err == nil {
			openOtherEnd(path, mode)
			select {
			case r = <-done:
			case <-time.After(time.Millisecond):
			}
		}
		if r.err == nil {
			r.f.Close()
		}
		return nil, ctx.Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	f := &File{File: r.f, ctx: ctx, disk: faults.DiskOf(ctx)}
	f.stopWatching = context.AfterFunc(ctx, func() { _ = r.f.SetDeadline(time.Unix(1, 0)) }) // fails for devices, whose calls do not wait
	return f, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	p, err := f.disk.AllowedRead(f.Name(), p)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	return n, f.asContextError(err)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	part, err := f.disk.AllowedRead(f.Name(), p)
	if err != nil {
		return 0, err
	}
	n, err := f.File.ReadAt(part, off)
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF // the file has become shorter
	}
	return n, err
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.asContextError(err)
}

// WriteString implements io.StringWriter.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// ReadFrom implements io.ReaderFrom.
func (f *File) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, r) }

// WriteTo implements io.WriterTo.
func (f *File) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{f}) }

// asContextError returns the error of the context if the context ended a read or write, or else err.
func (f *File) asContextError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	return err
}

// Close implements io.Closer.
func (f *File) Close() error {
	f.stopWatching()
	return f.File.Close()
}

func stripPathError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
