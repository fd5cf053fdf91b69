package ufs

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cluster"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/internal/trust"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// profileColumn is what a profile and its report hold for one column.
const profileColumn = 512

// Budget is the plan of a run's memory, in bytes: made before the run, from what the
// footers tell, and kept by its parts. Results never depend on it.
type Budget struct {
	Limit      int64 `json:"limit_bytes"`
	Program    int64 `json:"program_bytes"`
	Reading    int64 `json:"reading_bytes"`
	Statistics int64 `json:"statistics_bytes"`
	Anchors    int64 `json:"anchors_bytes"` // of the statistics: what the anchor graph takes
	Solver     int64 `json:"solver_bytes"`
	Kept       int64 `json:"kept_bytes"`               // of what a pass decodes, for the next ones, at most
	KeptGroups int   `json:"kept_row_groups"`          // that fit there whatever they hold
	Groups     int   `json:"row_groups"`               // in all
	Slack      int64 `json:"slack_bytes"`              // for garbage beside Kept
	Peak       int64 `json:"peak_bytes"`               // of the parts that live at one time
	Smallest   int64 `json:"smallest_bytes"`           // the smallest limit that works
	InMemory   int64 `json:"smallest_in_memory_bytes"` // the smallest that needs no further passes
	Sketch     int64 `json:"sketch_rows"`              // of the sketch that G is estimated by; 0 where it is exact
	Factor     int64 `json:"factor_rows"`              // the rows of G as a factor; 0 where G is in full, or is not made
	OutOfCore  bool  `json:"out_of_core"`              // G does not fit: passes over the rows instead; or rows are in scratch files

	scratch    int64 // bytes in files
	gone       int64 // of the statistics, before the solver begins
	atOnce     bool  // there is room to judge the anchors' graph and that of a permuted copy at once
	sizes      bool  // there is room for the rules of the number of features
	spool      int64 // and of row groups of objects that do not fit into Reading
	iterations int   // of one setting, at most; 0 where the method does not iterate
	solves     int   // settings of a path that are solved at a time
	gram       bool  // FromRows: moments are gathered before the rows are read
	packing    int64 // of the solver: a block of drawn rows
	spread     int64 // of the statistics: histograms
	thin       int64 // what the graph's C by its columns is planned to take; 0 where it is a matrix

	atOnceBytes int64         // what statistics then have, before they are there
	method      method.Passes // over the input, once there are statistics
}

// shapeOf is what a method is asked the cost of.
func (r *run) shapeOf(ds *chunkio.Dataset) method.Shape {
	return method.Shape{
		Columns: ds.Columns(), LeftOut: ds.LeftOut(), Rows: ds.Rows(), K: r.expectedK(len(ds.Columns())), Threads: r.Threads,
		Sparse: r.Sparse != "", RowEntries: ds.RowEntries(), HasNulls: promisesMissing(ds), FillMean: r.Missing == missingMean, Drops: r.policy() == stream.MissingDropRow,
	}
}

// planSelection plans selecting from ds.
func (r *run) planSelection(ds *chunkio.Dataset) (Budget, error) {
	d := len(ds.Columns())
	shape := r.shapeOf(ds)
	switch r.From {
	case method.FromGraph:
		if r.sketchRows > 0 {
			return r.planGraph(ds, true, 0, false)
		}
		in, err := r.planForms(ds, func(rank int) (Budget, error) { return r.planGraph(ds, true, rank, false) })
		if !r.Takes.Streams || r.plain != nil {
			return in, r.orSketched(ds, in, err)
		}
		return r.orOutOfCore(ds, in, err, func() (Budget, error) { return r.planGraph(ds, true, 0, true) })
	case method.FromRows:
		return r.planRows(ds, shape, r.expectedMissing(ds))
	case method.FromProfile:
		cost, err := r.gramCost(shape)
		if err != nil {
			return Budget{}, err
		}
		return r.planPass(ds, profileColumn*int64(d)+r.rankBytes(ds, d), cost.Bytes)
	}
	if r.sketchRows > 0 {
		return r.planSketched(ds, shape)
	}
	in, err := r.planForms(ds, func(rank int) (Budget, error) { return r.planGram(ds, rank) })
	return r.orOutOfCore(ds, in, err, func() (Budget, error) { return r.planOutOfCore(ds, shape) })
}

