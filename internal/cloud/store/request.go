package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

// request describes a request of a dialect. The Client signs and sends it, with retries.
type request struct {
	method           string
	url              *url.URL
	header           map[string]string
	body             *section // or nil
	okStatuses       []int    // the statuses of accepted answers; empty means 200 to 299
	isSlow           bool     // the store may work for minutes before it answers
	isUnsigned       bool     // the request must not be signed
	followsRedirects bool     // redirects of the server are followed
	// answerWait is the time to wait for the answer after the whole body is sent, even if the context is cancelled.
	answerWait time.Duration
}

// section is the body of a request. Only its method ReadAt is called. ReadAt neither uses nor changes a position, so
// several tries can read the same section independently.
type section = io.SectionReader

func newSection(r io.ReaderAt, from, n int64) *section { return io.NewSectionReader(r, from, n) }

// addressOf appends an escaped path to the path of base. Names of objects are escaped byte for byte, and url.URL
// keeps these escapes.
func addressOf(base *url.URL, escaped string, query url.Values) *url.URL {
	u := *base
	u.RawPath = u.EscapedPath() + escaped
	path, err := url.PathUnescape(u.RawPath)
	if err != nil {
		path = u.RawPath // not reached: an escaped path can be unescaped
	}
	u.Path = path
	u.RawQuery = query.Encode()
	return &u
}

func (r request) acceptsStatus(status int) bool {
	if len(r.okStatuses) > 0 {
		return slices.Contains(r.okStatuses, status)
	}
	return status >= 200 && status < 300
}

// sendOnce sends a request once. If the status of the answer is accepted, it calls use, which reads the body. For
// other statuses the error is a *refusal, and for faults of the network a *lostRequest.
func (c *Client) sendOnce(ctx context.Context, d dialect, r request, use func(*http.Response) error) error {
	wait := c.patience.stall
	if r.isSlow {
		wait *= 20
	}
	parent := ctx
	if r.answerWait > 0 {
		parent = context.WithoutCancel(ctx)
	}
	inner, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	dog := &watchdog{wait: wait, timer: time.AfterFunc(wait, func() { cancel(&lostRequest{fmt.Errorf("no byte was sent or received for %v", wait)}) })}
	defer dog.timer.Stop()
	sent := newSendingBody(r.body, dog)
	defer sent.stopReading()
	if r.answerWait > 0 {
		defer context.AfterFunc(ctx, func() { sent.giveUp(r.answerWait, func() { cancel(nil) }) })()
	}

	req, err := r.buildHTTP(inner, sent)
	if err != nil {
		return err
	}
	if !r.isUnsigned {
		if err := d.signRequest(inner, req, r.body); err != nil {
			return err
		}
		dog.resetTimer() // the time for finding credentials and hashing the body does not count
	}
	client := c.stores
	if r.followsRedirects {
		client, req = c.web, withReach(req)
	}
	resp, err := client.Do(req) //nolint:bodyclose // drainAndClose closes it
	if err != nil {
		if failed := sent.sourceError(); failed != nil {
			return fmt.Errorf("the data to be written cannot be read: %w", failed)
		}
		return asNetworkError(ctx, inner, err)
	}
	body := &watchedBody{ReadCloser: resp.Body, dog: dog, outer: ctx, inner: inner}
	resp.Body = body
	defer body.drainAndClose()
	if !r.acceptsStatus(resp.StatusCode) {
		return readRefusal(req, resp)
	}
	return use(resp)
}

func (r request) buildHTTP(ctx context.Context, sent *sendingBody) (*http.Request, error) {
	var body io.Reader
	if r.body != nil && r.body.Size() > 0 {
		body = sent
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, errors.New("the address has characters that no URL may have")
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

// watchdog cancels a request that makes no progress.
type watchdog struct {
	timer *time.Timer
	wait  time.Duration
}

func (w *watchdog) resetTimer() { w.timer.Reset(w.wait) }

// patience contains the limits of retries. Tests use smaller limits.
type patience struct {
	first, longest time.Duration // first and longest wait between tries; the wait is doubled after each try
	tries          int           // largest number of tries without progress
	bound          time.Duration // no wait ends later than this after the first failure
	stall          time.Duration // time without a byte after which a request is given up
}

var usualPatience = patience{
	first: 100 * time.Millisecond, longest: 5 * time.Second,
	tries: 10, bound: 30 * time.Second, stall: 30 * time.Second,
}

// tries counts the tries of one request, and decides whether another try is made.
type tries struct {
	patience
	meter *stream.Meter
	done  int
	since time.Time // time of the first failure since the count restarted
}

func (c *Client) newTries() *tries { return &tries{patience: c.patience, meter: c.opt.Meter} }

func (t *tries) restartCount() { t.done = 0 }

// waitToRetry waits until the request should be tried again, and returns nil. If the request should not be tried again
// after the error err, it returns the error to report. The wait varies at random by a quarter, so that requests that
// failed together are not repeated together.
func (t *tries) waitToRetry(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !isTemporary(err) {
		return err
	}
	now := time.Now()
	if t.done++; t.done == 1 {
		t.since = now
	}
	left := t.bound - now.Sub(t.since)
	if t.done >= t.tries || left <= 0 {
		if t.done == 1 {
			return err
		}
		return &exhaustedError{t.done, now.Sub(t.since), err}
	}
	wait := min(t.first<<(t.done-1), t.longest)
	wait = time.Duration(float64(wait) * (0.75 + rand.Float64()/2))
	if r, ok := errors.AsType[*refusal](err); ok {
		wait = max(wait, r.retryAfter)
	}
	timer := time.NewTimer(min(wait, left))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	t.meter.Retries.Add(1)
	return nil
}

// sendWithRetries sends a request until it gets an accepted answer and the function use has read it without an error.
// It may call use in several tries. If use is nil, the answer is not read.
func (c *Client) sendWithRetries(ctx context.Context, d dialect, r request, use func(*http.Response) error) error {
	if use == nil {
		use = func(*http.Response) error { return nil }
	}
	t := c.newTries()
	for {
		err := c.sendOnce(ctx, d, r, use)
		if err == nil {
			return nil
		}
		if err = t.waitToRetry(ctx, err); err != nil {
			return err
		}
	}
}

// exhaustedError reports the last error after all tries have failed.
type exhaustedError struct {
	tries int
	over  time.Duration
	err   error
}

func (e *exhaustedError) Error() string {
	return fmt.Sprintf("given up after %d tries over %v: %v", e.tries, e.over.Round(100*time.Millisecond), e.err)
}

func (e *exhaustedError) Unwrap() error { return e.err }
