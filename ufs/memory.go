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
	Kept       int64 `json:"kept_bytes"`                      // of what a pass decodes, for the next ones, at most
	KeptGroups int   `json:"kept_row_groups"`                 // that fit there whatever they hold
	Groups     int   `json:"row_groups"`                      // in all
	Slack      int64 `json:"slack_bytes"`                     // for garbage beside Kept
	Peak       int64 `json:"peak_bytes"`                      // of the parts that live at one time
	Smallest   int64 `json:"smallest_bytes"`                  // the smallest limit that works
	InMemory   int64 `json:"smallest_in_memory_bytes"`        // the smallest that needs no further passes
	AutoK      int64 `json:"smallest_auto_k_bytes,omitempty"` // the smallest that tells how many features are worth keeping, where the request leaves that open
	Sketch     int64 `json:"sketch_rows"`                     // of the sketch that G is estimated by; 0 where it is exact
	Factor     int64 `json:"factor_rows"`                     // the rows of G as a factor; 0 where G is in full, or is not made
	OutOfCore  bool  `json:"out_of_core"`                     // G does not fit: passes over the rows instead; or rows are in scratch files

	scratch    int64 // bytes in files
	rewritten  int64 // of scratch, what each iteration writes anew: a checkpoint keeps it twice
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

// shapeOf is what a method is asked the cost of where it chooses of c.
func (r *run) shapeOf(ds *chunkio.Dataset, c *candidates) method.Shape {
	shape := method.Shape{
		Columns: ds.Columns(), LeftOut: ds.LeftOut(), Rows: ds.Rows(), Threads: r.Threads, Sample: atMostRows(surveyRows(r, len(ds.Columns())), ds),
		Sparse: r.Sparse != "", RowEntries: ds.RowEntries(), HasNulls: promisesMissing(ds), FillMean: r.Missing == missingMean, Drops: r.policy() == stream.MissingDropRow,
	}
	r.addChoiceToShape(&shape, c)
	return shape
}

