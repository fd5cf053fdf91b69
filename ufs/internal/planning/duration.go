package planning

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

const (
	// LongRun is the predicted duration from which AutoCheckpoint makes a checkpoint.
	LongRun = 10 * time.Minute
	// IteratedValuesPerSecond is the number of values that an iteration of eufs, hufs or cpufs processes per second on
	// one core. On mnist10k in memory the three methods processed 180, 220 and 220 million (measured by 10 additional
	// iterations over all rows), and on mnist70k out of core 150 million. rufs processes only 11 million, so it takes
	// longer than predicted.
	IteratedValuesPerSecond = 150e6
)

// OpenAutoCheckpoint opens the checkpoint's folder next to the output if the plan predicts a long run, or if an earlier
// run left this folder.
func OpenAutoCheckpoint(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) error {
	c := r.SavedState
	if c == nil || c.Folder != nil || r.Checkpoint.Folder != request.AutoCheckpoint || !ds.Replayable() || r.SkipBad || r.Shard.Of > 0 {
		return nil
	}
	path := settled.CheckpointFolder(&r.Request)
	if path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		long := PredictDuration(r, ds, b)
		if long < cmp.Or(r.Checkpoint.LongRun, LongRun) {
			return nil
		}
		r.Notef("this run is predicted to take %v or more: its progress is saved in %s until the result is written; {checkpoint} none does without", long.Round(time.Minute), path)
	}
	folder, err := resume.Open(path, settled.ResumeOptions(&r.Request, true))
	if errors.As(err, new(*stream.OutputError)) { // the user did not request this checkpoint
		r.Sayf("nothing is saved for an interruption: %v", err)
		return nil
	}
	c.Folder = folder
	return err
}

// PredictDuration estimates the duration of the run on one machine. For methods over rows it assumes the largest
// possible number of iterations. For methods on statistics it ignores the time of iterations.
func PredictDuration(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) time.Duration {
	j := scaleJob(r, ds)
	if j.Rows < 0 {
		return 0
	}
	j.Cores = r.Limits.Threads
	if r.Columns.Sparse != "" { // entries that sparse rows omit cost nothing
		j.Features = int(max(ds.RowEntries(), 1))
	}
	if b.Factor > 0 { // a factor stores the rows themselves
		j.Rounds = slices.Repeat([]scalemodel.Kind{scalemodel.Profile}, len(j.Rounds))
	}
	var rounds []scalemodel.Kind
	for range expectedPasses(r, ds, b).Least - len(j.Rounds) {
		rounds = append(rounds, scalemodel.Profile) // each further pass is counted as a profile pass
	}
	j.Rounds = append(rounds, j.Rounds...)
	rates, err := scalemodel.DefaultRates().WithOverrides("start=0s")
	if err != nil {
		return 0
	}
	long := scalemodel.EstimateTime(j, rates, 1).Total
	if r.Bound.From == method.FromRows {
		rows := j.Rows
		if drawn := r.DrawnRows(); drawn > 0 {
			rows = min(rows, drawn)
		}
		long += float64(rows) * float64(len(ds.Columns())) * float64(b.Iterations) / (IteratedValuesPerSecond * float64(r.Limits.Threads))
	}
	return time.Duration(long * float64(time.Second))
}
