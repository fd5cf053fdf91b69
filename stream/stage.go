package stream

import "context"

// Stages saves the state of long computations, so that an interrupted run can continue when it is started again.
type Stages interface {
	// Stage returns the computation with this name, which must be unique in the run. The stage makes its files in
	// scratch, or in files of its own that take the place of scratch.
	Stage(name string, scratch Scratch) Stage
}

// Stage is a computation in steps whose state can be saved between two steps. The state consists of the scratch files
// of the stage and of some values. Values are pointers to numbers and flags, slices of numbers of constant length, or
// pointers to slices whose length may change.
type Stage interface {
	Scratch
	// Load sets the values to the last state saved by an earlier run, and returns the progress of that run. It must be
	// called before Make. If the progress is StageBegun, the stage already has the files and contents of the earlier
	// run.
	Load(ctx context.Context, values ...any) (Progress, error)
	// Save must be called after each step, with the number of the step counted from 1, and once with step 0 before the
	// first step. It must not be called during a pass. From time to time, Save stores the values and the files. When
	// the run must end, it stores them and returns the error with which to end.
	Save(ctx context.Context, step int, values ...any) error
	// End marks the computation as finished. The values are its complete result.
	End(ctx context.Context, values ...any) error
}

// Progress is the state that a stage has reached.
type Progress int

// States of a stage.
const (
	StageNew   Progress = iota // there is no saved state
	StageBegun                 // a state of an unfinished computation was loaded
	StageEnded                 // the result of the finished computation was loaded
)

// StageOf returns the stage with that name from stages, or a stage that saves nothing if stages is nil.
func StageOf(stages Stages, name string, scratch Scratch) Stage {
	if stages == nil {
		return unsavedStage{scratch}
	}
	return stages.Stage(name, scratch)
}

// unsavedStage is a Stage that saves nothing.
type unsavedStage struct{ Scratch }

func (unsavedStage) Load(context.Context, ...any) (Progress, error) { return StageNew, nil }
func (unsavedStage) Save(context.Context, int, ...any) error        { return nil }
func (unsavedStage) End(context.Context, ...any) error              { return nil }
