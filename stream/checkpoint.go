package stream

import "context"

// Checkpoint keeps what a method that reads its rows again and again has come to, so that an
// interrupted run goes on from there. Methods save between two blocks of rows, when it is Due,
// and once more where their context ends.
type Checkpoint interface {
	// Due says that it is time to save: not so often that it takes a share of the run that
	// anybody notices.
	Due() bool
	// Save replaces what was saved under a name, letters and digits, at once and whole. The
	// marks are small facts beside the numbers.
	Save(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Append keeps numbers under a name for good. Unlike Save it need not wait until it is Due.
	Append(ctx context.Context, name string, marks map[string]string, numbers ...[]float64) error
	// Load fills numbers, which are as long as they were, with what was saved or appended under a name, and
	// returns its marks; false where nothing was.
	Load(ctx context.Context, name string, numbers ...[]float64) (marks map[string]string, ok bool, err error)
	// Drop removes what was saved under a name, if anything was; what was appended stays.
	Drop(name string) error
}
