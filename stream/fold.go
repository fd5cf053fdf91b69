package stream

import (
	"context"
	"sync/atomic"
	"time"
)

// Adder is a statistic that grows by chunks. Add must not refer to the chunk after it returns, and leaves the statistic
// unchanged if it fails.
type Adder interface {
	Add(*Chunk) error
}

// Meter counts the work of a run during the run. All fields may be read at any time; a nil *Meter counts nothing.
type Meter struct {
	Rows       atomic.Int64 // rows folded, dropped rows included
	Bytes      atomic.Int64 // bytes read from the input
	Decode     atomic.Int64 // busy nanoseconds of decoding, all workers together
	Accumulate atomic.Int64 // busy nanoseconds inside Adders (wall time of the fold's steps)
	Busy       Busy         // by part

	// Traffic with object stores.
	Fetched  atomic.Int64 // bytes of answers' bodies, including failed requests
	Requests atomic.Int64 // requests sent, including retries
	Retries  atomic.Int64 // requests sent again
}

// FoldOptions sets the rows and callbacks of Fold; with the zero value Fold folds all rows.
type FoldOptions struct {
	Range Range  // rows to fold; zero means all
	Meter *Meter // nil counts nothing
	// Next resumes an interrupted fold: the position of the first row to fold, as After received it. Zero folds from
	// the beginning.
	Next int64
	// After is called after every chunk has been added, with the position after the block's last row. An error of After
	// ends the fold. After may be nil.
	After func(next int64) error
}

// Fold passes the chunks of src to every adder, in order, and stops at the first error. Sums are rounded in the order
// of the blocks, so two folds of the same source give the same bits.
func Fold(ctx context.Context, src Source, opt FoldOptions, adders ...Adder) error {
	if !opt.Range.All() && opt.Range.From == opt.Range.To {
		return nil
	}
	rows := opt.Range
	if opt.Next > 0 {
		if rows = remainingRange(src.Cuts(), rows, opt.Next); rows.From == rows.To {
			return ctx.Err()
		}
	}
	for c, err := range src.Chunks(ctx, rows) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if c.Start < opt.Next { // folded before the interruption
			continue
		}
		start := time.Now()
		for _, a := range adders {
			if err := a.Add(c); err != nil {
				return err
			}
		}
		if opt.Meter != nil {
			opt.Meter.Accumulate.Add(int64(time.Since(start)))
			opt.Meter.Rows.Add(int64(c.Block))
		}
		if opt.After != nil {
			if err := opt.After(c.Start + int64(c.Block)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// remainingRange returns the part of r that begins with the last cut at or before next.
func remainingRange(cuts []int64, r Range, next int64) Range {
	if r.All() {
		r.To = cuts[len(cuts)-1]
	}
	for _, cut := range cuts {
		if cut <= next && cut <= r.To {
			r.From = max(r.From, cut)
		}
	}
	return r
}
