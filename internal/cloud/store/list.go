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

// lister is a dialect whose store can list its objects.
type lister interface {
	// maxPageKeys returns the largest number of keys that the store sends in a page.
	maxPageKeys() int
	// listRequest returns the request for the page that follows the cursor after, with at most maxKeys keys.
	listRequest(l Location, after string, maxKeys int) request
	// readPage reads the answer to listRequest, entry by entry. It returns the cursor of the next page, or "" after
	// the last page.
	readPage(p *page, l Location) (after string, err error)
}

// page is a page of a listing while it is read. The limit of its bytes grows by entryBytes with each entry, so that an
// answer that never ends is refused.
type page struct {
	errorRecorder
	bytes   *boundedReader
	maxKeys int // largest number of entries
	objects []Object
}

func newPage(body io.Reader, maxKeys int) *page {
	bytes := &boundedReader{body, 8 * entryBytes} // for the text around the entries, and for bytes read ahead
	return &page{errorRecorder{Reader: bytes}, bytes, maxKeys, nil}
}

func (p *page) addObject(o Object) error {
	switch {
	case len(p.objects) >= p.maxKeys || len(o.Key) > maxKeyBytes:
		return errTooLarge()
	case o.Size < 0:
		return errNoSize()
	}
	p.objects = append(p.objects, o)
	p.bytes.left += entryBytes
	return nil
}

// maxKeyBytes is the largest length of a key in a listing, even percent-encoded. Keys have up to 1 KiB or 1,024
// characters.
const maxKeyBytes = 4 << 10

// entryBytes is the largest length of an entry in a page. An entry consists of the key, with each character escaped,
// and the other fields that the store sends.
const entryBytes = 8 << 10

// pageQuery adds three parameters to the query of a listing: the prefix (the key of l), the cursor after, and the
// size of the page. cursor and limit are the names of the last two parameters in the store's interface.
func pageQuery(query url.Values, l Location, cursor, after, limit string, maxKeys int) url.Values {
	if l.Key != "" {
		query.Set("prefix", l.Key)
	}
	if after != "" {
		query.Set(cursor, after)
	}
	query.Set(limit, strconv.Itoa(maxKeys))
	return query
}

// List yields the objects whose keys begin with the key of l, in byte order of their keys. It stores one page at a
// time. An https:// location cannot be listed: for it the error is a *stream.UsageError.
func (c *Client) List(ctx context.Context, l Location) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		d, err := c.dialectOf(ctx, l)
		if err != nil {
			yield(Object{}, asDataError(ctx, l, err))
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
				yield(Object{}, asDataError(ctx, l, c.explainError(ctx, d, l, err)))
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
	maxKeys := store.maxPageKeys()
	if c.keys > 0 {
		maxKeys = min(maxKeys, c.keys)
	}
	err = c.sendWithRetries(ctx, d, store.listRequest(l, after, maxKeys), func(resp *http.Response) (err error) {
		p := newPage(resp.Body, maxKeys)
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

// errorRecorder records the error of a reader, because a decoder may return another error instead of it.
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
