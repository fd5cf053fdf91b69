package stream

import "context"

// Stages keep the state of long pieces of work, so that a run that is broken off goes on from
// there when it is made again.
type Stages interface {
	// Stage is the piece of work of that name, unique in the run. Its files are in scratch,
	// or stand for it.
	Stage(name string, scratch Scratch) Stage
}

// Stage is a piece of work in steps. Between two steps all that the next ones need is in its
// scratch files and in some values beside them. The values are pointers to numbers and flags,
// slices of numbers, whose lengths do not change, and pointers to slices, whose lengths do.
type Stage interface {
	Scratch
	// Load sets the values to what an earlier run saved last, and says whether there was any;
	// call it before Make. A stage that was begun has the files then that it had made, with
	// what they held.
	Load(ctx context.Context, values ...any) (Progress, error)
	// Save is called after each step, counted from 1, and 0 says that all is ready for the
	// first; no pass may be under way. It keeps the values and the files now and then, and
	// where the run is to end: then it returns the error to end with.
	Save(ctx context.Context, step int, values ...any) error
	// End says that the work is done, and that the values are all that is wanted of it.
	End(ctx context.Context, values ...any) error
}

// Progress is how far a stage has come.
type Progress int

// The progress of a stage.
const (
	StageNew   Progress = iota // nothing was saved
	StageBegun                 // go on from what was saved
	StageEnded                 // End was called
)

// StageOf is the stage of stages or, where these are nil, one that keeps nothing.
func StageOf(stages Stages, name string, scratch Scratch) Stage {
	if stages == nil {
		return fleeting{scratch}
	}
	return stages.Stage(name, scratch)
}

// fleeting is a stage that keeps nothing.
type fleeting struct{ Scratch }

func (fleeting) Load(context.Context, ...any) (Progress, error) { return StageNew, nil }
func (fleeting) Save(context.Context, int, ...any) error        { return nil }
func (fleeting) End(context.Context, ...any) error              { return nil }
