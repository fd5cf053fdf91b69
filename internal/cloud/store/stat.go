package store

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// Stat looks up an object. The error wraps ErrNotExist if the object does not exist.
func (c *Client) Stat(ctx context.Context, l Location) (Object, error) {
	if l.Key == "" && !l.IsWeb() {
		return Object{}, asDataError(ctx, l, faultf("name an object of it", "this is a bucket: %w", ErrNotExist))
	}
	d, err := c.dialectOf(ctx, l)
	if err != nil {
		return Object{}, asDataError(ctx, l, err)
	}
	o, err := c.statObject(ctx, d, l)
	if err != nil {
		return Object{}, asDataError(ctx, l, err)
	}
	return o, nil
}

// statObject does the work of Stat, without translating errors for callers.
func (c *Client) statObject(ctx context.Context, d dialect, l Location) (o Object, err error) {
	r := d.headRequest(l)
	err = c.sendWithRetries(ctx, d, r, func(resp *http.Response) (err error) {
		o, err = d.readObject(l, resp)
		return err
	})
	if denial := refusalOf(err); denial != nil && r.method == http.MethodHead && needsBody(l, denial) {
		o, err = c.statByRead(ctx, d, l)
	}
	return o, c.explainError(ctx, d, l, err)
}

// needsBody reports whether a GET may give more information than a HEAD request, whose refusal is the parameter `no`.
// The answer to a HEAD request has no body. With S3 the body contains the reason of the refusal. Some web servers do
// not allow HEAD at all.
func needsBody(l Location, no *refusal) bool {
	if l.IsWeb() {
		return no.status == http.StatusForbidden || no.status == http.StatusMethodNotAllowed || no.status == http.StatusNotImplemented
	}
	return no.code == "" && !no.isTemporary()
}

func (c *Client) statByRead(ctx context.Context, d dialect, l Location) (o Object, err error) {
	r := d.rangeRequest(Object{Location: l}, 0, 1)
	r.okStatuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable}
	err = c.sendWithRetries(ctx, d, r, func(resp *http.Response) error {
		o = Object{Location: l, Version: d.versionOf(resp.Header)}
		_, _, total, ok := contentRange(resp.Header)
		switch resp.StatusCode {
		case http.StatusOK:
			total, ok = resp.ContentLength, true
		case http.StatusRequestedRangeNotSatisfiable:
			ok = ok && total == 0 // an empty object
		}
		if !ok || total < 0 {
			return errNoSize()
		}
		o.Size = total
		return nil
	})
	return o, err
}

func errNoSize() error {
	return faultf("download the file and read it from there", "the server does not report the file's length")
}

// contentRange parses the header Content-Range: "bytes 0-9/100", "bytes 0-9/*" or "bytes */100". The range is [from,
// to). total is the size of the object, or -1 for *.
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

// explainError lets the dialect explain a refusal, and returns other errors unchanged.
func (c *Client) explainError(ctx context.Context, d dialect, l Location, err error) error {
	denial := refusalOf(err)
	if ctx.Err() != nil || denial == nil || denial.isTemporary() {
		return err
	}
	if b, ok := d.(interface{ bucketRequest(Location) request }); ok && denial.status == http.StatusNotFound {
		if bucketDenial := refusalOf(c.sendWithRetries(ctx, d, b.bucketRequest(l), nil)); bucketDenial != nil && bucketDenial.status == http.StatusNotFound {
			return faultf("check the bucket's name", "there is no bucket %s: %w", l.Bucket, bucketDenial)
		}
	}
	if explained := d.explainRefusal(l, denial); explained != nil {
		return explained
	}
	return faultf("see what the store's documentation says about it", "the store refused: %w", denial)
}
