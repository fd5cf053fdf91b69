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
	// mostKeys is how many keys a page of the store has at most.
	mostKeys() int
	// list asks for the page that follows after, with a bound on its keys.
	list(l Location, after string, most int) request
	// read reads an answer to list, entry by entry; after is empty where it is the last.
	read(p *page, l Location) (after string, err error)
}

// page is one on its way. How much of it is read grows with its entries: what no page can have is
// neither kept nor waited for.
type page struct {
	remembering
	bytes   *bounded
	most    int // entries
	objects []Object
}

func newPage(body io.Reader, most int) *page {
	bytes := &bounded{body, 8 * entryBytes} // of what stands around the entries, and what is read ahead
	return &page{remembering{Reader: bytes}, bytes, most, nil}
}

// add takes an entry.
func (p *page) add(o Object) error {
	switch {
	case len(p.objects) >= p.most || len(o.Key) > longestKey:
		return errTooLarge()
	case o.Size < 0:
		return noSize()
	}
	p.objects = append(p.objects, o)
	p.bytes.left += entryBytes
	return nil
}

// longestKey is the most bytes of a key, percent-encoded too: keys have 1 KiB, and Azure's 1,024
// characters.
const longestKey = 4 << 10

// entryBytes is what an entry of a page may take in it: the key, with each character in an escape,
// and what the store adds to it.
const entryBytes = 8 << 10

// pageQuery adds to the query of a listing the keys that l's key begins, the page behind
// after, and its size; cursor and limit are the store's words for the last two.
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

// List yields the objects whose keys begin with l's key, in byte order of their keys, as
// the pages arrive. It holds one page. https:// cannot be listed: a *stream.UsageError.
func (c *Client) List(ctx context.Context, l Location) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		d, err := c.dialect(ctx, l)
		if err != nil {
			yield(Object{}, data(ctx, l, err))
			return
		}
		store, ok := d.(lister)
		if !ok {
			yield(Object{}, stream.Usagef("%s: %s:// cannot be listed: name each file", l.Name(), l.Scheme))
			return
		}
		for after, more := "", true; more; more = after != "" {
			objects, next, err := c.page(ctx, d, store, l, after)
			if err == nil && next != "" && next == after {
				err = faultf("", "the store's listing does not end: it tells the same next page again")
			}
			if err != nil {
				yield(Object{}, data(ctx, l, c.explained(ctx, d, l, err)))
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

// page asks for one page, again where it breaks off.
func (c *Client) page(ctx context.Context, d dialect, store lister, l Location, after string) (objects []Object, next string, err error) {
	most := store.mostKeys()
	if c.keys > 0 {
		most = min(most, c.keys)
	}
	err = c.do(ctx, d, store.list(l, after, most), func(resp *http.Response) (err error) {
		p := newPage(resp.Body, most)
		next, err = store.read(p, l)
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

// remembering keeps a reader's error, which a decoder may hide in its own.
type remembering struct {
	io.Reader
	err error
}

func (r *remembering) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract: EOF itself
		r.err = err
	}
	return n, err
}
