package selecting

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/request"
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

func addRecordedOptions(t *Trial, options map[string]string) {
	for option, value := range t.Selection.Options {
		options[option] = fmt.Sprint(value)
	}
	for option := range t.run.Choice.Options {
		options[option] = t.run.Choice.Options.Text(option)
	}
}

// selectionIdentity collects all settings that affect the bits of the method's intermediate results. Memory and threads
// are among them, because they determine how many features the method reads at a time.
func selectionIdentity(t *Trial, what string) (resume.Identity, error) {
	id := resume.Identity{What: what, Inputs: slices.Concat(t.bundle.Inputs, t.run.AnchorInputs), Columns: t.Columns, Options: map[string]string{
		"method": t.run.Bound.Name, "k": strconv.Itoa(t.K), "seed": strconv.FormatUint(t.Seed, 10), "threads": strconv.Itoa(t.Threads), stream.MemoryLimit: strconv.FormatInt(t.run.Limits.Memory, 10),
	}}
	addRecordedOptions(t, id.Options)
	path, _ := kernel.InstructionSet() // ApplyLimits has already reported an invalid environment variable
	id.Facts = map[string]string{"instruction set": path, "version": request.Release}
	return id, id.AddDigest("choice of features", struct {
		Index, Keep []int
		Choice      method.Choice
	}{t.Index, t.Keep, t.Choice})
}
