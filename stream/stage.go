package stream

import "context"

// Stages save the state of long pieces of work, so that an interrupted run can continue when it is started again.
type Stages interface {
	// Stage returns the piece of work of that name, unique in the run. Its files are in scratch, or replace it.
	Stage(name string, scratch Scratch) Stage
}

// Stage is a piece of work in steps. Between two steps its state is in its scratch files and in some values: pointers
// to numbers and flags, slices of numbers of constant length, and pointers to slices of variable length.
type Stage interface {
	Scratch
	// Load sets the values to the last state saved by an earlier run, and returns how far that run came; call it before
	// Make. A stage that was begun already has the files that it had made, with their content.
	Load(ctx context.Context, values ...any) (Progress, error)
	// Save is called after each step, counted from 1, and with step 0 when all is ready for the first; no pass may be
	// under way. It saves the values and the files now and then, and when the run is to end: then it returns the error
	// to end with.
	Save(ctx context.Context, step int, values ...any) error
	// End marks the work as done; the values are its whole result.
	End(ctx context.Context, values ...any) error
}

// Progress is how far a stage has come.
type Progress int

// The progress of a stage.
const (
	StageNew   Progress = iota // nothing was saved
	StageBegun                 // resume from the saved state
	StageEnded                 // End was called
)

// StageOf returns the stage of stages, or a stage that saves nothing if stages is nil.
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
