package planning

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

func sketchBytes(r *settled.Run, ds *chunkio.Dataset) int64 {
	d := len(ds.Columns())
	return budget.ProfileColumnBytes*int64(d) + gram.SketchBytes(d, ExpectedMissing(r, ds), r.SketchRows) + RankBytes(r, ds, d)
}

func planSketchedMethod(r *settled.Run, ds *chunkio.Dataset, shape method.Shape) (budget.Budget, error) {
	shape.Sketch, shape.Reads = r.SketchRows, r.Choice.Reads
	cost, err := r.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	if r.Choice.Reads < 2 {
		b, err := PlanPass(r, ds, sketchBytes(r, ds), cost.Bytes)
		b.Sketch = int64(r.SketchRows)
		return b, err
	}
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: sketchBytes(r, ds), Solver: cost.Bytes, OutOfCore: true, Sketch: int64(r.SketchRows), MethodPasses: cost.Passes}
	b.Smallest = b.Program + b.Statistics + b.Solver + ds.MinMemory()
	if b.InMemory = b.Smallest; b.Smallest > b.Limit {
		return b, b.Refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + b.Solver + b.Reading
	return b, nil
}

// estimateFactorRank returns the largest number of rows of the factor of an estimated Gram matrix. The estimate is made
// from a sketch of this many rows and the graph of m anchors.
func estimateFactorRank(rows, m int) int { return rows - gram.SketchHeld(rows) + m }

// planGraphSketched plans the memory of a graph method on an estimate of the Gram matrix. graph is the memory of the
// graph of m anchors while it is gathered; placing is the memory of placing the anchors before that. If solve is set,
// sketches and graph are turned into the estimate before the solver begins.
func planGraphSketched(r *settled.Run, ds *chunkio.Dataset, m int, graph, placing int64, cost method.Cost, solve bool) (budget.Budget, error) {
	d := len(ds.Columns())
	sketches := budget.ProfileColumnBytes*int64(d) + gram.SketchBytes(d, ExpectedMissing(r, ds), r.SketchRows) + gram.SketchBytes(m, 0, r.SketchRows)
	statistics := max(placing, sketches+graph)
	var freed int64
	if solve {
		making, stays := anchor.EstimateBytes(m, d, r.SketchRows)
		made := 8 * int64(m) * int64(m+d)
		statistics = max(statistics, sketches+made+making)
		freed = statistics - budget.ProfileColumnBytes*int64(d) - made - stays
	}
	b, err := PlanPass(r, ds, statistics, cost.Bytes-freed)
	b.Solver, b.FreedStatistics, b.Iterations, b.Sketch = cost.Bytes, freed, cost.Iterations, int64(r.SketchRows)
	return b, err
}

// errWithSketchAdvice adds advice to err, the memory error of the plan in. The advice names the memory that suffices if
// a sketch estimates the Gram matrix, provided that this is less.
func errWithSketchAdvice(r *settled.Run, ds *chunkio.Dataset, shape *method.Shape, in budget.Budget, err error) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !r.Bound.Takes.Sketch || r.Choice.Stability > 0 || r.Choice.AutoK || r.Choice.Variance > 0 || r.Choice.MinGain > 0 {
		return err
	}
	sketchRun := *r
	sketchRun.SketchRows = settled.AutoSketchRows
	b, _ := planGraph(&sketchRun, ds, shape, 0, false)
	if b.Smallest == 0 || b.Smallest >= in.Smallest {
		return err
	}
	advised := *short
	advised.Or = stream.Textf("estimate the Gram matrix with {sketch} auto, {memory-limit} %dMiB", (b.Smallest+1<<20-1)>>20)
	return &advised
}

func EstimateCost(r *settled.Run, shape method.Shape, m int) (method.Cost, error) {
	shape.Rank = estimateFactorRank(r.SketchRows, m)
	cost, err := GraphCost(r, shape, m)
	cost.Bytes = max(cost.Bytes, anchor.HeldBytes(m, shape.K, r.SketchRows))
	return cost, err
}
