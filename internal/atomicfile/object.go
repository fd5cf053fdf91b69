package atomicfile

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// locate is the object of a store that an output names.
func locate(path string) (store.Location, error) {
	l, err := store.Parse(path)
	if err != nil {
		return l, err
	}
	if l.Web() {
		return l, stream.Usagef("{o} %s: %s:// can only be read; name a place in a bucket (s3://, gs://, azblob://) or a local file", l.Name(), l.Scheme)
	}
	return l, nil
}

// locateFile is locate for what is to be one object.
func locateFile(path string) (store.Location, error) {
	l, err := locate(path)
	if err == nil && (l.Key == "" || strings.HasSuffix(l.Key, "/")) {
		err = &stream.OutputError{Path: l.Name(), Err: errors.New("this names a folder"), Remedy: stream.PlainText("name an object to create")}
	}
	return l, err
}

// createObject begins to write the object at l: its bytes wait in a spool, because the
// size must be known, and the whole be there for another try, when it is uploaded.
// uploading, which may be nil, hears that the object may be there from now on, and
// uploaded that it is.
func createObject(ctx context.Context, client *store.Client, l store.Location, uploading func(), uploaded func(store.Object)) (*File, error) {
	a := &File{path: l.Name()}
	spool, err := newUploadSpool(a.path)
	if err != nil {
		return nil, err
	}
	a.f, a.spool = spool.File, spool
	a.upload = func() (err error) {
		if uploading != nil {
			uploading()
		}
		if a.object, err = client.Upload(ctx, l, spool, a.written); err == nil && uploaded != nil {
			uploaded(a.object)
		}
		return err
	}
	a.buffer()
	return a, nil
}

// newUploadSpool is the spool of the output called name.
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

// canUpload fails early where an upload to path would fail in the end.
func canUpload(ctx context.Context, path string) error {
	l, err := locateFile(path)
	if err != nil {
		return err
	}
	s, err := newUploadSpool(l.Name())
	if err != nil {
		return err
	}
	return errors.Join(store.New(store.Options{}).CanUpload(ctx, l), s.Close())
}