// worthPasses is the share of the memory, one in so many, that going out of core must save where the Gram
// matrix may be a factor. That holds little more than the profile and the blocks that further passes hold
// too: of 200 rows of 10⁶ features these would take 2.8 GiB for 2.9, and 9,000 passes for one.
const worthPasses = 4

// orOutOfCore is the plan in, in memory, or where that does not fit the one without the Gram matrix.
func (r *run) orOutOfCore(ds *chunkio.Dataset, in Budget, err error, without func() (Budget, error)) (Budget, error) {
	// Halves are sums of matrices, and without the matrix there are no pairs, nor rules.
	if !ds.Replayable() || r.Stability > 0 || r.AutoK || r.Missing == missingPairwise {
		return in, err
	}
	out, outErr := without()
	pays := in.Factor == 0 || out.Smallest <= in.Smallest-in.Smallest/worthPasses
	switch {
	case errors.As(outErr, new(*stream.UsageError)): // its settings are for memory alone
		return in, err
	case !pays:
		return in, err
	case err == nil && outErr == nil && r.sparserThanMatrix(in.Factor, len(ds.Columns())):
		out.InMemory = out.Smallest // more memory would not be used
		return out, nil
	case err == nil:
		in.Smallest = min(in.Smallest, out.Smallest)
		return in, nil
	case in.Smallest < out.Smallest: // then neither fits
		return in, err
	}
	out.InMemory = in.Smallest
	return out, outErr
}

// planGram plans a method on the Gram matrix in memory, in full or, where rank is not 0, as a factor
// of so many rows.
func (r *run) planGram(ds *chunkio.Dataset, rank int) (Budget, error) {
	d, shape := len(ds.Columns()), r.shapeOf(ds)
	shape.Rank = rank
	cost, err := r.gramCost(shape)
	if err != nil {
		return Budget{}, err
	}
	if r.Missing == missingPairwise { // the matrix is mended before the method has it
		cost.Bytes = max(cost.Bytes, linalg.ClipBytes(d))
	}
	beside := r.splitBytes(d) + r.rankBytes(ds, d)
	b, err := r.planPass(ds, r.formBytes(ds, rank)+beside, cost.Bytes)
	if err == nil {
		b = r.withRules(ds, b, cost, rank)
	}
	b.spread = beside
	return b, err
}

// planForms plans with the Gram matrix in the form that pays for the shape of ds, a factor from two
// features a row on: there reading takes less arithmetic, 0 for nd², and a method's own takes
// no more. Where that form does not fit the memory, it is the other one.
func (r *run) planForms(ds *chunkio.Dataset, plan func(rank int) (Budget, error)) (Budget, error) {
	forms := []int{0}
	if n, d := r.factorRows(ds), len(ds.Columns()); n > 0 && n < int64(d) {
		if forms = []int{0, int(n)}; 2*n <= int64(d) {
			forms = []int{int(n), 0}
		}
	}
	best, err := plan(forms[0])
	best.Factor = int64(forms[0])
	if len(forms) == 1 || err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return best, err
	}
	other, otherErr := plan(forms[1])
	other.Factor = int64(forms[1])
	if err == nil || other.Smallest == 0 || otherErr != nil && best.Smallest <= other.Smallest {
		if other.Smallest > 0 {
			best.Smallest, best.InMemory = min(best.Smallest, other.Smallest), min(best.InMemory, other.InMemory)
		}
		return best, err
	}
	return other, otherErr
}

// factorRows is the number of rows, at most, of a Gram matrix that may be a factor; 0 where it may
// not, or where the number is not known.
func (r *run) factorRows(ds *chunkio.Dataset) int64 {
	if !r.Takes.Factor || r.plain != nil && !r.plain.Takes.Factor || r.Stability > 0 || r.Missing == missingPairwise || r.Stats != "" {
		return 0
	}
	n := ds.Rows()
	if r.SampleRows > 0 {
		n = min(n, r.SampleRows)
	}
	return max(n, 0)
}

