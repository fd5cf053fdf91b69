package spectral

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// randomData returns n×d normal numbers whose columns are mixed, so that no two singular values are close.
func randomData(n, d, rank int) *mat.Dense {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	left, right, x := mat.NewDense(n, rank, nil), mat.NewDense(rank, d, nil), new(mat.Dense)
	for i := range rank {
		for j := range n {
			left.Set(j, i, rng.NormFloat64()*math.Pow(0.9, float64(i)))
		}
		for j := range d {
			right.Set(i, j, rng.NormFloat64())
		}
	}
	x.Mul(left, right)
	return x
}

// gramForms returns the Gram matrix of x as the factor x, and in full unless that is large.
func gramForms(x *mat.Dense) map[string]*gram.Matrix {
	n, d := x.Dims()
	forms := map[string]*gram.Matrix{"factor": gram.FromFactor(mat.DenseCopyOf(x.T()).RawMatrix().Data, d, n)}
	if d <= 1000 {
		var g mat.Dense
		g.Mul(x.T(), x)
		forms["full"] = gram.Full(g.RawMatrix().Data, d)
	}
	return forms
}

// TestComponentsAreSingularVectors: the components are those of the singular value decomposition of the data, from few
// of them and all, by the iteration and the dense solver, in both forms. G stays the same, and so do the bits for any
// number of workers.
func TestComponentsAreSingularVectors(t *testing.T) {
	for _, s := range []struct{ n, d, rank, count int }{{40, 12, 12, 3}, {40, 12, 12, 12}, {20, 90, 20, 5}, {400, 200, 40, 6}, {30, 25, 4, 10}, {1, 3, 1, 2}, {9, 1, 1, 1}} {
		x := randomData(s.n, s.d, s.rank)
		var svd mat.SVD
		if !svd.Factorize(x, mat.SVDThin) {
			t.Fatalf("%+v: gonum's decomposition failed, want success", s)
		}
		var v mat.Dense
		svd.VTo(&v)
		sigma := svd.Values(nil)
		for form, g := range gramForms(x) {
			before := slices.Clone(g.Sym)
			c := must.Get(FindComponents(kernel.NewTeam(1), g, s.count, 0))(t)
			if want := min(s.count, s.rank); len(c.Values) != want || c.Loadings.Rows != want || c.Loadings.Cols != s.d || len(c.Tied) != want {
				t.Fatalf("%+v, %s: %d values, %d×%d loadings, %d ties, want %d×%d", s, form, len(c.Values), c.Loadings.Rows, c.Loadings.Cols, len(c.Tied), want, s.d)
			}
			for k, value := range c.Values {
				// Errors are about 1e-14 of λ₁, divided for vectors by the gap, which is above 1e-4 of λ₁ here.
				if want := sigma[k] * sigma[k]; math.Abs(value-want) > 1e-12*c.Values[0] {
					t.Errorf("%+v, %s: eigenvalue %d is %v, want %v", s, form, k, value, want)
				}
				row := c.Loadings.Data[k*s.d:][:s.d]
				if cosine := math.Abs(mat.Dot(mat.NewVecDense(s.d, slices.Clone(row)), v.ColView(k))); math.Abs(cosine-1) > 1e-9 || c.Tied[k] {
					t.Errorf("%+v, %s: loadings %d have the cosine %v with the singular vector (tied %v), want 1 (false)", s, form, k, cosine, c.Tied[k])
				}
			}
			eight := must.Get(FindComponents(kernel.NewTeam(8), g, s.count, 0))(t)
			if !slices.Equal(eight.Loadings.Data, c.Loadings.Data) || !slices.Equal(g.Sym, before) {
				t.Errorf("%+v, %s: other bits by 8 workers than by 1, or G has changed", s, form)
			}
		}
	}
}

