package planning

import (
	"slices"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// ExpectedPasses returns the least and the greatest number of times that a run with plan b reads the input.
func ExpectedPasses(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) method.Passes {
	p := GatherPasses(r, ds, b)
	if b.MethodPasses.Why.Format != "" {
		p.Why = stream.Textf("%s; %s", p.Why, b.MethodPasses.Why)
	}
	p.Least += b.MethodPasses.Least
	p.Most += b.MethodPasses.Most
	if n := r.EarlierPasses; n > 0 {
		p.Least, p.Most, p.Why = p.Least+n, p.Most+n, stream.Textf("one for {rows-scale} tfidf; %s", p.Why)
	}
	return p
}

// GatherPasses returns the least and the greatest number of times that gathering reads the input. The number may depend
// on missing values that are found only while reading.
func GatherPasses(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) method.Passes {
	w := NewWorkload(r, nil, ds)
	if r.ParsedScale == gram.ScaleRank {
		return gatherPassesOfRanks(w)
	}
	return kindOf(r).countGatherPasses(w, b)
}

func gatherPassesOfColumns(w Workload) method.Passes {
	switch {
	case !w.Table.Replayable() || w.Run.Columns.Sparse != "" || w.Run.Bound.Takes.Cells:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass")}
	case request.MissingPolicy(&w.Run.Request) == stream.MissingKeep:
		return method.Passes{Least: 1, Most: 1, Why: stream.Textf("one pass; the statistics fill missing values")}
	case settled.PromisesMissing(w.Table):
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile of the columns, because values are missing, then the statistics")}
	}
	return method.Passes{Least: 1, Most: 3, Why: stream.Textf("one if nothing is missing, else a profile and another")}
}

// PredictDuration estimates the duration of the run on one machine. For methods over rows it assumes the largest
// possible number of iterations. For methods on statistics it ignores the time of iterations.
func PredictDuration(r *settled.Run, ds *chunkio.Dataset, b budget.Budget) time.Duration {
	j := ScaleJob(r, ds)
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
	for range ExpectedPasses(r, ds, b).Least - len(j.Rounds) {
		rounds = append(rounds, scalemodel.Profile) // each further pass is counted as a profile pass
	}
	j.Rounds = append(rounds, j.Rounds...)
	rates, err := scalemodel.DefaultRates().WithOverrides("start=0s")
	if err != nil {
		return 0
	}
	long := scalemodel.EstimateTime(j, rates, 1).Total
	if r.Bound.From.UsesRows() {
		rows := j.Rows
		if drawn := r.DrawnRows(); drawn > 0 {
			rows = min(rows, drawn)
		}
		long += float64(rows) * float64(len(ds.Columns())) * float64(b.Iterations) / (IteratedValuesPerSecond * float64(r.Limits.Threads))
	}
	return time.Duration(long * float64(time.Second))
}

// ScaleJob describes the scans of a run on several machines.
func ScaleJob(r *settled.Run, ds *chunkio.Dataset) scalemodel.Job {
	j := scalemodel.Job{Rows: ds.Rows(), Features: len(ds.Columns()), Files: len(ds.Inputs()), Groups: len(ds.Cuts()) - 1, Shards: r.Choice.Stability}
	for _, in := range ds.Inputs() {
		j.Bytes += in.Bytes
	}
	last := kindOf(r).describeLastScan(NewWorkload(r, nil, ds), &j)
	if last != scalemodel.Profile && ProfileReason(r, ds).Format != "" {
		j.Rounds = append(j.Rounds, scalemodel.Profile)
	}
	j.Rounds = append(j.Rounds, last)
	return j
}

const (
	// LongRun is the predicted duration from which AutoCheckpoint makes a checkpoint.
	LongRun = 10 * time.Minute
	// IteratedValuesPerSecond is the number of values that an iteration of eufs, hufs or cpufs processes per second on
	// one core. On mnist10k in memory the three methods processed 180, 220 and 220 million (measured by 10 additional
	// iterations over all rows), and on mnist70k out of core 150 million. rufs processes only 11 million, so it takes
	// longer than predicted.
	IteratedValuesPerSecond = 150e6
)

// ProfileReason returns the reason why all shards need a round of profiles first. It is empty if they do not.
func ProfileReason(r *settled.Run, ds *chunkio.Dataset) stream.Text {
	return kindOf(r).reasonToReadProfilesFirst(NewWorkload(r, nil, ds))
}

func reasonForMissingValues(w Workload) stream.Text {
	if request.MissingPolicy(&w.Run.Request) != stream.MissingKeep && w.Run.Columns.Sparse == "" && settled.PromisesMissing(w.Table) {
		return stream.Textf("values are missing, and {missing} %s needs to know which columns are left out", w.Run.Columns.Missing)
	}
	return stream.Text{}
}

func gatherPassesOfRanks(w Workload) method.Passes {
	then := "one for the ranks, then the statistics"
	if w.Run.Bound.From.UsesGraph() {
		then = "one for the ranks, which draws the anchors, then the statistics"
	}
	switch {
	case request.MissingPolicy(&w.Run.Request) == stream.MissingKeep || w.Run.Columns.Sparse != "":
		return method.Passes{Least: 2, Most: 2, Why: stream.PlainText(then)}
	case settled.PromisesMissing(w.Table):
		return method.Passes{Least: 3, Most: 3, Why: stream.Textf("a profile of the columns, because values are missing, %s", then)}
	}
	return method.Passes{Least: 2, Most: 4, Why: stream.Textf("%s, if nothing is missing; else two more", then)}
}
