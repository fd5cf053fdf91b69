package align

import (
	"math"
	"slices"
)

// novelty knows how much of its own variance every feature keeps once those chosen explain what they can:
// a pivoted Cholesky factorisation of G, a row for each feature chosen.
type novelty struct {
	floor float64
	left  []float64   // d: Gᵢᵢ less what the features chosen explain, scaled as G is
	rows  [][]float32 // of the factor, d each; shares of a variance need no more digits
}

// settled is the share of its variance from which on down a feature is a combination of those chosen: rounding.
const settled = 1e-6

func newNovelty(squares []float64, floor float64) novelty {
	return novelty{floor: floor, left: slices.Clone(squares)}
}

// noveltyBytes is what it holds once k of d features are chosen.
func noveltyBytes(d, k int) int64 { return 8*int64(d) + (4*int64(d)+24)*int64(k) }

// recordChosen takes note that feature p is chosen, whose column of G this is, and moves features that keep no more than the
// floor's share of their variance to the tier of known ones. There they stay, as no choice adds to what is left.
func (s *search) recordChosen(p int, column []float64) {
	w := &s.news
	if w.floor == 0 || !(w.left[p] > settled*s.g[p]) || !slices.Contains(s.tier, ordinary) {
		return
	}
	root := math.Sqrt(w.left[p])
	row := make([]float32, len(w.left))
	s.blocks(func(i int) {
		v := math.Ldexp(column[i], s.exp)
		for _, other := range w.rows {
			v -= float64(float64(other[i]) * float64(other[p]))
		}
		v /= root
		row[i] = float32(v)
		w.left[i] = max(w.left[i]-float64(v*v), 0)
		if s.tier[i] == ordinary && !(w.left[i] > w.floor*s.g[i]) {
			s.tier[i] = known
		}
	})
	w.rows = append(w.rows, row)
}
