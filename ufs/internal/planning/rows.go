package planning

import (
	"cmp"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/resume"
	"github.com/ufs-stream/ufs-stream/internal/scalemodel"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/internal/statistics"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// Methods that iterate over rows save the state of their iterations as stages (package resume) in the checkpoint's
// folder. If there is a checkpoint, their scratch files are also in this folder, instead of in {temp-dir}.

// SavesIterations reports whether a checkpoint saves the iterations of r, whose method then iterates over rows.
func SavesIterations(r *settled.Run) bool {
	return r.Bound.From.UsesRows() && request.NamedCheckpoint(&r.Request) != ""
}

func RowScratchOptions(r *settled.Run) scratch.Options {
	if SavesIterations(r) {
		return CheckpointScratch(r, request.NamedCheckpoint(&r.Request))
	}
	opt := request.ScratchOptions(&r.Request)
	opt.Remedy = stream.Textf("free some space, choose another {temp-dir}%v", fewerRowsRemedy(r))
	return opt
}

// CheckpointScratch returns the options of scratch files in the folder of a checkpoint, which may have some already.
func CheckpointScratch(r *settled.Run, folder string) scratch.Options {
	opt := request.ScratchOptions(&r.Request)
	opt.Dir, opt.There = folder, resume.ScratchBytes(folder)
	opt.Remedy = stream.Textf("free some space, choose another {checkpoint} folder%v", fewerRowsRemedy(r))
	return opt
}

func fewerRowsRemedy(r *settled.Run) stream.Text {
	if r.Bound.Declare().Options.Find("sample") == nil {
		return stream.Text{}
	}
	return stream.Textf(", or fewer rows by {sample}")
}

// rowKind plans for methods that iterate over rows.
type rowKind struct{}

func (rowKind) planSelection(w Workload, shape method.Shape) (budget.Budget, error) {
	return PlanRows(w.Run, w.Table, shape, ExpectedMissing(w.Run, w.Table))
}

func (rowKind) planShard(w Workload) (budget.Budget, error) {
	w.KeptRows = RowsToKeep(w.Run, w.Table)
	return planProfileScan(w, false)
}

func (rowKind) countGatherPasses(w Workload, _ budget.Budget) method.Passes {
	if request.ExcludesSuspects(&w.Run.Request) {
		return method.Passes{Least: 2, Most: 2, Why: stream.Textf("a profile that finds the columns to leave out, then the statistics")}
	}
	return gatherPassesOfColumns(w)
}

func (rowKind) reasonToReadProfilesFirst(w Workload) stream.Text {
	return stream.Textf("method %s iterates over rows, and a profile takes a sample of them along", w.Run.Bound.Name)
}

func (rowKind) describeLastScan(w Workload, j *scalemodel.Job) scalemodel.Kind {
	j.Sample = min(j.Rows, cmp.Or(w.Run.Bound.Sample, j.Rows))
	return scalemodel.Profile
}

// MaxExplainedFeatures bounds the number of features of a Gram matrix that is made only to explain a selection. Such a
// matrix costs less time than the iterations, and at most 32 MiB. Whether it is made depends only on the number of
// features, so that a memory limit never changes a result.
const MaxExplainedFeatures = 2048

// PlanRows plans a method that iterates over rows: in memory if the rows fit, or else with passes over the input or
// with scratch files, for which it checks the disk space. During the iterations rows may be read, but statistics are
// not gathered and the selection is not explained. missing is the known number of columns with missing values.
func PlanRows(r *settled.Run, ds statistics.RowInput, shape method.Shape, missing int) (budget.Budget, error) {
	d := len(shape.Columns)
	source := RowSource(r, ds)
	shape.Source = source
	if drawn := r.DrawnRows(); drawn > 0 {
		shape.Rows = min(shape.Rows, drawn)
	}
	whole, err := r.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: budget.ProfileColumnBytes * int64(d), ParallelSettings: 1, GathersMoments: d <= MaxExplainedFeatures || whole.Gram}
	if p, ok := source.(*statistics.PackedSource); ok {
		b.PackingBytes = p.BlockBytes()
	}
	var nonOverlapping int64 // memory of a step during which neither reading nor the solver uses memory
	if b.GathersMoments {
		b.Statistics = max(b.Statistics, gram.Bytes(d, missing))
		nonOverlapping = judge.ExplainBytes(d, shape.K, 0)
	}
	b.Statistics += RankBytes(r, ds, d)
	total := func(solver int64) int64 {
		return b.Program + b.Statistics + max(ds.MinMemory()+solver+b.PackingBytes, nonOverlapping)
	}
	b.InMemory, b.Smallest = total(whole.Bytes), total(whole.Least)
	cost := whole
	switch {
	case b.InMemory <= b.Limit:
	case b.Smallest > b.Limit:
		return b, b.ErrOverLimit()
	default:
		// Reading gets a quarter of the memory, or less if the solver needs fewer passes with more memory.
		room := b.Limit - b.Program - b.Statistics - b.PackingBytes
		for _, reading := range []int64{room / 4, room / 8, 0} {
			shape.Memory = min(room-max(reading, ds.MinMemory()), whole.Bytes-1)
			if shape.Memory < whole.Least {
				continue
			}
			if cost, err = r.Bound.Solver.Cost(shape); err != nil {
				return b, err
			}
			if !cost.Cramped {
				break
			}
		}
		b.OutOfCore, b.Scratch = true, cost.Scratch
	}
	if SavesIterations(r) {
		cost.Scratch += cost.Rewritten
		b.Scratch = cost.Scratch
	}
	b.RewrittenScratch = cost.Rewritten
	b.Solver, b.MethodPasses, b.Iterations = cost.Bytes+b.PackingBytes, cost.Passes, cost.Iterations
	if varied, ok := r.Bound.Solver.(method.Varied); ok && r.ManySettings {
		planParallelSettings(r, &b, cost, varied.Settings(), total)
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + max(b.Reading+b.Solver, nonOverlapping)
	// A pass keeps its rows in memory for the next pass only if the statistics cannot need more memory than planned.
	// They can if moments are gathered and missing values are kept: columns with missing values need more.
	if input, ok := ds.(*chunkio.Dataset); ok && b.MethodPasses.Least > 0 && (!b.GathersMoments || request.MissingPolicy(&r.Request) != stream.MissingKeep) {
		b = WithKept(b, input, b.Solver)
	}
	if b.Scratch > 0 {
		if err := scratch.New(RowScratchOptions(r)).Reserve(b.Scratch); err != nil {
			return b, stream.Errorf("%w; or keep all in memory: {memory-limit} %dMiB", err, (b.InMemory+1<<20-1)>>20)
		}
	}
	return b, nil
}

func planParallelSettings(r *settled.Run, b *budget.Budget, cost method.Cost, settings int, total func(int64) int64) {
	each := cost.Bytes
	if b.Scratch == 0 {
		each -= cost.Shared
	}
	more := (b.Limit - total(cost.Bytes)) / max(each, 1)
	b.ParallelSettings = int(max(min(1+more, int64(r.Limits.Threads), int64(settings)), 1))
	if b.Scratch > 0 { // the limit for scratch files and the disk also restrict the plan
		space := scratch.New(RowScratchOptions(r))
		with := func(solves int) int64 { return cost.Scratch + int64(solves-1)*(cost.Scratch-cost.Shared) }
		for b.ParallelSettings > 1 && space.Reserve(with(b.ParallelSettings)) != nil {
			b.ParallelSettings--
		}
		b.Scratch = with(b.ParallelSettings)
	}
	b.RewrittenScratch *= int64(b.ParallelSettings)
	b.Solver += int64(b.ParallelSettings-1) * each
}

// RowSource returns the source that a method over rows reads. This is ds, except if rows are drawn for a method with
// Takes.Cells. Then it is the drawn rows packed into full blocks, because sums of such a method depend on the blocks.
func RowSource(r *settled.Run, ds stream.Source) stream.Source {
	if n := r.DrawnRows(); n > 0 && n < ds.Rows() && r.Bound.Takes.Cells {
		return statistics.NewPackedSource(ds, n)
	}
	return ds
}
