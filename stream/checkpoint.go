package stream

import "context"

// Checkpoint saves the state of a method that reads its rows repeatedly, so that an interrupted run can continue.
// Methods save between two blocks of rows if a save is Due, and once more when their context ends.
type Checkpoint interface {
	// Due reports whether to save now: so rarely that the run is not noticeably slower.
	Due() bool
	// Save atomically replaces the state saved under a name of letters and digits. The marks are small facts about the
	// numbers.
	Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Append saves numbers under a name permanently. Unlike Save it need not wait until it is Due.
	Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Load reads the state that was saved or appended under a name into numbers, which have the lengths they were saved
	// with, and returns its marks; ok is false if there is none.
	Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error)
	// Drop removes the state saved under a name, if any; appended numbers stay.
	Drop(name string) error
}
