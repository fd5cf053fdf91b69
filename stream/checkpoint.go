package stream

import "context"

// Checkpoint saves the state of a method that reads its rows repeatedly, so that an interrupted run can continue.
// Methods save between two blocks of rows if a save is Due, and once more when their context ends.
type Checkpoint interface {
	// Due reports whether to save now. Saves are so rare that they do not noticeably slow the run.
	Due() bool
	// Save atomically replaces the state saved under a name of letters and digits. The marks are texts that
	// describe the numbers.
	Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Append saves numbers under a name permanently. Append may be called at any time, even if no save is Due.
	Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Load reads the state that was saved or appended under a name into numbers, whose lengths must be the lengths at
	// the time of the save. It returns the marks of the state; ok is false if there is no such state.
	Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error)
	// Drop removes the state saved under a name, if there is one. It does not remove appended numbers.
	Drop(name string) error
}
