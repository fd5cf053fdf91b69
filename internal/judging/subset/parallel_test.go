package subset

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// shuffled permutes the entries of each column by itself.
func shuffled(x *mat.Dense, random *rand.Rand) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for j := range d {
		for to, from := range random.Perm(n) {
			out.Set(to, j, x.At(from, j))
		}
	}
	return out
}

// TestParallelTwin: on copies of data with really permuted columns, parallel analysis takes a feature as seldom
// as promised, with columns of equal and of very unequal variance. So do later turns, each tested by itself:
// there the law is an approximation, and may be too strict, but not lax.
func TestParallelTwin(t *testing.T) {
	const copies, turns = 400, 8
	for _, s := range []set{{"groups", 100, 40, 3, 0.4, 1}, {"mixtures", 60, 90, 4, 0.3, 2}} {
		x := s.data()
		for _, equal := range []bool{true, false} {
			if !equal {
				x.Apply(func(_, j int, v float64) float64 { return v * float64(1+j%7) }, x)
			}
			random := rand.New(rand.NewPCG(3, 3))
			var taken [turns]int
			for range copies {
				g := gramOf(shuffled(x, random))
				order := must.Get(greedy.Select(t.Context(), gram.Full(g, s.d), greedy.Options{K: turns}))(t).Order
				c := NewCurve(gram.Full(g, s.d), turns, 1)
				lengths := newNullModel(c.squares, float64(s.n-1))
				before := c.Total
				for turn, p := range order {
					c.TakeColumn(p)
					if lengths.exceedProbability(before-c.Left[turn], turn) <= significance {
						taken[turn]++
					}
					before = c.Left[turn]
				}
			}
			// 400 copies at 5 %: 20 ± 4.4, of which we allow four deviations and, in
			// the first turn, want no fewer than a quarter.
			if taken[0] < 5 || taken[0] > 38 {
				t.Errorf("%+v, equal variances %v: the first feature is taken %d times of %d", s, equal, taken[0], copies)
			}
			for turn, number := range taken {
				if number > 38 {
					t.Errorf("%+v, equal variances %v: feature %d is taken %d times of %d", s, equal, turn+1, number, copies)
				}
			}
			t.Logf("%+v, equal variances %v: taken by turn of %d copies: %v", s, equal, copies, taken)
		}
	}
}
