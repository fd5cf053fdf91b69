package evaluating

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

const (
	begunState      = "begun"      // state saved before the first repeated selection: the subfolders are of this run
	foundMark       = "found"      // the only mark (record) of every other state: the repeated selections
	runFolderPrefix = "selection-" // begins the name of the subfolder with the checkpoint of one repeated selection
)

// reselections holds the repeated selections that are finished: Of[i] lists the repetitions of judged selection i in
// the order of the samples. A checkpoint logs each repetition when it is finished. The repetition that is being made
// has its own checkpoint in a subfolder.
type reselections struct {
	folder *resume.Folder // nil without a checkpoint; then states is nil too
	states *resume.Run
	Of     [][]reselection
}

func openNamedCheckpoint(e *evaluator) (err error) {
	path := request.NamedCheckpoint(&e.request)
	switch {
	case path == "":
	case e.Resamples == 0:
		e.warnings = append(e.warnings, stream.Textf("{checkpoint} saves the selections of {resamples}, and there are none: nothing was saved"))
	default:
		e.folder, err = resume.Open(path, settled.ResumeOptions(&e.request, false))
	}
	return err
}

// openAutoCheckpoint opens a checkpoint next to the output if the repeated selections are predicted to be slow, or if
// an earlier run left such a checkpoint.
func openAutoCheckpoint(e *evaluator) (err error) {
	path := settled.CheckpointFolder(&e.request)
	if e.folder != nil || path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil && e.resampleTime < cmp.Or(e.Checkpoint.LongRun, planning.LongRun) {
		return nil
	}
	e.folder, err = settled.OpenAutoCheckpoint(&e.request, path)
	return err
}

// openReselections returns the repeated selections that an earlier attempt at the same run saved, or empty lists. A
// sample has sampleRows rows.
func openReselections(ctx context.Context, e *evaluator, sampleRows int64) (*reselections, error) {
	if err := openAutoCheckpoint(e); err != nil {
		return nil, err
	}
	again := &reselections{folder: e.folder, Of: make([][]reselection, len(e.Selections))}
	if e.folder == nil {
		return again, nil
	}
	id, err := checkpointIdentity(e, sampleRows)
	if err != nil {
		return nil, err
	}
	if again.states, err = again.folder.OpenRun("resamples", id); err != nil {
		return nil, err
	}
	if !again.states.HasState(begunState) { // any subfolders belong to another run
		return again, errors.Join(again.forgetRunFolders(), again.states.AppendState(begunState, nil))
	}
	for i := range again.Of {
		for again.states.HasState(again.nextStateName(i)) {
			if err := again.loadNextRepetition(ctx, i); err != nil {
				return nil, err
			}
		}
	}
	if e.Hooks.Say != nil {
		e.Hooks.Say(stream.Textf("continuing from %s: of %s from samples %d are made", again.folder.Path(), wording.CountNoun(len(e.Selections)*e.Resamples, "selection"), again.countRepetitions()))
	}
	return again, nil
}

func checkpointIdentity(e *evaluator, sampleRows int64) (resume.Identity, error) {
	id := resume.Identity{
		What: "selections from samples of the rows", Inputs: e.inputs,
		Options: map[string]string{
			"seed": strconv.FormatUint(e.request.Choice.Seed, 10), "missing": e.policyName, "sparse": e.sparse, "where": e.Input.Where, "label": e.Label,
			"resamples": strconv.Itoa(e.Resamples), "memory-limit": strconv.FormatInt(e.request.Limits.Memory, 10), // the limit affects the samples
		},
		Facts: map[string]string{"release": request.Release, "height of a sample": strconv.FormatInt(sampleRows, 10)},
	}
	maps.Copy(id.Options, request.ListOptions(&request.Request{Input: e.Input}, request.ShapesStatistics)) // they replace options of the selections
	for _, s := range e.Selections {
		if err := id.AddDigest("content of "+s.Path, s.Selection); err != nil {
			return id, err
		}
	}
	return id, nil
}

func (a *reselections) runFolder(selection int, runName string) string {
	if a.folder == nil {
		return ""
	}
	return filepath.Join(a.folder.Path(), fmt.Sprintf("%s%d-%s", runFolderPrefix, selection+1, runName))
}

func (a *reselections) nextStateName(selection int) string {
	return fmt.Sprintf("%d-%d", selection+1, len(a.Of[selection])+1)
}

func (a *reselections) loadNextRepetition(ctx context.Context, selection int) error {
	state, err := a.states.Load(ctx, a.nextStateName(selection))
	if err != nil {
		return err
	}
	defer state.Close()
	var found []reselection
	if err := json.Unmarshal([]byte(state.Marks[foundMark]), &found); err != nil || len(found) == 0 {
		return resume.ErrDamaged(state.Path, stream.Errorf("it does not hold what was selected from a sample"))
	}
	a.Of[selection] = append(a.Of[selection], found...)
	return nil
}

// addSelections appends found to the repetitions of selection i, and removes folder, the checkpoint of their run.
func (a *reselections) addSelections(i int, folder string, found ...reselection) error {
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	if err := a.states.AppendState(a.nextStateName(i), map[string]string{foundMark: string(text)}); err != nil {
		return err
	}
	a.Of[i] = append(a.Of[i], found...)
	return forgetRunFolder(folder)
}

func forgetRunFolder(folder string) error {
	return resume.Forget(folder, resume.Options{Implicit: true})
}

func (a *reselections) forgetRunFolders() error {
	entries, err := os.ReadDir(a.folder.Path())
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), runFolderPrefix) {
			err = errors.Join(err, forgetRunFolder(filepath.Join(a.folder.Path(), e.Name())))
		}
	}
	return err
}

// saveInterrupted saves the finished repetitions if Eval ends early with err, and returns an error that names the
// folder. If there is nothing to resume, it removes the folder.
func (a *reselections) saveInterrupted(ctx context.Context, err error) error {
	_, isInterrupted := errors.AsType[*request.Interrupted](err)
	if !isInterrupted && a.countRepetitions() == 0 {
		return errors.Join(err, a.folder.Forget())
	}
	if syncErr := a.folder.Sync(); syncErr != nil {
		return errors.Join(err, syncErr)
	}
	if a.folder == nil || ctx.Err() == nil {
		return err
	}
	return &request.Interrupted{Checkpoint: a.folder.Path(), Err: err}
}

func (a *reselections) countRepetitions() (n int) {
	for _, found := range a.Of {
		n += len(found)
	}
	return n
}

// Forget removes the checkpoint of an evaluation. Call it once the result is safe.
func (o EvalRequest) Forget() error {
	return settled.ForgetProgress(request.Request{Checkpoint: request.Checkpoint{Folder: o.Checkpoint.Folder}, Output: o.Output})
}
