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

// Methods over rows keep their iterations in the folder of a checkpoint, as stages (package resume).
// Their scratch files are there too then, in place of {temp-dir}.

// keepsRows says that the request names a folder for it.
func (r *run) keepsRows() bool { return r.From == method.FromRows && r.namedCheckpoint() != "" }

// rowScratch are the options of the scratch files of a method over rows.
func (r *run) rowScratch() scratch.Options {
	if r.keepsRows() {
		return keptScratch(r, r.namedCheckpoint())
	}
	opt := r.scratch()
	opt.Remedy = stream.Textf("free some space, choose another {temp-dir}%v", fewerRows(r))
	return opt
}

// keptScratch is scratch in the folder of a checkpoint.
func keptScratch(r *run, folder string) scratch.Options {
	opt := r.scratch()
	opt.Dir, opt.There = folder, resume.Bytes(folder)
	opt.Remedy = stream.Textf("free some space, choose another {checkpoint} folder%v", fewerRows(r))
	return opt
}

// fewerRows is the end of a remedy for scratch files that are too large, where the method takes fewer rows.
func fewerRows(r *run) stream.Text {
	if r.Declare().Options.Find("sample") == nil {
		return stream.Text{}
	}
	return stream.Textf(", or fewer rows by {sample}")
}

// overRows calls do, for a method over rows with its scratch and stages. told hears of each stage that
// goes on behind a step.
func (t *trial) overRows(ctx context.Context, told func(step int), do func(context.Context) error) error {
	if t.From != method.FromRows {
		return do(ctx)
	}
	stages, err := t.openStages(ctx, told)
	if err != nil {
		return err
	}
	if stages, err = t.openScratch(ctx, stages); err != nil {
		return err
	}
	if stages == nil {
		return do(ctx)
	}
	t.Stages = stages
	ctx, stop := stages.Delay(ctx)
	defer stop()
	return do(ctx)
}

// openStages opens what an earlier run has saved; nil where there is no checkpoint.
func (t *trial) openStages(ctx context.Context, told func(step int)) (*resume.Stages, error) {
	folder := t.checkpoint.at()
	if folder == nil {
		return nil, nil
	}
	states, err := folder.Run(ctx, "rows", t.iteration())
	if err != nil {
		return nil, err
	}
	return states.Stages(ctx, func(step int) {
		if told(step); step > 0 {
			t.say("going on from %s at iteration %d", folder.Path(), step+1)
		} else {
			t.note("going on from %s: all is ready for the iterations", folder.Path())
		}
	})
}

// openScratch makes the scratch of a plan out of core, for stages or without. A checkpoint that
// nobody asked for gives way to a {temp-dir} that was named, and where there is no room in it.
func (t *trial) openScratch(ctx context.Context, stages *resume.Stages) (*resume.Stages, error) {
	plan := t.from.plan
	if !plan.OutOfCore {
		return stages, nil
	}
	opt, need := t.rowScratch(), plan.scratch
	unasked := stages != nil && !t.keepsRows()
	if unasked && t.TempDir != "" {
		t.note("the iterations are not saved: their files go to {temp-dir}; name a {checkpoint} folder to keep them")
		return t.openScratch(ctx, nil)
	}
	if stages != nil {
		opt = keptScratch(t.run, t.checkpoint.at().Path())
	}
	if unasked {
		need += plan.rewritten
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

// iteration is what shapes the iterations of a method over rows.
func (t *trial) iteration() resume.Identity {
	id := resume.Identity{
		What: "iterations of method " + t.Name, Inputs: t.from.inputs, Columns: t.Columns,
		Options: map[string]string{"seed": fmt.Sprint(t.run.Seed)},
		// The files are in the byte order of the machine, and bits differ from one kind to the next.
		Facts: map[string]string{"rows": fmt.Sprint(t.Rows), "processor architecture": runtime.GOARCH},
	}
	for option, value := range t.s.Options {
		id.Options[option] = fmt.Sprint(value)
	}
	for option := range t.Request.Options {
		id.Options[option] = t.Request.Options.Text(option)
	}
	return id
}
