package planning

import (
	"cmp"
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowsample"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

// RowsToKeep returns the number of rows that the profiles of shards keep for a method that iterates over rows. The
// method itself would draw the same number.
func RowsToKeep(r *settled.Run, ds *chunkio.Dataset) int {
	return int(min(cmp.Or(r.Bound.Sample, ds.Rows()), rowsample.MostRows))
}

// PlanShard plans the scan of one shard. For a graph method it returns the plan of the second round, with a memory
// limit that suffices for both rounds.
func PlanShard(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	return kindOf(r).planShard(NewWorkload(r, nil, ds))
}

// PlanGraphScan plans a scan for a graph method, after the profile of all shards.
func PlanGraphScan(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	return planGraph(NewWorkload(r, nil, ds), nil, 0, false)
}

// PlanProfileScan returns a planner of scans that fill profiles. drawsAnchorRows means that they draw rows for anchors.
func PlanProfileScan(drawsAnchorRows bool) Planner {
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		return planProfileScan(NewWorkload(r, nil, ds), drawsAnchorRows)
	}
}

func planProfileScan(w Workload, drawsAnchorRows bool) (budget.Budget, error) {
	if w.SketchRows > 0 {
		return planSketchScan(w)
	}
	d := len(w.Table.Columns())
	statistics := budget.ProfileColumnBytes*int64(d) + RankBytes(w.Run, w.Table, d)
	if drawsAnchorRows {
		statistics += anchor.SamplerBytes(budget.CapAtTableRows(w.Run.AnchorSampleRows(w.Run.MaxAnchors(), d), w.Table), d)
	}
	if w.KeptRows > 0 {
		statistics += rowsample.SampleBytes(budget.CapAtTableRows(w.KeptRows, w.Table), d)
	}
	return PlanPass(w.Run, w.Table, statistics, 0)
}

func planSketchScan(w Workload) (budget.Budget, error) {
	b, err := PlanPass(w.Run, w.Table, sketchAndProfileBytes(w), 0)
	b.Sketch = int64(w.SketchRows)
	return b, err
}

// PlanGramScan plans a scan that fills moments, or a sketch of the rows in their place.
func PlanGramScan(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	return planMomentsScan(NewWorkload(r, nil, ds))
}

func planMomentsScan(w Workload) (budget.Budget, error) {
	if w.SketchRows > 0 {
		return planSketchScan(w)
	}
	d := len(w.Table.Columns())
	sideBytes := gram.HistogramsBytes(d) + shardSplitterBytes(w, d) + RankBytes(w.Run, w.Table, d) + surveyBytes(w, 0)
	b, err := PlanPass(w.Run, w.Table, GramBytes(w.Run, w.Table)+sideBytes, 0)
	b.SideStatistics = sideBytes
	return b, errTooLargeScan(w, b, err)
}

func errTooLargeScan(w Workload, b budget.Budget, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) || b.Smallest < 4*b.Limit || w.Run.PlanHeader != nil {
		return err
	}
	for _, rows := range []int{settled.AutoSketchRows, settled.AutoSketchRows / 4, settled.AutoSketchRows / 8} {
		if d := len(w.Table.Columns()); b.Program+budget.ProfileColumnBytes*int64(d)+gram.SketchBytes(d, ExpectedMissing(w.Run, w.Table), rows)+w.Table.MinMemory() <= b.Limit {
			return stream.Errorf("%w; or a sketch of the rows, {sketch} %d, from which {method} greedy selects; or {profile-only}", err, gram.SketchRows(rows))
		}
	}
	return stream.Errorf("%w; or {profile-only}, for method variance", err)
}
