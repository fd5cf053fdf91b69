// Package claim keeps a text in an object of a store that one run at a time writes: who writes
// it last owns what it is about, and whoever owned it before hears so when he writes again.
// Nothing is held, so that a run that was killed leaves no lock.
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

// ErrTaken is what errors are that say that another run has written the object.
var ErrTaken = errors.New("another run has written the object")

// Object is such an object, as one run has it. Not safe for concurrent use.
type Object struct {
	client  *store.Client
	at      store.Location
	title   []byte // the first line of what this run writes, and no other does
	version string // that this run believes to be there; empty for none
}

// New returns the object at l, of which nothing is known yet. The first line of its text will be
// title and a word that tells runs apart.
func New(client *store.Client, l store.Location, title string) *Object {
	return &Object{client: client, at: l, title: []byte(title + " " + rand.Text() + "\n")}
}

// Read gives the text that is there without its first line, or that there is none. The next Write
// replaces it.
func (o *Object) Read(ctx context.Context) (text []byte, found bool, err error) {
	all, version, err := o.load(ctx)
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

// Title is the first line of what this run writes, with its end.
func (o *Object) Title() []byte { return bytes.Clone(o.title) }

const (
	mostBytes = 256 << 20              // of a text: a million lines are 200 MB
	pause     = 100 * time.Millisecond // before another try, where the store was busy
)

func (o *Object) load(ctx context.Context) (text []byte, version string, err error) {
	there, err := o.client.Stat(ctx, o.at)
	if err != nil {
		return nil, "", err
	}
	if there.Size > mostBytes {
		e := stream.Dataf(there.Name(), "has %d bytes, which no run writes", there.Size)
		e.Remedy = stream.PlainText("delete it")
		return nil, "", e
	}
	b := bytes.NewBuffer(make([]byte, 0, there.Size+1)) // which never grows
	err = o.client.Download(ctx, there, b)
	return b.Bytes(), there.Version, err
}

// Write puts content, which begins with the Title, in place of what was read or written last, of
// nothing at first. It is an error that is ErrTaken where another run has written or removed that
// since. A write that failed may be there all the same; the next one finds it and goes on from it.
func (o *Object) Write(ctx context.Context, content []byte) error {
	const tries = 3 // two answers were lost, or the store was at another request for the object
	for try := 1; ; try++ {
		believed := o.version
		now, err := o.client.Replace(ctx, o.at, content, believed)
		if err == nil {
			o.version = now.Version
			return nil
		}
		if !errors.Is(err, store.ErrChanged) || try == tries {
			return err
		}
		there, version, unread := o.load(ctx)
		gone := errors.Is(unread, store.ErrNotExist)
		switch {
		case gone && believed == "", unread == nil && version == believed: // the store was busy with it
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(try) * pause):
			}
		case unread == nil && bytes.HasPrefix(there, o.title): // an answer was lost
			if o.version = version; bytes.Equal(there, content) {
				return nil
			}
		case unread == nil, gone, errors.Is(unread, store.ErrChanged):
			return ErrTaken
		default:
			return unread
		}
	}
}

// Owned reports whether this run has written the object last.
func (o *Object) Owned(ctx context.Context) (bool, error) {
	there, err := o.client.Stat(ctx, o.at)
	title := make([]byte, len(o.title))
	if err == nil && there.Size < int64(len(title)) {
		return false, nil
	}
	if err == nil {
		err = o.client.Read(ctx, there, title, 0)
	}
	if errors.Is(err, store.ErrNotExist) || errors.Is(err, store.ErrChanged) {
		return false, nil
	}
	return bytes.Equal(title, o.title), err
}

// Remove deletes the object.
func (o *Object) Remove(ctx context.Context) error { return o.client.Delete(ctx, o.at) }
