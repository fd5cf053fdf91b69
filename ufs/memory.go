package ufs

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// profileColumnBytes is the memory that one column needs in a profile and in the report.
const profileColumnBytes = 512

// Budget is the plan of a run's memory, in bytes. It is made from the footers before the run, and each part of the run
// stays within its share. Results do not depend on the budget. G is the Gram matrix.
type Budget struct {
	Limit      int64 `json:"limit_bytes"`
	Program    int64 `json:"program_bytes"`
	Reading    int64 `json:"reading_bytes"`
	Statistics int64 `json:"statistics_bytes"`
	Anchors    int64 `json:"anchors_bytes"` // the anchor graph's part of the statistics
	Solver     int64 `json:"solver_bytes"`
	Kept       int64 `json:"kept_bytes"`                      // upper bound on decoded data kept for later passes
	KeptGroups int   `json:"kept_row_groups"`                 // number of row groups that surely fit into Kept
	Groups     int   `json:"row_groups"`                      // total number of row groups
	Slack      int64 `json:"slack_bytes"`                     // for garbage while Kept is held
	Peak       int64 `json:"peak_bytes"`                      // sum of the parts that are in memory at the same time
	Smallest   int64 `json:"smallest_bytes"`                  // the smallest limit that works
	InMemory   int64 `json:"smallest_in_memory_bytes"`        // the smallest limit that needs no additional passes
	AutoK      int64 `json:"smallest_auto_k_bytes,omitempty"` // the smallest limit for finding K; 0 if K is given
	Sketch     int64 `json:"sketch_rows"`                     // rows of the sketch that estimates G; 0 if G is exact
	Factor     int64 `json:"factor_rows"`                     // rows of G as a factor; 0 if G is full or not made
	OutOfCore  bool  `json:"out_of_core"`                     // further passes replace G, or rows are in scratch files

	scratch          int64 // bytes in scratch files
	rewrittenScratch int64 // the part of scratch that each iteration rewrites; a checkpoint keeps this part twice
	freedStatistics  int64 // statistics that are freed before the solver begins
	judgesAtOnce     bool  // memory suffices to judge the anchors' graph and its permuted copy at the same time
	hasSizeRules     bool  // memory suffices for the rules that find the number of features
	spoolBytes       int64 // scratch bytes for row groups of objects that do not fit into Reading
	iterations       int   // greatest number of iterations for one setting; 0 if the method does not iterate
	parallelSettings int   // number of settings of a path that are solved in parallel
	gathersMoments   bool  // a method over rows: moments are gathered before the iterations
	packingBytes     int64 // the part of Solver for packing drawn rows into a block
	sideStatistics   int64 // part of the statistics' memory for histograms and similar tables
	thinColumnBytes  int64 // planned bytes of the graph's matrix C if only its nonzero entries are stored; else 0

	judgingStatistics int64         // memory for making and judging anchors if judgesAtOnce is set
	methodPasses      method.Passes // passes over the input after the statistics are made
}

func (r *run) newShape(ds *chunkio.Dataset, c *candidates) method.Shape {
	shape := method.Shape{
		Columns: ds.Columns(), LeftOut: ds.LeftOut(), Rows: ds.Rows(), Threads: r.Threads, Sample: limitRows(surveyRows(r, len(ds.Columns())), ds),
		Sparse: r.Sparse != "", RowEntries: ds.RowEntries(), HasNulls: promisesMissing(ds), FillMean: r.Missing == missingMean, Drops: r.missingPolicy() == stream.MissingDropRow,
	}
	r.addChoiceToShape(&shape, c)
	return shape
}

func (r *run) planMethod(ds *chunkio.Dataset) (Budget, error) {
	d := len(ds.Columns())
	c, err := r.newCandidates(ds.Columns(), ds.LeftOut(), true)
	if err != nil {
		return Budget{}, err
	}
	shape := r.newShape(ds, c)
	switch r.From {
	case method.FromGraph:
		if r.sketchRows > 0 {
			return r.planGraph(ds, &shape, 0, false)
		}
		in, err := r.planBestForm(ds, func(rank int) (Budget, error) { return r.planGraph(ds, &shape, rank, false) })
		if !r.Takes.Streams {
			return in, r.errWithSketchAdvice(ds, &shape, in, err)
		}
		return r.chooseInOrOutOfCore(ds, in, err, func() (Budget, error) { return r.planGraph(ds, &shape, 0, true) })
	case method.FromRows:
		return r.planRows(ds, shape, r.expectedMissing(ds))
	case method.FromProfile:
		cost, err := r.gramCost(shape)
		if err != nil {
			return Budget{}, err
		}
		return r.planPass(ds, profileColumnBytes*int64(d)+r.rankBytes(ds, d), cost.Bytes)
	}
	if r.sketchRows > 0 {
		return r.planSketchedMethod(ds, shape)
	}
	if usesSampleGramOnly(r, ds) {
		if r.AutoK || r.MinGain > 0 {
			return Budget{}, stream.Usagef("{k} auto and {min-gain} need the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; give a number", r.Name)
		}
		return r.planOutOfCore(ds, shape)
	}
	in, err := r.planBestForm(ds, func(rank int) (Budget, error) { return r.planGram(ds, shape, rank) })
	if r.Takes.Sample { // the choice is based on sampled rows, whatever the limit
		return in, err
	}
	return r.chooseInOrOutOfCore(ds, in, err, func() (Budget, error) { return r.planOutOfCore(ds, shape) })
}

