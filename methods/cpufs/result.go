package cpufs

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Result is a ranking of all d features, which are numbered like the columns of the source.
type Result struct {
	// Constant features have the score 0 and come last. The objective is eq. (2), at the start and after each iteration.
	method.Descent
	// Nonzero is the number of scores above 0. In CPUFSnn most scores are exactly 0, and the order of these features has
	// no meaning.
	Nonzero  int
	Constant []int // features that do not vary, ascending

	Graph  string // the graph that was used: "knn" or "anchor"
	Plan   Plan
	Passes int // passes over the source
	// Distance is ‖C − F‖/‖C‖, with the components C and their nonnegative copy F. The weight η keeps it small.
	Distance float64
	U        [][]float64   // weights of the components on each side of the grid: U₁ c×n₁, U₂ c×n₂, …, row-major
	Warnings []stream.Text // for the user
}

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