// planMethod plans selecting from ds.
func (r *run) planMethod(ds *chunkio.Dataset) (Budget, error) {
	d := len(ds.Columns())
	c, err := r.newCandidates(ds.Columns(), ds.LeftOut(), true)
	if err != nil {
		return Budget{}, err
	}
	shape := r.shapeOf(ds, c)
	switch r.From {
	case method.FromGraph:
		if r.sketchRows > 0 {
			return r.planGraph(ds, &shape, 0, false)
		}
		in, err := r.planForms(ds, func(rank int) (Budget, error) { return r.planGraph(ds, &shape, rank, false) })
		if !r.Takes.Streams {
			return in, r.orSketched(ds, &shape, in, err)
		}
		return r.orOutOfCore(ds, in, err, func() (Budget, error) { return r.planGraph(ds, &shape, 0, true) })
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
	if samplesAlone(r, ds) {
		if r.AutoK || r.MinGain > 0 {
			return Budget{}, stream.Usagef("{k} auto and {min-gain} rest on the Gram matrix, and of so many sparse columns method %s makes only that of a sample of the rows; give a number", r.Name)
		}
		return r.planOutOfCore(ds, shape)
	}
	in, err := r.planForms(ds, func(rank int) (Budget, error) { return r.planGram(ds, shape, rank) })
	if r.Takes.Sample { // which rows the choice rests on does not depend on the limit
		return in, err
	}
	return r.orOutOfCore(ds, in, err, func() (Budget, error) { return r.planOutOfCore(ds, shape) })
}

// worthPasses is the share of the memory, one in so many, that going out of core must save where the Gram
// matrix is better a factor. That holds little more than the profile and the blocks that further passes hold
// too: of 200 rows of 10⁶ features these would take 2.8 GiB for 2.9, and 9,000 passes for one.
const worthPasses = 4

// orOutOfCore is the plan in, in memory, or where that does not fit the one without the Gram matrix.
func (r *run) orOutOfCore(ds *chunkio.Dataset, in Budget, err error, without func() (Budget, error)) (Budget, error) {
	// Halves are sums of matrices, and without the matrix there are no pairs, nor rules.
	if !ds.Replayable() || r.Stability > 0 || r.AutoK || r.Missing == missingPairwise {
		return in, err
	}
	out, outErr := without()
	pays := r.forms(ds)[0] == 0 || out.Smallest <= in.Smallest-in.Smallest/worthPasses
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
			return r.planGraph(ds, nil, 0, false)
		case r.sketchRows > 0:
			b, err := r.planPass(ds, r.sketchBytes(ds), 0)
			b.Sketch = int64(r.sketchRows)
			return b, err
		case from == method.FromProfile:
			return r.planPass(ds, profileColumn*int64(d)+sampled+r.rankBytes(ds, d), 0)
		}
		beside := gram.HistogramsBytes(d) + r.splitBytes(d) + r.rankBytes(ds, d) + surveyBytes(r, ds, 0)
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

// withRules is the plan b with the rules of how many features there are worth keeping, where they
// are asked for and fit.
func (r *run) withRules(ds *chunkio.Dataset, b Budget, cost method.Cost, rank int) Budget {
	d := len(ds.Columns())
	if b.sizes = r.sizedAnyway(d); !r.sizes || b.sizes {
		return b
	}
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

// splitBytes is what telling the rows of hash shards apart takes, with a profile of all of them.
func (r *run) splitBytes(d int) int64 {
	if r.Stability == 0 {
		return 0
	}
	return halves.Bytes(d, r.Stability) + profileColumn*int64(d)
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

func (b Budget) refusal() error {
	return &stream.MemoryError{What: "this run", Need: b.Smallest, Limit: b.Limit}
}

// reopenedBytes is what the input that is too large for the limit may take where it is opened again only to
// plan: as much as the program, so that a refusal stays within twice what any run takes. It holds
// 20,000 columns of Parquet in a few row groups, or the names of 250,000 list elements.
const reopenedBytes = programBytes

// leastMemory turns a complaint of opening the input about memory into the refusal of the whole plan, which
// names the smallest limit that is enough. It makes the plan by opening the input with reopenedBytes. Of an
// input that does not fit there either, or had as much already, only a lower bound is known: what it
// complains about. To open it without a limit took 740 MB of 128 MiB.
func (r *run) leastMemory(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (Budget, error), err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if opt.Memory >= reopenedBytes {
		return r.atLeast(err)
	}
	opt.Memory = reopenedBytes
	return r.planAgain(ctx, inputs, opt, plan, err)
}

// planAgain opens the input for the refusal of its plan, and where there is none, complains as before.
func (r *run) planAgain(ctx context.Context, inputs []string, opt chunkio.Options, plan func(*chunkio.Dataset) (Budget, error), err error) error {
	ds, openErr := openDataset(ctx, inputs, opt)
	switch {
	case ctx.Err() != nil:
		if openErr == nil {
			ds.Close()
		}
		return ctx.Err()
	case errors.As(openErr, new(*stream.MemoryError)):
		return r.atLeast(openErr)
	case openErr != nil:
		return r.wholeLimit(err)
	}
	defer ds.Close()
	if _, planErr := plan(ds); planErr != nil {
		return planErr
	}
	return r.wholeLimit(err)
}

// atLeast is wholeLimit of a complaint of opening the input, to which the plan adds more.
func (q *Request) atLeast(err error) error {
	err = q.wholeLimit(err)
	if m, ok := errors.AsType[*stream.MemoryError](err); ok && m.OfMemory() {
		m.AtLeast = true
	}
	return err
}

// enforce tells the Go runtime to keep to the planned peak rather than to the whole
// limit, so that garbage does not fill what the plan left free. Where statistics may
// outgrow the plan the limit itself holds.
func (b Budget) enforce(mayGrow bool) {
	if !mayGrow {
		process.Lock()
		defer process.Unlock()
		debug.SetMemoryLimit(heapWithin(b.Peak) + process.held)
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
	if all, ok := err.(interface{ Unwrap() []error }); ok { // what is left behind is told too
		each := all.Unwrap()
		whole := make([]error, len(each))
		for i, e := range each {
			whole[i] = q.wholeLimit(e)
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

// expectedK is the number of features that will be selected from d, as far as known.
func (r *run) expectedK(d int) int {
	switch {
	case r.K > 0:
		return min(r.K, d)
	case r.AutoK:
		return max(subset.Most(d), min(len(r.Keep), d))
	case r.Variance > 0 || r.Budget > 0:
		return d
	case r.MinGain > 0 && r.Takes.MinGain:
		return method.MostGaining(d, len(r.Keep), r.MinGain)
	}
	return min(max(DefaultK, len(r.Keep)), d)
}