// planScan plans gathering statistics without selecting from them. sample says whether a
// profile takes a sample of rows along.
func (r *run) planScan(from method.From, sample bool) func(*chunkio.Dataset) (Budget, error) {
	return func(ds *chunkio.Dataset) (Budget, error) {
		d := len(ds.Columns())
		var sampled int64
		if sample {
			sampled = anchor.SamplerBytes(atMostRows(r.anchorSample(r.mostAnchors(), d), ds), d)
		}
		if r.keepRows > 0 {
			sampled += rowsample.Bytes(atMostRows(r.keepRows, ds), d)
		}
		switch {
		case from == method.FromGraph:
			return r.planGraph(ds, false, 0, false)
		case r.sketchRows > 0:
			b, err := r.planPass(ds, r.sketchBytes(ds), 0)
			b.Sketch = int64(r.sketchRows)
			return b, err
		case from == method.FromProfile:
			return r.planPass(ds, profileColumn*int64(d)+sampled+r.rankBytes(ds, d), 0)
		}
		beside := gram.HistogramsBytes(d) + r.splitBytes(d) + r.rankBytes(ds, d)
		b, err := r.planPass(ds, r.gramBytes(ds)+beside, 0)
		b.spread = beside
		return b, r.smallerScan(ds, b, err)
	}
}

// smallerScan adds to the refusal of d² numbers, far above the limit, what a scan can gather instead.
func (r *run) smallerScan(ds *chunkio.Dataset, b Budget, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) || b.Smallest < 4*b.Limit || r.plan != nil {
		return err
	}
	for _, rows := range []int{autoSketch, autoSketch / 4, autoSketch / 8} {
		if d := len(ds.Columns()); b.Program+profileColumn*int64(d)+gram.SketchBytes(d, r.expectedMissing(ds), rows)+ds.MinMemory() <= b.Limit {
			return stream.Errorf("%w; or a sketch of the rows, {sketch} %d, from which {method} greedy selects; or {profile-only}", err, gram.SketchRows(rows))
		}
	}
	return stream.Errorf("%w; or {profile-only}, for method variance", err)
}

