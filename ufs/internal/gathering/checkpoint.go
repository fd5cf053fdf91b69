package gathering

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/wording"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// The names under which passes save their states.
const (
	uselessPass    = "useless" // finds the columns to leave out
	ranksPass      = "ranks"
	anchorsPass    = "anchors" // draws the rows from which anchors are made
	statisticsPass = "statistics"
)

// The names of the marks, which are small records stored with a state.
const (
	optionsMark = "reading" // digest of the left-out columns and the missing policy, which may change during a run
	nextRowMark = "next"    // global number of the next row to add; it is the first row of a block
	doneMark    = "done"    // whether the pass is complete
	passesMark  = "passes"  // number of passes made so far, including this pass
)

// openAutoCheckpoint opens the checkpoint's folder next to the output if the plan predicts a long run, or if an earlier
// run left this folder.
func openAutoCheckpoint(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) (err error) {
	c := r.SavedState
	if c == nil || c.Folder != nil || r.Checkpoint.Folder != request.AutoCheckpoint || !ds.Replayable() || r.SkipBad || r.Shard.Of > 0 {
		return nil
	}
	path := settled.CheckpointFolder(&r.Request)
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		long := planning.PredictDuration(r, ds, b)
		if long < cmp.Or(r.Checkpoint.LongRun, planning.LongRun) {
			return nil
		}
		r.Notef("this run is predicted to take %v or more: its progress is saved in %s until the result is written; {checkpoint} none does without", long.Round(time.Minute), path)
	}
	c.Folder, err = settled.OpenAutoCheckpoint(&r.Request, path)
	return err
}

func openPassStates(p *pass, ds *chunkio.Dataset) error {
	folder := p.gatherer.Run.SavedState.ResumeFolder()
	if folder == nil {
		return nil
	}
	if !ds.Replayable() {
		return stream.Usagef("{checkpoint} needs an input that can be read again; a stream on standard input cannot")
	}
	id, err := checkpointIdentity(p, ds)
	if err != nil {
		return err
	}
	if len(p.gatherer.Later) > 0 { // a later attempt may have replaced this run
		p.gatherer.states, err = folder.OpenOwnRun("gathering", id)
	} else {
		p.gatherer.states, err = folder.OpenRun("gathering", id)
	}
	return err
}

func checkpointIdentity(p *pass, ds *chunkio.Dataset) (resume.Identity, error) {
	id := resume.Identity{What: statisticsTitle(p), Inputs: slices.Concat(ds.Inputs(), p.gatherer.Run.AnchorInputs), Columns: ds.Columns(), Options: request.StatisticsShape(&p.gatherer.Run.Request), Facts: map[string]string{}}
	switch {
	case p.gatherer.GatherKind == method.FromGram && p.gatherer.TakesSample:
		id.Options[request.OptionGraphRows] = strconv.Itoa(settled.SurveyRows(p.gatherer.Run, len(ds.Columns())))
		id.Options["seed"] = strconv.FormatUint(p.gatherer.Run.Choice.Seed, 10)
	case p.gatherer.GatherKind == method.FromGraph || p.gatherer.TakesSample:
		p.gatherer.Run.AddGraphShape(id.Options)
	}
	if p.gatherer.Run.KeepRows > 0 {
		p.gatherer.Run.AddSampleShape(id.Options)
	}
	if !p.rowRange.All() {
		id.Facts["range of rows"] = p.rowRange.String()
	}
	if seed := settled.HashSeed(p.gatherer.Run); seed != 0 {
		id.Facts["seed of the hash shards"] = strconv.FormatUint(seed, 10)
	}
	if before := p.gatherer.profileLeftOut(); before != nil {
		return id, id.AddDigest("profile of all rows", before)
	}
	return id, nil
}

