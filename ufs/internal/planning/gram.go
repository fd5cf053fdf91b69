package planning

import (
	"errors"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/judge"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/internal/subset"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/budget"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// planGram plans a method on the Gram matrix in memory, in full or, if rank is not 0, as a factor of rank rows.
func planGram(r *settled.Run, ds *chunkio.Dataset, shape method.Shape, rank int) (budget.Budget, error) {
	d := len(ds.Columns())
	shape.Rank = rank
	cost, err := GramCost(r, shape)
	if err != nil {
		return budget.Budget{}, err
	}
	if r.Columns.Missing == request.MissingPairwise { // before the method runs, the pairwise matrix is made semidefinite
		cost.Bytes = max(cost.Bytes, linalg.ClipBytes(d))
	}
	sideBytes := splitterBytes(r, d) + RankBytes(r, ds, d) + surveyBytes(r, ds, rank)
	b, err := PlanPass(r, ds, gramFormBytes(r, ds, rank)+sideBytes, cost.Bytes)
	if err == nil {
		b = withSizeRules(r, ds, b, cost, rank)
	}
	b.SideStatistics = sideBytes
	return b, err
}

// gramForms lists the possible forms of the Gram matrix for n rows of d features, the cheaper form first. 0 means the
// full matrix, and another number means a factor with that number of rows. A factor is cheaper if d ≥ 2n: gathering it
// needs no arithmetic, but the full matrix needs nd² operations, and the method is not slower with the factor.
func gramForms(r *settled.Run, ds *chunkio.Dataset) []int {
	n, d := factorRows(r, ds), int64(len(ds.Columns()))
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
func planBestForm(r *settled.Run, ds *chunkio.Dataset, plan func(rank int) (budget.Budget, error)) (budget.Budget, error) {
	forms := gramForms(r, ds)
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
func factorRows(r *settled.Run, ds *chunkio.Dataset) int64 {
	if !r.Bound.Takes.Factor || r.Fallback != nil && !r.Fallback.Bound.Takes.Factor || r.Choice.Stability > 0 || r.Columns.Missing == request.MissingPairwise || r.Stats != "" {
		return 0
	}
	n := ds.Rows()
	if r.SampleRows > 0 {
		n = min(n, r.SampleRows)
	}
	return max(n, 0)
}

// GramBytes returns the memory of the moments. With hash shards it includes the moments of their sum.
func GramBytes(r *settled.Run, ds *chunkio.Dataset) int64 {
	return gram.SharedBytes(len(ds.Columns()), ExpectedMissing(r, ds), r.Choice.Stability+1)
}

// HasNarrowRows reports whether the rows of a factor are kept as float32. This requires that the columns' types fit
// into float32, that ranks do not replace the values, and that the method accepts float32. Methods on a Gram matrix
// accept it. Methods on a graph need float64 unless they declare ByPanels, because they rotate the rows in place, or
// use them too often to convert them each time.
func HasNarrowRows(r *settled.Run, ds *chunkio.Dataset) bool {
	isTaken := r.Bound.From == method.FromGram
	if panels, ok := r.Bound.Solver.(method.ByPanels); ok {
		isTaken = panels.ByPanels()
	}
	return isTaken && r.ParsedScale != gram.ScaleRank && ds.Singles()
}

func gramFormBytes(r *settled.Run, ds *chunkio.Dataset, rank int) int64 {
	if rank > 0 {
		return gram.RowsBytes(len(ds.Columns()), int64(rank), HasNarrowRows(r, ds))
	}
	return GramBytes(r, ds)
}

// GramCost returns the cost of a method. Its memory, which comes on top of the statistics, also suffices to judge the
// choice later.
func GramCost(r *settled.Run, shape method.Shape) (method.Cost, error) {
	cost, err := r.Bound.Solver.Cost(shape)
	d := len(shape.Columns)
	if r.Choice.AutoK || r.Bound.From != method.FromProfile && AlwaysRunsSizeRules(r, d) {
		cost.Bytes = max(cost.Bytes, SizeBytes(r, d, shape.Rank))
	}
	cost.Bytes = max(cost.Bytes, subset.CurveBytes(d, min(shape.K, subset.MaxAppraised(d))))
	if settled.ComparesWithChance(r) {
		cost.Bytes = max(cost.Bytes, subset.CompareBytes(d, shape.K))
	}
	if r.Bound.Takes.Sample { // other methods may overwrite the matrix, and do not compute explained shares themselves
		cost.Bytes = max(cost.Bytes, judge.ExplainBytes(d, shape.K, shape.Rank))
	}
	if err == nil && r.Fallback != nil { // the fallback method may select from the same moments
		var other method.Cost
		other, err = GramCost(r.Fallback, shape)
		cost.Bytes = max(cost.Bytes, other.Bytes)
	}
	return cost, err
}

// planOutOfCore plans a method on the Gram matrix that reads the rows again instead of using the matrix. Reading and
// the solver are in memory at the same time.
func planOutOfCore(r *settled.Run, ds *chunkio.Dataset, shape method.Shape) (budget.Budget, error) {
	shape.OutOfCore = true
	cost, err := r.Bound.Solver.Cost(shape)
	if err != nil {
		return budget.Budget{}, err
	}
	b := budget.Budget{Limit: r.Limits.Memory, Program: budget.ProgramBytes, Statistics: budget.ProfileColumnBytes*int64(len(shape.Columns)) + RankBytes(r, ds, len(shape.Columns)) + surveyBytes(r, ds, 0), OutOfCore: true}
	b.Smallest = b.Program + b.Statistics + ds.MinMemory() + cost.Least
	if b.Smallest > b.Limit {
		return b, b.Refusal()
	}
	// Reading gets a quarter of the memory, or less if the solver needs fewer passes with more memory. Selecting 50
	// features of basehock within 130 MiB took 22 passes with a quarter for reading, and 18 with the least memory for
	// reading.
	room, least := b.Limit-b.Program-b.Statistics, cost.Least
	for _, reading := range []int64{b.Limit / 4, b.Limit / 8, 0} {
		b.Reading = ds.MemoryFor(min(max(reading, ds.MinMemory()), room-least))
		shape.Memory = room - b.Reading
		if cost, err = r.Bound.Solver.Cost(shape); err != nil || !cost.Cramped {
			break
		}
	}
	b.SpoolBytes = ds.ScratchFor(b.Reading)
	b.Solver, b.Peak, b.MethodPasses = shape.Memory, b.Limit, cost.Passes
	return b, err
}

// ExpectedMissing returns the number of features with missing values according to the metadata. For each of these
// features the statistics need more memory.
func ExpectedMissing(r *settled.Run, ds *chunkio.Dataset) int {
	if request.MissingPolicy(&r.Request) != stream.MissingKeep {
		return 0
	}
	return ds.WithNulls()
}
