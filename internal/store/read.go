package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// Read fills b with the object's bytes from offset at, with one ranged GET of exactly that version. If the body of the
// answer ends early, the rest is requested again, within the limit of retries.
func (c *Client) Read(ctx context.Context, o Object, b []byte, at int64) error {
	to := at + int64(len(b))
	if at < 0 || to < at || to > o.Size {
		return dataError(ctx, o.Location, fmt.Errorf("bytes %d to %d were requested of an object of %d bytes", at, to, o.Size))
	}
	return c.fetchRange(ctx, o, at, to, func(body io.Reader) (int64, error) {
		n, err := io.ReadFull(body, b)
		b = b[n:]
		return int64(n), err
	})
}

// Piece is a destination for bytes of an object.
type Piece struct {
	At int64
	To []byte
}

// ReadPieces fills pieces, which must be in order, with one ranged GET of that version, from the start of the first
// piece to the end of the last. It drops the bytes between them.
func (c *Client) ReadPieces(ctx context.Context, o Object, pieces []Piece) error {
	if len(pieces) == 0 {
		return nil
	}
	at, to := pieces[0].At, pieces[0].At
	for _, p := range pieces {
		if p.At < to || p.At > o.Size-int64(len(p.To)) || at < 0 {
			return dataError(ctx, o.Location, fmt.Errorf("%d bytes at %d are asked for of %d, behind those to %d", len(p.To), p.At, o.Size, to))
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

// Download copies the whole object to w, in order, resuming if a body ends early.
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

// writeError is an error of a download's destination, not of the store.
type writeError struct{ error }

// leastProgress is the number of bytes after which an answer that breaks off restarts the count of tries. A server that
// sends only a few bytes each time is given up.
const leastProgress = 64 << 10

// fetchRange reads the bytes [from, to) from as many answers as it needs. take reads a body, which is limited to the
// missing bytes, and returns the number of bytes read and the body's error.
func (c *Client) fetchRange(ctx context.Context, o Object, from, to int64, take func(io.Reader) (int64, error)) error {
	if err := ctx.Err(); err != nil || from == to {
		return err
	}
	d, err := c.dialectOf(ctx, o.Location)
	if err != nil {
		return dataError(ctx, o.Location, err)
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
			if from += n; n >= leastProgress {
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
			return dataError(ctx, o.Location, c.distinguishRemoved(ctx, d, o.Location, c.explainError(ctx, d, o.Location, err)))
		}
	}
	return nil
}

// distinguishRemoved replaces ErrChanged by ErrNotExist if the object does not exist any more. Some stores give the
// same answer in both cases.
func (c *Client) distinguishRemoved(ctx context.Context, d dialect, l Location, err error) error {
	if errors.Is(err, ErrChanged) {
		if _, now := c.statObject(ctx, d, l); errors.Is(now, ErrNotExist) {
			return now
		}
	}
	return err
}

// tolerantRangeRequest requests a range. It also accepts the answers about an object that has changed.
func tolerantRangeRequest(d dialect, o Object, from, to int64) request {
	r := d.rangeRequest(o, from, to)
	r.okStatuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	return r
}

// mostSkipped is the number of unwanted bytes that are read to reach the wanted ones after them, from a server that
// sends whole files only: about as many as arrive in the time of a request.
const mostSkipped = 1 << 20

// checkedRange checks that an answer has the version of o and the range, and returns the range. Bytes of earlier
// answers, done, may be skipped in addition to mostSkipped.
func checkedRange(d dialect, o Object, resp *http.Response, from, to, done int64) (io.Reader, error) {
	if v := d.versionOf(resp.Header); resp.StatusCode == http.StatusPreconditionFailed ||
		resp.StatusCode < 300 && v != "" && o.Version != "" && v != o.Version {
		return nil, errChanged()
	}
	first, last, total, ok := contentRange(resp.Header)
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil, errChanged() // the range lies within the former version of the object
	case resp.StatusCode == http.StatusOK:
		if resp.ContentLength >= 0 && resp.ContentLength != o.Size {
			return nil, errChanged()
		}
		if from > mostSkipped+done {
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
