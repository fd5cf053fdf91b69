package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
)

// reducedCases are rows, columns and pairs: of the first few rows all vectors of K are found at once, of the others
// some, by a search.
var reducedCases = [][3]int{{20, 150, 5}, {60, 300, 3}, {70, 280, 2}}

// settling are diagonals as those of a sparse projection, one after the other: all alike, then less and less changed.
func settling(d int) (list [][]float64) {
	r := rand.New(rand.NewPCG(7, 7))
	list = append(list, slices.Repeat([]float64{0.1}, d))
	now := make([]float64, d)
	for i := range now {
		now[i] = 0.3 * math.Pow(10, 3*r.Float64())
	}
	for _, by := range []float64{0, 1, 0.1, 0.01, 1e-4} {
		for i := range now {
			if i%3 == 0 || by > 0.05 {
				now[i] *= math.Exp(by * r.NormFloat64())
			}
		}
		list = append(list, slices.Clone(now))
	}
	return list
}

// The pairs of a pencil by n×n numbers are those of the matrices in full, from any start, to the bit for any workers.
func TestReducedIsThePencil(t *testing.T) {
	for _, c := range reducedCases {
		n, d, l := c[0], c[1], c[2]
		a, full, metric := lowRankCase(t, n, d, 1e-3, func(int, *rand.Rand) float64 { return 0 })
		warm := kernel.Matrix[float64]{}
		s := NewSmallest(a.team, a.Length(), l, EigenOptions{})
		for step, diagonal := range settling(d) {
			whole := copyRows(full)
			for i, v := range diagonal {
				whole.Data[i*d+i] += v
			}
			want := must.Get(NewSmallest(a.team, d, l, EigenOptions{}).Solve(ordinary(t, whole, metric), kernel.Matrix[float64]{}))(t)
			a.SetDiagonal(diagonal)
			s.norm = a.rounding()
			e, ok := s.reducedTo(a, warm)
			if !ok {
				t.Fatalf("%v, matrix %d: not found", c, step)
			}
			near(t, "values", e.Values, want.Values, 1e-9*want.Values[l-1])
			w := a.Vectors(e.Vectors)
			aw, mw := a.small(w, whole), a.small(w, metric)
			for i, v := range e.Values {
				kernel.Axpy(-v, mw.Data[i*d:(i+1)*d], aw.Data[i*d:(i+1)*d])
				if left := norm2(aw.Data[i*d : (i+1)*d]); left > 1e-6*v*norm2(mw.Data[i*d:(i+1)*d]) {
					t.Errorf("%v, matrix %d, pair %d: residual %g", c, step, i, left)
				}
			}
			unit := a.small(a.small(w, metric), w.Trans())
			for i := range l {
				unit.Data[i*l+i]--
			}
			near(t, "wᵀMw", unit.Data, make([]float64, l*l), 1e-9)

			// Another team, and without what the matrices before have left where it starts anew.
			team := a.team
			a.team = kernel.NewTeam(5)
			held := a.reduced
			a.reduced = nil
			other := NewSmallest(a.team, a.Length(), l, EigenOptions{})
			other.norm = s.norm
			first, ok := other.reducedTo(a, kernel.Matrix[float64]{})
			a.team, a.reduced = team, held
			if again, ok2 := s.reducedTo(a, kernel.Matrix[float64]{}); !ok || !ok2 || !slices.Equal(first.Basis.Data, again.Basis.Data) {
				t.Errorf("%v, matrix %d: workers or earlier matrices change bits", c, step)
			}
			must.Get(s.SolveForm(a, warm))(t)
			warm = e.Basis
		}
	}
}

// A vector that is missing is noticed, whichever it is.
func TestReducedMissesNothing(t *testing.T) {
	for _, c := range reducedCases {
		n, d, l := c[0], c[1], c[2]
		a, _, _ := lowRankCase(t, n, d, 1e-3, func(i int, _ *rand.Rand) float64 { return 0.5 + float64(i%7) })
		s := NewSmallest(a.team, a.Length(), l, EigenOptions{})
		s.norm = a.rounding()
		e, ok := s.reducedTo(a, kernel.Matrix[float64]{})
		if !ok {
			t.Fatalf("%v: not found", c)
		}
		r := a.reduced
		for missing := -1; missing < l; missing++ {
			b := pairs{}
			for i := range s.p {
				if i != missing {
					x := make([]float64, n)
					for j := range x {
						x[j] = e.Basis.Data[(d+j)*s.p+i]
					}
					b.z.Data = append(b.z.Data, x...)
					one := kernel.RowMajor(make([]float64, a.Length()), 1, a.Length(), a.Length())
					kernel.Copy(one, e.Basis.Sub(0, i, a.Length(), 1).Trans())
					b.theta = append(b.theta, kernel.Dot(a.Times(one).Data, one.Data))
					b.bounds = append(b.bounds, 0)
				}
			}
			b.z = kernel.RowMajor(b.z.Data, len(b.theta), n, n)
			r.p = len(b.theta)
			if !r.factors() {
				t.Fatal("no factors")
			}
			if proved := r.prove(s, b); proved != (missing < 0) {
				t.Errorf("%v: proved is %v without vector %d", c, proved, missing)
			}
		}
		r.p = s.p
	}
}

// What W loses in float32, added up by parts too, is within the ridge that makes up for it.
func TestReducedSingles(t *testing.T) {
	for _, c := range reducedCases {
		n, d := c[0], c[1]
		for _, unit := range []float64{1e-200, 1, 1e200} {
			a, _, _ := lowRankCase(t, n, d, 1e-3, func(i int, r *rand.Rand) float64 { return unit * math.Pow(10, 3*r.Float64()) })
			square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, n*n), n, n, n) }
			r := &reduced{LowRank: a, w: square()}
			for range 3 {
				if !r.weigh(false) || r.ridge != singleRidge {
					t.Fatal("no W in float32")
				}
				exact, top := square(), 0.0
				a.addProducts(exact, r.weights)
				for i := range n {
					top = max(top, exact.Data[i*n+i])
				}
				// W₃₂ + ridge − W is positive definite.
				left := copyRows(r.w)
				for i := range n {
					left.Data[i*n+i] += r.ridge * top
				}
				for i, v := range exact.Data {
					left.Data[i] = (left.Data[i] - v) / top
				}
				var chol Cholesky
				if err := chol.Factor(a.team, left); err != nil {
					t.Errorf("%v, D of %g: W in float32 and its ridge are less than W: %v", c, unit, err)
				}
				for i := range a.diag {
					if i%10 == 0 {
						a.diag[i] *= 1.5
					}
				}
			}
		}
	}
}

// Where D does not stand above λρ, or pairs are too many, it is left to the search in all coordinates.
func TestReducedDeclines(t *testing.T) {
	for name, c := range map[string]struct {
		l       int
		least   float64
		largest float64
	}{"no diagonal": {5, 0, 1}, "a small one": {5, 1e-7, 1e-7}, "small beside the values": {5, 1e-4, 100}, "many pairs": {10, 1, 1}} {
		a, _, _ := lowRankCase(t, 20, 150, 1e-3, func(i int, _ *rand.Rand) float64 {
			if i%2 == 0 {
				return c.least
			}
			return c.largest
		})
		s := NewSmallest(a.team, a.Length(), c.l, EigenOptions{})
		s.norm = a.rounding()
		if _, ok := s.reducedTo(a, kernel.Matrix[float64]{}); ok {
			t.Errorf("%s: not declined", name)
		}
	}
}
