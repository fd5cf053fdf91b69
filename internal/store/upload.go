package store

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/stream"
)

// writer is a dialect whose store can be written.
type writer interface {
	put(l Location, body *section) request  // the whole object at once
	onlyOver(r request, was string) request // a put in place of this version, or of none if it is empty
	remove(l Location) request
	// stored is the version that the answer to a put, or to the end of a transfer, tells of;
	// empty where it tells none.
	stored(h http.Header, body []byte) string
	// begin begins an upload of so many bytes in parts.
	begin(ctx context.Context, c *Client, l Location, size, part int64) (transfer, error)
	tryUpload(ctx context.Context, c *Client, l Location) error
}

// transfer is an upload in parts. Until finish nothing of it is to be seen.
type transfer interface {
	atOnce() int                                          // the parts that may be on their way at the same time
	send(ctx context.Context, i int, body *section) error // part i, counted from 0
	finish() request
	abort(ctx context.Context) error
}

const (
	maxParts = 9000 // S3 takes 10,000, Azure 50,000
	inFlight = 4    // parts at once: each more brings little on one network interface
	// How long an upload that is given up still takes to leave nothing behind.
	farewell = 10 * time.Second
)

// writer finds the dialect of l and checks that it can be written.
func (c *Client) writer(ctx context.Context, l Location) (dialect, writer, error) {
	d, err := c.dialect(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	w, ok := d.(writer)
	if !ok {
		return nil, nil, stream.Usagef("%s: %s:// is only read: write to s3://, gs://, azblob:// or a local file", l.Name(), l.Scheme)
	}
	if l.Key == "" { // a store would take it for its bucket, to be made or removed
		return nil, nil, stream.Usagef("%s names a bucket and no object in it", l.Name())
	}
	return d, w, nil
}

// CanUpload fails where an upload to l would: no credentials, no bucket, no permission, as
// far as that can be told without leaving anything there.
func (c *Client) CanUpload(ctx context.Context, l Location) error {
	d, w, err := c.writer(ctx, l)
	if err == nil {
		err = c.explained(ctx, d, l, w.tryUpload(ctx, c, l))
	}
	return output(ctx, l, err)
}

// Upload puts size bytes of r at l: in the end the whole object is there, as is told, or what
// was there before.
func (c *Client) Upload(ctx context.Context, l Location, r io.ReaderAt, size int64) (o Object, err error) {
	d, w, err := c.writer(ctx, l)
	if err == nil && size <= c.part {
		o, err = c.put(ctx, d, w, w.put(l, newSection(r, 0, size)), l)
	} else if err == nil {
		o, err = c.uploadParts(ctx, d, w, l, r, size)
	}
	if err != nil {
		err = c.explained(ctx, d, l, err)
	}
	return o, output(ctx, l, err)
}

// put sends the request that makes l what its body is.
func (c *Client) put(ctx context.Context, d dialect, w writer, r request, l Location) (Object, error) {
	o := Object{Location: l, Size: r.body.Size()}
	// If it is cancelled and then deleted, the store must not take it after that.
	r.settle = farewell / 4
	err := c.do(ctx, d, r, func(resp *http.Response) error {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // without it the version is not known
		o.Version = w.stored(resp.Header, body)
		return nil
	})
	return o, err
}

// Delete removes an object; that it is not there is no error.
func (c *Client) Delete(ctx context.Context, l Location) error {
	d, w, err := c.writer(ctx, l)
	if err == nil {
		err = c.do(ctx, d, w.remove(l), nil)
		if err != nil {
			err = c.explained(ctx, d, l, err)
		}
	}
	if errors.Is(err, ErrNotExist) && ctx.Err() == nil {
		return nil
	}
	return data(ctx, l, err)
}

func (c *Client) uploadParts(ctx context.Context, d dialect, w writer, l Location, r io.ReaderAt, size int64) (o Object, err error) {
	// A cancelled beginning would leave an upload whose name nobody knows: it is given a
	// moment to end.
	begun, done := lingering(ctx, farewell/2)
	part := max(c.part, (size+maxParts-1)/maxParts)
	part = (part + 1<<18 - 1) >> 18 << 18 // GCS takes multiples of 256 KiB
	t, err := w.begin(begun, c, l, size, part)
	done()
	if err != nil {
		return o, err
	}
	defer func() {
		if err == nil {
			return
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if left := t.abort(last); left != nil {
			// Not wrapped: whether it is worth another try is said by what failed first.
			err = errors.Join(err, stream.Errorf("and its parts could not be removed from the store: %v", left))
		}
	}()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(t.atOnce())
	for i, at := 0, int64(0); at < size; i, at = i+1, at+part {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error { return t.send(inner, i, newSection(r, at, min(part, size-at))) })
	}
	if err := g.Wait(); err != nil {
		return o, err
	}
	if err := ctx.Err(); err != nil {
		return o, err
	}
	return c.finish(ctx, d, w, l, t, size)
}

// finish makes the parts an object. If the answer is lost, the object may be there: then
// it has our size, and is not the version that was there before. S3's versions are of the
// content: where that is the same, the second try says that the upload has ended.
func (c *Client) finish(ctx context.Context, d dialect, w writer, l Location, t transfer, size int64) (Object, error) {
	o := Object{Location: l, Size: size}
	before, err := c.stat(ctx, d, l)
	if err != nil && !errors.Is(err, ErrNotExist) {
		before = Object{} // not to be read by us; then nothing can be compared
	}
	tries := c.tries()
	for {
		err := c.once(ctx, d, t.finish(), func(resp *http.Response) error {
			body, err := refusedLate(resp)
			o.Version = w.stored(resp.Header, body)
			return err
		})
		if err == nil {
			return o, nil
		}
		no := refusalOf(err)
		over := tries.done > 0 && no != nil && no.status == http.StatusNotFound // the upload is no more, it has ended
		if temporary(err) || over {
			now, missing := c.stat(ctx, d, l)
			if missing == nil && now.Size == size && (over || now.Version != "" && now.Version != before.Version) {
				return now, nil
			}
		}
		if err = tries.again(ctx, err); err != nil {
			return o, err
		}
	}
}

// lingering is a context that ends a while after its parent.
func lingering(parent context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(while, cancel) })
	return ctx, func() { stop(); cancel() }
}
