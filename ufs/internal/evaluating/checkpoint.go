package evaluating

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	foundState      = "found"      // name of the saved state with the repeated selections, and of the only mark in it
	runFolderPrefix = "selection-" // begins the name of the checkpoint's subfolder for one run of a selection
)

// reselections holds the repeated selections that are finished: Of[i] lists the repetitions of judged selection i in
// the order of the samples. A checkpoint saves each repetition when it is finished. The repetition that is being made
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
func openAutoCheckpoint(e *evaluator) error {
	path := settled.CheckpointFolder(&e.request)
	if e.folder != nil || path == "" {
		return nil
	}
	if _, err := os.Stat(path); err != nil && e.resampleTime < cmp.Or(e.Checkpoint.LongRun, planning.LongRun) {
		return nil
	}
	folder, err := resume.Open(path, settled.ResumeOptions(&e.request, true))
	if errors.As(err, new(*stream.OutputError)) { // the user did not request this checkpoint
		if e.Hooks.Say != nil {
			e.Hooks.Say(stream.Textf("nothing is saved for an interruption: %v", err))
		}
		return nil
	}
	e.folder = folder
	return err
}

// openReselections returns the repeated selections that an earlier attempt at the same run saved, or empty lists. half
// is the number of rows in a sample.
func openReselections(ctx context.Context, e *evaluator, half int64) (*reselections, error) {
	if err := openAutoCheckpoint(e); err != nil {
		return nil, err
	}
	again := &reselections{folder: e.folder, Of: make([][]reselection, len(e.Selections))}
	if e.folder == nil {
		return again, nil
	}
	id, err := resampleIdentity(e, half)
	if err != nil {
		return nil, err
	}
	if again.states, err = again.folder.OpenRun(ctx, "resamples", id); err != nil {
		return nil, err
	}
	state, err := again.states.Load(ctx, foundState)
	if err != nil {
		return nil, err
	}
	if state == nil { // any subfolders belong to another run; saving makes later subfolders belong to this run
		return again, errors.Join(again.forgetRunFolders(), again.saveSelections(ctx))
	}
	defer state.Close()
	if err := json.Unmarshal([]byte(state.Marks[foundState]), &again.Of); err != nil || len(again.Of) != len(e.Selections) {
		return nil, resume.ErrDamaged(state.Path, stream.Errorf("it does not hold what was selected from %s", wording.Plural(len(e.Selections), "selection")))
	}
	if e.Hooks.Say != nil {
		e.Hooks.Say(stream.Textf("continuing from %s: of %s from samples %d are made", again.folder.Path(), wording.Plural(len(e.Selections)*e.Resamples, "selection"), again.countFound()))
	}
	return again, nil
}

func resampleIdentity(e *evaluator, half int64) (resume.Identity, error) {
	id := resume.Identity{
		What: "selections from samples of the rows", Inputs: e.inputs,
		Options: map[string]string{
			"seed": strconv.FormatUint(e.request.Choice.Seed, 10), "missing": e.policyName, "sparse": e.sparse, "where": e.Input.Where, "label": e.Label,
			"resamples": strconv.Itoa(e.Resamples), "memory-limit": strconv.FormatInt(e.request.Limits.Memory, 10), // the limit affects the samples
		},
		Facts: map[string]string{"release": request.Release, "height of a sample": strconv.FormatInt(half, 10)},
	}
	maps.Copy(id.Options, request.ListOptions(&request.Request{Input: e.Input}, request.ShapesStatistics)) // they replace options of the selections
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

func (a *reselections) runFolder(i int, name string) string {
	if a.folder == nil {
		return ""
	}
	return filepath.Join(a.folder.Path(), fmt.Sprintf("%s%d-%s", runFolderPrefix, i+1, name))
}

// addSelections appends found to the repetitions of selection i, and removes folder, the checkpoint of their run.
func (a *reselections) addSelections(ctx context.Context, i int, folder string, found ...reselection) error {
	a.Of[i] = append(a.Of[i], found...)
	if a.states.Due() {
		if err := a.saveSelections(ctx); err != nil {
			return err
		}
	}
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

func (a *reselections) saveSelections(ctx context.Context) error {
	text, err := json.Marshal(a.Of)
	if err != nil {
		return err
	}
	return a.states.Save(ctx, foundState, map[string]string{foundState: string(text)})
}

// saveInterrupted saves the finished repetitions if Eval ends early with err, and returns an error that names the
// folder. If there is nothing to resume, it removes the folder.
func (a *reselections) saveInterrupted(ctx context.Context, err error) error {
	_, isInterrupted := errors.AsType[*request.Interrupted](err)
	if !isInterrupted && a.countFound() == 0 {
		return errors.Join(err, a.folder.Forget())
	}
	if saveErr := a.saveSelections(ctx); saveErr != nil {
		return errors.Join(err, saveErr)
	}
	if a.folder == nil || ctx.Err() == nil {
		return err
	}
	return &request.Interrupted{Checkpoint: a.folder.Path(), Err: err}
}

func (a *reselections) countFound() (n int) {
	for _, found := range a.Of {
		n += len(found)
	}
	return n
}

// Forget removes the checkpoint of an evaluation. Call it once the result is safe.
func (o EvalRequest) Forget() error {
	return settled.ForgetProgress(request.Request{Checkpoint: request.Checkpoint{Folder: o.Checkpoint.Folder}, Output: o.Output})
}
