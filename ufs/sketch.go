package ufs

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// If neither the Gram matrix nor the rows fit into memory, a method may select from an estimate of the matrix. The
// estimate comes from a sketch of the rows (gram.Sketch): fewer rows, each a sum of input rows with random signs. One
// pass gathers the sketch and a profile. Sketches of shards add up, as moments do. Methods read the rows again for
// exact values.

// optionSketch is the option in which a statistics file records the number of rows of its sketch.
const optionSketch = "sketch"

const (
	sketchAuto = "auto"
	// autoSketchRows is the number of rows of a sketch for {sketch} auto. It estimates correlations to about 1/√2048 =
	// 2.2 %. It does not depend on the memory limit, because the limit never changes a result.
	autoSketchRows = 2048
	// defaultReads is the default of Request.Reads: one pass for the sketch, one for exact scores.
	defaultReads = 2
)

func (r *run) settleSketch() error {
	switch {
	case r.Reads < 0:
		return stream.Usagef("{passes} %d: want 1 or more", r.Reads)
	case r.Sketch == "" && r.Reads == 0:
		return nil
	case !r.Takes.Sketch:
		return stream.Usagef("{sketch} and {passes} are not for method %s; leave them out, or choose {method} greedy", r.Name)
	case r.From == method.FromGraph && r.Reads > 0:
		return stream.Usagef("{passes} is not for method %s, which has its sketch from the pass that makes the graph; leave it out, or choose {method} greedy", r.Name)
	case r.Stability > 0:
		return stream.Usagef("{sketch} has no halves of the rows to compare; leave {stability} or {sketch} out")
	case r.Missing == missingPairwise:
		return stream.Usagef("{missing} pairwise: a sketch knows no pairs of columns; use {missing} mean")
	case r.AutoK:
		return stream.Usagef("{k} auto rests on the exact Gram matrix; give a number, or leave {sketch} out")
	case r.MinGain > 0:
		return stream.Usagef("{min-gain} needs exact shares, but {sketch} estimates them during the choice; use {k}")
	case r.Variance > 0:
		return stream.Usagef("{variance} needs an exact share, but {sketch} estimates it during the choice; use {k}")
	}
	switch {
	case r.From == method.FromGraph:
	case r.Stats == "" && r.isSinglePassStream():
		r.Reads = cmp.Or(r.Reads, 1)
	case r.Stats == "":
		r.Reads = cmp.Or(r.Reads, defaultReads)
	case r.Reads > 1:
		return stream.Usagef("{passes} %d: %s has no rows to read again; select from the data with {sketch}, or take the estimates of {passes} 1", r.Reads, r.Stats)
	default:
		r.Reads = 1
	}
	if r.Sketch == "" && r.Stats != "" { // the file records the number of rows
		return nil
	}
	var err error
	if r.sketchRows, err = parseSketchRows(cmp.Or(r.Sketch, sketchAuto)); err == nil {
		r.Sketch = strconv.Itoa(r.sketchRows)
	}
	return err
}

