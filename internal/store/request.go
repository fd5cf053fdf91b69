package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// request is a request as a dialect wants it. The core signs and sends it, again if need be.
type request struct {
	method string
	url    *url.URL
	header map[string]string
	body   *section // nil for none
	ok     []int    // the statuses of good answers; none means all of 200 to 299
	slow   bool     // the store may work for minutes before it answers
	bare   bool     // is not to be signed
	follow bool     // to where the server redirects
	// Once it is sent whole, its answer is waited for so long even when cancelled.
	settle time.Duration
}

// section is a body. It is read by its ReadAt only, so that tries do not disturb each other.
type section = io.SectionReader

func newSection(r io.ReaderAt, from, n int64) *section { return io.NewSectionReader(r, from, n) }

// Requests name objects by paths that are escaped byte for byte: url.URL keeps them.
func addressOf(base *url.URL, escaped string, query url.Values) *url.URL {
	u := *base
	u.RawPath = u.EscapedPath() + escaped
	path, err := url.PathUnescape(u.RawPath)
	if err != nil {
		path = u.RawPath // not reached: what was escaped can be unescaped
	}
	u.Path = path
	u.RawQuery = query.Encode()
	return &u
}

func (r request) good(status int) bool {
	if len(r.ok) > 0 {
		return slices.Contains(r.ok, status)
	}
	return status >= 200 && status < 300
}

// once sends a request one time and hands a good answer to use, which reads its body. Other
// answers are a *refusal, and whatever the network does is a *lost.
func (c *Client) once(ctx context.Context, d dialect, r request, use func(*http.Response) error) error {
	wait := c.patience.stall
	if r.slow {
		wait *= 20
	}
	parent := ctx
	if r.settle > 0 {
		parent = context.WithoutCancel(ctx)
	}
	inner, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	dog := &watchdog{wait: wait, timer: time.AfterFunc(wait, func() { cancel(&lost{fmt.Errorf("no byte came or went for %v", wait)}) })}
	defer dog.timer.Stop()
	sent := newSending(r.body, dog)
	defer sent.end()
	if r.settle > 0 {
		defer context.AfterFunc(ctx, func() { sent.giveUp(r.settle, func() { cancel(nil) }) })()
	}

	req, err := r.build(inner, sent)
	if err != nil {
		return err
	}
	if !r.bare {
		if err := d.sign(inner, req, r.body); err != nil {
			return err
		}
		dog.kick() // finding credentials and hashing the body took time of ours
	}
	client := c.stores
	if r.follow {
		client, req = c.web, withReach(req)
	}
	resp, err := client.Do(req) //nolint:bodyclose // finish closes it
	if err != nil {
		if failed := sent.failure(); failed != nil {
			return fmt.Errorf("what is to be written cannot be read: %w", failed)
		}
		return network(ctx, inner, err)
	}
	body := &watched{ReadCloser: resp.Body, dog: dog, outer: ctx, inner: inner}
	resp.Body = body
	defer body.finish()
	if !r.good(resp.StatusCode) {
		return readRefusal(req, resp)
	}
	return use(resp)
}

func (r request) build(ctx context.Context, sent *sending) (*http.Request, error) {
	var body io.Reader
	if r.body != nil && r.body.Size() > 0 {
		body = sent
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, errors.New("the address cannot be asked for: it has characters that no URL may have")
	}
	exact := *r.url
	req.URL = &exact
	if body != nil {
		req.ContentLength = r.body.Size()
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "ufs-stream")
	return req, nil
}

// watchdog ends a request that makes no progress.
type watchdog struct {
	timer *time.Timer
	wait  time.Duration
}

func (w *watchdog) kick() { w.timer.Reset(w.wait) }
