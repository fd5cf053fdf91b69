package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/ufs-stream/ufs-stream/stream"
)

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
	var r *refusal
	if errors.As(err, &r) {
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
