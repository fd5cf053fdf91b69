package planning

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
)

func sketchAndProfileBytes(w Workload) int64 {
	d := len(w.Table.Columns())
	return budget.ProfileColumnBytes*int64(d) + gram.SketchBytes(d, ExpectedMissing(w.Run, w.Table), w.SketchRows) + RankBytes(w.Run, w.Table, d)
}

func planSketchedMethod(w Workload, shape method.Shape) (budget.Budget, error) {
	shape.Sketch, shape.Reads = w.SketchRows, w.Run.Choice.Reads
	cost, err := w.Run.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	if w.Run.Choice.Reads < 2 {
		b, err := PlanPass(w.Run, w.Table, sketchAndProfileBytes(w), cost.Bytes)
		b.Sketch = int64(w.SketchRows)
		return b, err
	}
	b := budget.Budget{Limit: w.Run.Limits.Memory, Program: budget.ProgramBytes, Statistics: sketchAndProfileBytes(w), Solver: cost.Bytes, OutOfCore: true, Sketch: int64(w.SketchRows), MethodPasses: cost.Passes}
	b.Smallest = b.Program + b.Statistics + b.Solver + w.Table.MinMemory()
	if b.InMemory = b.Smallest; b.Smallest > b.Limit {
		return b, b.ErrOverLimit()
	}
	b.Reading = w.Table.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.SpoolBytes = w.Table.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + b.Solver + b.Reading
	return b, nil
}

// planGraphSketched plans the memory of a graph method on an estimate of the Gram matrix. graph is the memory of the
// graph of m anchors while it is gathered; placing is the memory of placing the anchors before that. If solve is set,
// sketches and graph are turned into the estimate before the solver begins.
func planGraphSketched(w Workload, m int, graph, placing int64, cost method.Cost, solve bool) (budget.Budget, error) {
	d := len(w.Table.Columns())
	sketches := budget.ProfileColumnBytes*int64(d) + gram.SketchBytes(d, ExpectedMissing(w.Run, w.Table), w.SketchRows) + gram.SketchBytes(m, 0, w.SketchRows)
	statistics := max(placing, sketches+graph)
	var freed int64
	if solve {
		making, stays := anchor.EstimateBytes(m, d, w.SketchRows)
		made := 8 * int64(m) * int64(m+d)
		statistics = max(statistics, sketches+made+making)
		freed = statistics - budget.ProfileColumnBytes*int64(d) - made - stays
	}
	b, err := PlanPass(w.Run, w.Table, statistics, cost.Bytes-freed)
	b.Solver, b.FreedStatistics, b.Iterations, b.Sketch = cost.Bytes, freed, cost.Iterations, int64(w.SketchRows)
	return b, err
}

// errWithSketchAdvice adds advice to err, the memory error of the plan in. The advice names the memory that suffices if
// a sketch estimates the Gram matrix, provided that this is less.
func errWithSketchAdvice(w Workload, shape *method.Shape, in budget.Budget, err error) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !w.Run.Bound.Takes.Sketch || w.Run.Choice.Stability > 0 || w.FindsSize() || w.Run.Choice.Variance > 0 || w.Run.Choice.MinGain > 0 {
		return err
	}
	w.SketchRows = settled.AutoSketchRows
	b, _ := planGraph(w, shape, 0, false)
	if b.Smallest == 0 || b.Smallest >= in.Smallest {
		return err
	}
	advised := *short
	advised.Or = stream.Textf("estimate the Gram matrix with {sketch} auto, {memory-limit} %dMiB", (b.Smallest+1<<20-1)>>20)
	return &advised
}

// EstimateCost does the work of GraphCost for a method on an estimate of the Gram matrix by a sketch.
func EstimateCost(w Workload, shape method.Shape, anchors int) (method.Cost, error) {
	shape.Rank = w.SketchRows - gram.SketchHeld(w.SketchRows) + anchors // the most rows that a factor of the estimate may have
	cost, err := GraphCost(w, shape, anchors)
	cost.Bytes = max(cost.Bytes, anchor.HeldBytes(anchors, shape.K, w.SketchRows))
	return cost, err
}
