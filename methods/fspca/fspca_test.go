package fspca

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// normalRows are n rows of d features of unequal length, with `factors` directions in common; without noise their rank
// is that number.
func normalRows(seed uint64, n, d, factors int, noise float64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 51))
	normal := func(_, _ int, _ float64) float64 { return rng.NormFloat64() }
	scores, loadings, x := mat.NewDense(n, factors, nil), mat.NewDense(factors, d, nil), mat.NewDense(n, d, nil)
	scores.Apply(normal, scores)
	loadings.Apply(normal, loadings)
	x.Mul(scores, loadings)
	x.Apply(func(_, _ int, v float64) float64 { return v + noise*rng.NormFloat64() }, x)
	return x
}

func gramOf(x *mat.Dense) *mat.Dense {
	var g mat.Dense
	g.Mul(x.T(), x)
	return &g
}

func full(x *mat.Dense) *gram.Matrix {
	_, d := x.Dims()
	return gram.Full(gramOf(x).RawMatrix().Data, d)
}

func factor(x *mat.Dense) *gram.Matrix {
	n, d := x.Dims()
	return gram.FromFactor(mat.DenseCopyOf(x.T()).RawMatrix().Data, d, n)
}

func run(t *testing.T, g *gram.Matrix, opt Options) *Result {
	t.Helper()
	return must.Get(Select(t.Context(), g, opt))(t)
}

// leadingVectors are the m leading eigenvectors of a symmetric matrix.
func leadingVectors(a mat.Matrix, m int) (values []float64, vectors *mat.Dense) {
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, a.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		panic("no eigenvectors")
	}
	var all mat.Dense
	e.VectorsTo(&all)
	vectors = mat.NewDense(n, m, nil)
	for c := range m {
		values = append(values, e.Values(nil)[n-1-c])
		vectors.SetCol(c, mat.Col(nil, n-1-c, &all))
	}
	return values, vectors
}

func submatrix(g mat.Matrix, list []int) *mat.Dense {
	a := mat.NewDense(len(list), len(list), nil)
	a.Apply(func(i, j int, _ float64) float64 { return g.At(list[i], list[j]) }, a)
	return a
}

// pseudoinverse is that of Moore and Penrose of a symmetric matrix.
func pseudoinverse(a *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	values, v := leadingVectors(a, n)
	inverse, scaled := mat.NewDense(n, n, nil), mat.DenseCopyOf(v)
	scaled.Apply(func(_, c int, x float64) float64 {
		if values[c] <= 1e-11*values[0] {
			return 0
		}
		return x / values[c]
	}, scaled)
	inverse.Mul(scaled, v.T())
	return inverse
}

// largest are the k largest numbers of a diagonal, the first of equal ones, in ascending order of their places.
func largest(p mat.Matrix, k int) []int {
	d, _ := p.Dims()
	order := rowstest.Integers(d)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.At(j, j), p.At(i, i)) })
	return slices.Sorted(slices.Values(order[:k]))
}

// naive is the paper's Algorithm 2 with all its matrices, from Algorithm 1 on the best approximation of rank m. It
// returns the features, the objective Tr(WᵀGW) of each iteration, and the last P.
func naive(g *mat.Dense, m, k int) (chosen []int, objective []float64, p *mat.Dense) {
	d, _ := g.Dims()
	values, v := leadingVectors(g, m)
	p = mat.NewDense(d, d, nil)
	var scaled mat.Dense
	scaled.Apply(func(_, c int, x float64) float64 { return x * values[c] }, v)
	p.Mul(&scaled, v.T())
	for {
		next := largest(p, k)
		if slices.Equal(next, chosen) {
			return chosen, objective, p
		}
		chosen = next
		_, small := leadingVectors(submatrix(g, chosen), m)
		w := mat.NewDense(d, m, nil)
		for x, j := range chosen {
			w.SetRow(j, small.RawRowView(x))
		}
		var gw, inner, left mat.Dense
		gw.Mul(g, w)
		inner.Mul(w.T(), &gw)
		objective = append(objective, mat.Trace(&inner))
		left.Mul(&gw, pseudoinverse(&inner))
		p = mat.NewDense(d, d, nil)
		p.Mul(&left, gw.T())
	}
}

