package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// Read fills b with the object's bytes from offset at, with one ranged GET of exactly that
// version. A body that ends early is asked for again from where it ended, within the bound
// on retries.
func (c *Client) Read(ctx context.Context, o Object, b []byte, at int64) error {
	to := at + int64(len(b))
	if at < 0 || to < at || to > o.Size {
		return data(ctx, o.Location, fmt.Errorf("the bytes %d to %d are asked for of %d", at, to, o.Size))
	}
	return c.fetch(ctx, o, at, to, func(body io.Reader) (int64, error) {
		n, err := io.ReadFull(body, b)
		b = b[n:]
		return int64(n), err
	})
}

// Piece is where some bytes of an object go.
type Piece struct {
	At int64
	To []byte
}

// ReadPieces fills pieces, which are in order, with one ranged GET of that version from the
// first one's begin to the last one's end. What lies between them is not kept.
func (c *Client) ReadPieces(ctx context.Context, o Object, pieces []Piece) error {
	if len(pieces) == 0 {
		return nil
	}
	at, to := pieces[0].At, pieces[0].At
	for _, p := range pieces {
		if p.At < to || p.At > o.Size-int64(len(p.To)) || at < 0 {
			return data(ctx, o.Location, fmt.Errorf("%d bytes at %d are asked for of %d, behind those to %d", len(p.To), p.At, o.Size, to))
		}
		to = p.At + int64(len(p.To))
	}
	left := slices.Clone(pieces)
	return c.fetch(ctx, o, at, to, func(body io.Reader) (done int64, err error) {
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

// Download copies the whole object to w, in order, resuming where a body ends early.
func (c *Client) Download(ctx context.Context, o Object, w io.Writer) error {
	buf := make([]byte, 128<<10)
	return c.fetch(ctx, o, 0, o.Size, func(body io.Reader) (n int64, err error) {
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

// writeError is of what a download is written to, not of the store.
type writeError struct{ error }

// How many bytes an answer must have brought before it broke off for the tries to be
// counted anew: a server that sends a few each time is given up.
const progress = 64 << 10

// fetch takes the bytes [from, to) out of as many answers as it needs. take reads a body,
// which has no more bytes than are still wanted, says how many it took, and returns the
// body's error.
func (c *Client) fetch(ctx context.Context, o Object, from, to int64, take func(io.Reader) (int64, error)) error {
	if err := ctx.Err(); err != nil || from == to {
		return err
	}
	d, err := c.dialect(ctx, o.Location)
	if err != nil {
		return data(ctx, o.Location, err)
	}
	t := c.tries()
	begin := from
	for from < to {
		err := c.once(ctx, d, rangeOf(d, o, from, to), func(resp *http.Response) error {
			body, err := ranged(d, o, resp, from, to, from-begin)
			if err != nil {
				return err
			}
			n, err := take(body)
			if from += n; n >= progress {
				t.progressed()
			}
			if from < to && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				return &lost{fmt.Errorf("the answer ended %d bytes early", to-from)}
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
		if err = t.again(ctx, err); err != nil {
			return data(ctx, o.Location, c.gone(ctx, d, o.Location, c.explained(ctx, d, o.Location, err)))
		}
	}
	return nil
}

// gone tells a removed object from a replaced one: to some stores both are no match.
func (c *Client) gone(ctx context.Context, d dialect, l Location, err error) error {
	if errors.Is(err, ErrChanged) {
		if _, now := c.stat(ctx, d, l); errors.Is(now, ErrNotExist) {
			return now
		}
	}
	return err
}

// rangeOf is the request for a range. Its answer is good also where the object changed.
func rangeOf(d dialect, o Object, from, to int64) request {
	r := d.get(o, from, to)
	r.ok = []int{http.StatusOK, http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable}
	return r
}

// How many bytes that nobody asked for are read to get at those behind them, from a server
// that sends whole files only: as much as comes in about the time of a request.
const skippable = 1 << 20

// ranged checks that an answer is of the version o and of the range, and returns the range.
// What an earlier answer brought already, done, may be skipped beyond what is usual.
func ranged(d dialect, o Object, resp *http.Response, from, to, done int64) (io.Reader, error) {
	if v := d.version(resp.Header); resp.StatusCode == http.StatusPreconditionFailed ||
		resp.StatusCode < 300 && v != "" && o.Version != "" && v != o.Version {
		return nil, changed()
	}
	first, last, total, ok := contentRange(resp.Header)
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return nil, changed() // the range is within the object as it was
	case resp.StatusCode == http.StatusOK:
		if resp.ContentLength >= 0 && resp.ContentLength != o.Size {
			return nil, changed()
		}
		if from > skippable+done {
			return nil, faultf("download the file and read it from there", "the server sends whole files only, not the parts of them that are asked for")
		}
		if _, err := io.CopyN(io.Discard, resp.Body, from); err != nil {
			if errors.Is(err, io.EOF) {
				err = &lost{errors.New("the answer ended early")}
			}
			return nil, err
		}
		return io.LimitReader(resp.Body, to-from), nil
	case !ok || first != from || last > to:
		return nil, faultf("download the file and read it from there", "the server sends another part of the file than it was asked for")
	case total >= 0 && total != o.Size:
		return nil, changed()
	}
	return io.LimitReader(resp.Body, last-first), nil
}

func changed() error {
	return faultf("run again, when nobody writes to it", "%w", ErrChanged)
}
