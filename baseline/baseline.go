package baseline

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Variance returns, for each of the D features of s, its variance (divisor Σw) after filling and scaling. With a scale
// that makes all variances equal, the scores do not rank the features.
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

// tieTolerance is the relative difference up to which two scores are considered equal. Sums of differently split files
// differ by rounding errors, which must not affect the ranking.
const tieTolerance = 1e-9

// Rank returns the k features with the largest scores, best first. Of equal scores the lowest column is first. There is
// one warning for each tie that column order decided, even if the tie covers several ranks. It costs O(k·d).
func Rank(scores []float64, cols []stream.Column, k int) (order []int, warnings []string) {
	taken := make([]bool, len(scores))
	warned := 0 // further ranks of a tie that already caused a warning
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