// planGraph plans the two passes of the graph methods: a profile with a sample of rows,
// from which the anchors come, and then the statistics, followed by a solver if one is
// asked for. rank is the number of rows of a Gram matrix that is a factor, 0 in full. outOfCore says
// that there is none, so that reading and solver live together.
func (r *run) planGraph(ds *chunkio.Dataset, solve bool, rank int, outOfCore bool) (Budget, error) {
	d, total := len(ds.Columns()), ds.Rows()
	f := &r.Anchors
	if r.SampleRows > 0 {
		total = min(total, r.SampleRows)
	}
	if r.profile != nil { // then ds may be a part only
		total = r.profile.profile.Seen
	}
	if f.File == "" {
		if _, err := anchor.Count(f.Count, total, f.Neighbors); err != nil {
			return Budget{}, err
		}
	}
	m := r.expectedAnchors(total)
	anchors := graphBytes(m, d, f.Neighbors, r.Threads, r.Stability)
	if rank > 0 {
		anchors = anchor.LaterBytes(m, d, rank, f.Neighbors)
	}
	// While anchors are placed there are the sample and its rows as points.
	anchors += r.sampleBytes // it stays for another attempt
	rows := int(min(int64(r.anchorSample(m, d)), total))
	placing := profileColumn*int64(d) + anchor.SamplerBytes(rows, d) + 2*8*int64(rows)*int64(d) + 8*int64(m)*int64(d)
	if rank > 0 { // the rows themselves are the sample, and stay
		placing = profileColumn*int64(d) + 8*int64(m)*int64(d)
		if f.KMeans() {
			placing += 8 * int64(rows) * int64(d)
		}
	}
	if f.File == "" && f.KMeans() {
		placing += cluster.Bytes(rows, d, m, 1)
	}
	// Their graph among themselves is there before the statistics, beside sample and anchors.
	judging := trust.GraphBytes(m, d, f.Neighbors, r.Threads)
	trusting := profileColumn*int64(d) + anchor.SamplerBytes(rows, d) + 8*int64(m)*int64(d) + judging
	if rank > 0 {
		trusting -= anchor.SamplerBytes(rows, d)
	}
	if len(r.graphScales()) > 1 { // the anchors of the first scale stay while others are tried
		trusting += 8 * int64(m) * int64(d)
		placing += 8 * int64(m) * int64(d)
	}
	placing = max(placing, trusting)
	var cost method.Cost
	spread := r.splitBytes(d)
	if !solve {
		spread += gram.HistogramsBytes(d)
	} else {
		var err error
		shape := r.shapeOf(ds)
		shape.Rank, shape.OutOfCore = rank, outOfCore
		of := r.graphCost
		if r.sketchRows > 0 {
			of = r.estimateCost
		}
		if cost, err = of(shape, m); err != nil {
			return Budget{}, err
		}
	}
	ranks := r.rankBytes(ds, d)
	if placing += ranks; ranks > 0 { // the sample, and its copy in scores
		placing += anchor.SamplerBytes(rows, d)
		spread += anchor.SamplerBytes(rows, d)
	}
	spread += ranks
	if outOfCore {
		full, err := r.planGraphOutOfCore(ds, m, anchors, 0, max(r.sampleBytes+placing, r.sampleBytes+profileColumn*int64(d)+anchors+spread))
		if !r.thinGraph(d) {
			return full, err
		}
		// Which of them it is must not depend on the limit.
		if thin, thinErr := r.planThin(ds, m, total); thin.Smallest <= full.Smallest {
			return thin, thinErr
		}
		return full, err
	}
	if r.sketchRows > 0 {
		b, err := r.planGraphSketched(ds, m, anchors+spread, r.sampleBytes+placing, cost, solve)
		b.atOnceBytes = r.sampleBytes + placing + judging
		b.Anchors, b.spread = anchors, spread
		return b, err
	}
	var beside, gone int64
	gathering := r.formBytes(ds, rank) + anchors + spread
	if rank > 0 {
		beside = r.formBytes(ds, rank)
		gathering = max(r.sampleBytes+placing+beside, gathering)
		gone = gathering - beside - 8*int64(m)*int64(m) // points and what judged them: the solver has their room
		if !r.Takes.NoCross {
			gone -= 8 * int64(m) * int64(d)
		}
	}
	b, err := r.planPass(ds, max(r.sampleBytes+placing+beside, gathering), cost.Bytes-gone)
	b.Solver, b.gone = cost.Bytes, gone
	if err == nil {
		b = r.withRules(ds, b, cost, rank)
	}
	b.atOnceBytes = r.sampleBytes + placing + beside + judging
	b.Anchors, b.spread, b.iterations = anchors, spread, cost.Iterations
	return b, err
}

// planGraphOutOfCore plans a graph method without the Gram matrix, where the passes before the method
// hold so many bytes of statistics, of which C, S and the profile stay. C takes so many bytes by its columns, 0
// in full.
func (r *run) planGraphOutOfCore(ds *chunkio.Dataset, m int, anchors, thin, statistics int64) (Budget, error) {
	d := len(ds.Columns())
	stays := profileColumn*int64(d) + 8*int64(m)*int64(m) + cmp.Or(thin, 8*int64(m)*int64(d))
	shape := r.shapeOf(ds)
	shape.Anchors, shape.OutOfCore, shape.Thin = m, true, thin > 0
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: statistics, Anchors: anchors, OutOfCore: true, thin: thin}
	total := func(solver int64) int64 { return b.Program + ds.MinMemory() + max(statistics, stays+solver) }
	if b.Smallest = total(cost.Least); b.Smallest > b.Limit {
		return b, b.refusal()
	}
	room := b.Limit - b.Program - max(statistics, stays+cost.Least)
	b.Reading = ds.MemoryFor(min(max(b.Limit/4, ds.MinMemory()), room))
	b.spool = ds.ScratchFor(b.Reading)
	b.Solver = b.Limit - b.Program - b.Reading - stays
	b.gone = statistics - stays
	b.Peak = b.Limit
	shape.Memory = b.Solver
	cost, err = r.Solver.Cost(shape)
	b.method = cost.Passes
	return b, err
}

