package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// reducedCases are rows, columns and pairs: of the first few rows all vectors of K are found at once, of the others
// some, by a search.
var reducedCases = [][3]int{{20, 150, 5}, {60, 300, 3}, {70, 280, 2}}

// settling returns diagonals like those in a sparse projection, one after the other: all alike, then less and less
// changed.
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

// The pairs of a pencil by n×n numbers equal the full matrices' pairs, from any start, to the bit for any workers.
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
			s.norm = a.roundingScale()
			e, ok := a.solveReduced(s, warm)
			if !ok {
				t.Fatalf("%v, matrix %d: not found", c, step)
			}
			near(t, "values", e.Values, want.Values, 1e-9*want.Values[l-1])
			w := a.Vectors(e.Vectors)
			aw, mw := MultiplyMatrices(a.team, w, whole), MultiplyMatrices(a.team, w, metric)
			for i, v := range e.Values {
				kernel.Axpy(-v, mw.Data[i*d:(i+1)*d], aw.Data[i*d:(i+1)*d])
				if left := norm2(aw.Data[i*d : (i+1)*d]); left > 1e-6*v*norm2(mw.Data[i*d:(i+1)*d]) {
					t.Errorf("%v, matrix %d, pair %d: residual %g", c, step, i, left)
				}
			}
			unit := MultiplyMatrices(a.team, MultiplyMatrices(a.team, w, metric), w.Trans())
			for i := range l {
				unit.Data[i*l+i]--
			}
			near(t, "wᵀMw", unit.Data, make([]float64, l*l), 1e-9)

			// Another team, and without the state that earlier matrices have left, if it starts cold.
			team := a.team
			a.team = kernel.NewTeam(5)
			held := a.reduction
			a.reduction = nil
			other := NewSmallest(a.team, a.Length(), l, EigenOptions{})
			other.norm = s.norm
			first, ok := a.solveReduced(other, kernel.Matrix[float64]{})
			a.team, a.reduction = team, held
			if again, ok2 := a.solveReduced(s, kernel.Matrix[float64]{}); !ok || !ok2 || !slices.Equal(first.Basis.Data, again.Basis.Data) {
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
		s.norm = a.roundingScale()
		e, ok := a.solveReduced(s, kernel.Matrix[float64]{})
		if !ok {
			t.Fatalf("%v: not found", c)
		}
		r := a.reduction
		for missing := -1; missing < l; missing++ {
			b := pencilRitz{}
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
			if !r.factorW() {
				t.Fatal("no factors")
			}
			if proved := r.proveComplete(s, b); proved != (missing < 0) {
				t.Errorf("%v: proved is %v without vector %d", c, proved, missing)
			}
		}
		r.p = s.p
	}
}

// What is wrong with W, made in whole numbers and in float32 and mended, is no more than is said. Features are
// normal numbers, of two values, and of heavy tails; so much as is known of the gap makes the units.
func TestReducedWrong(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	team := kernel.NewTeam(2)
	whole, mended := 0, 0
	for _, c := range [][2]int{{20, 150}, {60, 300}, {90, 110}, {40, 4000}, {100, 3000}} {
		n, d := c[0], c[1]
		u := kernel.RowMajor(make([]float64, d*n), d, n, n)
		for i := range u.Data {
			switch u.Data[i] = rng.NormFloat64(); i / n % 3 {
			case 1:
				u.Data[i] = 1 - 2*math.Round(rng.Float64())
			case 2:
				u.Data[i] *= math.Exp(rng.NormFloat64())
			}
		}
		for _, unit := range []float64{1e-200, 1, 1e200} {
			for _, gap := range []float64{0, 0.1, 10} {
				a := NewPencil(team, memoryColumns(u), d, n, 0.5, squaresOf(u), nil, 1e-3)
				square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, n*n), n, n, n) }
				r := &reducedPencil{scaledColumns: &a.scaledColumns, pencil: a, w: square(), gap: gap, influence: make([]float64, d)}
				diagonal := slices.Repeat([]float64{unit}, d)
				a.SetDiagonal(diagonal)
				for step := range 5 {
					if step == 0 && !r.computeWForEqualD() || step > 0 && !r.computeW(false) {
						t.Fatal("no W")
					}
					wholes, _ := a.groupFeaturesBySize(a.allFeatures(), r.weights, a.roundingUnit(roughError, r.minWantedValue(r.weights)))
					for _, list := range wholes {
						whole += len(list)
					}
					if r.wError.relative > roughError {
						mended++
					}
					exact := square()
					a.addOuterProducts(exact, r.weights)
					top := maxDiagonal(exact)
					// W + ridge − (1 − turn)·exact is positive definite.
					left := copyRows(r.w)
					for i := range n {
						left.Data[i*n+i] += r.ridgeFor(r.weights)
					}
					for i, v := range exact.Data {
						left.Data[i] = (left.Data[i] - (1-r.wError.relative)*v) / top
					}
					var chol Cholesky
					if err := chol.Factor(team, left); err != nil {
						t.Errorf("%v, D of %g, gap %g, step %d: W is less than is said: %v", c, unit, gap, step, err)
					}
					if most := (maxError + 1e-5) * top; r.wError.relative > maxError || r.ridgeFor(r.weights) > most {
						t.Errorf("%v, D of %g, gap %g, step %d: %g and %g may be wrong", c, unit, gap, step, r.wError.relative, r.ridgeFor(r.weights)/top)
					}
					for i := range diagonal {
						switch step {
						case 0:
							diagonal[i] *= math.Pow(10, 2*rng.Float64())
						case 1, 2:
							if i%(12-5*step) == 0 {
								diagonal[i] *= 0.5 + 3*rng.Float64()
							}
						case 3:
							diagonal[i] *= 5
						}
					}
					a.SetDiagonal(diagonal)
				}
			}
		}
	}
	if whole == 0 && kernel.HasWholes() {
		t.Error("nothing was in whole numbers")
	}
	if mended == 0 && kernel.HasWholes() {
		t.Error("nothing was mended in whole numbers")
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
		s.norm = a.roundingScale()
		if _, ok := a.solveReduced(s, kernel.Matrix[float64]{}); ok {
			t.Errorf("%s: not declined", name)
		}
	}
}
