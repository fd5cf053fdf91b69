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

// Special values of Request.Checkpoint. All other values are names of folders.
const (
	// AutoCheckpoint requests a folder next to Request.Output if the run is predicted to be long.
	AutoCheckpoint = "auto"
	NoCheckpoint   = "none"
)

const (
	// longRun is the predicted duration from which AutoCheckpoint makes a checkpoint.
	longRun = 10 * time.Minute
	// iteratedValuesPerSecond is the number of values that an iteration of eufs, hufs or cpufs processes per second on
	// one core. On mnist10k in memory the three methods processed 180, 220 and 220 million (measured by 10 additional
	// iterations over all rows), and on mnist70k out of core 150 million. rufs processes only 11 million, so it takes
	// longer than predicted.
	iteratedValuesPerSecond = 150e6
	// checkpointSuffix ends the name of the automatic checkpoint's folder.
	checkpointSuffix = ".checkpoint"
)

// checkpoint holds the folder in which a run, and the run of its fallback method, save their progress.
type checkpoint struct{ folder *resume.Folder }

func (q *Request) namedCheckpoint() string {
	if q.Checkpoint == AutoCheckpoint || q.Checkpoint == NoCheckpoint {
		return ""
	}
	return q.Checkpoint
}

func (q *Request) checkpointFolder() string {
	if q.Checkpoint != AutoCheckpoint {
		return q.namedCheckpoint()
	}
	out := q.Output
	if out == "" || out == "-" || place.IsURL(out) || atomicfile.IsDevice(out) {
		return ""
	}
	local, err := place.LocalPath(out)
	if err != nil {
		return ""
	}
	return filepath.Clean(local) + checkpointSuffix
}

func (r *run) openCheckpoint() error {
	r.checkpoint = new(checkpoint)
	if r.fallback != nil {
		r.fallback.checkpoint = r.checkpoint
	}
	path := r.namedCheckpoint()
	if path == "" {
		return nil
	}
	if r.SkipBad {
		return stream.Usagef("{checkpoint} does not go with {on-error} skip-file: leaving out a file changes everything saved")
	}
	var err error
	r.checkpoint.folder, err = resume.Open(path, r.resumeOptions(false))
	return err
}

func (q *Request) resumeOptions(unasked bool) resume.Options {
	return resume.Options{Every: q.CheckpointEvery, Implicit: unasked, Note: q.Say}
}

// openAutoCheckpoint opens the checkpoint's folder next to the output if the plan predicts a long run, or if an earlier
// run left this folder.
func (r *run) openAutoCheckpoint(ds *chunkio.Dataset, b Budget) error {
	c := r.checkpoint
	if c == nil || c.folder != nil || r.Checkpoint != AutoCheckpoint || !ds.Replayable() || r.SkipBad || r.shard.Of > 0 {
		return nil
	}
	path := r.checkpointFolder()
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		long := r.predictDuration(ds, b)
		if long < cmp.Or(r.longRun, longRun) {
			return nil
		}
		r.note("this run is predicted to take %v or more: its progress is saved in %s until the result is written; {checkpoint} none does without", long.Round(time.Minute), path)
	}
	folder, err := resume.Open(path, r.resumeOptions(true))
	if errors.As(err, new(*stream.OutputError)) { // the user did not request this checkpoint
		r.say("nothing is saved for an interruption: %v", err)
		return nil
	}
	c.folder = folder
	return err
}

// predictDuration estimates the duration of the run on one machine. For methods over rows it assumes the largest
// possible number of iterations. For methods on statistics it ignores the time of iterations.
func (r *run) predictDuration(ds *chunkio.Dataset, b Budget) time.Duration {
	j := r.scaleJob(ds)
	if j.Rows < 0 {
		return 0
	}
	j.Cores = r.Threads
	if r.Sparse != "" { // entries that sparse rows omit cost nothing
		j.Features = int(max(ds.RowEntries(), 1))
	}
	if b.Factor > 0 { // a factor stores the rows themselves
		j.Rounds = slices.Repeat([]scalemodel.Kind{scalemodel.Profile}, len(j.Rounds))
	}
	var rounds []scalemodel.Kind
	for range r.expectedPasses(ds, b).Least - len(j.Rounds) {
		rounds = append(rounds, scalemodel.Profile) // each further pass is counted as a profile pass
	}
	j.Rounds = append(rounds, j.Rounds...)
	rates, err := scalemodel.DefaultRates().WithOverrides("start=0s")
	if err != nil {
		return 0
	}
	long := scalemodel.EstimateTime(j, rates, 1).Total
	if r.From == method.FromRows {
		rows := j.Rows
		if drawn := r.drawnRows(); drawn > 0 {
			rows = min(rows, drawn)
		}
		long += float64(rows) * float64(len(ds.Columns())) * float64(b.iterations) / (iteratedValuesPerSecond * float64(r.Threads))
	}
	return time.Duration(long * float64(time.Second))
}

func (c *checkpoint) resumeFolder() *resume.Folder {
	if c == nil {
		return nil
	}
	return c.folder
}

// closeFolder closes the folder and keeps it for a later run. err is the error of the run, or nil. If the run was
// interrupted and a later run can resume from the folder, closeFolder turns err into an *Interrupted.
func (c *checkpoint) closeFolder(ctx context.Context, err error) error {
	folder := c.resumeFolder()
	if err != nil {
		if syncErr := folder.Sync(); syncErr != nil {
			err = errors.Join(err, syncErr)
		}
	}
	if err != nil && ctx.Err() != nil && folder.HoldsStates() {
		err = &Interrupted{Checkpoint: folder.Path(), Err: err}
	}
	if closeErr := folder.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	return err
}

// Forget removes the checkpoint of a request's run. Call it once the result is safe.
func Forget(q Request) error {
	return resume.Forget(q.checkpointFolder(), q.resumeOptions(q.Checkpoint == AutoCheckpoint))
}

// Interrupted is the error of a run that was interrupted after it had saved its progress, or of Apply or Convert if
// they reached their memory limit after such a save.
type Interrupted struct {
	Checkpoint string // the folder
	Err        error
}

func (e *Interrupted) Error() string { return e.Err.Error() }
func (e *Interrupted) Unwrap() error { return e.Err }
