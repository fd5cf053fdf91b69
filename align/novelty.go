package align

import (
	"math"
	"slices"
)

// novelty tracks the share of its own variance that every feature keeps unexplained by the chosen features. It is
// computed by a pivoted Cholesky factorisation of G, with a row for each chosen feature.
type novelty struct {
	floor       float64
	unexplained []float64   // d: unexplained part of Gᵢᵢ, scaled as G
	rows        [][]float32 // rows of the factor, d numbers each; float32 is precise enough for shares of a variance
}

// dependentShare is the share of its variance below which the unexplained part of a feature is considered rounding
// error, and the feature a combination of the chosen features.
const dependentShare = 1e-6

func newNovelty(squares []float64, floor float64) novelty {
	return novelty{floor: floor, unexplained: slices.Clone(squares)}
}

func noveltyBytes(d, k int) int64 { return 8*int64(d) + (4*int64(d)+24)*int64(k) }

// recordChosen updates the unexplained variances for the chosen feature p with its column of G. It moves features that
// keep at most the floor's share to tierExplained, where they remain, because further choices explain more of them.
func (s *search) recordChosen(p int, column []float64) {
	w := &s.novelty
	if w.floor == 0 || !(w.unexplained[p] > dependentShare*s.g[p]) || !slices.Contains(s.tier, tierOrdinary) {
		return
	}
	root := math.Sqrt(w.unexplained[p])
	row := make([]float32, len(w.unexplained))
	s.eachFeature(func(i int) {
		v := math.Ldexp(column[i], s.exp)
		for _, other := range w.rows {
			v -= float64(float64(other[i]) * float64(other[p]))
		}
		v /= root
		row[i] = float32(v)
		w.unexplained[i] = max(w.unexplained[i]-float64(v*v), 0)
		if s.tier[i] == tierOrdinary && !(w.unexplained[i] > w.floor*s.g[i]) {
			s.tier[i] = tierExplained
		}
	})
	w.rows = append(w.rows, row)
}