func parseSketchRows(text string) (int, error) {
	share, isShare := strings.CutSuffix(text, "%")
	if text == sketchAuto {
		return autoSketchRows, nil
	}
	if isShare {
		if off, err := strconv.ParseFloat(share, 64); err == nil && off >= 0.1 && off < 100 {
			return gram.SketchRows(int(math.Ceil(1e4 / (off * off)))), nil
		}
		return 0, stream.Usagef("{sketch} %s: want a share from 0.1%% up to below 100%%", text)
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && gram.SketchRows(n) >= n {
		return gram.SketchRows(n), nil
	}
	return 0, stream.Usagef("{sketch} %s: want a number of rows up to %d, how far an entry may be off, as 2%%, or %s", text, gram.SketchRows(math.MaxInt32), sketchAuto)
}

func (r *run) sketchBytes(ds *chunkio.Dataset) int64 {
	d := len(ds.Columns())
	return profileColumnBytes*int64(d) + gram.SketchBytes(d, r.expectedMissing(ds), r.sketchRows) + r.rankBytes(ds, d)
}

func (r *run) planSketchedMethod(ds *chunkio.Dataset, shape method.Shape) (Budget, error) {
	shape.Sketch, shape.Reads = r.sketchRows, r.Reads
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	if r.Reads < 2 {
		b, err := r.planPass(ds, r.sketchBytes(ds), cost.Bytes)
		b.Sketch = int64(r.sketchRows)
		return b, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: r.sketchBytes(ds), Solver: cost.Bytes, OutOfCore: true, Sketch: int64(r.sketchRows), methodPasses: cost.Passes}
	b.Smallest = b.Program + b.Statistics + b.Solver + ds.MinMemory()
	if b.InMemory = b.Smallest; b.Smallest > b.Limit {
		return b, b.refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.spoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + b.Solver + b.Reading
	return b, nil
}

// estimateFactorRank returns the largest number of rows of the factor of an estimated Gram matrix. The estimate is made
// from a sketch of this many rows and the graph of m anchors.
func estimateFactorRank(rows, m int) int { return rows - gram.SketchHeld(rows) + m }

// planGraphSketched plans the memory of a graph method on an estimate of the Gram matrix. graph is the memory of the
// graph of m anchors while it is gathered; placing is the memory of placing the anchors before that. If solve is set,
// sketches and graph are turned into the estimate before the solver begins.
func (r *run) planGraphSketched(ds *chunkio.Dataset, m int, graph, placing int64, cost method.Cost, solve bool) (Budget, error) {
	d := len(ds.Columns())
	sketches := profileColumnBytes*int64(d) + gram.SketchBytes(d, r.expectedMissing(ds), r.sketchRows) + gram.SketchBytes(m, 0, r.sketchRows)
	statistics := max(placing, sketches+graph)
	var freed int64
	if solve {
		making, stays := anchor.EstimateBytes(m, d, r.sketchRows)
		made := 8 * int64(m) * int64(m+d)
		statistics = max(statistics, sketches+made+making)
		freed = statistics - profileColumnBytes*int64(d) - made - stays
	}
	b, err := r.planPass(ds, statistics, cost.Bytes-freed)
	b.Solver, b.freedStatistics, b.iterations, b.Sketch = cost.Bytes, freed, cost.Iterations, int64(r.sketchRows)
	return b, err
}

// errWithSketchAdvice adds advice to err, the memory error of the plan in. The advice names the memory that suffices if
// a sketch estimates the Gram matrix, provided that this is less.
func (r *run) errWithSketchAdvice(ds *chunkio.Dataset, shape *method.Shape, in Budget, err error) error {
	var short *stream.MemoryError
	if !errors.As(err, &short) || !r.Takes.Sketch || r.Stability > 0 || r.AutoK || r.Variance > 0 || r.MinGain > 0 {
		return err
	}
	sketchRun := *r
	sketchRun.sketchRows = autoSketchRows
	b, _ := sketchRun.planGraph(ds, shape, 0, false)
	if b.Smallest == 0 || b.Smallest >= in.Smallest {
		return err
	}
	advised := *short
	advised.Or = stream.Textf("estimate the Gram matrix with {sketch} auto, {memory-limit} %dMiB", (b.Smallest+1<<20-1)>>20)
	return &advised
}

func (g *gatherer) newWeightSketch(m int) *gram.Sketch {
	return gram.NewSketch(m, gram.SketchOptions{Rows: g.sketchRows, Seed: g.Seed, Threads: g.Threads})
}

func (g *gatherer) newSketch(d int, b Budget) *gram.Sketch {
	if g.gatherKind == method.FromGraph { // the sketch may use all memory that the plan leaves
		free := max(b.Limit-b.Program-b.Statistics-max(b.Reading, b.Solver-b.freedStatistics), 0)
		return gram.NewSketch(d, gram.SketchOptions{Rows: g.sketchRows, Seed: g.Seed, Threads: g.Threads, Limit: gram.SketchBytes(d, 0, g.sketchRows) + free})
	}
	used := b.Program + profileColumnBytes*int64(d) + max(b.Reading, b.Solver)
	if b.OutOfCore {
		used = b.Program + profileColumnBytes*int64(d) + b.Reading + b.Solver
	}
	return gram.NewSketch(d, gram.SketchOptions{Rows: g.sketchRows, Seed: g.Seed, Threads: g.Threads, Limit: max(b.Limit-used, 1)})
}

func (e *bundle) readSketch(r *chunkio.StatsReader, opt gram.Options) error {
	e.sketch = gram.NewSketch(len(e.columns), gram.SketchOptions{Threads: opt.Threads, Limit: opt.Limit})
	return readSection(r, sketchSection, e.sketch)
}

func (e *bundle) sketchRowCount() int {
	rows, err := strconv.Atoi(e.options[optionSketch])
	if err != nil || gram.SketchRows(rows) != rows {
		return 0
	}
	return rows
}

func (e *bundle) anchorCount() int {
	m, err := strconv.Atoi(e.options["anchors"])
	if err != nil {
		return 0
	}
	return max(m, 0)
}

func (r *run) settleFileSketch(seen *bundle) (int, error) {
	rows := seen.sketchRowCount()
	if rows == 0 {
		return 0, chunkio.DamagedStats(r.Stats, "no number of rows of a sketch: %q", seen.options[optionSketch])
	}
	if r.sketchRows > 0 && r.sketchRows != rows {
		return 0, stream.Usagef("{sketch} %s: %s has a sketch of %d rows; leave it out, or scan again with the one you want", r.Sketch, r.Stats, rows)
	}
	r.Sketch, r.sketchRows = strconv.Itoa(rows), rows
	return rows, r.settleSketch()
}

func (e *bundle) readSketchedGraph(file *chunkio.StatsReader, threads int) error {
	graphLimit, err := e.graphBytes(file.Path(), threads, 0)
	if err != nil {
		return err
	}
	if e.graph, err = readGraphSection(file, threads, graphLimit); err != nil {
		return err
	}
	e.weights = gram.NewSketch(e.anchorCount(), gram.SketchOptions{Threads: threads})
	return readSection(file, weightsSection, e.weights)
}

// gatherSketchedGraph does the work of gatherFromFile for a graph method on an estimate of the Gram matrix. The bundle
// seen contains the profile of the file.
func (r *run) gatherSketchedGraph(file *chunkio.StatsReader, seen *bundle, shape method.Shape) (*bundle, error) {
	rows, err := r.settleFileSketch(seen)
	if err != nil {
		return nil, err
	}
	d, m := len(seen.columns), seen.anchorCount()
	cost, err := r.estimateCost(shape, m)
	if err != nil {
		return nil, err
	}
	graph, err := seen.graphBytes(r.Stats, r.Threads, 0)
	if err != nil {
		return nil, err
	}
	missing := 0
	for _, c := range seen.profile.Columns {
		if c.Missing.Total() > 0 {
			missing++
		}
	}
	making, stays := anchor.EstimateBytes(m, d, rows)
	made, own := 8*int64(m)*int64(m+d), gram.SketchBytes(d, missing, rows)
	need := programBytes + profileColumnBytes*int64(d) + max(own+gram.SketchBytes(m, 0, rows)+max(graph, made+making), made+stays+cost.Bytes)
	if need > r.Memory {
		return nil, Budget{Limit: r.Memory, Smallest: need}.refusal()
	}
	if err := seen.readSketch(file, gram.Options{Threads: r.Threads, Limit: own}); err != nil {
		return nil, err
	}
	if err := seen.readSketchedGraph(file, r.Threads); err != nil {
		return nil, err
	}
	seen.plan.Sketch, seen.plan.iterations = int64(rows), cost.Iterations
	if err := r.checkRecorded(seen); err != nil {
		return nil, err
	}
	if err := r.settleGraph(seen); err != nil {
		return nil, err
	}
	seen.warnings = append(slices.Clone(seen.warnings), seen.gapWarnings(r.Stats)...)
	return seen, nil
}

// gatherSketch does the work of gatherFromFile for a method on an estimate of the Gram matrix. The bundle seen contains
// the profile of the file.
func (r *run) gatherSketch(file *chunkio.StatsReader, seen *bundle, shape method.Shape) (*bundle, error) {
	rows, err := r.settleFileSketch(seen)
	if err != nil {
		return nil, err
	}
	shape.Sketch, shape.Reads = rows, 1
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return nil, err
	}
	err = seen.readSketch(file, gram.Options{Threads: r.Threads, Limit: max(r.Memory-programBytes-profileColumnBytes*int64(len(seen.columns))-cost.Bytes, 1)})
	if m := (*stream.MemoryError)(nil); errors.As(err, &m) {
		return nil, Budget{Limit: r.Memory, Smallest: programBytes + profileColumnBytes*int64(len(seen.columns)) + cost.Bytes + m.Need}.refusal()
	}
	if err != nil {
		return nil, err
	}
	seen.plan.Sketch = int64(rows)
	if err := r.checkRecorded(seen); err != nil {
		return nil, err
	}
	seen.warnings = append(slices.Clone(seen.warnings), seen.gapWarnings(r.Stats)...)
	return seen, r.restrictColumns(seen)
}

// useSketch estimates the Gram matrix from the sketch, and puts it into the evidence for the method. The evidence
// includes the rows if the method may read them again.
func (t *trial) useSketch() error {
	m, err := t.bundle.sketch.Finish(t.bundle.profile, t.bundle.columns, gram.FinishOptions{Scale: t.scale, Fill: t.Fill})
	if err != nil {
		return err
	}
	if t.Std, err = gram.NewStandardizer(t.bundle.profile, t.bundle.columns, t.scale, t.Fill); err != nil {
		return err
	}
	if t.bundle.takesPart != nil {
		m.Keep(t.bundle.takesPart)
		t.Std.Keep(t.bundle.takesPart)
	}
	t.Gram, t.Reads = m, t.gatherer.Reads
	if t.Reads > 1 {
		t.Source, t.Memory = t.bundle.source, t.bundle.plan.Solver
	}
	t.setFeatures(m.Columns, m.Mean, m.Std, m.Filled, m.LeftOut, m.Warnings)
	return nil
}

// describeEstimate warns which parts of the choice of a graph method rest on a sketch. It returns a description of the
// estimate, or nil if everything is exact. explained means that the errors of the selection rest on the estimate too.
func (t *trial) describeEstimate(chosen []int, explained bool) *stream.Estimate {
	if t.Graph == nil || t.Graph.Held == nil {
		return nil
	}
	off, nan := stream.Number(t.Graph.Deviation(t.Threads, chosen)), stream.Number(math.NaN())
	e := &stream.Estimate{
		SketchRows: t.sketchRows - t.Graph.Held.Rank, HeldRows: t.Graph.Held.Rank, Deviation: nan, Outside: nan, CosineDeviation: &off,
	}
	basis, deviation, left := "the choice rests on it", "", ""
	if t.Takes.Diagonal {
		basis = "the scores and the choice are exact"
	}
	if !math.IsNaN(float64(off)) {
		deviation = " (those of the chosen ones by " + formatPercent(float64(off)) + ")"
	}
	if explained {
		for _, v := range t.Graph.HeldErrors(t.Threads, chosen) {
			e.HeldError = append(e.HeldError, stream.Number(v))
		}
		if n := len(e.HeldError); n > 0 {
			left = "; on rows kept out of it " + formatPercent(float64(e.HeldError[n-1])) + " of the sum of squares is left, not " + formatPercent(float64(t.selection.Selected[n-1].Error))
		}
	}
	t.warn("the scores from the graph and the variances are exact; other correlations of the features are estimated by a sketch of %d rows, which puts their cosines off%s: %s%s", e.SketchRows, deviation, basis, left)
	return e
}

func (r *run) estimateCost(shape method.Shape, m int) (method.Cost, error) {
	shape.Rank = estimateFactorRank(r.sketchRows, m)
	cost, err := r.graphCost(shape, m)
	cost.Bytes = max(cost.Bytes, anchor.HeldBytes(m, shape.K, r.sketchRows))
	return cost, err
}
