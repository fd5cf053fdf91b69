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

// patience is how long requests are sent again. Tests have less of it.
type patience struct {
	first, longest time.Duration // waits between tries: doubling from the first to the longest
	tries          int           // that are made without progress
	bound          time.Duration // no wait ends later than this after the first failure
	stall          time.Duration // without a byte, after which a request is given up
}

var usualPatience = patience{
	first: 100 * time.Millisecond, longest: 5 * time.Second,
	tries: 10, bound: 30 * time.Second, stall: 30 * time.Second,
}

// tries are the tries of one request.
type tries struct {
	patience
	meter *stream.Meter
	done  int
	since time.Time // of the first failure
}

func (c *Client) tries() *tries { return &tries{patience: c.patience, meter: c.opt.Meter} }

// progressed begins the count of tries anew: some of what was asked for has come.
func (t *tries) progressed() { t.done = 0 }

// again waits until it is time to try again, and returns nil; or it returns the error that
// there is to report. The wait varies by a quarter, so that many requests that failed at
// the same moment do not come back at the same moment.
func (t *tries) again(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !temporary(err) {
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
		return &exhausted{t.done, now.Sub(t.since), err}
	}
	wait := min(t.first<<(t.done-1), t.longest)
	wait = time.Duration(float64(wait) * (0.75 + rand.Float64()/2))
	var r *refusal
	if errors.As(err, &r) {
		wait = max(wait, r.after)
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

// do sends a request until it is answered well and the answer was read by use, which may be
// nil and is called again for every try.
func (c *Client) do(ctx context.Context, d dialect, r request, use func(*http.Response) error) error {
	if use == nil {
		use = func(*http.Response) error { return nil }
	}
	t := c.tries()
	for {
		err := c.once(ctx, d, r, use)
		if err == nil {
			return nil
		}
		if err = t.again(ctx, err); err != nil {
			return err
		}
	}
}

// exhausted is an error that came again and again.
type exhausted struct {
	tries int
	over  time.Duration
	err   error
}

func (e *exhausted) Error() string {
	return fmt.Sprintf("given up after %d tries over %v: %v", e.tries, e.over.Round(100*time.Millisecond), e.err)
}

func (e *exhausted) Unwrap() error { return e.err }
