package chunkio

import (
	"errors"
	"io"
	"os"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Input is where bytes come from: a local file now, an object store later.
// ReadAt must be safe for concurrent use.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Name() string // path or URL, for messages
}

// fileInput is a local file of the size it had when it was opened.
type fileInput struct {
	*os.File
	size int64
}

func (f *fileInput) Size() int64 { return f.size }

// openFile opens a local file for reading. A file that is missing, unreadable,
// empty or no regular file is a *stream.DataError that says which.
func openFile(path string) (Input, error) {
	info, err := os.Stat(path) // before opening: opening a pipe waits for its writer
	switch {
	case err != nil:
		return nil, stream.Dataf(path, "cannot be opened: %w", bare(err))
	case info.IsDir():
		return nil, stream.Dataf(path, "is a directory, not a file")
	case !info.Mode().IsRegular():
		e := stream.Dataf(path, "is not a regular file")
		e.Remedy = stream.Textf("pipe an Arrow IPC stream to standard input instead (-)")
		return nil, e
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, stream.Dataf(path, "cannot be opened: %w", bare(err))
	}
	if info, err = f.Stat(); err == nil && info.Size() == 0 {
		err = errors.New("is empty (0 bytes)")
	}
	if err != nil {
		_ = f.Close() // it was only opened; the first error is the one to tell
		return nil, stream.Dataf(path, "%w", bare(err))
	}
	return &fileInput{f, info.Size()}, nil
}

// bare strips the operation and path that os adds: DataError names the path.
func bare(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
