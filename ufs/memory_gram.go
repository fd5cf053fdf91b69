package ufs

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// planGram plans a method on the Gram matrix in memory, in full or, if rank is not 0, as a factor of rank rows.
func (r *run) planGram(ds *chunkio.Dataset, shape method.Shape, rank int) (Budget, error) {
	d := len(ds.Columns())
	shape.Rank = rank
	cost, err := r.gramCost(shape)
	if err != nil {
		return Budget{}, err
	}
	if r.Missing == missingPairwise { // before the method runs, the pairwise matrix is made semidefinite
		cost.Bytes = max(cost.Bytes, linalg.ClipBytes(d))
	}
	sideBytes := r.splitterBytes(d) + r.rankBytes(ds, d) + surveyBytes(r, ds, rank)
	b, err := r.planPass(ds, r.gramFormBytes(ds, rank)+sideBytes, cost.Bytes)
	if err == nil {
		b = r.withSizeRules(ds, b, cost, rank)
	}
	b.sideStatistics = sideBytes
	return b, err
}

// gramForms lists the possible forms of the Gram matrix for n rows of d features, the cheaper form first. 0 means the
// full matrix, and another number means a factor with that number of rows. A factor is cheaper if d ≥ 2n: gathering it
// needs no arithmetic, but the full matrix needs nd² operations, and the method is not slower with the factor.
func (r *run) gramForms(ds *chunkio.Dataset) []int {
	n, d := r.factorRows(ds), int64(len(ds.Columns()))
	switch {
	case n == 0 || n >= d:
		return []int{0}
	case 2*n <= d:
		return []int{int(n), 0}
	}
	return []int{0, int(n)}
}

// planBestForm plans with the cheaper form of the Gram matrix for ds (gramForms). If that form does not fit into
// memory, it plans with the other form.
func (r *run) planBestForm(ds *chunkio.Dataset, plan func(rank int) (Budget, error)) (Budget, error) {
	forms := r.gramForms(ds)
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

// factorRows returns the largest number of rows that a factor of the Gram matrix may have. It returns 0 if the matrix
// cannot be a factor, or if the number of rows is unknown.
func (r *run) factorRows(ds *chunkio.Dataset) int64 {
	if !r.Takes.Factor || r.fallback != nil && !r.fallback.Takes.Factor || r.Stability > 0 || r.Missing == missingPairwise || r.Stats != "" {
		return 0
	}
	n := ds.Rows()
	if r.SampleRows > 0 {
		n = min(n, r.SampleRows)
	}
	return max(n, 0)
}

// gramBytes returns the memory of the moments. With hash shards it includes the moments of their sum.
func (r *run) gramBytes(ds *chunkio.Dataset) int64 {
	return gram.SharedBytes(len(ds.Columns()), r.expectedMissing(ds), r.Stability+1)
}

// hasNarrowRows reports whether the rows of a factor are kept as float32. This requires that the columns' types fit
// into float32, that ranks do not replace the values, and that the method accepts float32. Methods on a Gram matrix
// accept it. Methods on a graph need float64 unless they declare ByPanels, because they rotate the rows in place, or
// use them too often to convert them each time.
func (r *run) hasNarrowRows(ds *chunkio.Dataset) bool {
	isTaken := r.From == method.FromGram
	if panels, ok := r.Solver.(method.ByPanels); ok {
		isTaken = panels.ByPanels()
	}
	return isTaken && r.scale != gram.ScaleRank && ds.Singles()
}

func (r *run) gramFormBytes(ds *chunkio.Dataset, rank int) int64 {
	if rank > 0 {
		return gram.RowsBytes(len(ds.Columns()), int64(rank), r.hasNarrowRows(ds))
	}
	return r.gramBytes(ds)
}

// gramCost returns the cost of a method. Its memory, which comes on top of the statistics, also suffices to judge the
// choice later.
func (r *run) gramCost(shape method.Shape) (method.Cost, error) {
	cost, err := r.Solver.Cost(shape)
	d := len(shape.Columns)
	if r.AutoK || r.From != method.FromProfile && r.alwaysRunsSizeRules(d) {
		cost.Bytes = max(cost.Bytes, r.sizeBytes(d, shape.Rank))
	}
	cost.Bytes = max(cost.Bytes, subset.CurveBytes(d, min(shape.K, subset.MaxAppraised(d))))
	if r.comparesWithChance() {
		cost.Bytes = max(cost.Bytes, subset.CompareBytes(d, shape.K))
	}
	if r.Takes.Sample { // other methods may overwrite the matrix, and do not compute explained shares themselves
		cost.Bytes = max(cost.Bytes, judge.ExplainBytes(d, shape.K, shape.Rank))
	}
	if err == nil && r.fallback != nil { // the fallback method may select from the same moments
		var other method.Cost
		other, err = r.fallback.gramCost(shape)
		cost.Bytes = max(cost.Bytes, other.Bytes)
	}
	return cost, err
}

// planOutOfCore plans a method on the Gram matrix that reads the rows again instead of using the matrix. Reading and
// the solver are in memory at the same time.
func (r *run) planOutOfCore(ds *chunkio.Dataset, shape method.Shape) (Budget, error) {
	shape.OutOfCore = true
	cost, err := r.Solver.Cost(shape)
	if err != nil {
		return Budget{}, err
	}
	b := Budget{Limit: r.Memory, Program: programBytes, Statistics: profileColumnBytes*int64(len(shape.Columns)) + r.rankBytes(ds, len(shape.Columns)) + surveyBytes(r, ds, 0), OutOfCore: true}
	b.Smallest = b.Program + b.Statistics + ds.MinMemory() + cost.Least
	if b.Smallest > b.Limit {
		return b, b.refusal()
	}
	// Reading gets a quarter of the memory, or less if the solver needs fewer passes with more memory. Selecting 50
	// features of basehock within 130 MiB took 22 passes with a quarter for reading, and 18 with the least memory for
	// reading.
	room, least := b.Limit-b.Program-b.Statistics, cost.Least
	for _, reading := range []int64{b.Limit / 4, b.Limit / 8, 0} {
		b.Reading = ds.MemoryFor(min(max(reading, ds.MinMemory()), room-least))
		shape.Memory = room - b.Reading
		if cost, err = r.Solver.Cost(shape); err != nil || !cost.Cramped {
			break
		}
	}
	b.spoolBytes = ds.ScratchFor(b.Reading)
	b.Solver, b.Peak, b.methodPasses = shape.Memory, b.Limit, cost.Passes
	return b, err
}

// expectedMissing returns the number of features with missing values according to the metadata. For each of these
// features the statistics need more memory.
func (r *run) expectedMissing(ds *chunkio.Dataset) int {
	if r.missingPolicy() != stream.MissingKeep {
		return 0
	}
	return ds.WithNulls()
}
