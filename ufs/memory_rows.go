package ufs

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxExplainedFeatures bounds the number of features of a Gram matrix that is made only to explain a selection. Such a
// matrix costs less time than the iterations, and at most 32 MiB. Whether it is made depends only on the number of
// features, so that a memory limit never changes a result.
const maxExplainedFeatures = 2048

// rowInput is the input of a method that iterates over rows: a *chunkio.Dataset, or the sampled rows in a statistics
// file.
type rowInput interface {
	stream.Source
	MinMemory() int64
	MemoryFor(memory int64) int64
	ScratchFor(memory int64) int64
	SpoolBytes() int64
	Close() error
}

// planRows plans a method that iterates over rows: in memory if the rows fit, or else with passes over the input or
// with scratch files, for which it checks the disk space. During the iterations rows may be read, but statistics are
// not gathered and the selection is not explained. missing is the known number of columns with missing values.
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
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: profileColumnBytes * int64(d), parallelSettings: 1, gathersMoments: d <= maxExplainedFeatures || whole.Gram}
	if p, ok := source.(*packedSource); ok {
		b.packingBytes = p.blockBytes()
	}
	var nonOverlapping int64 // memory of a step during which neither reading nor the solver uses memory
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
		// Reading gets a quarter of the memory, or less if the solver needs fewer passes with more memory.
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
	// A pass keeps its rows in memory for the next pass only if the statistics cannot need more memory than planned.
	// They can if moments are gathered and missing values are kept: columns with missing values need more.
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

// rowSource returns the source that a method over rows reads. This is ds, except if rows are drawn for a method with
// Takes.Cells. Then it is the drawn rows packed into full blocks, because sums of such a method depend on the blocks.
func (r *run) rowSource(ds stream.Source) stream.Source {
	if n := r.drawnRows(); n > 0 && n < ds.Rows() && r.Takes.Cells {
		return &packedSource{ds, n}
	}
	return ds
}