// withRules is the plan b with the rules of how many features there are worth keeping, where they
// are asked for and fit.
func (r *run) withRules(ds *chunkio.Dataset, b Budget, cost method.Cost, rank int) Budget {
	if !r.sizes {
		return b
	}
	d := len(ds.Columns())
	rules := r.sizeBytes(d, rank)
	if r.plain != nil {
		rules = max(rules, r.plain.sizeBytes(d, rank))
	}
	more, err := r.planPass(ds, b.Statistics, max(cost.Bytes, rules)-b.gone)
	more.Solver, more.gone = max(cost.Bytes, rules), b.gone
	if err != nil {
		return b
	}
	more.Smallest, more.InMemory, more.sizes = b.Smallest, b.InMemory, true
	return more
}

// gramBytes is what the Gram statistics take: with those of the hash shards one more, their sum.
func (r *run) gramBytes(ds *chunkio.Dataset) int64 {
	return gram.SharedBytes(len(ds.Columns()), r.expectedMissing(ds), r.Stability+1)
}

// narrowRows says that the rows of a factor are kept as float32: their types fit, nothing makes other numbers
// of them, and methods on a Gram matrix take them as they come. Those on a graph that do not say so turn the
// rows in place, or multiply them too often to widen them each time.
func (r *run) narrowRows(ds *chunkio.Dataset) bool {
	few := r.From == method.FromGram
	if by, ok := r.Solver.(method.ByPanels); ok {
		few = by.ByPanels()
	}
	return few && r.scale != gram.ScaleRank && ds.Singles()
}

// formBytes is what the Gram statistics take in full, or as so many rows.
func (r *run) formBytes(ds *chunkio.Dataset, rank int) int64 {
	if rank > 0 {
		return gram.RowsBytes(len(ds.Columns()), int64(rank), r.narrowRows(ds))
	}
	return r.gramBytes(ds)
}

// splitBytes is what telling the rows of hash shards apart takes, with a profile of all of them.
func (r *run) splitBytes(d int) int64 {
	if r.Stability == 0 {
		return 0
	}
	return halves.Bytes(d, r.Stability) + profileColumn*int64(d)
}

// graphBytes is what statistics of a graph of m anchors take, with those of the hash shards.
func graphBytes(m, d, neighbors, threads, shards int) int64 {
	return anchor.SharedBytes(m, d, neighbors, threads, shards+1)
}

// graphCost is what a graph method, and then what explains its choice, take beside the
// graph of m anchors.
func (r *run) graphCost(shape method.Shape, m int) (method.Cost, error) {
	shape.Anchors = m
	cost, err := r.gramCost(shape)
	cost.Bytes = max(cost.Bytes, judge.ExplainBytes(len(shape.Columns), shape.K, shape.Rank))
	if err == nil && r.plain != nil { // which may select from the same moments
		var other method.Cost
		other, err = r.plain.gramCost(shape)
		cost.Bytes = max(cost.Bytes, other.Bytes)
	}
	return cost, err
}

// gramCost is what a method, and then what judges its choice, take beside the statistics in
// memory.
func (r *run) gramCost(shape method.Shape) (method.Cost, error) {
	cost, err := r.Solver.Cost(shape)
	d := len(shape.Columns)
	if r.AutoK {
		cost.Bytes = max(cost.Bytes, r.sizeBytes(d, shape.Rank))
	}
	if r.judged() {
		cost.Bytes = max(cost.Bytes, subset.CompareBytes(d, shape.K))
	}
	return cost, err
}

// atMostRows is rows, or all of ds if there are fewer.
func atMostRows(rows int, ds *chunkio.Dataset) int {
	if n := ds.Rows(); n >= 0 {
		return int(min(int64(rows), n))
	}
	return rows
}

