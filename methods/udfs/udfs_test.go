package udfs

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const epsilon = 1e-8 // of package rowsparse

// naive is UDFS from the papers' words: every patch with its own selection, an inverse by
// elimination, all eigenpairs by rotation.
func naive(x [][]float64, k int, lambda, gamma float64, c, updates int) (norms, objective []float64) {
	n, d := len(x), len(x[0])
	m := rowstest.ZeroRows(d, d)
	for i := range n {
		others := slices.DeleteFunc(rowstest.Integers(n), func(j int) bool { return j == i })
		square := func(j int) (s float64) {
			for f := range d {
				s += (x[i][f] - x[j][f]) * (x[i][f] - x[j][f])
			}
			return s
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(square(a), square(b)) })
		patch := append([]int{i}, others[:k]...)
		centred := rowstest.ZeroRows(k+1, d) // HX_iᵀ
		for f := range d {
			mean := 0.0
			for _, j := range patch {
				mean += x[j][f] / float64(k+1)
			}
			for p, j := range patch {
				centred[p][f] = x[j][f] - mean
			}
		}
		a := rowstest.ZeroRows(k+1, k+1)
		for p := range a {
			for q := range a {
				for f := range d {
					a[p][q] += centred[p][f] * centred[q][f]
				}
			}
			a[p][p] += lambda
		}
		a = rowstest.InvertMatrix(a)
		for f := range d {
			for g := range d {
				for p := range a {
					for q := range a {
						m[f][g] += centred[p][f] * a[p][q] * centred[q][g]
					}
				}
			}
		}
	}
	q := slices.Repeat([]float64{1}, d)
	for range updates {
		a := rowstest.ZeroRows(d, d)
		for f := range d {
			copy(a[f], m[f])
			a[f][f] += gamma * q[f]
		}
		_, w := rowstest.Jacobi(a)
		norms = make([]float64, d)
		value := 0.0
		for f := range d {
			square := 0.0
			for t := range c {
				square += w[f][t] * w[f][t]
				for g := range d {
					value += w[f][t] * m[f][g] * w[g][t]
				}
			}
			norms[f] = math.Sqrt(square)
			value += gamma * math.Sqrt(square+epsilon)
			q[f] = 0.5 / math.Sqrt(square+epsilon)
		}
		objective = append(objective, value)
	}
	return norms, objective
}

// clusters are rows about three centres, with a nuisance that outweighs them in one feature.
func clusters(n, d int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	centre := rowstest.ZeroRows(3, d)
	for _, row := range centre {
		for j := range row {
			row[j] = 3 * rng.NormFloat64()
		}
	}
	x := rowstest.ZeroRows(n, d)
	for i := range x {
		for j := range x[i] {
			x[i][j] = centre[i%3][j] + rng.NormFloat64()*(0.5+float64(j%4))
		}
	}
	return x
}

func run(t *testing.T, x [][]float64, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), slices.Concat(x...), len(x), len(x[0]), opt))(t)
}

// fixture is a udfs_*.json: centred X, W unused, k, λ, γ, c, T updates, the norms of the rows
// of the last W, and the objective after each.
type fixture struct {
	X                [][]float64
	K, C, T          int
	Lam, Gamma       float64
	Norms, Objective []float64
}

func TestFixture(t *testing.T) {
	for name, f := range fixtures.ReadCases[fixture](t, "udfs") {
		r := run(t, f.X, Options{Neighbors: f.K, Lambda: f.Lam, Gamma: f.Gamma, Clusters: f.C, MaxIter: f.T, Tol: -1})
		if r.Rose != nil || len(r.Objective) != f.T {
			t.Fatalf("%s: %d objectives, %+v", name, len(r.Objective), r.Rose)
		}
		// The fixture has next to no ε. Ours adds γΣε/2‖wᵢ‖, some 8e-9, to an objective of 21.7,
		// and moves the norms by as little.
		if off := rowstest.RelativeDistance(r.Scores, f.Norms); !(off <= 5e-9) {
			t.Errorf("%s: norms are off by %.2g: %v, want %v", name, off, r.Scores, f.Norms)
		}
		if off := rowstest.RelativeDistance(r.Objective, f.Objective); !(off <= 1e-9) {
			t.Errorf("%s: the objective is off by %.2g: %v, want %v", name, off, r.Objective, f.Objective)
		}
	}
}

