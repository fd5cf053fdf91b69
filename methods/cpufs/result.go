package cpufs

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features, which are numbered like the columns of the source.
type Result struct {
	Order  []int     // all features, by falling score; features with equal scores by column, constant features last
	Scores []float64 // ‖w‖ of each feature; 0 for constant ones
	// Nonzero is the number of scores above 0. In CPUFSnn most scores are exactly 0, and the order of these features has
	// no meaning.
	Nonzero  int
	Constant []int // features that do not vary, ascending

	Objective []float64    // eq. (2) at the start and after each iteration
	Converged bool         // the relative change fell to Tol
	Rose      *method.Rise // a rise of the objective beyond rounding, which indicates a fault; nil if there was none
	Graph     string       // the graph that was used: "knn" or "anchor"
	Plan      Plan
	Passes    int // passes over the source
	// Distance is ‖C − F‖/‖C‖, with the components C and their nonnegative copy F. The weight η keeps it small.
	Distance float64
	U, V     []float64     // c×n₁ and c×n₂, row-major
	Warnings []stream.Text // for the user

	Ties method.Ties // ties of Order: scores that count as equal, see [rankFeatures]
}

// Iterations returns the number of completed iterations.
func (r *Result) Iterations() int { return len(r.Objective) - 1 }

// tieShare is the share of the largest score by which scores may differ and still count as equal. In the fixtures,
// rounding changes scores by 4e-12 of their size.
const tieShare = 1e-9

// rankFeatures orders features by falling score. All scores that are nearly equal to the largest remaining score form a
// group of ties. Scores of 0 form a group of their own, which is followed by the constant features.
func rankFeatures(score []float64, constant []bool) (order []int, groups method.Ties) {
	if len(score) == 0 {
		return nil, nil
	}
	off := tieShare * slices.Max(score)
	keys := slices.Clone(score)
	for j := range keys {
		if constant[j] {
			keys[j] = -1
		}
	}
	return method.Rank(keys, func(largest, key float64) bool { return key == largest || key > 0 && key >= largest-off })
}

func (s *solver) fillResult(r *Result) {
	byCell := s.cellScores()
	r.Scores = make([]float64, s.d)
	constant := make([]bool, s.d)
	for j, cell := range s.rows.grid.Cell {
		if s.low[cell] == s.high[cell] {
			constant[j] = true
			r.Constant = append(r.Constant, j)
			continue
		}
		r.Scores[j] = byCell[cell]
		if r.Scores[j] > 0 {
			r.Nonzero++
		}
	}
	r.Order, r.Ties = rankFeatures(r.Scores, constant)
	r.U, r.V = s.u, s.v
	r.Passes = s.rows.Passes
	r.Distance = math.Sqrt(s.sums.cf / float64(s.c))
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, stream.Textf(format, args...)) }
	if n := r.Nonzero; n < s.d-len(r.Constant) {
		warn("%d of %d features have a score above 0; the others are tied and stand in column order", n, s.d)
	}
	if s.looseIterations > 0 {
		warn("in %d iterations C was not determined: the rows form fewer than %d distinct clusters; choose fewer {clusters}", s.looseIterations, s.c)
	}
	if r.Plan.GramNoRoom {
		warn("XᵀX of %d features does not fit: each step of U and V takes a pass; a higher {memory-limit} saves them", s.d)
	}
}
