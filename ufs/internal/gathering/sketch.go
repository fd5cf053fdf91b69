package gathering

import (
	"errors"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/planning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
)

func newSketch(g *Gatherer, columns int, plan budget.Budget) *gram.Sketch {
	if g.GatherKind == method.FromGraph { // the sketch may use all memory that the plan leaves
		free := max(plan.Limit-plan.Program-plan.Statistics-max(plan.Reading, plan.Solver-plan.FreedStatistics), 0)
		return gram.NewSketch(columns, gram.SketchOptions{Rows: g.Run.SketchRows, Seed: g.Run.Choice.Seed, Threads: g.Run.Limits.Threads, Limit: gram.SketchBytes(columns, 0, g.Run.SketchRows) + free})
	}
	used := plan.Program + budget.ProfileColumnBytes*int64(columns) + max(plan.Reading, plan.Solver)
	if plan.OutOfCore {
		used = plan.Program + budget.ProfileColumnBytes*int64(columns) + plan.Reading + plan.Solver
	}
	return gram.NewSketch(columns, gram.SketchOptions{Rows: g.Run.SketchRows, Seed: g.Run.Choice.Seed, Threads: g.Run.Limits.Threads, Limit: max(plan.Limit-used, 1)})
}

// gatherSketchedGraph reads from the file the statistics for a graph method on an estimate of the Gram matrix by a
// sketch. The bundle seen contains the profile of the file.
func gatherSketchedGraph(w planning.Workload, file *chunkio.StatsReader, seen *statistics.Bundle, shape method.Shape) (*statistics.Bundle, error) {
	r := w.Run
	rows, err := settled.SettleFileSketch(r, seen)
	if err != nil {
		return nil, err
	}
	w.SketchRows = rows
	d, m := len(seen.Columns), seen.AnchorCount()
	cost, err := planning.EstimateCost(w, shape, m)
	if err != nil {
		return nil, err
	}
	graph, err := seen.GraphBytes(r.Stats, r.Limits.Threads, 0)
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, c := range seen.Profile.Columns {
		if c.Missing.Total() > 0 {
			missing++
		}
	}
	making, stays := anchor.EstimateBytes(m, d, rows)
	made, own := 8*int64(m)*int64(m+d), gram.SketchBytes(d, missing, rows)
	need := budget.ProgramBytes + budget.ProfileColumnBytes*int64(d) + max(own+gram.SketchBytes(m, 0, rows)+max(graph, made+making), made+stays+cost.Bytes)
	if need > r.Limits.Memory {
		return nil, budget.Budget{Limit: r.Limits.Memory, Smallest: need}.ErrOverLimit()
	}
	if err := statistics.ReadState(seen, file, statistics.SketchSection, statistics.StateOptions{Threads: r.Limits.Threads, Limit: own}); err != nil {
		return nil, err
	}
	if err := statistics.ReadSketchedGraph(seen, file, r.Limits.Threads); err != nil {
		return nil, err
	}
	seen.Plan.Sketch, seen.Plan.Iterations = int64(rows), cost.Iterations
	if err := CheckRecordedOptions(r, seen); err != nil {
		return nil, err
	}
	if err := settleGraph(r, seen); err != nil {
		return nil, err
	}
	seen.Warnings = append(slices.Clone(seen.Warnings), seen.GapWarnings(r.Stats)...)
	return seen, nil
}

// gatherSketch reads from the file the statistics for a method on an estimate of the Gram matrix by a sketch. The
// bundle seen contains the profile of the file.
func gatherSketch(r *settled.Run, file *chunkio.StatsReader, seen *statistics.Bundle, shape method.Shape) (*statistics.Bundle, error) {
	rows, err := settled.SettleFileSketch(r, seen)
	if err != nil {
		return nil, err
	}
	shape.Sketch, shape.Reads = rows, 1
	cost, err := r.Bound.Solver.Cost(shape)
	if err != nil {
		return nil, err
	}
	err = statistics.ReadState(seen, file, statistics.SketchSection, statistics.StateOptions{Threads: r.Limits.Threads, Limit: max(r.Limits.Memory-budget.ProgramBytes-budget.ProfileColumnBytes*int64(len(seen.Columns))-cost.Bytes, 1)})
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		return nil, budget.Budget{Limit: r.Limits.Memory, Smallest: budget.ProgramBytes + budget.ProfileColumnBytes*int64(len(seen.Columns)) + cost.Bytes + m.Need}.ErrOverLimit()
	}
	if err != nil {
		return nil, err
	}
	seen.Plan.Sketch = int64(rows)
	if err := CheckRecordedOptions(r, seen); err != nil {
		return nil, err
	}
	seen.Warnings = append(slices.Clone(seen.Warnings), seen.GapWarnings(r.Stats)...)
	return seen, restrictColumns(r, seen)
}
