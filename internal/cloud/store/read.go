package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Read fills b with the bytes of the object from the offset `at` on, by one ranged GET of exactly the version of o. If
// the answer breaks off, it requests the missing bytes again, within the limit of retries.
func (c *Client) Read(ctx context.Context, o Object, b []byte, at int64) error {
	to := at + int64(len(b))
	if at < 0 || to < at || to > o.Size {
		return asDataError(ctx, o.Location, fmt.Errorf("bytes %d to %d were requested of an object of %d bytes", at, to, o.Size))
	}
	return c.fetchRange(ctx, &o, at, to, fillBytes(b))
}

// ReadEnd fills b with the end of an object whose size is known, such as from the log of a table, and sets its version.
// The error wraps ErrChanged if it has another size.
func (c *Client) ReadEnd(ctx context.Context, o *Object, b []byte) error {
	return c.fetchRange(ctx, o, o.Size-int64(len(b)), o.Size, fillBytes(b))
}

func fillBytes(b []byte) func(io.Reader) (int64, error) {
	return func(body io.Reader) (int64, error) {
		n, err := io.ReadFull(body, b)
		b = b[n:]
		return int64(n), err
	}
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
	return c.fetchRange(ctx, &o, at, to, func(body io.Reader) (done int64, err error) {
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
	return c.fetchRange(ctx, &o, 0, o.Size, func(body io.Reader) (n int64, err error) {
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
// and the error of the body. If o has no version, it gets the version of the first answer.
func (c *Client) fetchRange(ctx context.Context, o *Object, from, to int64, take func(io.Reader) (int64, error)) error {
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
		err := c.sendOnce(ctx, d, tolerantRangeRequest(d, *o, from, to), func(resp *http.Response) error {
			body, err := checkedRange(d, *o, resp, from, to, from-begin)
			if err != nil {
				return err
			}
			o.Version = cmp.Or(o.Version, d.versionOf(resp.Header))
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

func (c *Client) statObject(ctx context.Context, d dialect, l Location) (o Object, err error) {
	r := d.headRequest(l)
	err = c.sendWithRetries(ctx, d, r, func(resp *http.Response) (err error) {
		o, err = d.readObject(l, resp)
		return err
	})
	if denial := refusalOf(err); denial != nil && r.method == http.MethodHead && needsBody(l, denial) {
		o, err = c.statByReading(ctx, d, l)
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

func (c *Client) statByReading(ctx context.Context, d dialect, l Location) (o Object, err error) {
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

func (c *Client) fetchPage(ctx context.Context, d dialect, store lister, l Location, cursor string) (objects []Object, nextCursor string, err error) {
	maxKeys := store.maxPageKeys()
	if c.keys > 0 {
		maxKeys = min(maxKeys, c.keys)
	}
	err = c.sendWithRetries(ctx, d, store.listRequest(l, cursor, maxKeys), func(resp *http.Response) (err error) {
		p := newPage(resp.Body, maxKeys)
		nextCursor, err = store.readPage(p, l)
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
	return objects, nextCursor, err
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
