package ufs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/internal/place"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// What Request.Checkpoint may be in place of a folder.
const (
	// AutoCheckpoint is a folder beside Request.Output, for a run that is predicted to be long.
	AutoCheckpoint = "auto"
	NoCheckpoint   = "none"
)

const (
	// longRun is how long a run must be predicted to take for a checkpoint that nobody asked for.
	longRun = 10 * time.Minute
	// iteratedValues is how many values of the rows an iteration of eufs, hufs and cpufs goes through in a
	// second of one core: 180, 220 and 220 million on mnist10k in memory (10 iterations more of all its rows),
	// 150 million out of core on mnist70k. rufs goes through 11 million, and is longer than predicted.
	iteratedValues = 150e6
	// besideOutput ends the name of its folder.
	besideOutput = ".checkpoint"
)

// checkpoint is the folder that a run and its fallback save to.
type checkpoint struct{ folder *resume.Folder }

// namedCheckpoint is the folder that the request names; empty for none.
func (q *Request) namedCheckpoint() string {
	if q.Checkpoint == AutoCheckpoint || q.Checkpoint == NoCheckpoint {
		return ""
	}
	return q.Checkpoint
}

// checkpointFolder is where the request's checkpoint is, if it has one; empty for nowhere.
func (q *Request) checkpointFolder() string {
	if q.Checkpoint != AutoCheckpoint {
		return q.namedCheckpoint()
	}
	out := q.Output
	if out == "" || out == "-" || place.IsURL(out) || atomicfile.IsDevice(out) {
		return ""
	}
	local, err := place.Local(out)
	if err != nil {
		return ""
	}
	return filepath.Clean(local) + besideOutput
}

// openCheckpoint opens the folder that the request names, and makes room for one that autoCheckpoint opens.
func (r *run) openCheckpoint() error {
	r.checkpoint = new(checkpoint)
	if r.plain != nil {
		r.plain.checkpoint = r.checkpoint
	}
	path := r.namedCheckpoint()
	if path == "" {
		return nil
	}
	if r.SkipBad {
		return stream.Usagef("{checkpoint} does not go with {on-error} skip-file: leaving out a file changes everything saved")
	}
	var err error
	r.checkpoint.folder, err = resume.Open(path, r.keeping(false))
	return err
}

func (q *Request) keeping(unasked bool) resume.Options {
	return resume.Options{Every: q.CheckpointEvery, Unasked: unasked, Note: q.Say}
}

// autoCheckpoint opens the folder beside the output where the plan b of ds predicts a long run, or where an
// earlier one has left it.
func (r *run) autoCheckpoint(ds *chunkio.Dataset, b Budget) error {
	c := r.checkpoint
	if c == nil || c.folder != nil || r.Checkpoint != AutoCheckpoint || !ds.Replayable() || r.SkipBad || r.shard.Of > 0 {
		return nil
	}
	path := r.checkpointFolder()
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		long := r.predicted(ds, b)
		if long < cmp.Or(r.longRun, longRun) {
			return nil
		}
		r.note("this run is predicted to take %v or more: what it comes to is saved in %s until its result is there; {checkpoint} none does without", long.Round(time.Minute), path)
	}
	folder, err := resume.Open(path, r.keeping(true))
	if errors.As(err, new(*stream.OutputError)) { // nobody asked for it
		r.say("nothing is saved for an interruption: %v", err)
		return nil
	}
	c.folder = folder
	return err
}

// predicted is about how long the run takes, by the model of one machine: with as many
// iterations over rows as there may be, but without those over statistics.
func (r *run) predicted(ds *chunkio.Dataset, b Budget) time.Duration {
	j := r.job(ds)
	if j.Rows < 0 {
		return 0
	}
	j.Cores = r.Threads
	if r.Sparse != "" { // what is absent costs nothing
		j.Features = int(max(ds.RowEntries(), 1))
	}
	if b.Factor > 0 { // which takes the rows as they are
		j.Rounds = slices.Repeat([]scalemodel.Kind{scalemodel.Profile}, len(j.Rounds))
	}
	var rounds []scalemodel.Kind
	for range r.expectedPasses(ds, b).Least - len(j.Rounds) {
		rounds = append(rounds, scalemodel.Profile) // further passes read as much at least
	}
	j.Rounds = append(rounds, j.Rounds...)
	rates, err := scalemodel.Defaults().With("start=0s")
	if err != nil {
		return 0
	}
	long := scalemodel.Estimate(j, rates, 1).Total
	if r.From == method.FromRows {
		rows := j.Rows
		if drawn := r.drawn(); drawn > 0 {
			rows = min(rows, drawn)
		}
		long += float64(rows) * float64(len(ds.Columns())) * float64(b.iterations) / (iteratedValues * float64(r.Threads))
	}
	return time.Duration(long * float64(time.Second))
}

// at is the folder, or nil.
func (c *checkpoint) at() *resume.Folder {
	if c == nil {
		return nil
	}
	return c.folder
}

// close leaves the folder to the next run, and turns the error of an interruption into an *Interrupted where
// that can go on from it.
func (c *checkpoint) close(ctx context.Context, err error) error {
	folder := c.at()
	if err != nil {
		if unsaved := folder.Sync(); unsaved != nil {
			err = errors.Join(err, unsaved)
		}
	}
	if err != nil && ctx.Err() != nil && folder.Holds() {
		err = &Interrupted{Checkpoint: folder.Path(), Err: err}
	}
	if closed := folder.Close(); closed != nil {
		err = errors.Join(err, closed)
	}
	return err
}

// Forget removes what the run of a request has saved to go on from, once its result is safe.
func Forget(q Request) error {
	return resume.Forget(q.checkpointFolder(), q.keeping(q.Checkpoint == AutoCheckpoint))
}

// Interrupted is a run that was broken off, or an apply or convert that came to its memory limit, after what it
// had finished was saved.
type Interrupted struct {
	Checkpoint string // the folder
	Err        error
}

func (e *Interrupted) Error() string { return e.Err.Error() }
func (e *Interrupted) Unwrap() error { return e.Err }
