// Package claim stores a text in an object of a store such that only one run at a time owns it. The last run that
// wrote the object is the owner. The previous owner receives an error when it tries to write again. There are no
// locks that a killed run could leave.
package claim

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/cloud/store"
	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrTaken is wrapped by errors about an object that another run has written.
var ErrTaken = errors.New("another run has written the object")

// Object is an object of a store as this run last read or wrote it. It is not safe for concurrent use.
type Object struct {
	client   *store.Client
	location store.Location
	title    []byte // the first line that this run writes, unique to it
	version  string // version that this run believes to be stored, or empty
}

// New returns an Object for the location l, whose content is not yet known. The first line that this run writes
// consists of `title` and a random word that identifies the run.
func New(client *store.Client, l store.Location, title string) *Object {
	return &Object{client: client, location: l, title: []byte(title + " " + rand.Text() + "\n")}
}

// Read returns the stored text without its first line, and whether an object is stored. The next Write replaces it.
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

// TitleLine returns the first line that this run writes, including its line end.
func (o *Object) TitleLine() []byte { return bytes.Clone(o.title) }

const (
	maxBytes = 256 << 20              // limit of a text: a million lines are 200 MB
	pause    = 100 * time.Millisecond // wait before another try, if the store was busy
)

func (o *Object) loadText(ctx context.Context) (text []byte, version string, err error) {
	stored, err := o.client.Stat(ctx, o.location)
	if err != nil {
		return nil, "", err
	}
	if stored.Size > maxBytes {
		e := stream.Dataf(stored.PublicName(), "has %d bytes, more than any run writes", stored.Size)
		e.Remedy = stream.PlainText("delete it")
		return nil, "", e
	}
	b := bytes.NewBuffer(make([]byte, 0, stored.Size+1)) // sized so that it never grows
	err = o.client.Download(ctx, stored, b)
	return b.Bytes(), stored.Version, err
}

// Write stores content, which must begin with the TitleLine. It replaces the text that this run read or wrote last. If
// this run has neither read nor written the object, the object must not exist. The error is ErrTaken if another run has
// written or removed the object since. If a Write failed, its content may have been stored nevertheless; the next Write
// detects this and continues from it.
func (o *Object) Write(ctx context.Context, content []byte) error {
	const tries = 3 // enough if two answers are lost, or if the store is busy with other requests for the object
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
		case gone && believed == "", unread == nil && version == believed: // the store was busy with another request
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * pause):
			}
		case unread == nil && bytes.HasPrefix(text, o.title): // the answer to an earlier try was lost
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