// TestSelectIsTheNaiveForm: the features, the objective of every iteration and the scores are those of the paper's
// algorithm, from G in full and as a factor, of fewer and of more rows than are chosen.
func TestSelectIsTheNaiveForm(t *testing.T) {
	moved := 0
	for seed := range uint64(30) {
		n, d, m, k := 8+int(seed%3)*20, 40, 1+int(seed%4), 5+int(seed%7)
		x := normalRows(seed, n, d, 6, 1+float64(seed%3))
		g := gramOf(x)
		chosen, objective, p := naive(g, m, k)
		if len(objective) > 1 {
			moved++
		}
		trace := mat.Trace(g)
		for name, form := range map[string]*gram.Matrix{"full": full(x), "factor": factor(x)} {
			what := fmt.Sprintf("seed %d, %s, n %d, m %d, k %d", seed, name, n, m, k)
			r := run(t, form, Options{K: k, Components: m, Threads: 2})
			if got := slices.Sorted(slices.Values(r.Order)); !slices.Equal(got, chosen) || !r.Converged || r.Rose != nil || len(r.Warnings) > 0 {
				t.Fatalf("%s: got features %v, converged %t, rose %v, warnings %v, want features %v", what, got, r.Converged, r.Rose, r.Warnings, chosen)
			}
			if len(r.Objective) != len(objective) {
				t.Fatalf("%s: got objectives %v, want %d", what, r.Objective, len(objective))
			}
			// Eigenvalues have errors of 1e-13 of the trace; vectors that over the gap, which is 1e-3 of it and more.
			for i, v := range objective {
				if got, want := r.Objective[i], 1-v/trace; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: objective %d is %v, want %v", what, i, got, want)
				}
			}
			for j, got := range r.Scores {
				if want := p.At(j, j) / trace; math.Abs(got-want) > 1e-10 {
					t.Errorf("%s: score %d is %v, want %v", what, j, got, want)
				}
			}
			if !slices.IsSortedFunc(r.Order, func(i, j int) int { return cmp.Compare(r.Scores[j], r.Scores[i]) }) {
				t.Errorf("%s: order %v does not follow the scores %v", what, r.Order, r.Scores)
			}
		}
	}
	if moved < 5 {
		t.Errorf("only %d of 30 cases have more than one iteration", moved)
	}
}

// TestBestOfAllSubsets: of all choices of k features that of the method is the best if G has rank m or less, and never
// better than the best otherwise. The objective falls from one iteration to the next.
func TestBestOfAllSubsets(t *testing.T) {
	const d, k = 11, 4
	for seed := range uint64(25) {
		m := 1 + int(seed%3)
		for _, noise := range []float64{0, 1} {
			x := normalRows(seed, 30, d, m, noise)
			g := gramOf(x)
			best := math.Inf(1)
			for _, list := range combin.Combinations(d, k) {
				values, _ := leadingVectors(submatrix(g, list), m)
				share := 1.0
				for _, v := range values {
					share -= v / mat.Trace(g)
				}
				best = min(best, share)
			}
			for name, form := range map[string]*gram.Matrix{"full": full(x), "factor": factor(x)} {
				r := run(t, form, Options{K: k, Components: m})
				got := r.Objective[len(r.Objective)-1]
				if got < best-1e-12 || noise == 0 && got > best+1e-12 {
					t.Errorf("seed %d, m %d, noise %v, %s: %v of the variance is outside the subspace, the best choice leaves %v", seed, m, noise, name, got, best)
				}
				if !slices.IsSortedFunc(r.Objective, func(a, b float64) int { return cmp.Compare(b, a) }) || r.Rose != nil {
					t.Errorf("seed %d, m %d, noise %v, %s: the objective rises: %v", seed, m, noise, name, r.Objective)
				}
			}
		}
	}
}

// TestLaws: threads do not change a bit; permuted features are chosen as before; a unit does not matter; both forms
// agree where the factor has fewer and more rows than features are chosen.
func TestLaws(t *testing.T) {
	for _, shape := range [][3]int{{30, 150, 12}, {30, 700, 90}, {300, 120, 110}, {20, 20, 20}} {
		n, d, k := shape[0], shape[1], shape[2]
		x := normalRows(9, n, d, 7, 2)
		opt := Options{K: k, Threads: 1}
		want := run(t, full(x), opt)
		for _, threads := range []int{2, 8} {
			opt.Threads = threads
			for name, form := range map[string]*gram.Matrix{"full": full(x), "factor": factor(x)} {
				got, one := run(t, form, opt), run(t, form, Options{K: k, Threads: 1})
				if !slices.Equal(got.Order, one.Order) || !slices.Equal(got.Scores, one.Scores) || !slices.Equal(got.Objective, one.Objective) {
					t.Errorf("%v, %s: other bits from %d threads", shape, name, threads)
				}
				if a := rowstest.RelativeDistance(got.Scores, want.Scores); !slices.Equal(got.Order, want.Order) || !(a <= 1e-9) {
					t.Errorf("%v, %s: order %v, want %v; scores off by %.2g", shape, name, got.Order, want.Order, a)
				}
			}
		}
		columns := rand.New(rand.NewPCG(4, 4)).Perm(d)
		turned := mat.NewDense(n, d, nil)
		for j, f := range columns {
			turned.SetCol(j, mat.Col(nil, f, x))
		}
		turned.Scale(1e60, turned)
		for name, form := range map[string]*gram.Matrix{"full": full(turned), "factor": factor(turned)} {
			got := run(t, form, opt)
			for i, j := range got.Order {
				if columns[j] != want.Order[i] {
					t.Errorf("%v, %s: rank %d is feature %d, permuted %d", shape, name, i+1, want.Order[i], columns[j])
				}
			}
		}
	}
}

