package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/stream"
)

// writer is a dialect whose store accepts uploads.
type writer interface {
	putRequest(l Location, body *section) request      // uploads the whole object at once
	withPrecondition(r request, before string) request // adds a condition: the stored version equals `before`; "" means no object
	deleteRequest(l Location) request
	// storedVersion returns the version in the answer to putRequest or to the last request of a transfer, or "".
	storedVersion(h http.Header, body []byte) string
	// beginTransfer begins an upload of `size` bytes in parts of `part` bytes.
	beginTransfer(ctx context.Context, c *Client, l Location, size, part int64) (transfer, error)
	checkUploadAllowed(ctx context.Context, c *Client, l Location) error
}

// transfer is an upload in parts. The object becomes visible only when the store has accepted finishRequest.
type transfer interface {
	partsAtOnce() int                                         // number of parts that may be sent at the same time
	sendPart(ctx context.Context, i int, body *section) error // sends part i, counted from 0
	finishRequest() request
	abortUpload(ctx context.Context) error
}

const (
	maxParts         = 9000 // S3 allows 10,000, Azure 50,000
	maxPartsInFlight = 4    // number of parts sent at once; more are hardly faster on one network interface
	// abortTime is the time that a cancelled upload may spend on removing its parts from the store.
	abortTime = 10 * time.Second
)

func (c *Client) writerOf(ctx context.Context, l Location) (dialect, writer, error) {
	d, err := c.dialectOf(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	w, ok := d.(writer)
	if !ok {
		return nil, nil, stream.Usagef("%s: %s:// is only read: write to s3://, gs://, azblob:// or a local file", l.PublicName(), l.Scheme)
	}
	if l.Key == "" { // without a key the store would create or delete the bucket
		return nil, nil, stream.Usagef("%s names a bucket and no object in it", l.PublicName())
	}
	return d, w, nil
}

// CanUpload returns an error if an upload to l would fail because credentials, the bucket or a permission are
// missing. It checks as much as it can without leaving anything in the store.
func (c *Client) CanUpload(ctx context.Context, l Location) error {
	d, w, err := c.writerOf(ctx, l)
	if err == nil {
		err = c.explainError(ctx, d, l, w.checkUploadAllowed(ctx, c, l))
	}
	return asOutputError(ctx, l, err)
}

// Upload stores size bytes of r as the object at l. If it fails, the former object is kept.
func (c *Client) Upload(ctx context.Context, l Location, r io.ReaderAt, size int64) (o Object, err error) {
	d, w, err := c.writerOf(ctx, l)
	if err == nil && size <= c.part {
		o, err = c.sendPut(ctx, d, w, w.putRequest(l, newSection(r, 0, size)), l)
	} else if err == nil {
		o, err = c.uploadParts(ctx, d, w, l, r, size)
	}
	if err != nil {
		err = c.explainError(ctx, d, l, err)
	}
	return o, asOutputError(ctx, l, err)
}

func (c *Client) sendPut(ctx context.Context, d dialect, w writer, r request, l Location) (Object, error) {
	o := Object{Location: l, Size: r.body.Size()}
	// If the upload is cancelled and the object is then deleted, the upload must not store the object after this.
	r.answerWait = abortTime / 4
	err := c.sendWithRetries(ctx, d, r, func(resp *http.Response) error {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // without the body the version is not known
		o.Version = w.storedVersion(resp.Header, body)
		return nil
	})
	return o, err
}

// Delete removes an object. It is not an error if the object does not exist.
func (c *Client) Delete(ctx context.Context, l Location) error {
	d, w, err := c.writerOf(ctx, l)
	if err == nil {
		err = c.sendWithRetries(ctx, d, w.deleteRequest(l), nil)
		if err != nil {
			err = c.explainError(ctx, d, l, err)
		}
	}
	if errors.Is(err, ErrNotExist) && ctx.Err() == nil {
		return nil
	}
	return asDataError(ctx, l, err)
}

func (c *Client) uploadParts(ctx context.Context, d dialect, w writer, l Location, r io.ReaderAt, size int64) (o Object, err error) {
	// If the request that begins the upload were cancelled, an upload of unknown name could remain in the store. So
	// this request gets some time to end.
	begun, done := lingeringContext(ctx, abortTime/2)
	part := max(c.part, (size+maxParts-1)/maxParts)
	part = (part + 1<<18 - 1) >> 18 << 18 // GCS requires multiples of 256 KiB
	t, err := w.beginTransfer(begun, c, l, size, part)
	done()
	if err != nil {
		return o, err
	}
	defer func() {
		if err == nil {
			return
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
		defer cancel()
		if left := t.abortUpload(last); left != nil {
			// The error left is not wrapped, because only the first error determines whether the run should be repeated.
			err = errors.Join(err, stream.Errorf("also, its parts could not be removed from the store: %v", left))
		}
	}()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(t.partsAtOnce())
	for i, at := 0, int64(0); at < size; i, at = i+1, at+part {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error { return t.sendPart(inner, i, newSection(r, at, min(part, size-at))) })
	}
	if err := g.Wait(); err != nil {
		return o, err
	}
	if err := ctx.Err(); err != nil {
		return o, err
	}
	return c.finishUpload(ctx, d, w, l, t, size)
}

// finishUpload completes the object from its parts. If the answer is lost, the object may have been stored
// nevertheless. This is so if the object has the right size and another version than before. But a version of S3
// depends only on the content, so it is the same if the content is the same. In this case a second try is refused with
// 404, which shows that the first has ended the upload.
func (c *Client) finishUpload(ctx context.Context, d dialect, w writer, l Location, t transfer, size int64) (Object, error) {
	o := Object{Location: l, Size: size}
	before, err := c.statObject(ctx, d, l)
	if err != nil && !errors.Is(err, ErrNotExist) {
		before = Object{} // without permission to read the object, versions cannot be compared
	}
	tries := c.newTries()
	for {
		err := c.sendOnce(ctx, d, t.finishRequest(), func(resp *http.Response) error {
			body, err := readFinalAnswer(resp)
			o.Version = w.storedVersion(resp.Header, body)
			return err
		})
		if err == nil {
			return o, nil
		}
		denial := refusalOf(err)
		over := tries.done > 0 && denial != nil && denial.status == http.StatusNotFound // an earlier try has ended the upload
		if isTemporary(err) || over {
			now, missing := c.statObject(ctx, d, l)
			if missing == nil && now.Size == size && (over || now.Version != "" && now.Version != before.Version) {
				return now, nil
			}
		}
		if err = tries.waitToRetry(ctx, err); err != nil {
			return o, err
		}
	}
}

func beginAndAbortUpload(ctx context.Context, c *Client, l Location, w writer) error {
	begun, done := lingeringContext(ctx, abortTime/2)
	defer done()
	t, err := w.beginTransfer(begun, c, l, 1, 1)
	if err != nil {
		return err
	}
	return t.abortUpload(begun)
}

// lingeringContext returns a context that ends later than its parent, by the duration `while`. In this time the parts
// of an upload can still be removed from the store.
func lingeringContext(parent context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { time.AfterFunc(while, cancel) })
	return ctx, func() { stop(); cancel() }
}

