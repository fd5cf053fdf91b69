package u2fs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func run(t *testing.T, g *anchor.Graph, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), g, opt))(t)
}

// regressed is XᵀU for U the leading eigenvectors of the n×n affinity without the constant one.
func regressed(x, z [][]float64, c int) [][]float64 {
	_, vectors := rowstest.Jacobi(rowstest.Laplacian(z))
	centred, xu := rowstest.CentreColumns(x), rowstest.ZeroRows(len(x[0]), c)
	for i := range x {
		for j := range xu {
			for t := range c {
				xu[j][t] += centred[i][j] * vectors[i][1+t]
			}
		}
	}
	return xu
}

// explained is how much of U a ridge regression on some features explains: Tr(RᵀPR).
func explained(g *anchor.Graph, xu [][]float64, features []int) (sum float64) {
	a := rowstest.ZeroRows(len(features), len(features))
	var trace float64
	for i := range g.D {
		trace += g.G.Sym[i*g.D+i]
	}
	for i, f := range features {
		for j, h := range features {
			a[i][j] = g.G.Sym[f*g.D+h]
		}
		a[i][i] += ridgeShare * trace / float64(g.D)
	}
	p := rowstest.InvertMatrix(a)
	for i, f := range features {
		for j, h := range features {
			for t := range xu[0] {
				sum += xu[f][t] * p[i][j] * xu[h][t]
			}
		}
	}
	return sum
}

// The naive form regresses anew without each feature in turn.
func TestSelectIsTheNaiveForm(t *testing.T) {
	for seed := range uint64(4) {
		x, z := rowstest.RingRows(seed, 70, 12, 9)
		g := rowstest.BuildGraph(x, z)
		xu := regressed(x, z, 3)
		r := run(t, g, Options{Clusters: 3})
		left := rowstest.Integers(9)
		for step := 8; step >= 0; step-- {
			all, best, at := explained(g, xu, left), math.Inf(1), 0
			for i := range left {
				without := slices.Delete(slices.Clone(left), i, i+1)
				if loss := all - explained(g, xu, without); loss < best {
					best, at = loss, i
				}
			}
			// What is explained is at most 3; eigenvectors are off by rounding over gaps of 1e-2.
			if r.Order[step] != left[at] || math.Abs(r.Utilities[step]-best) > 1e-11 {
				t.Fatalf("seed %d: %d left: feature %d of utility %v goes, want %d, %v", seed, step+1, r.Order[step], r.Utilities[step], left[at], best)
			}
			left = slices.Delete(left, at, at+1)
		}
	}
}

// Utilities add up to the part that all features explain, through all blocks and recomputations.
func TestUtilitiesAddUp(t *testing.T) {
	for _, d := range []int{1, 2, blockFeatures - 1, blockFeatures, blockFeatures + 1, 3*blockFeatures + 5} {
		x, z := rowstest.RingRows(7, 400, 20, d)
		g := rowstest.BuildGraph(x, z)
		r := run(t, g, Options{Clusters: 4})
		xu := fromAnchors(g, 4)
		want, got := explained(g, xu, rowstest.Integers(d)), 0.0
		for _, u := range r.Utilities {
			if !(u >= 0) {
				t.Errorf("%d features: utility %v", d, u)
			}
			got += u
		}
		if len(r.Order) != d || math.Abs(got-want) > 1e-9 {
			t.Errorf("%d features: %d ranks; the utilities add up to %v, want %v", d, len(r.Order), got, want)
		}
	}
}

// fromAnchors is the same from the statistics, for more features than rotations of n×n matrices
// are quick for.
func fromAnchors(g *anchor.Graph, c int) [][]float64 {
	s := rowstest.ZeroRows(g.M, g.M)
	for a := range s {
		copy(s[a], g.S[a*g.M:])
	}
	values, vectors := rowstest.Jacobi(s)
	xu := rowstest.ZeroRows(g.D, c)
	for k := range c { // the last is the constant one's
		for a := range g.M {
			for j := range g.D {
				xu[j][k] += g.C[a*g.D+j] * vectors[a][g.M-2-k] / math.Sqrt(values[g.M-2-k])
			}
		}
	}
	return xu
}

