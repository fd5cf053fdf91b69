package store

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// Stat looks up an object; ErrNotExist where there is none.
func (c *Client) Stat(ctx context.Context, l Location) (Object, error) {
	if l.Key == "" && !l.Web() {
		return Object{}, data(ctx, l, faultf("name an object of it", "this is a bucket: %w", ErrNotExist))
	}
	d, err := c.dialect(ctx, l)
	if err != nil {
		return Object{}, data(ctx, l, err)
	}
	o, err := c.stat(ctx, d, l)
	if err != nil {
		return Object{}, data(ctx, l, err)
	}
	return o, nil
}

// stat is Stat with errors that are not yet the caller's.
func (c *Client) stat(ctx context.Context, d dialect, l Location) (o Object, err error) {
	r := d.head(l)
	err = c.do(ctx, d, r, func(resp *http.Response) (err error) {
		o, err = d.object(l, resp)
		return err
	})
	if no := refusalOf(err); no != nil && r.method == http.MethodHead && needsBody(l, no) {
		o, err = c.statByRead(ctx, d, l)
	}
	return o, c.explained(ctx, d, l, err)
}

// needsBody is whether a GET says more than the answer to a HEAD, which has no body: why
// S3 refuses, or all that a web server tells where it allows no HEAD.
func needsBody(l Location, no *refusal) bool {
	if l.Web() {
		return no.status == http.StatusForbidden || no.status == http.StatusMethodNotAllowed || no.status == http.StatusNotImplemented
	}
	return no.code == "" && !no.temporary()
}

// statByRead looks up an object by a GET of its first byte.
func (c *Client) statByRead(ctx context.Context, d dialect, l Location) (o Object, err error) {
	r := d.get(Object{Location: l}, 0, 1)
	r.ok = []int{http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable}
	err = c.do(ctx, d, r, func(resp *http.Response) error {
		o = Object{Location: l, Version: d.version(resp.Header)}
		_, _, total, ok := contentRange(resp.Header)
		switch resp.StatusCode {
		case http.StatusOK:
			total, ok = resp.ContentLength, true
		case http.StatusRequestedRangeNotSatisfiable:
			ok = ok && total == 0 // of an empty object
		}
		if !ok || total < 0 {
			return noSize()
		}
		o.Size = total
		return nil
	})
	return o, err
}

func noSize() error {
	return faultf("download the file and read it from there", "the server does not say how long it is")
}

// contentRange reads "bytes 0-9/100", "bytes 0-9/*" and "bytes */100"; total is -1 for *.
// The range is [from, to).
func contentRange(h http.Header) (from, to, total int64, ok bool) {
	unit, rest, _ := strings.Cut(h.Get("Content-Range"), " ")
	span, size, found := strings.Cut(rest, "/")
	if unit != "bytes" || !found {
		return 0, 0, 0, false
	}
	total = -1
	if size != "*" {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 {
			return 0, 0, 0, false
		}
		total = n
	}
	if span == "*" {
		return 0, 0, total, true
	}
	first, last, _ := strings.Cut(span, "-")
	a, errA := strconv.ParseInt(first, 10, 64)
	b, errB := strconv.ParseInt(last, 10, 64)
	if errA != nil || errB != nil || a < 0 || b < a {
		return 0, 0, 0, false
	}
	return a, b + 1, total, true
}

// explained is err in words: a store's refusal as its dialect explains it.
func (c *Client) explained(ctx context.Context, d dialect, l Location, err error) error {
	no := refusalOf(err)
	if ctx.Err() != nil || no == nil || no.temporary() {
		return err
	}
	if b, ok := d.(interface{ bucket(Location) request }); ok && no.status == http.StatusNotFound {
		if asked := refusalOf(c.do(ctx, d, b.bucket(l), nil)); asked != nil && asked.status == http.StatusNotFound {
			return faultf("check the bucket's name", "there is no bucket %s: %w", l.Bucket, asked)
		}
	}
	if told := d.explain(l, no); told != nil {
		return told
	}
	return faultf("see what the store's documentation says about it", "the store refused: %w", no)
}