// planPass plans one pass that leaves so many bytes of statistics, followed by a
// solver. Reading and solver do not live at the same time.
func (r *run) planPass(ds *chunkio.Dataset, statistics, solver int64) (Budget, error) {
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: statistics, Solver: solver}
	b.Smallest = b.Program + statistics + max(ds.MinMemory(), solver)
	b.InMemory = b.Smallest
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - statistics)
	b.spool = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + statistics + max(b.Reading, solver)
	return b, nil
}

// planOutOfCore plans a method on the Gram matrix without it: reading and solver live
// together.
func (r *run) planOutOfCore(ds *chunkio.Dataset, shape method.Shape) (Budget, error) {
	shape.OutOfCore = true
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: profileColumn*int64(len(shape.Columns)) + r.rankBytes(ds, len(shape.Columns)), OutOfCore: true}
	b.Smallest = b.Program + b.Statistics + ds.MinMemory() + cost.Least
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	// Reading may have a quarter, as far as that drives out nothing that saves passes: of basehock
	// within 130 MiB 50 features took 22 passes with a quarter, and 18 with what reading needs.
	room, least := b.Limit-b.Program-b.Statistics, cost.Least
	for _, reading := range []int64{b.Limit / 4, b.Limit / 8, 0} {
		b.Reading = ds.MemoryFor(min(max(reading, ds.MinMemory()), room-least))
		shape.Memory = room - b.Reading
		if cost, err = r.Solver.Cost(shape); err != nil || !cost.Cramped {
			break
		}
	}
	b.spool = ds.ScratchFor(b.Reading)
	b.Solver, b.Peak, b.method = shape.Memory, b.Limit, cost.Passes
	return b, err
}

func (b Budget) refusal() error {
	return &stream.MemoryError{What: "this run", Need: b.Smallest, Limit: b.Limit}
}

// leastMemory turns a complaint of opening the input about memory into the refusal of
// the whole plan, which it makes by opening the input without that limit.
func (r *run) leastMemory(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (Budget, error), err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if slices.Contains(inputs, "-") { // read already: it cannot be opened again
		return r.wholeLimit(err)
	}
	opt.Memory = 0
	ds, openErr := openDataset(ctx, inputs, opt)
	if openErr != nil {
		return err
	}
	defer ds.Close()
	if _, planErr := plan(ds); planErr != nil {
		return planErr
	}
	return err
}

// enforce tells the Go runtime to keep to the planned peak rather than to the whole
// limit, so that garbage does not fill what the plan left free. Where statistics may
// outgrow the plan the limit itself holds.
func (b Budget) enforce(mayGrow bool) {
	if !mayGrow {
		debug.SetMemoryLimit(b.Peak - outsideHeap)
	}
}

// room is what the statistics may grow to: the footers do not tell of every missing
// value, and columns that have some need more.
func (b Budget) room() int64 {
	return b.Limit - b.Program - b.Anchors - b.spread - max(b.Reading, b.Solver)
}

// explain turns a part's complaint about its share into one about the whole limit.
// It comes up where the footers could not tell how many columns have missing values.
func (b Budget) explain(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need-m.Limit+b.Limit, b.Limit
	return &whole
}

// wholeLimit turns a complaint of reading about its share of the limit into one about the
// limit itself.
func (q *Request) wholeLimit(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need+programBytes, q.Memory
	return &whole
}

// expectedK is the number of features that will be selected from d, as far as known.
func (r *run) expectedK(d int) int {
	switch {
	case r.K > 0:
		return min(r.K, d)
	case r.AutoK:
		return max(subset.Most(d), min(len(r.Keep), d))
	case r.Variance > 0:
		return d
	}
	return min(max(DefaultK, len(r.Keep)), d)
}

// expectedMissing is the number of features whose missing values the statistics
// will have to carry, as far as the metadata tells.
func (r *run) expectedMissing(ds *chunkio.Dataset) int {
	if r.policy() != stream.MissingKeep {
		return 0
	}
	return ds.WithNulls()
}
