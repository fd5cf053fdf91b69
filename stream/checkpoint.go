package stream

import "context"

// Checkpoint saves the state of a method that reads its rows repeatedly, so that an interrupted run can continue. A
// method saves between two blocks of rows if Due returns true, and once more when its context ends.
type Checkpoint interface {
	// Due reports whether to save now. It returns true so rarely that saves do not noticeably slow the run.
	Due() bool
	// Save atomically replaces the state saved under the name, which has only letters and digits. The marks are texts
	// that describe the state, and are saved with the numbers.
	Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Append permanently adds numbers under a name. It may be called at any time, even if Due returns false.
	Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Load reads the state that was saved or appended under a name into numbers. Each slice must have the length that
	// it had at the time of the save. It returns the marks of the state; ok is false if there is no such state.
	Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error)
	// Drop removes the state saved under a name, if there is one. It does not remove appended numbers.
	Drop(name string) error
}