// TestComponentsOfShare: a share gives the fewest components that have it, also if they are more than those computed
// first, and more than the iteration finds.
func TestComponentsOfShare(t *testing.T) {
	for _, s := range []struct{ n, d, rank int }{{60, 12, 12}, {350, 250, 220}, {30, 400, 30}} {
		x := randomData(s.n, s.d, s.rank)
		var svd mat.SVD
		if !svd.Factorize(x, mat.SVDNone) {
			t.Fatalf("%+v: gonum's decomposition failed, want success", s)
		}
		squares, total := svd.Values(nil), 0.0
		for i, v := range squares {
			squares[i] = v * v
			total += v * v
		}
		for _, share := range []float64{1e-9, 0.5, 0.9, 0.9999, 1} {
			want, sum := 0, 0.0
			for sum < share*total*(1-1e-12) && squares[want] > minEigenvalue*squares[0] {
				sum += squares[want]
				want++
			}
			for form, g := range gramForms(x) {
				if c := must.Get(FindComponents(kernel.NewTeam(2), g, 0, share))(t); len(c.Values) != want {
					t.Errorf("%+v, %s: %d components have a share of %v, want %d", s, form, len(c.Values), share, want)
				}
			}
		}
	}
}

// TestComponentTies: equal eigenvalues are found, also the first that is not wanted.
func TestComponentTies(t *testing.T) {
	g := gram.Full([]float64{1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0}, 4)
	for count, want := range [][]bool{1: {true}, 2: {true, false}, 3: {true, false, false}, 4: {true, false, false}} {
		if count == 0 {
			continue
		}
		c := must.Get(FindComponents(kernel.NewTeam(1), g, count, 0))(t)
		if !slices.Equal(c.Tied, want) || len(c.WarnOfTies(0)) != 1 || (len(c.WarnOfTies(len(c.Tied)-1)) == 1) != (count == 1) {
			t.Errorf("%d components: ties %v, warnings %v, want ties %v and a warning", count, c.Tied, c.WarnOfTies(0), want)
		}
	}
}

// TestComponentFaults: a matrix of zeros and one that is not finite give errors, and nothing panics.
func TestComponentFaults(t *testing.T) {
	for form, g := range gramForms(mat.NewDense(3, 4, nil)) {
		if _, err := FindComponents(kernel.NewTeam(1), g, 2, 0); !errors.As(err, new(*stream.DataError)) {
			t.Errorf("%s of zeros: error %v, want a data error", form, err)
		}
	}
	x := randomData(5, 4, 4)
	x.Set(2, 1, math.NaN())
	for form, g := range gramForms(x) {
		if _, err := FindComponents(kernel.NewTeam(1), g, 2, 0); !errors.Is(err, linalg.ErrNotFinite) {
			t.Errorf("%s with a NaN: error %v, want %v", form, err, linalg.ErrNotFinite)
		}
	}
}

// TestComponentsBytes: all that FindComponents allocates is within its bound, and not far below it.
func TestComponentsBytes(t *testing.T) {
	for _, s := range []struct{ n, d, count int }{{450, 300, 5}, {450, 300, 200}, {150, 2500, 20}, {100, 2500, 0}, {300, 250, 0}} {
		x := randomData(s.n, s.d, min(s.n, s.d))
		for form, g := range gramForms(x) {
			team := kernel.NewTeam(1)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			must.Get(FindComponents(team, g, s.count, 1))(t)
			runtime.ReadMemStats(&after)
			allocated, bound := int64(after.TotalAlloc-before.TotalAlloc), ComponentsBytes(s.d, g.Rank, s.count)
			// Dual and AddUps have teams of their own, and all searches but the largest are garbage; none is held to the end.
			var all, most int64
			eachPairCount(matrixOrder(s.d, g.Rank), s.count, func(pairs int) bool {
				bytes := linalg.SmallestBytes(matrixOrder(s.d, g.Rank), pairs, linalg.EigenOptions{})
				all, most = all+bytes, max(most, bytes)
				return false
			})
			held := allocated - (all - most)
			if g.IsFactor() {
				held -= 2 * kernel.TeamBytes(s.n, max(s.n, s.d))
			}
			if held > bound || allocated < bound/6 {
				t.Errorf("%+v, %s: %d bytes allocated and about %d held, want at most %d held and not less than a sixth allocated", s, form, allocated, held, bound)
			}
		}
	}
}
