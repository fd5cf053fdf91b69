package ridge

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestBothFormsAreTheRegression: W is that of the normal equations, from G in full and as a factor, and
// a feature with an R of 0 takes no part, also around the length of a block of features.
func TestBothFormsAreTheRegression(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {12, 5}, {9, blockFeatures - 1}, {9, blockFeatures}, {20, blockFeatures + 1}} {
		n, d := shape[0], shape[1]
		const c, weight = 3, 0.3
		r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
		normal := func(int, int, float64) float64 { return r.NormFloat64() }
		x, y := mat.NewDense(n, d, nil), mat.NewDense(n, c, nil)
		x.Apply(normal, x)
		y.Apply(normal, y)
		var g, xy mat.Dense
		g.Mul(x.T(), x)
		xy.Mul(x.T(), y)
		root := make([]float64, d)
		for j := range root {
			if root[j] = math.Pow(10, 2*r.Float64()-1); d > 1 && j%4 == 1 {
				root[j] = 0
			}
		}
		w, penalty := naive(&g, &xy, root, weight)

		target := Target{XY: xy.RawMatrix().Data, Y: kernel.RowMajor(y.RawMatrix().Data, n, c, c)}
		factor := make([]float64, 0, n*d)
		for j := range d {
			factor = append(factor, mat.Col(nil, j, x)...)
		}
		for name, matrix := range map[string]*gram.Matrix{"full": gram.Full(g.RawMatrix().Data, d), "factor": gram.FromFactor(factor, d, n)} {
			var first []float64
			for _, threads := range []int{1, 8} {
				s := New(kernel.NewTeam(threads), matrix, c)
				must.Do(t, s.SetWeights(root, weight))
				got, p := s.Solve(target)
				// A condition of some 1e5 at most, times rounding.
				for i, v := range got {
					if math.Abs(v-w.RawMatrix().Data[i]) > 1e-10*(1+mat.Norm(w, 2)) {
						t.Fatalf("%v %s: entry %d is %v, want %v", shape, name, i, v, w.RawMatrix().Data[i])
					}
				}
				if math.Abs(p-penalty) > 1e-10*(1+penalty) {
					t.Errorf("%v %s: penalty %v, want %v", shape, name, p, penalty)
				}
				if first == nil {
					first = slices.Clone(got)
				} else if !slices.Equal(first, got) {
					t.Errorf("%v %s: threads change bits", shape, name)
				}
			}
		}
	}
}

// naive solves for the features whose R is not 0, by elimination.
func naive(g, xy *mat.Dense, root []float64, weight float64) (w *mat.Dense, penalty float64) {
	d, c := xy.Dims()
	w = mat.NewDense(d, c, nil)
	var used []int
	for j, v := range root {
		if v > 0 {
			used = append(used, j)
		}
	}
	a, b := mat.NewDense(len(used), len(used), nil), mat.NewDense(len(used), c, nil)
	for i, j := range used {
		for k, l := range used {
			a.Set(i, k, g.At(j, l))
		}
		a.Set(i, i, a.At(i, i)+weight/(root[j]*root[j]))
		b.SetRow(i, xy.RawRowView(j))
	}
	var solved mat.Dense
	if err := solved.Solve(a, b); err != nil {
		panic(err)
	}
	for i, j := range used {
		row := solved.RawRowView(i)
		w.SetRow(j, row)
		penalty += mat.Dot(mat.NewVecDense(c, row), mat.NewVecDense(c, row)) / (root[j] * root[j])
	}
	return w, penalty
}

// TestLostWeight: a weight below the rounding of G leaves no inverse, in either form.
func TestLostWeight(t *testing.T) {
	const big = 1 << 30 // of products whose roots are exact
	for _, g := range []*gram.Matrix{gram.Full(slices.Repeat([]float64{big}, 16), 4), gram.FromFactor(slices.Repeat([]float64{big}, 8), 4, 2)} {
		if err := New(kernel.NewTeam(1), g, 1).SetWeights([]float64{1, 1, 1, 1}, 1e-12); !errors.Is(err, linalg.ErrNotPositiveDefinite) {
			t.Errorf("factor %t: %v", g.IsFactor(), err)
		}
	}
}

// TestLayout: a Solver, its factor and its solutions take the memory of the layout, and no more.
func TestLayout(t *testing.T) {
	const d, n, c = 700, 300, 5
	xy, y := make([]float64, d*c), kernel.NewMatrix[float64](nil, n, c)
	root := slices.Repeat([]float64{1}, d)
	for name, g := range map[string]*gram.Matrix{"full": gram.Full(make([]float64, d*d), d), "factor": gram.FromFactor(make([]float64, d*n), d, n)} {
		declared, team := room.Measure(func(l *room.Layout) { LayOut(l, d, g.Rank, c) }), kernel.NewTeam(1)
		roomtest.CheckLayout(t, name, declared, func() {
			s := New(team, g, c)
			for range 3 {
				must.Do(t, s.SetWeights(root, 1))
				s.Solve(Target{XY: xy, Y: y})
			}
		})
	}
}
