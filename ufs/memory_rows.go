package ufs

import (
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mostExplained bounds the features of a Gram matrix that is made only to say what a
// selection explains: up to there it costs less than the iterations, and 32 MiB. The
// features alone decide, so that a memory limit never changes a result.
const mostExplained = 2048

// rowInput is what methods that iterate over rows read: a *chunkio.Dataset, or the rows that a
// statistics file keeps.
type rowInput interface {
	stream.Source
	MinMemory() int64
	MemoryFor(memory int64) int64
	ScratchFor(memory int64) int64
	Spooled() int64
	Close() error
}

// planRows plans the methods that iterate over rows: with everything in memory if that
// fits, else with passes or scratch files, whose space is looked for. What is read for the
// statistics, and what explains the selection, do not live beside the iterations; what
// reads the rows does. missing is the number of columns that have missing values, as far as known.
func (r *run) planRows(ds rowInput, shape method.Shape, missing int) (Budget, error) {
	d := len(shape.Columns)
	source := r.rowSource(ds)
	shape.Source = source
	if drawn := r.drawn(); drawn > 0 {
		shape.Rows = min(shape.Rows, drawn)
	}
	whole, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: profileColumn * int64(d), solves: 1, gram: d <= mostExplained || whole.Gram}
	if p, ok := source.(*packed); ok {
		b.packing = p.bytes()
	}
	var alone int64 // beside neither reading nor rows
	if b.gram {
		b.Statistics = max(b.Statistics, gram.Bytes(d, missing))
		alone = judge.ExplainBytes(d, shape.K, 0)
	}
	b.Statistics += r.rankBytes(ds, d)
	total := func(solver int64) int64 {
		return b.Program + b.Statistics + max(ds.MinMemory()+solver+b.packing, alone)
	}
	b.InMemory, b.Smallest = total(whole.Bytes), total(whole.Least)
	cost := whole
	switch {
	case b.InMemory <= b.Limit:
	case b.Smallest > b.Limit:
		return b, b.refusal()
	default:
		// Reading may have a quarter, as far as that drives out nothing that saves passes.
		room := b.Limit - b.Program - b.Statistics - b.packing
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
	b.rewritten = cost.Rewritten
	b.Solver, b.method, b.iterations = cost.Bytes+b.packing, cost.Passes, cost.Iterations
	if varied, ok := r.Solver.(method.Varied); ok && r.many {
		r.planSideBySide(&b, cost, varied.Settings(), total)
	}
	b.Reading = ds.MemoryFor(b.Limit - b.Program - b.Statistics - b.Solver)
	b.spool = ds.ScratchFor(b.Reading)
	b.Peak = b.Program + b.Statistics + max(b.Reading+b.Solver, alone)
	// The statistics may outgrow the plan while the rows are kept, but for these policies.
	if input, ok := ds.(*chunkio.Dataset); ok && b.method.Least > 0 && (!b.gram || r.policy() != stream.MissingKeep) {
		b = b.keeping(input, b.Solver)
	}
	if b.scratch > 0 {
		if err := scratch.New(r.rowScratchOptions()).Reserve(b.scratch); err != nil {
			return b, stream.Errorf("%w; or keep all in memory: {memory-limit} %dMiB", err, (b.InMemory+1<<20-1)>>20)
		}
	}
	return b, nil
}

// planSideBySide settles how many settings of a path are solved at a time: as many as
// there are threads, memory and scratch space for.
func (r *run) planSideBySide(b *Budget, cost method.Cost, settings int, total func(int64) int64) {
	each := cost.Bytes
	if b.scratch == 0 {
		each -= cost.Shared
	}
	more := (b.Limit - total(cost.Bytes)) / max(each, 1)
	b.solves = int(max(min(1+more, int64(r.Threads), int64(settings)), 1))
	if b.scratch > 0 { // the bound on scratch and the disk bound them too
		space := scratch.New(r.rowScratchOptions())
		with := func(solves int) int64 { return cost.Scratch + int64(solves-1)*(cost.Scratch-cost.Shared) }
		for b.solves > 1 && space.Reserve(with(b.solves)) != nil {
			b.solves--
		}
		b.scratch = with(b.solves)
	}
	b.rewritten *= int64(b.solves)
	b.Solver += int64(b.solves-1) * each
}

// scratch are the options of the scratch files.
func (q *Request) scratch() scratch.Options {
	return scratch.Options{Dir: q.TempDir, Limit: q.MaxScratch, Ledger: q.ledger}
}

// rowSource is what the passes of a method over rows read: ds, or the rows drawn from it
// in full blocks, where the method's sums depend on them.
func (r *run) rowSource(ds stream.Source) stream.Source {
	if n := r.drawn(); n > 0 && n < ds.Rows() && r.Takes.Cells {
		return &packed{ds, n}
	}
	return ds
}
