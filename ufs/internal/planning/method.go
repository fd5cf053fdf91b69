package planning

import (
	"context"
	"errors"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/halves"
	"github.com/ufs-stream/ufs-stream/internal/rowsample"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

func newShape(r *settled.Run, ds *chunkio.Dataset, c *choice.Candidates) method.Shape {
	shape := method.Shape{
		Columns: ds.Columns(), LeftOut: ds.LeftOut(), Rows: ds.Rows(), Threads: r.Limits.Threads, Sample: budget.LimitRows(settled.SurveyRows(r, len(ds.Columns())), ds),
		Sparse: r.Columns.Sparse != "", RowEntries: ds.RowEntries(), HasNulls: settled.PromisesMissing(ds), FillMean: r.Columns.Missing == request.MissingMean, Drops: request.MissingPolicy(&r.Request) == stream.MissingDropRow,
	}
	choice.AddChoiceToShape(r, &shape, c)
	return shape
}

func planMethod(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
	d := len(ds.Columns())
	c, err := choice.NewCandidates(r, ds.Columns(), ds.LeftOut(), true)
	if err != nil {
		return budget.Budget{}, err
	}
	shape := newShape(r, ds, c)
	switch r.Bound.From {
	case method.FromGraph:
		if r.SketchRows > 0 {
			return planGraph(r, ds, &shape, 0, false)
		}
		in, err := planBestForm(r, ds, func(rank int) (budget.Budget, error) { return planGraph(r, ds, &shape, rank, false) })
		if !r.Bound.Takes.Streams {
			return in, errWithSketchAdvice(r, ds, &shape, in, err)
		}
		return chooseInOrOutOfCore(r, ds, in, err, func() (budget.Budget, error) { return planGraph(r, ds, &shape, 0, true) })
	case method.FromRows:
		return PlanRows(r, ds, shape, ExpectedMissing(r, ds))
	case method.FromProfile:
		cost, err := GramCost(r, shape)
		if err != nil {
			return budget.Budget{}, err
		}
		return PlanPass(r, ds, budget.ProfileColumnBytes*int64(d)+RankBytes(r, ds, d), cost.Bytes)
	}
	if r.SketchRows > 0 {
		return planSketchedMethod(r, ds, shape)
	}
	if usesSampleGramOnly(r, ds) {
		if r.Choice.AutoK || r.Choice.MinGain > 0 {
			return budget.Budget{}, stream.Usagef("{k} auto and {min-gain} need the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; give a number", r.Bound.Name)
		}
		return planOutOfCore(r, ds, shape)
	}
	in, err := planBestForm(r, ds, func(rank int) (budget.Budget, error) { return planGram(r, ds, shape, rank) })
	if r.Bound.Takes.Sample { // the choice is based on sampled rows, whatever the limit
		return in, err
	}
	return chooseInOrOutOfCore(r, ds, in, err, func() (budget.Budget, error) { return planOutOfCore(r, ds, shape) })
}

// savingDivisor applies if the Gram matrix is cheaper as a factor than in full: the run goes out of core only if that
// saves at least 1/savingDivisor of the memory. Often it saves little, because a factor needs little more memory than
// the profile and the blocks that additional passes also need. For 200 rows of 10⁶ features, a run out of core would
// need 2.8 GiB instead of 2.9 GiB, and 9,000 passes instead of one.
const savingDivisor = 4

// chooseInOrOutOfCore chooses between the given plan in, with a Gram matrix, and a plan made by planOut, without this
// matrix. It prefers plan in if it fits into memory, unless rereading the rows is better. err is the error of plan in.
func chooseInOrOutOfCore(r *settled.Run, ds *chunkio.Dataset, in budget.Budget, err error, planOut func() (budget.Budget, error)) (budget.Budget, error) {
	// Without a Gram matrix there are no half-samples, which are sums of matrices, no pairwise statistics, and no rules
	// for the number of features.
	if !ds.Replayable() || r.Choice.Stability > 0 || r.Choice.AutoK || r.Columns.Missing == request.MissingPairwise {
		return in, err
	}
	out, outErr := planOut()
	pays := gramForms(r, ds)[0] == 0 || out.Smallest <= in.Smallest-in.Smallest/savingDivisor
	switch {
	case errors.As(outErr, new(*stream.UsageError)): // the settings of the method are only possible in memory
		return in, err
	case !pays:
		return in, err
	case err == nil && outErr == nil && isRereadingBetter(r, in.Factor, len(ds.Columns())):
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

// A Planner plans the memory of a run that reads ds.
type Planner func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error)

func PlanScan(from method.From, sample bool) Planner {
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		d := len(ds.Columns())
		var sampled int64
		if sample {
			sampled = anchor.SamplerBytes(budget.LimitRows(r.AnchorSampleRows(r.MaxAnchors(), d), ds), d)
		}
		if r.KeepRows > 0 {
			sampled += rowsample.SampleBytes(budget.LimitRows(r.KeepRows, ds), d)
		}
		switch {
		case from == method.FromGraph:
			return planGraph(r, ds, nil, 0, false)
		case r.SketchRows > 0:
			b, err := PlanPass(r, ds, sketchBytes(r, ds), 0)
			b.Sketch = int64(r.SketchRows)
			return b, err
		case from == method.FromProfile:
			return PlanPass(r, ds, budget.ProfileColumnBytes*int64(d)+sampled+RankBytes(r, ds, d), 0)
		}
		sideBytes := gram.HistogramsBytes(d) + splitterBytes(r, d) + RankBytes(r, ds, d) + surveyBytes(r, ds, 0)
		b, err := PlanPass(r, ds, GramBytes(r, ds)+sideBytes, 0)
		b.SideStatistics = sideBytes
		return b, errTooLargeScan(r, ds, b, err)
	}
}

func errTooLargeScan(r *settled.Run, ds *chunkio.Dataset, b budget.Budget, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) || b.Smallest < 4*b.Limit || r.PlanHeader != nil {
		return err
	}
	for _, rows := range []int{settled.AutoSketchRows, settled.AutoSketchRows / 4, settled.AutoSketchRows / 8} {
		if d := len(ds.Columns()); b.Program+budget.ProfileColumnBytes*int64(d)+gram.SketchBytes(d, ExpectedMissing(r, ds), rows)+ds.MinMemory() <= b.Limit {
			return stream.Errorf("%w; or a sketch of the rows, {sketch} %d, from which {method} greedy selects; or {profile-only}", err, gram.SketchRows(rows))
		}
	}
	return stream.Errorf("%w; or {profile-only}, for method variance", err)
}

