package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// Read fills b with the bytes of the object from the offset `at` on, by one ranged GET of exactly the version of o. If
// the answer breaks off, it requests the missing bytes again, within the limit of retries.
func (c *Client) Read(ctx context.Context, o Object, b []byte, at int64) error {
	to := at + int64(len(b))
	if at < 0 || to < at || to > o.Size {
		return asDataError(ctx, o.Location, fmt.Errorf("bytes %d to %d were requested of an object of %d bytes", at, to, o.Size))
	}
	return c.fetchRange(ctx, o, at, to, func(body io.Reader) (int64, error) {
		n, err := io.ReadFull(body, b)
		b = b[n:]
		return int64(n), err
	})
}

// Piece is a range of an object, at offset At, and the memory To into which its bytes are read.
type Piece struct {
	At int64
	To []byte
}

// ReadPieces fills the pieces, which must be sorted by offset, by one ranged GET of exactly the version of o. The
// requested range extends from the start of the first piece to the end of the last. Bytes between pieces are dropped.
func (c *Client) ReadPieces(ctx context.Context, o Object, pieces []Piece) error {
	if len(pieces) == 0 {
		return nil
	}
	at, to := pieces[0].At, pieces[0].At
	for _, p := range pieces {
		if p.At < to || p.At > o.Size-int64(len(p.To)) || at < 0 {
			return asDataError(ctx, o.Location, fmt.Errorf("%d bytes at %d were requested of %d, after the bytes up to %d", len(p.To), p.At, o.Size, to))
		}
		to = p.At + int64(len(p.To))
	}
	left := slices.Clone(pieces)
	return c.fetchRange(ctx, o, at, to, func(body io.Reader) (done int64, err error) {
		for len(left) > 0 && err == nil {
			var n int64
			if p := &left[0]; at < p.At {
				n, err = io.CopyN(io.Discard, body, p.At-at)
			} else {
				var k int
				k, err = io.ReadFull(body, p.To)
				n, p.At, p.To = int64(k), p.At+int64(k), p.To[k:]
				if len(p.To) == 0 {
					left = left[1:]
				}
			}
			at, done = at+n, done+n
		}
		return done, err
	})
}

// Download copies the whole object to w, in order. If an answer breaks off, it requests the missing bytes again.
func (c *Client) Download(ctx context.Context, o Object, w io.Writer) error {
	buf := make([]byte, 128<<10)
	return c.fetchRange(ctx, o, 0, o.Size, func(body io.Reader) (n int64, err error) {
		for {
			k, err := body.Read(buf)
			if k > 0 {
				if _, err := w.Write(buf[:k]); err != nil {
					return n, &writeError{err}
				}
			}
			n += int64(k)
			if err != nil {
				return n, err
			}
		}
	})
}

// writeError is an error of the writer to which a download is copied, not an error of the store.
type writeError struct{ error }

// minProgress is a number of bytes. If an answer breaks off after at least this many bytes, the count of tries
// restarts. So a server that sends only a few bytes in each answer is given up after some tries.
const minProgress = 64 << 10

// fetchRange reads the bytes [from, to), in several answers if answers break off. For each answer it calls the function
// take with a body that ends after the missing bytes. take must return the number of bytes that it read from the body
// and the error of the body.
func (c *Client) fetchRange(ctx context.Context, o Object, from, to int64, take func(io.Reader) (int64, error)) error {
	if err := ctx.Err(); err != nil || from == to {
		return err
	}
	d, err := c.dialectOf(ctx, o.Location)
	if err != nil {
		return asDataError(ctx, o.Location, err)
	}
	t := c.newTries()
	begin := from
	for from < to {
		err := c.sendOnce(ctx, d, tolerantRangeRequest(d, o, from, to), func(resp *http.Response) error {
			body, err := checkedRange(d, o, resp, from, to, from-begin)
			if err != nil {
				return err
			}
			n, err := take(body)
			if from += n; n >= minProgress {
				t.restartCount()
			}
			if from < to && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				return &lostRequest{fmt.Errorf("the answer ended %d bytes early", to-from)}
			}
			if from == to {
				return nil
			}
			return err
		})
		if err == nil {
			continue
		}
		var write *writeError
		if errors.As(err, &write) && ctx.Err() == nil {
			return write.error
		}
		if err = t.waitToRetry(ctx, err); err != nil {
			return asDataError(ctx, o.Location, c.distinguishRemoved(ctx, d, o.Location, c.explainError(ctx, d, o.Location, err)))
		}
	}
	return nil
}

// distinguishRemoved replaces ErrChanged by ErrNotExist if the object does not exist any more. Some stores send the
// same answer in both cases.
func (c *Client) distinguishRemoved(ctx context.Context, d dialect, l Location, err error) error {
	if errors.Is(err, ErrChanged) {
		if _, now := c.statObject(ctx, d, l); errors.Is(now, ErrNotExist) {
			return now
		}
	}
	return err
}

// tolerantRangeRequest returns a request for a range. Its accepted statuses include the statuses of answers about an
// object that has changed.
func tolerantRangeRequest(d dialect, o Object, from, to int64) request {
	r := d.rangeRequest(o, from, to)
	r.okStatuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	return r
}

// maxSkipped is the number of bytes before the requested range that are read and dropped if a server sends the whole
// file. Reading this number of bytes takes about as long as sending one further request.
const maxSkipped = 1 << 20

// checkedRange checks that an answer has the version of o and the bytes [from, to), and returns a reader of these
// bytes. If a server sends the whole file, the bytes before the position `from` are skipped, at most maxSkipped bytes.
// In addition it skips the bytes that earlier answers delivered, whose number is `done`.
func checkedRange(d dialect, o Object, resp *http.Response, from, to, done int64) (io.Reader, error) {
	if v := d.versionOf(resp.Header); resp.StatusCode == http.StatusPreconditionFailed ||
		resp.StatusCode < 300 && v != "" && o.Version != "" && v != o.Version {
		return nil, errChanged()
	}
	first, last, total, ok := contentRange(resp.Header)
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil, errChanged() // the range exists in the version of o, so the object was replaced
	case resp.StatusCode == http.StatusOK:
		if resp.ContentLength >= 0 && resp.ContentLength != o.Size {
			return nil, errChanged()
		}
		if from > maxSkipped+done {
			return nil, faultf("download the file and read it from there", "the server sends whole files only, not the requested parts")
		}
		if _, err := io.CopyN(io.Discard, resp.Body, from); err != nil {
			if errors.Is(err, io.EOF) {
				err = &lostRequest{errors.New("the answer ended early")}
			}
			return nil, err
		}
		return io.LimitReader(resp.Body, to-from), nil
	case !ok || first != from || last > to:
		return nil, faultf("download the file and read it from there", "the server sent another part of the file than requested")
	case total >= 0 && total != o.Size:
		return nil, errChanged()
	}
	return io.LimitReader(resp.Body, last-first), nil
}

func errChanged() error {
	return faultf("run again while nobody writes to it", "%w", ErrChanged)
}