// Features that repeat others, more features than rows, and constant ones: of two alike the
// later goes, and goes before any feature that is needed.
func TestDependentFeatures(t *testing.T) {
	x, z := rowstest.RingRows(3, 60, 12, 6)
	for i := range x {
		x[i] = append(x[i], x[i][0], x[i][1], 5, x[i][2]+x[i][3])
	}
	g := rowstest.BuildGraph(x, z)
	r := run(t, g, Options{Clusters: 3})
	last := slices.Clone(r.Order[6:])
	for _, f := range []int{6, 7, 8} {
		if !slices.Contains(last, f) {
			t.Errorf("feature %d is at rank %d: order %v", f, slices.Index(r.Order, f)+1, r.Order)
		}
	}
	for i, u := range r.Utilities[6:] {
		if u > 1e-6 {
			t.Errorf("rank %d: utility %v of a feature that others stand for", i+7, u)
		}
	}
	wide, zw := rowstest.RingRows(4, 40, 9, 150)
	r = run(t, rowstest.BuildGraph(wide, zw), Options{})
	for i, u := range r.Utilities {
		if !(u >= 0) || math.IsInf(u, 0) {
			t.Errorf("rank %d: utility %v", i+1, u)
		}
	}
}

func TestLaws(t *testing.T) {
	x, z := rowstest.RingRows(5, 300, 20, 150)
	g := rowstest.BuildGraph(x, z)
	want := run(t, g, Options{Threads: 1})
	for _, threads := range []int{2, 8} {
		got := run(t, g, Options{Threads: threads})
		if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Utilities, want.Utilities) {
			t.Errorf("other bits from %d threads", threads)
		}
	}
	columns := rand.New(rand.NewPCG(4, 4)).Perm(150)
	turned := rowstest.ZeroRows(300, 150)
	for i := range turned {
		for j, f := range columns {
			turned[i][j] = x[i][f]
		}
	}
	got := run(t, rowstest.BuildGraph(turned, z), Options{})
	for i, j := range got.Order {
		if columns[j] != want.Order[i] || math.Abs(got.Utilities[i]-want.Utilities[i]) > 1e-9 {
			t.Errorf("rank %d: feature %d, %v; permuted %d, %v", i+1, want.Order[i], want.Utilities[i], columns[j], got.Utilities[i])
		}
	}
	// Features of twice the length are as useful.
	twice := *g
	twice.G, twice.C = gram.Full(slices.Clone(g.G.Sym), g.D), slices.Clone(g.C)
	for i := range twice.G.Sym {
		twice.G.Sym[i] *= 4
	}
	for i := range twice.C {
		twice.C[i] *= 2
	}
	if got := run(t, &twice, Options{}); !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Utilities, want.Utilities) {
		t.Error("features of twice the length have other utilities")
	}
}

func TestEdges(t *testing.T) {
	x, z := rowstest.RingRows(6, 30, 6, 3)
	if r := run(t, rowstest.BuildGraph(x, z), Options{Clusters: 20}); len(r.Order) != 3 || len(r.Warnings) == 0 {
		t.Errorf("20 clusters of 6 anchors: got %+v, want 3 features ranked and a warning", r)
	}
	for i := range x {
		clear(x[i])
	}
	if _, err := Select(t.Context(), rowstest.BuildGraph(x, z), Options{}); err == nil {
		t.Error("constant features are no error")
	}
	_, err := Select(t.Context(), rowstest.BuildGraph(x, z), Options{Clusters: -2, Threads: -1})
	rowstest.CheckRefusal(t, err, "clusters = -2", "threads = -1")
}