// savingDivisor applies if the Gram matrix is cheaper as a factor than in full: the run goes out of core only if that
// saves at least 1/savingDivisor of the memory. Often it saves little, because a factor needs little more memory than
// the profile and the blocks that additional passes also need. For 200 rows of 10⁶ features, a run out of core would
// need 2.8 GiB instead of 2.9 GiB, and 9,000 passes instead of one.
const savingDivisor = 4

// chooseInOrOutOfCore chooses between the given plan in, with a Gram matrix, and a plan made by planOut, without this
// matrix. It prefers plan in if it fits into memory, unless rereading the rows is better. err is the error of plan in.
func (r *run) chooseInOrOutOfCore(ds *chunkio.Dataset, in Budget, err error, planOut func() (Budget, error)) (Budget, error) {
	// Without a Gram matrix there are no half-samples, which are sums of matrices, no pairwise statistics, and no rules
	// for the number of features.
	if !ds.Replayable() || r.Stability > 0 || r.AutoK || r.Missing == missingPairwise {
		return in, err
	}
	out, outErr := planOut()
	pays := r.gramForms(ds)[0] == 0 || out.Smallest <= in.Smallest-in.Smallest/savingDivisor
	switch {
	case errors.As(outErr, new(*stream.UsageError)): // the settings of the method are only possible in memory
		return in, err
	case !pays:
		return in, err
	case err == nil && outErr == nil && r.isRereadingBetter(in.Factor, len(ds.Columns())):
		out.InMemory = out.Smallest // the run would not use more memory
		return out, nil
	case err == nil:
		in.Smallest = min(in.Smallest, out.Smallest)
		return in, nil
	case in.Smallest < out.Smallest: // both plans do not fit
		return in, err
	}
	out.InMemory = in.Smallest
	return out, outErr
}

func (r *run) planScan(from method.From, sample bool) func(*chunkio.Dataset) (Budget, error) {
	return func(ds *chunkio.Dataset) (Budget, error) {
		d := len(ds.Columns())
		var sampled int64
		if sample {
			sampled = anchor.SamplerBytes(limitRows(r.anchorSampleRows(r.maxAnchors(), d), ds), d)
		}
		if r.keepRows > 0 {
			sampled += rowsample.SampleBytes(limitRows(r.keepRows, ds), d)
		}
		switch {
		case from == method.FromGraph:
			return r.planGraph(ds, nil, 0, false)
		case r.sketchRows > 0:
			b, err := r.planPass(ds, r.sketchBytes(ds), 0)
			b.Sketch = int64(r.sketchRows)
			return b, err
		case from == method.FromProfile:
			return r.planPass(ds, profileColumnBytes*int64(d)+sampled+r.rankBytes(ds, d), 0)
		}
		sideBytes := gram.HistogramsBytes(d) + r.splitterBytes(d) + r.rankBytes(ds, d) + surveyBytes(r, ds, 0)
		b, err := r.planPass(ds, r.gramBytes(ds)+sideBytes, 0)
		b.sideStatistics = sideBytes
		return b, r.errTooLargeScan(ds, b, err)
	}
}

func (r *run) errTooLargeScan(ds *chunkio.Dataset, b Budget, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) || b.Smallest < 4*b.Limit || r.planHeader != nil {
		return err
	}
	for _, rows := range []int{autoSketchRows, autoSketchRows / 4, autoSketchRows / 8} {
		if d := len(ds.Columns()); b.Program+profileColumnBytes*int64(d)+gram.SketchBytes(d, r.expectedMissing(ds), rows)+ds.MinMemory() <= b.Limit {
			return stream.Errorf("%w; or a sketch of the rows, {sketch} %d, from which {method} greedy selects; or {profile-only}", err, gram.SketchRows(rows))
		}
	}
	return stream.Errorf("%w; or {profile-only}, for method variance", err)
}

func (r *run) withSizeRules(ds *chunkio.Dataset, b Budget, cost method.Cost, rank int) Budget {
	d := len(ds.Columns())
	if b.hasSizeRules = r.alwaysRunsSizeRules(d); !r.reportsSizes || b.hasSizeRules {
		return b
	}
	rules := r.sizeBytes(d, rank)
	if r.fallback != nil {
		rules = max(rules, r.fallback.sizeBytes(d, rank))
	}
	more, err := r.planPass(ds, b.Statistics, max(cost.Bytes, rules)-b.freedStatistics)
	more.Solver, more.freedStatistics = max(cost.Bytes, rules), b.freedStatistics
	if err != nil {
		return b
	}
	more.Smallest, more.InMemory, more.hasSizeRules = b.Smallest, b.InMemory, true
	return more
}

