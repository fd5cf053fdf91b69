package ufs

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxExplained bounds the number of features of a Gram matrix that is made only to explain a selection. Up to this
// number the matrix costs less time than the iterations, and at most 32 MiB. Only the number of features decides,
// so that a memory limit never changes a result.
const maxExplained = 2048

// rowInput is the input of methods that iterate over rows: a *chunkio.Dataset, or the rows that a statistics
// file keeps.
type rowInput interface {
	stream.Source
	MinMemory() int64
	MemoryFor(memory int64) int64
	ScratchFor(memory int64) int64
	SpoolBytes() int64
	Close() error
}

// planRows plans the methods that iterate over rows: with everything in memory if it fits, or else with passes or
// scratch files. It checks the disk space for scratch files. Reading for the statistics and explaining the
// selection do not happen during the iterations; reading the rows does. missing is the known number of columns with
// missing values.
func (r *run) planRows(ds rowInput, shape method.Shape, missing int) (Budget, error) {
	d := len(shape.Columns)
	source := r.rowSource(ds)
	shape.Source = source
	if drawn := r.drawnRows(); drawn > 0 {
		shape.Rows = min(shape.Rows, drawn)
	}
	whole, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: profileColumnBytes * int64(d), parallelSettings: 1, gathersMoments: d <= maxExplained || whole.Gram}
	if p, ok := source.(*packedSource); ok {
		b.packingBytes = p.blockBytes()
	}
	var nonOverlapping int64 // memory of steps that overlap neither with reading nor with the rows in memory
	if b.gathersMoments {
		b.Statistics = max(b.Statistics, gram.Bytes(d, missing))
		nonOverlapping = judge.ExplainBytes(d, shape.K, 0)
	}
	b.Statistics += r.rankBytes(ds, d)
	total := func(solver int64) int64 {
		return b.Program + b.Statistics + max(ds.MinMemory()+solver+b.packingBytes, nonOverlapping)
	}
	b.InMemory, b.Smallest = total(whole.Bytes), total(whole.Least)
	cost := whole
	switch {
	case b.InMemory <= b.Limit:
	case b.Smallest > b.Limit:
		return b, b.refusal()
	default:
		// Reading gets a quarter of the memory, unless the solver then has too little memory to save passes.
		room := b.Limit - b.Program - b.Statistics - b.packingBytes
		for _, reading := range []int64{room / 4, room / 8, 0} {
			shape.Memory = min(room-max(reading, ds.MinMemory()), whole.Bytes-1)
			if shape.Memory < whole.Least {
				continue
			}
			if cost, err = r.Solver.Cost(shape); err != nil {
				return b, err
			}
			if !cost.Cramped {
				break
			}
		}
		b.OutOfCore, b.scratch = true, cost.Scratch
	}
	if r.savesIterations() {
		cost.Scratch += cost.Rewritten
		b.scratch = cost.Scratch
	}
	b.rewrittenScratch = cost.Rewritten
	b.Solver, b.methodPasses, b.iterations = cost.Bytes+b.packingBytes, cost.Passes, cost.Iterations
	if varied, ok := r.Solver.(method.Varied); ok && r.manySettings {
		r.planParallelSettings(&b, cost, varied.Settings(), total)
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.spoolBytes = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + max(b.Reading+b.Solver, nonOverlapping)
	// The statistics may outgrow the plan while rows are kept, so rows are kept only if no moments are gathered or
	// the policy does not keep missing values.
	if input, ok := ds.(*chunkio.Dataset); ok && b.methodPasses.Least > 0 && (!b.gathersMoments || r.missingPolicy() != stream.MissingKeep) {
		b = b.withKept(input, b.Solver)
	}
	if b.scratch > 0 {
		if err := scratch.New(r.rowScratchOptions()).Reserve(b.scratch); err != nil {
			return b, stream.Errorf("%w; or keep all in memory: {memory-limit} %dMiB", err, (b.InMemory+1<<20-1)>>20)
		}
	}
	return b, nil
}

func (r *run) planParallelSettings(b *Budget, cost method.Cost, settings int, total func(int64) int64) {
	each := cost.Bytes
	if b.scratch == 0 {
		each -= cost.Shared
	}
	more := (b.Limit - total(cost.Bytes)) / max(each, 1)
	b.parallelSettings = int(max(min(1+more, int64(r.Threads), int64(settings)), 1))
	if b.scratch > 0 { // the limit for scratch files and the disk also restrict the plan
		space := scratch.New(r.rowScratchOptions())
		with := func(solves int) int64 { return cost.Scratch + int64(solves-1)*(cost.Scratch-cost.Shared) }
		for b.parallelSettings > 1 && space.Reserve(with(b.parallelSettings)) != nil {
			b.parallelSettings--
		}
		b.scratch = with(b.parallelSettings)
	}
	b.rewrittenScratch *= int64(b.parallelSettings)
	b.Solver += int64(b.parallelSettings-1) * each
}

func (q *Request) scratchOptions() scratch.Options {
	return scratch.Options{Dir: q.TempDir, Limit: q.MaxScratch, Ledger: q.ledger}
}

// rowSource returns the source that a method over rows reads. It is ds or, if the method's sums depend on blocks,
// the rows drawn from ds in full blocks.
func (r *run) rowSource(ds stream.Source) stream.Source {
	if n := r.drawnRows(); n > 0 && n < ds.Rows() && r.Takes.Cells {
		return &packedSource{ds, n}
	}
	return ds
}