// Replace uploads content to l if the stored object still has the version `before`. If `before` is empty, there must be
// no object. Otherwise the error wraps ErrChanged. If the content was stored but the answer was lost, a repeated
// request may also fail with this error. The caller can distinguish these cases by comparing the stored content.
//
// AWS, GCS, Azure, MinIO, R2 and other stores with the interface of S3 check the condition. Some stores refuse
// conditions; then the request is repeated without its condition. Other stores ignore conditions. In both cases the
// last writer replaces the object, and nobody receives an error. MinIO before August 2025 ignores the condition for an
// object that was deleted.
func (c *Client) Replace(ctx context.Context, l Location, content []byte, before string) (o Object, err error) {
	d, w, err := c.writerOf(ctx, l)
	if err == nil {
		put := w.putRequest(l, newSection(bytes.NewReader(content), 0, int64(len(content))))
		o, err = c.sendPut(ctx, d, w, w.withPrecondition(put, before), l)
		if denial := refusalOf(err); denial != nil && denial.status == http.StatusNotImplemented {
			o, err = c.sendPut(ctx, d, w, put, l)
		}
	}
	switch denial := refusalOf(err); {
	case denial != nil && denial.failsCondition():
		err = errChanged()
	case err != nil:
		err = c.explainError(ctx, d, l, err)
	}
	return o, asOutputError(ctx, l, err)
}

// failsCondition reports whether a conditional upload was refused because its condition is not met. This includes the
// answers 404, by which AWS reports a deleted object, and 304, by which old versions of MinIO report an existing one.
func (r *refusal) failsCondition() bool {
	return r.status == http.StatusPreconditionFailed || r.status == http.StatusNotModified ||
		slices.Contains([]string{"NoSuchKey", "ConditionalRequestConflict", "BlobNotFound", "BlobAlreadyExists"}, r.code)
}
