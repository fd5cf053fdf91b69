package ufs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	foundState  = "found"      // names the state that holds what was selected again, and its one mark
	belowPrefix = "selection-" // begins the names of the folders below
)

// reselections are the selections that were made again so far: for each selection that is judged one
// from every sample, in the order of the samples. A checkpoint keeps them as they become finished. The
// selection under way has a checkpoint of its own in a folder below.
type reselections struct {
	folder *resume.Folder // nil without a checkpoint, and so is states
	states *resume.Run
	Of     [][]rechosen
}

// openNamed opens the checkpoint that the request names, where there will be selections to save.
func (e *evaluator) openNamed() (err error) {
	path := e.q.namedCheckpoint()
	switch {
	case path == "":
	case e.Resamples == 0:
		e.warnings = append(e.warnings, stream.Textf("{checkpoint} saves the selections of {resamples}, and there are none: nothing was saved"))
	default:
		e.folder, err = resume.Open(path, e.q.keeping(false))
	}
	return err
}

// openBeside opens the checkpoint beside the output, where selecting again is predicted to take long or an
// earlier run has left it.
func (e *evaluator) openBeside() error {
	path := e.q.checkpointFolder()
	if e.folder != nil || path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil && e.predicted < cmp.Or(e.longRun, longRun) {
		return nil
	}
	folder, err := resume.Open(path, e.q.keeping(true))
	if errors.As(err, new(*stream.OutputError)) { // nobody asked for it
		if e.Say != nil {
			e.Say(stream.Textf("nothing is saved for an interruption: %v", err))
		}
		return nil
	}
	e.folder = folder
	return err
}

// openReselections is none at first, or those that this very run has found before; half is the height
// of the samples.
func (e *evaluator) openReselections(ctx context.Context, half int64) (*reselections, error) {
	if err := e.openBeside(); err != nil {
		return nil, err
	}
	again := &reselections{folder: e.folder, Of: make([][]rechosen, len(e.Selections))}
	if e.folder == nil {
		return again, nil
	}
	id, err := e.identity(half)
	if err != nil {
		return nil, err
	}
	if again.states, err = again.folder.Run(ctx, "resamples", id); err != nil {
		return nil, err
	}
	state, err := again.states.Load(ctx, foundState)
	if err != nil {
		return nil, err
	}
	if state == nil { // what lies below is of another run, and this is the record that all from now on is of this one
		return again, errors.Join(again.forgetBelow(), again.save(ctx))
	}
	defer state.Close()
	if err := json.Unmarshal([]byte(state.Marks[foundState]), &again.Of); err != nil || len(again.Of) != len(e.Selections) {
		return nil, resume.Damaged(state.Path, stream.Errorf("it does not hold what was selected from %s", plural(len(e.Selections), "selection")))
	}
	if e.Say != nil {
		e.Say(stream.Textf("going on from %s: of %s from samples %d are made", again.folder.Path(), plural(len(e.Selections)*e.Resamples, "selection"), again.found()))
	}
	return again, nil
}

// identity is all that shapes what is selected again.
func (e *evaluator) identity(half int64) (resume.Identity, error) {
	id := resume.Identity{
		What: "selections from samples of the rows", Inputs: e.inputs,
		Options: map[string]string{
			"seed": strconv.FormatUint(e.q.Seed, 10), "missing": e.policyName, "sparse": e.sparse, "where": e.Where, "label": e.Label,
			"resamples": strconv.Itoa(e.Resamples), "memory-limit": strconv.FormatInt(e.q.Memory, 10), // which settles how the samples are made
		},
		Facts: map[string]string{"release": Release, "height of a sample": strconv.FormatInt(half, 10)},
	}
	for _, s := range e.Selections {
		text, err := json.Marshal(s.Selection)
		if err != nil {
			return id, err
		}
		sum := sha256.Sum256(text)
		id.Facts["content of "+s.Path] = hex.EncodeToString(sum[:8])
	}
	return id, nil
}

// below is the folder of the checkpoint of the run called name that selection i is made again by; empty
// without one.
func (a *reselections) below(i int, name string) string {
	if a.folder == nil {
		return ""
	}
	return filepath.Join(a.folder.Path(), fmt.Sprintf("%s%d-%s", belowPrefix, i+1, name))
}

// add takes in what was found for selection i by the run whose checkpoint is below, of no use then.
func (a *reselections) add(ctx context.Context, i int, below string, found ...rechosen) error {
	a.Of[i] = append(a.Of[i], found...)
	if a.states.Due() {
		if err := a.save(ctx); err != nil {
			return err
		}
	}
	return forgetBelow(below)
}

// forgetBelow removes a folder that nobody has named.
func forgetBelow(below string) error { return resume.Forget(below, resume.Options{Unasked: true}) }

// forgetBelow removes all folders below.
func (a *reselections) forgetBelow() error {
	entries, err := os.ReadDir(a.folder.Path())
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), belowPrefix) {
			err = errors.Join(err, forgetBelow(filepath.Join(a.folder.Path(), e.Name())))
		}
	}
	return err
}

func (a *reselections) save(ctx context.Context) error {
	text, err := json.Marshal(a.Of)
	if err != nil {
		return err
	}
	return a.states.Save(ctx, foundState, map[string]string{foundState: string(text)})
}

// brokenOff saves what is found as a run ends, and says where if that is anything. Else nothing is left.
func (a *reselections) brokenOff(ctx context.Context, err error) error {
	_, within := errors.AsType[*Interrupted](err)
	if !within && a.found() == 0 {
		return errors.Join(err, a.folder.Forget())
	}
	if failed := a.save(ctx); failed != nil {
		return errors.Join(err, failed)
	}
	if a.folder == nil || ctx.Err() == nil {
		return err
	}
	return &Interrupted{Checkpoint: a.folder.Path(), Err: err}
}

func (a *reselections) found() (n int) {
	for _, found := range a.Of {
		n += len(found)
	}
	return n
}

// Forget removes what an evaluation has saved to go on from, once its result is safe.
func (o EvalRequest) Forget() error {
	return Forget(Request{Checkpoint: o.Checkpoint, Output: o.Output})
}
