package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ufs-stream/ufs-stream/stream"
)

// lister is a dialect whose store can be listed.
type lister interface {
	// mostKeys is the largest number of keys in a page of the store.
	mostKeys() int
	// listRequest returns the request for the page after the cursor after, with at most most keys.
	listRequest(l Location, after string, most int) request
	// readPage reads an answer to listRequest, entry by entry. after is the next cursor, empty on the last page.
	readPage(p *page, l Location) (after string, err error)
}

// page is a page that is being read. Its limit of bytes grows with each entry read, so that an endless answer is
// neither stored nor read to its end.
type page struct {
	errorRecorder
	bytes   *boundedReader
	most    int // largest number of entries
	objects []Object
}

func newPage(body io.Reader, most int) *page {
	bytes := &boundedReader{body, 8 * entryBytes} // for the text around the entries, and read-ahead
	return &page{errorRecorder{Reader: bytes}, bytes, most, nil}
}

func (p *page) addObject(o Object) error {
	switch {
	case len(p.objects) >= p.most || len(o.Key) > longestKey:
		return errTooLarge()
	case o.Size < 0:
		return errNoSize()
	}
	p.objects = append(p.objects, o)
	p.bytes.left += entryBytes
	return nil
}

// longestKey bounds the bytes of a key, also percent-encoded: keys have up to 1 KiB, or 1,024 characters in Azure.
const longestKey = 4 << 10

// entryBytes bounds the bytes of an entry in a page: the key, with each character escaped, and the store's further
// fields.
const entryBytes = 8 << 10

// pageQuery adds to the query of a listing the prefix, l's key, the page to follow, and the page's size; cursor and
// limit are the store's words for the last two.
func pageQuery(query url.Values, l Location, cursor, after, limit string, most int) url.Values {
	if l.Key != "" {
		query.Set("prefix", l.Key)
	}
	if after != "" {
		query.Set(cursor, after)
	}
	query.Set(limit, strconv.Itoa(most))
	return query
}

// List yields the objects whose keys begin with l's key, in byte order of their keys, as the pages arrive.
// It stores one page at a time. For https://, which cannot be listed, the error is a *stream.UsageError.
func (c *Client) List(ctx context.Context, l Location) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		d, err := c.dialectOf(ctx, l)
		if err != nil {
			yield(Object{}, dataError(ctx, l, err))
			return
		}
		store, ok := d.(lister)
		if !ok {
			yield(Object{}, stream.Usagef("%s: %s:// cannot be listed: name each file", l.PublicName(), l.Scheme))
			return
		}
		for after, more := "", true; more; more = after != "" {
			objects, next, err := c.fetchPage(ctx, d, store, l, after)
			if err == nil && next != "" && next == after {
				err = faultf("", "the store's listing does not end: it names the same next page again")
			}
			if err != nil {
				yield(Object{}, dataError(ctx, l, c.explainError(ctx, d, l, err)))
				return
			}
			for _, o := range objects {
				if !yield(o, nil) {
					return
				}
			}
			after = next
		}
	}
}

func (c *Client) fetchPage(ctx context.Context, d dialect, store lister, l Location, after string) (objects []Object, next string, err error) {
	most := store.mostKeys()
	if c.keys > 0 {
		most = min(most, c.keys)
	}
	err = c.sendWithRetries(ctx, d, store.listRequest(l, after, most), func(resp *http.Response) (err error) {
		p := newPage(resp.Body, most)
		next, err = store.readPage(p, l)
		objects = p.objects
		var f *fault
		switch {
		case err == nil || errors.As(err, &f):
			return err
		case p.err != nil:
			return p.err
		}
		return faultf("check that the endpoint is the store's", "the store's listing cannot be read")
	})
	return objects, next, err
}

// errorRecorder records the error of a reader, because a decoder may hide it in its own error.
type errorRecorder struct {
	io.Reader
	err error
}

func (r *errorRecorder) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		r.err = err
	}
	return n, err
}