// TestCopies: of features that are equal the first are chosen, and the ties that decide are known.
func TestCopies(t *testing.T) {
	x := normalRows(3, 40, 4, 4, 0)
	copies := mat.NewDense(40, 12, nil)
	for j := range 12 {
		copies.SetCol(j, mat.Col(nil, j%4, x))
	}
	for name, form := range map[string]*gram.Matrix{"full": full(copies), "factor": factor(copies)} {
		r := run(t, form, Options{K: 5, Components: 2})
		if from, to := r.Ties.At(5); from != 3 || to != 6 || r.Order[1]-r.Order[0] != 4 || r.Order[3] != r.Order[4]-4 || r.Order[3] > 3 {
			t.Errorf("%s: order %v with ties at ranks %d to %d, want three copies, then the first two of three", name, r.Order, from+1, to)
		}
		// All features are copies of one: a rank below m.
		one := mat.NewDense(40, 12, nil)
		for j := range 9 {
			one.SetCol(j+3, mat.Col(nil, 0, x)) // the first three are constant
		}
		if name == "full" {
			form = full(one)
		} else {
			form = factor(one)
		}
		if r := run(t, form, Options{K: 4, Components: 3}); !slices.Equal(r.Order, []int{3, 4, 5, 6}) || math.Abs(r.Objective[0]-5.0/9) > 1e-12 {
			t.Errorf("%s: got %v, objective %v, want features 3 to 6 and 5/9", name, r.Order, r.Objective)
		}
		if r := run(t, form, Options{K: 12, Components: 12}); len(r.Order) != 12 || r.Order[11] != 2 || math.Abs(r.Objective[0]) > 1e-12 {
			t.Errorf("%s: all features: got %v, objective %v, want the constant ones last and 0", name, r.Order, r.Objective)
		}
	}
}

func TestEdges(t *testing.T) {
	for _, form := range []*gram.Matrix{full(mat.NewDense(1, 1, []float64{3})), factor(mat.NewDense(1, 1, []float64{3}))} {
		if r := run(t, form, Options{K: 1}); !slices.Equal(r.Order, []int{0}) || math.Abs(r.Scores[0]-1) > 1e-15 || !r.Converged {
			t.Errorf("one feature: got %+v, want it chosen with all of the variance", r)
		}
	}
	if _, err := Select(t.Context(), gram.Full(make([]float64, 9), 3), Options{K: 2}); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("constant features: got %v, want a data error", err)
	}
	if _, err := Select(t.Context(), gram.Full([]float64{1, math.NaN(), math.NaN(), 1}, 2), Options{K: 1}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("NaN: got %v, want %v", err, linalg.ErrNotFinite)
	}
	_, err := Select(t.Context(), full(normalRows(1, 5, 3, 2, 1)), Options{K: 4, Components: 7, MaxIter: -1, Threads: -2})
	rowstest.CheckRefusal(t, err, "k = 4 is more than the 3 features", "components = 7 is more than k = 4", "max-iter = -1", "threads = -2")
	// Features of equal variance that are orthogonal: every subspace is as good.
	r := run(t, gram.Full([]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3), Options{K: 2, Components: 1})
	if len(r.Warnings) == 0 {
		t.Error("equal eigenvalues: got no warning")
	}
	// An iteration that is cut off says so.
	for seed := range uint64(20) {
		x := normalRows(seed, 30, 40, 6, 2)
		if all := run(t, full(x), Options{K: 8, Components: 3}); len(all.Objective) > 1 {
			if r := run(t, full(x), Options{K: 8, Components: 3, MaxIter: 1}); r.Converged || len(r.Order) != 8 || r.Objective[0] != all.Objective[0] {
				t.Errorf("seed %d: after one of %d iterations: %+v, want no convergence", seed, len(all.Objective), r)
			}
			return
		}
	}
	t.Error("no case has two iterations")
}
