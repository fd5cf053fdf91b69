package ufs

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Methods that iterate over rows save the state of their iterations as stages (package resume) in the checkpoint's
// folder. If there is a checkpoint, their scratch files are also in this folder, instead of in {temp-dir}.

func (r *run) savesIterations() bool { return r.From == method.FromRows && r.namedCheckpoint() != "" }

func (r *run) rowScratchOptions() scratch.Options {
	if r.savesIterations() {
		return checkpointScratch(r, r.namedCheckpoint())
	}
	opt := r.scratchOptions()
	opt.Remedy = stream.Textf("free some space, choose another {temp-dir}%v", fewerRowsRemedy(r))
	return opt
}

func checkpointScratch(r *run, folder string) scratch.Options {
	opt := r.scratchOptions()
	opt.Dir, opt.There = folder, resume.ScratchBytes(folder)
	opt.Remedy = stream.Textf("free some space, choose another {checkpoint} folder%v", fewerRowsRemedy(r))
	return opt
}

func fewerRowsRemedy(r *run) stream.Text {
	if r.Declare().Options.Find("sample") == nil {
		return stream.Text{}
	}
	return stream.Textf(", or fewer rows by {sample}")
}

// runOverRows calls iterate. For a method that iterates over rows it first prepares scratch files and stages. If a
// stage is resumed, it calls onResume with the number of the last finished step.
func (t *trial) runOverRows(ctx context.Context, onResume func(step int), iterate func(context.Context) error) error {
	if t.From != method.FromRows {
		return iterate(ctx)
	}
	stages, err := t.openStages(ctx, onResume)
	if err != nil {
		return err
	}
	if stages, err = t.openScratch(ctx, stages); err != nil {
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

func (t *trial) openStages(ctx context.Context, onResume func(step int)) (*resume.Stages, error) {
	folder := t.checkpoint.resumeFolder()
	if folder == nil {
		return nil, nil
	}
	states, err := folder.OpenRun(ctx, "rows", t.iterationIdentity())
	if err != nil {
		return nil, err
	}
	return states.OpenStages(ctx, func(step int) {
		if onResume(step); step > 0 {
			t.say("continuing from %s at iteration %d", folder.Path(), step+1)
		} else {
			t.note("continuing from %s: all is ready for the iterations", folder.Path())
		}
	})
}

// openScratch creates the scratch files of an out-of-core plan. stages may be nil. It abandons an automatic checkpoint,
// and then returns nil stages, if {temp-dir} is given or if the disk of the checkpoint's folder lacks space.
func (t *trial) openScratch(ctx context.Context, stages *resume.Stages) (*resume.Stages, error) {
	plan := t.bundle.plan
	if !plan.OutOfCore {
		return stages, nil
	}
	opt, need := t.rowScratchOptions(), plan.scratch
	unasked := stages != nil && !t.savesIterations()
	if unasked && t.TempDir != "" {
		t.note("the iterations are not saved: their files go to {temp-dir}; name a {checkpoint} folder to keep them")
		return t.openScratch(ctx, nil)
	}
	if stages != nil {
		opt = checkpointScratch(t.run, t.checkpoint.resumeFolder().Path())
	}
	if unasked {
		need += plan.rewrittenScratch
	}
	t.scratch = scratch.New(opt).Under(ctx)
	err := t.scratch.Reserve(need)
	if err != nil && unasked {
		t.note("the iterations are not saved: %v", err)
		return t.openScratch(ctx, nil)
	}
	t.Scratch = t.scratch
	return stages, err
}

func (t *trial) iterationIdentity() resume.Identity {
	id := resume.Identity{
		What: "iterations of method " + t.Name, Inputs: t.bundle.inputs, Columns: t.Columns,
		Options: map[string]string{"seed": fmt.Sprint(t.run.Seed)},
		// The files have the machine's byte order, and results differ in their last bits between architectures.
		Facts: map[string]string{"rows": fmt.Sprint(t.Rows), "processor architecture": runtime.GOARCH},
	}
	for option, value := range t.selection.Options {
		id.Options[option] = fmt.Sprint(value)
	}
	for option := range t.Request.Options {
		id.Options[option] = t.Request.Options.Text(option)
	}
	return id
}
