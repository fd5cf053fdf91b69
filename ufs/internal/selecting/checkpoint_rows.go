package selecting

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
)

func openStages(t *Trial, onResume func(step int)) (*resume.Stages, error) {
	folder := t.run.SavedState.ResumeFolder()
	if folder == nil {
		return nil, nil
	}
	states, err := folder.OpenRun("rows", iterationIdentity(t))
	if err != nil {
		return nil, err
	}
	return states.OpenStages(func(step int) {
		if onResume(step); step > 0 {
			t.run.Sayf("continuing from %s at iteration %d", folder.Path(), step+1)
		} else {
			t.run.Notef("continuing from %s: all is ready for the iterations", folder.Path())
		}
	}), nil
}

// openScratch creates the scratch files of an out-of-core plan. stages may be nil. It abandons an automatic checkpoint,
// and then returns nil stages, if option {temp-dir} is given or if the disk of the checkpoint's folder lacks space.
func openScratch(ctx context.Context, t *Trial, stages *resume.Stages) (*resume.Stages, error) {
	plan := t.bundle.Plan
	if !plan.OutOfCore {
		return stages, nil
	}
	opt, need := planning.RowScratchOptions(t.run), plan.Scratch
	unasked := stages != nil && !planning.SavesIterations(t.run)
	if unasked && t.run.Limits.TempDir != "" {
		t.run.Notef("the iterations are not saved: their files go to {temp-dir}; name a {checkpoint} folder to keep them")
		return openScratch(ctx, t, nil)
	}
	if stages != nil {
		opt = planning.CheckpointScratch(t.run, t.run.SavedState.ResumeFolder().Path())
	}
	if unasked {
		need += plan.RewrittenScratch
	}
	t.scratch = scratch.New(opt).Under(ctx)
	err := t.scratch.Reserve(need)
	if err != nil && unasked {
		t.run.Notef("the iterations are not saved: %v", err)
		return openScratch(ctx, t, nil)
	}
	t.Scratch = t.scratch
	return stages, err
}

func iterationIdentity(t *Trial) resume.Identity {
	id := resume.Identity{
		What: "iterations of method " + t.run.Bound.Name, Inputs: t.bundle.Inputs, Columns: t.Columns,
		Options: map[string]string{"seed": fmt.Sprint(t.run.Choice.Seed)},
		// The files have the machine's byte order, and results differ in their last bits between architectures.
		Facts: map[string]string{"rows": fmt.Sprint(t.Rows), "processor architecture": runtime.GOARCH},
	}
	addRecordedOptions(t, id.Options)
	return id
}
