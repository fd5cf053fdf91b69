package selecting

import (
	"context"

	"github.com/ufs-stream/ufs-stream/internal/resume"
)

func openPassCheckpoint(t *Trial) error {
	folder := t.run.SavedState.ResumeFolder()
	if folder == nil || t.Source == nil || t.run.Bound.From.UsesRows() {
		return nil
	}
	id, err := selectionIdentity(t, "passes of method "+t.run.Bound.Name)
	if err != nil {
		return err
	}
	r, err := folder.OpenRun("selection", id)
	if err != nil {
		return err
	}
	if n := r.CountStates("pass"); n > 0 {
		t.run.Sayf("continuing from %s after pass %d of the selection", folder.Path(), n)
	}
	t.Checkpoint = resume.NewNumbers(r)
	return nil
}

// runOverRows calls iterate. For a method that iterates over rows it first prepares scratch files and stages, i.e.
// parts of the iteration whose steps are saved. On resuming a stage it calls onResume with the number of the last
// finished step.
func runOverRows(ctx context.Context, t *Trial, onResume func(step int), iterate func(context.Context) error) error {
	if !t.run.Bound.From.UsesRows() {
		return iterate(ctx)
	}
	stages, err := openStages(t, onResume)
	if err != nil {
		return err
	}
	if stages, err = openScratch(ctx, t, stages); err != nil {
		return err
	}
	if stages == nil {
		return iterate(ctx)
	}
	t.Stages = stages
	ctx, stop := stages.DelayCancel(ctx)
	defer stop()
	return iterate(ctx)
}
