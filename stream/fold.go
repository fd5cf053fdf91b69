package stream

import (
	"context"
	"sync/atomic"
	"time"
)

// Adder is a statistic to which chunks of rows are added. Add must not keep references to the chunk after it returns.
// If it fails, the statistic must be unchanged.
type Adder interface {
	Add(*Chunk) error
}

// Meter counts the work of a run while it runs. All fields may be read at any time. A nil *Meter counts nothing.
type Meter struct {
	Rows       atomic.Int64 // rows added by Fold, including rows that were dropped
	Bytes      atomic.Int64 // bytes read from the input
	Decode     atomic.Int64 // busy nanoseconds of decoding, all workers together
	Accumulate atomic.Int64 // nanoseconds that Fold spent in Adders, as elapsed time
	Busy       Busy         // time of all threads, by part of the work

	// Traffic with object stores:
	Fetched  atomic.Int64 // bytes received in the bodies of answers, including failed requests
	Requests atomic.Int64 // requests sent, including retries
	Retries  atomic.Int64 // requests sent again
}

// FoldOptions sets the rows that Fold reads, and a callback. With the zero value Fold reads all rows.
type FoldOptions struct {
	Range Range  // rows to fold; zero means all
	Meter *Meter // nil counts nothing
	// Next resumes an interrupted fold. It is the position of the first row to add, as After received it. Zero means to
	// fold from the beginning.
	Next int64
	// After is called after a chunk has been added to every adder, with the position after the block's last row. If it
	// returns an error, the fold ends. After may be nil.
	After func(next int64) error
}

// Fold adds the chunks of src to every adder, in order, and stops at the first error. The order of additions, and so
// the rounding of sums, is fixed. Therefore two folds of the same source give the same bits.
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
		if c.Start < opt.Next { // added before the interruption
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

// remainingRange returns the part of r that begins at the last of the cuts (see [Source]) that are not after the
// position `next`.
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
