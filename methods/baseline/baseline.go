package baseline

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Variance returns the variance (divisor Σw) of each of the D features of s, after filling and scaling. If the scaling
// makes all variances equal, they do not rank the features.
func Variance(s *gram.Standardizer) []float64 {
	scores := make([]float64, len(s.Columns))
	for j := range scores {
		sd := s.Std[j] * math.Abs(s.Factor[j])
		scores[j] = sd * sd
	}
	return scores
}

// Random returns a score in [0, 1) for each feature. It depends only on the seed and the feature's name, not on the
// order of the columns.
func Random(cols []stream.Column, seed uint64) []float64 {
	scores := make([]float64, len(cols))
	for j, c := range cols {
		scores[j] = float64(splitmix.Hash(seed, splitmix.HashName(c.Name))>>11) * 0x1p-53
	}
	return scores
}

// tieTolerance is the relative difference up to which two scores are considered equal. If a table is split differently
// into files, its sums differ by rounding errors, which must not affect the ranking.
const tieTolerance = 1e-9

// Rank returns the k features with the largest scores, best first. Among equal scores the lowest column is first. If
// column order decides a tie, there is one warning for it, even if it covers several ranks. Rank costs O(k·d).
func Rank(scores []float64, cols []stream.Column, k int) (order []int, warnings []string) {
	taken := make([]bool, len(scores))
	warned := 0 // number of further ranks that belong to the tie for which there was a warning already
	for len(order) < min(k, len(scores)) {
		best := math.Inf(-1)
		for j, x := range scores {
			if !taken[j] {
				best = max(best, x)
			}
		}
		equal, first := 0, -1
		for j, x := range scores {
			if taken[j] || best-x > tieTolerance*math.Abs(best) {
				continue
			}
			if first < 0 {
				first = j
			}
			equal++
		}
		taken[first] = true
		order = append(order, first)
		switch {
		case warned > 0:
			warned--
		case equal > 1:
			warnings = append(warnings, fmt.Sprintf("from rank %d on: %d features have equal scores, the first being %q: column order decides", len(order), equal, cols[first].Name))
			warned = equal - 1
		}
	}
	return order, warnings
}
