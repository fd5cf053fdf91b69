package stream

import "context"

// Stages saves the state of long computations, so that an interrupted run can continue when it is started again.
type Stages interface {
	// Stage returns the computation with that name, which is unique in the run. The files of the stage are in scratch,
	// or in files that replace scratch.
	Stage(name string, scratch Scratch) Stage
}

// Stage is a computation in steps. Between two steps its state consists of its scratch files and of some values. These
// values are pointers to numbers and flags, slices of numbers of constant length, and pointers to slices of varying
// length.
type Stage interface {
	Scratch
	// Load sets the values to the last state saved by an earlier run, and returns how far that run came. It must be called
	// before Make. If the stage was begun, it already has the files that the earlier run made, with their content.
	Load(ctx context.Context, values ...any) (Progress, error)
	// Save must be called after each step, with the number of the step counted from 1, and with step 0 when the first
	// step can begin. It must not be called during a pass. Save stores the values and the files from time to time, and
	// when the run must end; then it returns the error with which to end.
	Save(ctx context.Context, step int, values ...any) error
	// End marks the computation as finished. The values are its whole result.
	End(ctx context.Context, values ...any) error
}

// Progress is the state that a stage has reached.
type Progress int

// States of a stage.
const (
	StageNew   Progress = iota // no state was saved
	StageBegun                 // resume from the saved state
	StageEnded                 // End was called
)

// StageOf returns the stage with that name from stages, or a stage that saves nothing if stages is nil.
func StageOf(stages Stages, name string, scratch Scratch) Stage {
	if stages == nil {
		return unsavedStage{scratch}
	}
	return stages.Stage(name, scratch)
}

type unsavedStage struct{ Scratch }

func (unsavedStage) Load(context.Context, ...any) (Progress, error) { return StageNew, nil }
func (unsavedStage) Save(context.Context, int, ...any) error        { return nil }
func (unsavedStage) End(context.Context, ...any) error              { return nil }
