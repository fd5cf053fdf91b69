package rows

import (
	"context"
	"errors"
)

// SavedPass is a reading of all rows whose progress is saved for a later run. The zero value saves nothing.
type SavedPass struct {
	// Load restores the sums of an earlier run. It returns the position of the next row to read, which is 0 if nothing
	// was saved, and whether the pass is complete.
	Load func(ctx context.Context) (next int64, done bool, err error)
	// Save saves the sums of all rows before the position next.
	Save func(ctx context.Context, next int64, done bool) error
	Due  func() bool // reports whether it is time to save
	// SaveShort makes the end of the pass saved in any case. Otherwise the end of a short pass is not saved.
	SaveShort bool
}

// MakePass makes the pass, or the part of it that no earlier run has made. The function read must read the rows from
// the position next on, and call the function after, unless that is nil, whenever all rows before a position have been
// added to the sums. MakePass saves from time to time, at the end, and if ctx ends the pass.
func (s SavedPass) MakePass(ctx context.Context, read func(next int64, after func(next int64) error) error) error {
	if s.Load == nil {
		return read(0, nil)
	}
	first, done, err := s.Load(ctx)
	if done || err != nil {
		return err
	}
	next := first
	err = read(first, func(to int64) error {
		if next = max(next, to); !s.Due() {
			return nil
		}
		return s.Save(ctx, next, false)
	})
	switch {
	case err == nil && (s.SaveShort || s.Due()):
		return s.Save(ctx, next, true)
	case err != nil && ctx.Err() != nil && next > first:
		return errors.Join(err, s.Save(ctx, next, false))
	}
	return err
}
