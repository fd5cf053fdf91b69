package align

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// novelty tracks, for every feature, the part of its variance that the chosen features leave unexplained. It is
// computed by a pivoted Cholesky factorisation of G, with a row for each chosen feature.
type novelty struct {
	floor       float64
	unexplained []float64   // d: unexplained part of Gᵢᵢ, scaled as G
	rows        [][]float32 // rows of the factor, d numbers each; float32 is precise enough for shares of a variance
}

// dependentShare: if chosen features leave less than this share of a feature's variance unexplained, that part is
// considered rounding error, and the feature a combination of these.
const dependentShare = 1e-6

func (w *novelty) layOut(l *room.Layout, d, k int) {
	w.unexplained, w.rows = room.Slice[float64](l, d), room.Slice[[]float32](l, k)[:0]
	l.Add(4 * int64(d) * int64(k)) // the rows, which updateNovelty allocates if it needs them
}

// updateNovelty updates the unexplained variances after the choice of feature p. column is p's column of G. If a
// feature's unexplained share is now at most the floor, it moves to tierExplained. It remains there, because further
// choices only explain more of it.
func (s *search) updateNovelty(p int, column []float64) {
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