func (r *run) splitterBytes(d int) int64 {
	if r.Stability == 0 {
		return 0
	}
	return halves.SplitterBytes(d, r.Stability) + profileColumnBytes*int64(d)
}

func limitRows(rows int, ds *chunkio.Dataset) int {
	if n := ds.Rows(); n >= 0 {
		return int(min(int64(rows), n))
	}
	return rows
}

// planPass plans one pass that fills statistics, and a solver after it. statistics and solver are their bytes of
// memory. Reading and the solver are not in memory at the same time.
func (r *run) planPass(ds *chunkio.Dataset, statistics, solver int64) (Budget, error) {
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: statistics, Solver: solver}
	b.Smallest = b.Program + statistics + max(ds.MinMemory(), solver)
	b.InMemory = b.Smallest
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - statistics)
	b.spoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + statistics + max(b.Reading, solver)
	return b, nil
}

func (b Budget) refusal() error {
	return &stream.MemoryError{What: "this run", Need: b.Smallest, Limit: b.Limit}
}

// reopenedBytes is the memory for opening an input a second time. This is done if the first opening exceeded the limit,
// to plan how much memory the run would need. reopenedBytes equals programBytes: a refusal needs at most twice the
// memory of any run. It suffices for 20,000 Parquet columns in few row groups, or the names of 250,000 list elements.
const reopenedBytes = programBytes

// errLeastMemory turns a memory error of opening the input into the memory error of the whole plan, which names the
// smallest sufficient limit. To make the plan, it opens the input again with reopenedBytes of memory. If that does not
// suffice, or if the first opening had as much memory, the error names only a lower bound of the limit. Opening without
// a limit is not an option: once it used 740 MB under a limit of 128 MiB.
func (r *run) errLeastMemory(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (Budget, error), err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if opt.Memory >= reopenedBytes {
		return r.errLowerBound(err)
	}
	opt.Memory = reopenedBytes
	return r.errOfPlan(ctx, inputs, opt, plan, err)
}

// errOfPlan opens the input and returns the memory error of its plan. If the plan fits into memory, errOfPlan returns
// err, restated in terms of the whole limit.
func (r *run) errOfPlan(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (Budget, error), err error) error {
	ds, openErr := openDataset(ctx, inputs, opt)
	switch {
	case ctx.Err() != nil:
		if openErr == nil {
			ds.Close()
		}
		return ctx.Err()
	case errors.As(openErr, new(*stream.MemoryError)):
		return r.errLowerBound(openErr)
	case openErr != nil:
		return r.errForLimit(err)
	}
	defer ds.Close()
	if _, planErr := plan(ds); planErr != nil {
		return planErr
	}
	return r.errForLimit(err)
}

func (q *Request) errLowerBound(err error) error {
	err = q.errForLimit(err)
	if m, ok := errors.AsType[*stream.MemoryError](err); ok && m.OfMemory() {
		m.AtLeast = true
	}
	return err
}

// enforce sets the memory limit of the Go runtime to the planned peak, so that garbage does not fill the memory that
// the plan left free. If mayGrow is true, statistics may need more memory than planned, and the limit stays as it is.
func (b Budget) enforce(mayGrow bool) {
	if !mayGrow {
		process.Lock()
		defer process.Unlock()
		debug.SetMemoryLimit(heapLimit(b.Peak) + process.held)
	}
}

// statisticsRoom returns the memory that the statistics may use. They may use more than planned, because columns with
// missing values need more memory, and footers do not show every missing value.
func (b Budget) statisticsRoom() int64 {
	return b.Limit - b.Program - b.Anchors - b.sideStatistics - max(b.Reading, b.Solver)
}

// errForLimit restates a memory error about one part of the budget in terms of the whole limit. Such an error occurs if
// the footers did not show how many columns have missing values.
func (b Budget) errForLimit(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	whole := *m
	whole.Need, whole.Limit = m.Need-m.Limit+b.Limit, b.Limit
	return &whole
}

// errForLimit restates a memory error about the share of reading in terms of the whole limit.
func (q *Request) errForLimit(err error) error {
	var m *stream.MemoryError
	if !errors.As(err, &m) || !m.OfMemory() {
		return err
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok { // keep the error of removing leftover files
		each := all.Unwrap()
		whole := make([]error, len(each))
		for i, e := range each {
			whole[i] = q.errForLimit(e)
		}
		return errors.Join(whole...)
	}
	whole := *m
	whole.Need, whole.Limit = m.Need+programBytes, q.Memory
	if saved, ok := errors.AsType[*Interrupted](err); ok {
		return &Interrupted{Checkpoint: saved.Checkpoint, Err: &whole}
	}
	return &whole
}

func (r *run) expectedK(d int) int {
	switch {
	case r.K > 0:
		return min(r.K, d)
	case r.AutoK:
		return max(subset.MaxFeatures(d), min(len(r.Keep), d))
	case r.Variance > 0 || r.Budget > 0:
		return d
	case r.MinGain > 0 && r.Takes.MinGain:
		return method.MostGaining(d, len(r.Keep), r.MinGain)
	}
	return min(max(DefaultK, len(r.Keep)), d)
}
