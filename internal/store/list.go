package store

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ufs-stream/ufs-stream/stream"
)

// lister is a dialect whose store can be listed.
type lister interface {
	// list asks for the page behind after, with so many keys at most; 0 leaves it to the store.
	list(l Location, after string, most int) request
	// page reads an answer to list; after is empty where it is the last.
	page(l Location, body io.Reader) (objects []Object, after string, err error)
}

// pageQuery adds to the query of a listing the keys that l's key begins, the page behind
// after, and its size; cursor and limit are the store's words for the last two. Empty ones and
// 0 leave them to the store.
func pageQuery(query url.Values, l Location, cursor, after, limit string, most int) url.Values {
	if l.Key != "" {
		query.Set("prefix", l.Key)
	}
	if after != "" {
		query.Set(cursor, after)
	}
	if most > 0 {
		query.Set(limit, strconv.Itoa(most))
	}
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
	err = c.do(ctx, d, store.list(l, after, c.keys), func(resp *http.Response) (err error) {
		body := &remembering{Reader: resp.Body}
		objects, next, err = store.page(l, body)
		if err != nil && body.err != nil {
			return body.err
		}
		if err != nil {
			return faultf("check that the endpoint is the store's", "the store's listing cannot be read")
		}
		return nil
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