func withSizeRules(r *settled.Run, ds *chunkio.Dataset, b budget.Budget, cost method.Cost, rank int) budget.Budget {
	d := len(ds.Columns())
	if b.HasSizeRules = AlwaysRunsSizeRules(r, d); !r.ReportsSizes || b.HasSizeRules {
		return b
	}
	rules := SizeBytes(r, d, rank)
	if r.Fallback != nil {
		rules = max(rules, SizeBytes(r.Fallback, d, rank))
	}
	more, err := PlanPass(r, ds, b.Statistics, max(cost.Bytes, rules)-b.FreedStatistics)
	more.Solver, more.FreedStatistics = max(cost.Bytes, rules), b.FreedStatistics
	if err != nil {
		return b
	}
	more.Smallest, more.InMemory, more.HasSizeRules = b.Smallest, b.InMemory, true
	return more
}

func splitterBytes(r *settled.Run, d int) int64 {
	if r.Choice.Stability == 0 {
		return 0
	}
	return halves.SplitterBytes(d, r.Choice.Stability) + budget.ProfileColumnBytes*int64(d)
}

// PlanPass plans one pass that fills statistics, and a solver after it. statistics and solver are their bytes of
// memory. Reading and the solver are not in memory at the same time.
func PlanPass(r *settled.Run, ds *chunkio.Dataset, statistics, solver int64) (budget.Budget, error) {
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: statistics, Solver: solver}
	b.Smallest = b.Program + statistics + max(ds.MinMemory(), solver)
	b.InMemory = b.Smallest
	if b.Smallest > b.Limit {
		return b, b.Refusal()
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - statistics)
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + statistics + max(b.Reading, solver)
	return b, nil
}

// ReopenedBytes is the memory for opening an input a second time. This is done if the first opening exceeded the limit,
// to plan how much memory the run would need. ReopenedBytes equals ProgramBytes: a refusal needs at most twice the
// memory of any run. It suffices for 20,000 Parquet columns in few row groups, or the names of 250,000 list elements.
const ReopenedBytes = budget.ProgramBytes

// ErrLeastMemory turns a memory error of opening the input into the memory error of the whole plan, which names the
// smallest sufficient limit. To make the plan, it opens the input again with ReopenedBytes of memory. If that does not
// suffice, or if the first opening had as much memory, the error names only a lower bound of the limit. Opening without
// a limit is not an option: once it used 740 MB under a limit of 128 MiB.
func ErrLeastMemory(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan Planner, err error) error {
	if !errors.As(err, new(*stream.MemoryError)) {
		return err
	}
	if opt.Memory >= ReopenedBytes {
		return budget.ErrLowerBound(&r.Request, err)
	}
	opt.Memory = ReopenedBytes
	return ErrOfPlan(ctx, r, inputs, opt, plan, err)
}

// ErrOfPlan opens the input and returns the memory error of its plan. If the plan fits into memory, ErrOfPlan returns
// err, restated in terms of the whole limit.
func ErrOfPlan(ctx context.Context, r *settled.Run, inputs []string, opt chunkio.Options, plan Planner, err error) error {
	ds, openErr := settled.OpenDataset(ctx, inputs, opt)
	switch {
	case ctx.Err() != nil:
		if openErr == nil {
			ds.Close()
		}
		return ctx.Err()
	case errors.As(openErr, new(*stream.MemoryError)):
		return budget.ErrLowerBound(&r.Request, openErr)
	case openErr != nil:
		return budget.ErrForLimit(&r.Request, err)
	}
	defer ds.Close()
	if _, planErr := plan(r, ds); planErr != nil {
		return planErr
	}
	return budget.ErrForLimit(&r.Request, err)
}
