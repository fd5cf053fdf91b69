package planning

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// A Planner plans the memory of a run that reads ds.
type Planner func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error)

// SelectionPlanner returns the planner of a selection. Its plans also suffice for the runs in later, because one of these
// may select from the same statistics in the end.
func SelectionPlanner(later settled.Attempts) Planner {
	return func(r *settled.Run, ds *chunkio.Dataset) (budget.Budget, error) {
		return planSelection(NewWorkload(r, later, ds))
	}
}

// planSelection plans the memory of a selection. If the number of features is open, and finding the number worth
// keeping needs more memory than the limit, the plan is for the default number, and its DefaultSize gives the reason.
func planSelection(w Workload) (budget.Budget, error) {
	if !w.Run.AutoSize {
		return planMethod(w)
	}
	byDefault := w
	byDefault.UsesDefaultSize = true
	if makesGramOfSampleOnly(w) {
		b, err := planMethod(byDefault)
		b.DefaultSize = stream.Textf("that needs the Gram matrix, and for this many sparse columns method %s makes it only from a sample of the rows; path with {method} %s on fewer columns recommends a number", w.Run.Bound.Name, methods.Fallback)
		return b, err
	}
	auto, err := planMethod(w)
	if err != nil && !errors.As(err, new(*stream.MemoryError)) {
		return auto, err
	}
	b, defaultErr := planMethod(byDefault)
	switch {
	case err == nil: // a limit that suffices only for the default number works too
		auto.AutoK = auto.Smallest
		auto.Smallest, auto.InMemory = min(auto.Smallest, b.Smallest), min(auto.InMemory, b.InMemory)
		return auto, nil
	case defaultErr == nil:
		b.AutoK, b.DefaultSize = auto.Smallest, settled.MemorySizeReason(auto.Smallest)
	}
	return b, defaultErr
}

// Workload is the input of a plan: the runs, the table that they read, and settings that a plan may vary.
type Workload struct {
	Run   *settled.Run
	Later settled.Attempts // the attempts that may select from the statistics of Run, in its place
	Table *chunkio.Dataset // the input; nil if the statistics come from a file

	UsesDefaultSize bool  // runs with AutoSize choose the default number of features
	SketchRows      int   // Run.SketchRows, or the number of rows of a sketch that is considered
	KeptRows        int   // rows that a scan keeps for methods that iterate over rows
	SampleBytes     int64 // memory of the sample of rows in the profile of all shards
}

// NewWorkload returns the workload of a run that selects from ds.
func NewWorkload(r *settled.Run, later settled.Attempts, ds *chunkio.Dataset) Workload {
	return Workload{Run: r, Later: later, Table: ds, SketchRows: r.SketchRows, KeptRows: r.KeepRows, SampleBytes: r.SampleBytes}
}

// FindsSize reports whether the data determine the number of features.
func (w Workload) FindsSize() bool {
	return w.Run.Choice.AutoK && (!w.UsesDefaultSize || !w.Run.AutoSize)
}

func (w Workload) forAttempt(r *settled.Run) Workload {
	w.Run, w.Later, w.SketchRows = r, nil, r.SketchRows
	return w
}

// kind plans for the methods that select from one kind of evidence, such as the Gram matrix or the rows.
type kind interface {
	// planSelection plans gathering and solving. shape describes the input for the solver.
	planSelection(w Workload, shape method.Shape) (budget.Budget, error)
	// planShard plans the scan of one shard. If that takes two rounds, the limit of the plan suffices for both.
	planShard(w Workload) (budget.Budget, error)
	// countGatherPasses returns the least and the greatest number of times that gathering reads the input. The number may
	// depend on missing values that are found only while reading.
	countGatherPasses(w Workload, b budget.Budget) method.Passes
	// reasonToReadProfilesFirst returns the reason why all shards need a round of profiles first. It is empty if they do not.
	reasonToReadProfilesFirst(w Workload) stream.Text
	// describeLastScan returns the kind of the last round of scans. It adds the anchors and sampled rows of that round to j.
	describeLastScan(w Workload, j *scalemodel.Job) scalemodel.Kind
}

func kindOf(r *settled.Run) kind {
	return [...]kind{method.FromProfile: profileKind{}, method.FromGram: gramKind{}, method.FromGraph: graphKind{}, method.FromRows: rowKind{}}[r.Bound.From]
}

func planMethod(w Workload) (budget.Budget, error) {
	c, err := choice.NewCandidates(w.Run, w.Table.Columns(), w.Table.LeftOut(), true)
	if err != nil {
		return budget.Budget{}, err
	}
	return kindOf(w.Run).planSelection(w, newMethodShape(w, c))
}

func newMethodShape(w Workload, c *choice.Candidates) method.Shape {
	shape := method.Shape{
		Columns: w.Table.Columns(), LeftOut: w.Table.LeftOut(), Rows: w.Table.Rows(), Threads: w.Run.Limits.Threads, Sample: budget.CapAtTableRows(settled.SurveyRows(w.Run, len(w.Table.Columns())), w.Table),
		Sparse: w.Run.Columns.Sparse != "", RowEntries: w.Table.RowEntries(), HasNulls: settled.PromisesMissing(w.Table), FillMean: w.Run.Columns.Missing == request.MissingMean, Drops: request.MissingPolicy(&w.Run.Request) == stream.MissingDropRow,
	}
	choice.AddChoiceToShape(w.Run.ExpectedK(len(shape.Columns), w.FindsSize()), &shape, c)
	return shape
}

// columnKind plans the scans and passes for methods whose statistics need nothing but the values of columns.
type columnKind struct{}

func (columnKind) planShard(w Workload) (budget.Budget, error) { return planMomentsScan(w) }

func (columnKind) countGatherPasses(w Workload, _ budget.Budget) method.Passes {
	return gatherPassesOfColumns(w)
}

func (columnKind) reasonToReadProfilesFirst(w Workload) stream.Text { return reasonForMissingValues(w) }

// profileKind plans for methods that select from the profile of each column.
type profileKind struct{ columnKind }

func (profileKind) planSelection(w Workload, shape method.Shape) (budget.Budget, error) {
	cost, err := GramCost(w, shape)
	if err != nil {
		return budget.Budget{}, err
	}
	d := len(shape.Columns)
	statistics := budget.ProfileColumnBytes*int64(d) + RankBytes(w.Run, w.Table, d)
	if !w.Run.Bound.Takes.Rereads {
		return PlanPass(w.Run, w.Table, statistics, cost.Bytes)
	}
	b, err := PlanPass(w.Run, w.Table, statistics+cost.Bytes, 0)
	b.Statistics, b.Solver, b.MethodPasses = statistics, cost.Bytes, cost.Passes
	return b, err
}

func (profileKind) describeLastScan(Workload, *scalemodel.Job) scalemodel.Kind {
	return scalemodel.Profile
}
