package atomicfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

func parseOutputURL(path string) (store.Location, error) {
	l, err := store.Parse(path)
	if err != nil {
		return l, err
	}
	if l.IsWeb() {
		return l, stream.Usagef("{o} %s: %s:// can only be read; name a place in a bucket (s3://, gs://, azblob://) or a local file", l.PublicName(), l.Scheme)
	}
	return l, nil
}

func parseObjectURL(path string) (store.Location, error) {
	l, err := parseOutputURL(path)
	if err == nil && (l.Key == "" || strings.HasSuffix(l.Key, "/")) {
		err = &stream.OutputError{Path: l.PublicName(), Err: errors.New("this names a folder"), Remedy: stream.PlainText("name an object to create")}
	}
	return l, err
}

// createObject begins to write the object at l. Its bytes are collected in a spool, because an upload must announce
// their number, and needs all bytes again if it is repeated. uploading is called before the upload, and uploaded after
// it; both may be nil.
func createObject(ctx context.Context, client *store.Client, l store.Location, uploading func(), uploaded func(store.Object)) (*File, error) {
	a := &File{path: l.PublicName()}
	spool, err := newUploadSpool(a.path)
	if err != nil {
		return nil, err
	}
	a.file, a.spool = spool.File, spool
	a.upload = func() (err error) {
		if uploading != nil {
			uploading()
		}
		if a.uploadedObject, err = client.Upload(ctx, l, spool, a.written); err == nil && uploaded != nil {
			uploaded(a.uploadedObject)
		}
		return err
	}
	a.resetBuffer()
	return a, nil
}

func newUploadSpool(name string) (*Spool, error) {
	s, err := NewSpool(os.TempDir(), "ufs-upload")
	if err != nil {
		if out := (*stream.OutputError)(nil); errors.As(err, &out) {
			err = out.Err
		}
		return nil, &stream.OutputError{Path: name, Err: stream.Errorf("it waits for its upload in %s: %w", os.TempDir(), err), Remedy: spoolRemedy()}
	}
	return s, nil
}

func spoolRemedy() stream.Text {
	return stream.Textf("free some space in %s, or set TMPDIR to another folder", os.TempDir())
}

func checkUpload(ctx context.Context, path string) error {
	l, err := parseObjectURL(path)
	if err != nil {
		return err
	}
	s, err := newUploadSpool(l.PublicName())
	if err != nil {
		return err
	}
	return errors.Join(store.New(store.Options{}).CanUpload(ctx, l), s.Close())
}

// Spool is a temporary file for reading and writing. If the system can remove open files, the spool has no name, and
// disappears with the process. On other systems Close removes it, and the next run removes the spools of killed runs.
type Spool struct {
	*os.File
	folder *os.Root // nil if the file has no name
	name   string
}

// NewSpool makes an empty Spool in the folder dir. If the spool has a name, the name begins with stem. Errors are
// *stream.OutputError.
func NewSpool(dir, stem string) (*Spool, error) {
	path := filepath.Join(dir, stem)
	in, name, err := openParent(path)
	if err != nil {
		return nil, err
	}
	sweepTemps(in, name)
	f, temp, err := makeTemp(in, name, path, func(temp string) (*os.File, error) {
		return in.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	if in.Remove(temp) == nil {
		return &Spool{File: f}, in.Close()
	}
	return &Spool{f, in, temp}, nil
}

// Close closes the spool and frees its space.
func (s *Spool) Close() error {
	err := s.File.Close()
	if s.folder != nil {
		err = errors.Join(err, s.folder.Remove(s.name), s.folder.Close())
	}
	return err
}