func statisticsTitle(p *pass) string {
	suffix := ""
	if p.gatherer.TakesHistograms {
		suffix = " with histograms"
	}
	switch {
	case p.gatherer.GatherKind == method.FromGraph:
		return "statistics of an anchor graph" + suffix
	case p.plan.Sketch > 0:
		return "a sketch of the rows"
	case p.gatherer.TakesRanks:
		return "a profile of the columns with ranks"
	case kindOf(p.gatherer.GatherKind).fillsProfile(p.plan):
		return "a profile of the columns"
	case p.plan.Factor > 0:
		return "the rows themselves"
	}
	return "Gram statistics" + suffix
}

// passSetup describes a pass over the input that makePass makes.
type passSetup struct {
	name       string // name of the pass's states
	title      string // shown in progress messages
	opt        chunkio.Options
	fold       stream.FoldOptions
	sections   []chunkio.Section // the states that the pass fills; each also implements io.ReaderFrom
	alwaysSave bool              // save the states even after a short pass, because more passes follow
}

// makePass makes a pass over ds that adds its rows to adders. If an earlier run saved states of this pass, makePass
// resumes after the last save. It saves the states periodically, at the end, and when it is interrupted.
func makePass(ctx context.Context, p *pass, ds *chunkio.Dataset, s passSetup, adders ...stream.Adder) error {
	var saved rows.SavedPass
	if p.gatherer.states != nil {
		saved = rows.SavedPass{Due: p.gatherer.states.Due, SaveShort: s.alwaysSave}
		saved.Load = func(ctx context.Context) (int64, bool, error) { return restorePass(ctx, p, s) }
		saved.Save = func(ctx context.Context, next int64, done bool) error {
			return p.gatherer.states.Save(ctx, s.name, map[string]string{
				optionsMark: s.optionsDigest(), nextRowMark: strconv.FormatInt(next, 10), doneMark: strconv.FormatBool(done), passesMark: strconv.Itoa(p.gatherer.Passes),
			}, s.sections...)
		}
	}
	return saved.MakePass(ctx, func(next int64, after func(int64) error) error {
		s.fold.Next, s.fold.After = next, after
		return p.gatherer.RunPass(ctx, p.scoredIfRanked(ds), s.title, s.fold, adders...)
	})
}

// restorePass reads the saved states of a pass. done reports whether the pass is complete. If it is not complete, next
// is the number of the row at which to resume.
func restorePass(ctx context.Context, p *pass, s passSetup) (next int64, done bool, err error) {
	saved, err := p.gatherer.states.Load(ctx, s.name)
	if saved == nil || err != nil {
		return 0, false, err
	}
	defer saved.Close()
	if saved.Marks[optionsMark] != s.optionsDigest() {
		return 0, false, nil // the saved rows were read with other settings
	}
	next, err1 := strconv.ParseInt(saved.Marks[nextRowMark], 10, 64)
	done, err2 := strconv.ParseBool(saved.Marks[doneMark])
	passes, err3 := strconv.Atoi(saved.Marks[passesMark])
	if err1 != nil || err2 != nil || err3 != nil {
		return 0, false, resume.ErrDamaged(saved.Path, errors.New("it does not record the progress of the pass"))
	}
	for _, section := range s.sections {
		if err := saved.Read(section.Name, section.Body.(io.ReaderFrom)); err != nil {
			return 0, false, err
		}
	}
	folder := p.gatherer.Run.SavedState.Folder.Path()
	if done {
		p.gatherer.Passes = passes
		p.gatherer.Run.Sayf("continuing from %s: pass %d, %s, is done", folder, passes, s.title)
	} else {
		p.gatherer.Passes = passes - 1
		p.gatherer.Run.Sayf("continuing from %s at row %s of pass %d, %s", folder, wording.WithCommas(next), passes, s.title)
	}
	return next, done, nil
}

func (s *passSetup) optionsDigest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q", s.opt.Missing, s.opt.LeaveOut))
	return hex.EncodeToString(sum[:8])
}
