// Package claim keeps a text in an object of a store that one run at a time writes: the last writer owns the resource
// that the object represents, and the previous owner receives an error when it writes again. There are no locks that a
// killed run could leave.
package claim

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrTaken is wrapped by errors about an object that another run has written.
var ErrTaken = errors.New("another run has written the object")

// Object is an object of a store and this run's view of it. Not safe for concurrent use.
type Object struct {
	client   *store.Client
	location store.Location
	title    []byte // the first line that this run writes, unique to it
	version  string // version that this run believes to be stored, or empty
}

// New returns the object at l, whose state is not yet known. The first line of its text will be title and a random
// word that identifies the run.
func New(client *store.Client, l store.Location, title string) *Object {
	return &Object{client: client, location: l, title: []byte(title + " " + rand.Text() + "\n")}
}

// Read returns the stored text without its first line, and whether there is one. The next Write replaces it.
func (o *Object) Read(ctx context.Context) (text []byte, found bool, err error) {
	all, version, err := o.loadText(ctx)
	if errors.Is(err, store.ErrNotExist) {
		o.version = ""
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	o.version = version
	_, text, _ = bytes.Cut(all, []byte("\n"))
	return text, true, nil
}

// TitleLine returns the first line that this run writes, with its line end.
func (o *Object) TitleLine() []byte { return bytes.Clone(o.title) }

const (
	mostBytes = 256 << 20              // of a text: a million lines are 200 MB
	pause     = 100 * time.Millisecond // before another try, if the store was busy
)

func (o *Object) loadText(ctx context.Context) (text []byte, version string, err error) {
	stored, err := o.client.Stat(ctx, o.location)
	if err != nil {
		return nil, "", err
	}
	if stored.Size > mostBytes {
		e := stream.Dataf(stored.PublicName(), "has %d bytes, which no run writes", stored.Size)
		e.Remedy = stream.PlainText("delete it")
		return nil, "", e
	}
	b := bytes.NewBuffer(make([]byte, 0, stored.Size+1)) // sized so that it never grows
	err = o.client.Download(ctx, stored, b)
	return b.Bytes(), stored.Version, err
}

// Write replaces the text read or written last, at first no object, by content, which begins with the TitleLine. The
// error is ErrTaken if another run has written or removed the object since. A write that failed may have
// been stored nevertheless; the next one finds it and continues from it.
func (o *Object) Write(ctx context.Context, content []byte) error {
	const tries = 3 // two answers were lost, or the store was at another request for the object
	for try := 1; ; try++ {
		believed := o.version
		now, err := o.client.Replace(ctx, o.location, content, believed)
		if err == nil {
			o.version = now.Version
			return nil
		}
		if !errors.Is(err, store.ErrChanged) || try == tries {
			return err
		}
		text, version, unread := o.loadText(ctx)
		gone := errors.Is(unread, store.ErrNotExist)
		switch {
		case gone && believed == "", unread == nil && version == believed: // the store was busy with it
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * pause):
			}
		case unread == nil && bytes.HasPrefix(text, o.title): // an answer was lost
			if o.version = version; bytes.Equal(text, content) {
				return nil
			}
		case unread == nil, gone, errors.Is(unread, store.ErrChanged):
			return ErrTaken
		default:
			return unread
		}
	}
}

// IsOwned reports whether this run was the last to write the object.
func (o *Object) IsOwned(ctx context.Context) (bool, error) {
	stored, err := o.client.Stat(ctx, o.location)
	title := make([]byte, len(o.title))
	if err == nil && stored.Size < int64(len(title)) {
		return false, nil
	}
	if err == nil {
		err = o.client.Read(ctx, stored, title, 0)
	}
	if errors.Is(err, store.ErrNotExist) || errors.Is(err, store.ErrChanged) {
		return false, nil
	}
	return bytes.Equal(title, o.title), err
}

// Remove deletes the object.
func (o *Object) Remove(ctx context.Context) error { return o.client.Delete(ctx, o.location) }
