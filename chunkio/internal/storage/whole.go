package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/disk/localfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// FetchOptions configure the fetching of statistics and selections from object stores. The zero value is a good choice.
type FetchOptions struct {
	Anonymous bool            // no credentials are looked for, and requests are not signed
	Meter     *stream.Meter   // counts bytes, requests and retries; nil counts nothing
	Memory    int64           // limit in bytes for a whole document with its parsed form; 0 means no limit
	Temp      scratch.Options // scratch space for a copy of an object
}

// errTooLong returns the error of a document at path for which there is too little memory.
func errTooLong(o FetchOptions, path string, need int64) error {
	return &stream.MemoryError{What: "reading " + place.DisplayName(path), Need: need, Limit: o.Memory, AtLeast: true} // the parsed form needs more
}

// NewClient returns a client for the options.
func NewClient(o FetchOptions) *store.Client {
	return store.New(store.Options{Anonymous: o.Anonymous, Meter: o.Meter})
}

// Fetched is a file open for reading: a local one, which may be a pipe, or a copy of an object in a temporary file
// without a name, which Close removes.
type Fetched interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// FetchFile opens the file or object at path, to be read whole: an object is downloaded once, by few large requests.
// Errors about local files come from the system, without the path; errors about objects are *stream.DataError.
func FetchFile(ctx context.Context, path string, opt FetchOptions) (Fetched, error) {
	if !place.IsURL(path) {
		local, err := place.LocalPath(path)
		if err != nil {
			return nil, err
		}
		f, err := localfile.Open(ctx, local)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	l, err := store.Parse(path)
	if err != nil {
		return nil, err
	}
	client := NewClient(opt)
	o, err := client.Stat(ctx, l)
	if err != nil {
		return nil, err
	}
	space := scratch.New(opt.Temp)
	if err := space.Grow("the copy of "+l.PublicName(), o.Size); err != nil {
		return nil, err
	}
	spool, err := atomicfile.NewSpool(space.Dir(), "ufs-download")
	if err != nil {
		space.Shrink(o.Size)
		return nil, opt.errNoRoom(l.PublicName(), space.Dir(), err)
	}
	copied := &downloadedObject{spool: spool, space: space, size: o.Size}
	to := &stickyWriter{w: spool}
	if err = client.Download(ctx, o, to); err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if to.err != nil {
		err = opt.errNoRoom(l.PublicName(), space.Dir(), to.err)
	}
	if err != nil {
		copied.Close()
		return nil, err
	}
	return copied, nil
}

type downloadedObject struct {
	spool *atomicfile.Spool
	space *scratch.Space
	size  int64
}

func (d *downloadedObject) Read(p []byte) (int, error) { return d.spool.Read(p) }

func (d *downloadedObject) ReadAt(p []byte, at int64) (int, error) { return d.spool.ReadAt(p, at) }

func (d *downloadedObject) Stat() (fs.FileInfo, error) { return d.spool.Stat() }

// Close removes the copy.
func (d *downloadedObject) Close() error {
	d.space.Shrink(d.size)
	d.size = 0
	return d.spool.Close()
}

// stickyWriter keeps the error of a writer, to distinguish a full disk from an object that cannot be read.
type stickyWriter struct {
	w   io.Writer
	err error
}

func (s *stickyWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// errNoRoom returns the error of a folder without room for a copy of the object called name.
func (o FetchOptions) errNoRoom(name, folder string, err error) error {
	remedy := stream.PlainText("free some space there, or set TMPDIR to another folder")
	if o.Temp.Dir != "" {
		remedy = stream.Textf("free some space there, or choose another {temp-dir}")
	}
	if out := (*stream.OutputError)(nil); errors.As(err, &out) {
		err = out.Err
	}
	return &stream.OutputError{Path: "the copy of " + name + " in " + folder, Err: WithoutPath(err), Remedy: remedy}
}

// ErrFetch adds the file at path to err, unless err already names it.
func ErrFetch(path string, err error, remedy stream.Text) error {
	var data *stream.DataError
	var output *stream.OutputError
	var usage *stream.UsageError
	if errors.As(err, &data) || errors.As(err, &output) || errors.As(err, &usage) || errors.Is(err, context.Canceled) {
		return err
	}
	return &stream.DataError{Path: place.DisplayName(path), RowGroup: -1, Row: -1, Err: err, Remedy: remedy}
}

// ReadAll implements chunkio.ReadAll: it returns the contents of a file or object if the memory has room for them.
func ReadAll(ctx context.Context, path string, opt FetchOptions, remedy stream.Text) (text []byte, err error) {
	err = ReadWhole(ctx, path, opt, remedy, func(r io.Reader) (err error) {
		text, err = opt.readWithin(path, r)
		return err
	})
	return text, err
}

// readWithin reads r to its end if the memory has room for the contents. The size of a file is known. The buffer for a
// pipe grows, and the memory must also have room for outgrown buffers.
func (o FetchOptions) readWithin(path string, r io.Reader) ([]byte, error) {
	copies, size := int64(3), int64(0)
	if f, ok := r.(Fetched); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			copies, size = 1, info.Size()
		}
	}
	most := int64(math.MaxInt64) - 1
	if o.Memory > 0 {
		most = o.Memory / copies
	}
	if size > most {
		return nil, errTooLong(o, path, size)
	}
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := b.ReadFrom(io.LimitReader(r, most+1))
	if err == nil && n > most {
		return nil, errTooLong(o, path, copies*n)
	}
	return b.Bytes(), err
}

// ReadWhole passes the contents of the file or object at path to read. If the file cannot be opened, the error is a
// *stream.DataError with the remedy. An error of the function read is returned unchanged.
func ReadWhole(ctx context.Context, path string, opt FetchOptions, remedy stream.Text, read func(io.Reader) error) error {
	f, err := FetchFile(ctx, path, opt)
	if err != nil {
		return ErrFetch(path, err, remedy)
	}
	defer f.Close()
	return read(f)
}