func TestSelectIsTheDenseForm(t *testing.T) {
	for _, c := range []struct {
		n, d, k       int
		lambda, gamma float64
	}{{40, 9, 5, 1, 0.1}, {61, 14, 3, 100, 0.01}, {300, 6, 1, 1000, 0.1}, {30, 5, 29, 0.5, 2}} {
		x := clusters(c.n, c.d, uint64(c.n))
		norms, objective := naive(x, c.k, c.lambda, c.gamma, 3, 6)
		r := run(t, x, Options{Neighbors: c.k, Lambda: c.lambda, Gamma: c.gamma, Clusters: 3, MaxIter: 6, Tol: -1})
		// M is known to 1e-14 and its gaps are above 1e-5 of it, six times over.
		if off := rowstest.RelativeDistance(r.Scores, norms); !(off <= 1e-8) {
			t.Errorf("%+v: norms are off by %.2g", c, off)
		}
		if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-10) {
			t.Errorf("%+v: the objective is off by %.2g", c, off)
		}
	}
}

// Threads change no bit; a shift of the rows changes nothing but rounding; permuted columns
// have permuted scores; rows in another order the same.
func TestLaws(t *testing.T) {
	x := clusters(300, 24, 3)
	opt := Options{Clusters: 4, MaxIter: 8, Threads: 1}
	want := run(t, x, opt)
	for _, threads := range []int{2, 8} {
		opt.Threads = threads
		if got := run(t, x, opt); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
			t.Errorf("other bits from %d threads", threads)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	columns, order := rng.Perm(24), rng.Perm(300)
	turned := rowstest.ZeroRows(300, 24)
	for i, r := range order {
		for j, f := range columns {
			turned[i][j] = x[r][f] + 100
		}
	}
	got := run(t, turned, opt)
	for j, f := range columns {
		if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-8 {
			t.Errorf("feature %d: %v, turned %v", f, want.Scores[f], got.Scores[j])
		}
	}
}

// With more features than rows most directions cost nothing: the start then rests on no
// rounding, so that permuted columns still have permuted scores.
func TestMoreFeaturesThanRows(t *testing.T) {
	x := clusters(30, 120, 4)
	want := run(t, x, Options{Clusters: 3, Lambda: 10, MaxIter: 5})
	if want.Rose != nil || len(want.Warnings) == 0 || !strings.Contains(want.Warnings[0].String(), "cost nothing") {
		t.Errorf("rose %+v, warnings %v", want.Rose, want.Warnings)
	}
	columns := rand.New(rand.NewPCG(2, 1)).Perm(120)
	turned := rowstest.ZeroRows(30, 120)
	for i := range turned {
		for j, f := range columns {
			turned[i][j] = x[i][f]
		}
	}
	got := run(t, turned, Options{Clusters: 3, Lambda: 10, MaxIter: 5})
	for j, f := range columns {
		if math.Abs(got.Scores[j]-want.Scores[f]) > 1e-5 {
			t.Errorf("feature %d: %v, turned %v", f, want.Scores[f], got.Scores[j])
		}
	}
}

func TestEdges(t *testing.T) {
	for _, c := range [][2]int{{2, 1}, {2, 3}, {3, 2}, {7, 1}} {
		r := run(t, clusters(c[0], c[1], 5), Options{})
		if len(r.Order) != c[1] || r.Rose != nil {
			t.Errorf("%d rows of %d features: got %+v, want all %d features ranked and no rise", c[0], c[1], r, c[1])
		}
		for _, v := range r.Scores {
			if !(v >= 0 && v <= 1+1e-9) {
				t.Errorf("%v: norm %v", c, v)
			}
		}
	}
	// No penalty: the first eigenvectors, which no second update changes.
	r := run(t, clusters(50, 8, 6), Options{Gamma: -1, Clusters: 2})
	if !r.Converged || len(r.Objective) != 2 {
		t.Errorf("without a penalty %d updates, converged %t", len(r.Objective), r.Converged)
	}
	same := [][]float64{{1, 2}, {1, 2}, {1, 2}}
	if _, err := Select(t.Context(), slices.Concat(same...), 3, 2, Options{}); err == nil {
		t.Error("rows that are all equal are no error")
	}
	if _, err := Select(t.Context(), []float64{1, 2}, 1, 2, Options{}); err == nil {
		t.Error("a single row is no error")
	}
	_, err := Select(t.Context(), []float64{1, 2, 3, 4}, 2, 2, Options{Neighbors: -1, Lambda: -2, Gamma: math.NaN(), Clusters: -3, MaxIter: -4, Threads: -5, Tol: math.Inf(1)})
	rowstest.CheckRefusal(t, err, "neighbors = -1", "alpha = -2", "gamma = NaN", "clusters = -3", "max-iter = -4", "threads = -5", "tol = +Inf")
}
