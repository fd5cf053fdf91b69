package spcafs

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// normalRows are n rows of d features with six directions in common, of falling strength, and noise.
func normalRows(seed uint64, n, d int) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 21))
	x := mat.NewDense(n, d, nil)
	for f := range 6 {
		loadings := make([]float64, d)
		for j := range loadings {
			loadings[j] = rng.NormFloat64() * 3 / float64(f+1)
		}
		for i := range n {
			score := rng.NormFloat64()
			for j, v := range loadings {
				x.Set(i, j, x.At(i, j)+score*v)
			}
		}
	}
	x.Apply(func(_, _ int, v float64) float64 { return v + rng.NormFloat64() }, x)
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

func forms(x *mat.Dense) map[string]*gram.Matrix {
	return map[string]*gram.Matrix{"full": full(x), "factor": factor(x)}
}

func run(t *testing.T, g *gram.Matrix, opt Options) *Result {
	t.Helper()
	return must.Get(RankFeatures(t.Context(), g, opt))(t)
}

// naive is the paper's algorithm for G/Tr(G): all eigenvectors of λD − G in each iteration. D has the ε of the package
// comment. The first λ is 0 and gives the share of λ.
func naive(g *mat.Dense, m int, share, p float64, updates int) (norms, objective []float64, lambda float64) {
	d, _ := g.Dims()
	trace := mat.Trace(g)
	weights := make([]float64, d) // λD
	for t := range updates {
		a := mat.NewSymDense(d, nil)
		for i := range d {
			for j := range i + 1 {
				a.SetSym(i, j, -g.At(i, j)/trace)
			}
			a.SetSym(i, i, weights[i]-g.At(i, i)/trace)
		}
		var e mat.EigenSym
		if !e.Factorize(a, true) {
			panic("no eigenvectors")
		}
		var all, gw, wgw mat.Dense
		e.VectorsTo(&all)
		w := all.Slice(0, d, 0, m)
		gw.Mul(g, w)
		wgw.Mul(w.T(), &gw)
		norms = make([]float64, d)
		explained, penalty := mat.Trace(&wgw)/trace, 0.0
		for i := range d {
			square := 1e-8
			for c := range m {
				square += w.At(i, c) * w.At(i, c)
			}
			norms[i] = math.Sqrt(square - 1e-8)
			penalty += math.Pow(math.Sqrt(square), p)
		}
		if t == 0 {
			lambda = share * explained / penalty
		}
		for i, v := range norms {
			weights[i] = lambda * p / 2 * math.Pow(math.Sqrt(v*v+1e-8), p-2)
		}
		objective = append(objective, 1-explained+lambda*penalty)
	}
	return norms, objective, lambda
}

// TestSelectIsTheNaiveForm: norms and objectives are those of the paper's algorithm, from G in full and as a factor.
func TestSelectIsTheNaiveForm(t *testing.T) {
	for _, c := range []struct {
		n, d, m  int
		share, p float64
	}{{300, 30, 3, 0.1, 0.5}, {300, 40, 5, 0.3, 1}, {200, 30, 2, 1, 0.7}, {40, 130, 4, 0.2, 0.5}, {30, 160, 3, 0.5, 1}} {
		x := normalRows(uint64(c.d), c.n, c.d)
		norms, objective, lambda := naive(gramOf(x), c.m, c.share, c.p, 6)
		for name, g := range forms(x) {
			r := run(t, g, Options{Lambda: method.Weight{Value: c.share, Share: true}, Power: c.p, Components: c.m, MaxIter: 6, Tol: -1})
			if r.Rose != nil || len(r.Warnings) > 0 || len(r.Objective) != 6 {
				t.Errorf("%+v, %s: got rise %+v, warnings %v and %d objectives, want none, none and 6", c, name, r.Rose, r.Warnings, len(r.Objective))
				continue
			}
			if math.Abs(r.Lambda-lambda) > 1e-12*lambda {
				t.Errorf("%+v, %s: got λ %v, want %v", c, name, r.Lambda, lambda)
			}
			// Eigenvalues have errors of 1e-13 of λD, up to 1e3 here; gaps are above 1e-4 of G.
			if off := rowstest.RelativeDistance(r.Scores, norms); !(off <= 1e-6) {
				t.Errorf("%+v, %s: norms are off by %.2g", c, name, off)
			}
			if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-9) {
				t.Errorf("%+v, %s: objectives %v, want %v", c, name, r.Objective, objective)
			}
		}
	}
}

// TestLaws: threads do not change a bit; units do not matter; permuted features have permuted scores; a given λ is the
// share that has this value.
func TestLaws(t *testing.T) {
	for _, shape := range [][2]int{{200, 120}, {30, 400}} {
		n, d := shape[0], shape[1]
		x := normalRows(5, n, d)
		opt := Options{Components: 4, MaxIter: 5, Threads: 1}
		columns := rand.New(rand.NewPCG(4, 4)).Perm(d)
		turned := mat.NewDense(n, d, nil)
		for j, f := range columns {
			turned.SetCol(j, mat.Col(nil, f, x))
		}
		turned.Scale(1e60, turned)
		permuted := forms(turned)
		for name, g := range forms(x) {
			opt.Threads = 1
			want := run(t, g, opt)
			for _, threads := range []int{8, 2}[:long.CountCases(1, 2)] {
				opt.Threads = threads
				if got := run(t, g, opt); !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Objective, want.Objective) {
					t.Errorf("%v, %s: other bits from %d threads", shape, name, threads)
				}
			}
			got := run(t, permuted[name], opt)
			for j, f := range columns {
				if !(math.Abs(got.Scores[j]-want.Scores[f]) <= 1e-7) {
					t.Errorf("%v, %s: norm of feature %d is %v, permuted %v", shape, name, f, want.Scores[f], got.Scores[j])
				}
			}
			opt.Lambda = method.Weight{Value: want.Lambda}
			if got := run(t, g, opt); !slices.Equal(got.Scores, want.Scores) {
				t.Errorf("%v, %s: λ %v and the share that has this value give other norms", shape, name, want.Lambda)
			}
			opt.Lambda = method.Weight{}
		}
	}
}

// TestFewComponents: copies of features, constant features and a rank below m give a ranking and a word about it.
func TestFewComponents(t *testing.T) {
	base := normalRows(3, 40, 3)
	x := mat.NewDense(40, 130, nil) // 120 copies and 10 constant features
	for j := range 120 {
		x.SetCol(j+10, mat.Col(nil, j%3, base))
	}
	for name, g := range forms(x) {
		r := run(t, g, Options{})
		if len(r.Order) != 130 || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0].String(), "span 3 dimensions") || r.Rose != nil {
			t.Errorf("%s: got %d features, warnings %v, rise %v, want all features and the rank", name, len(r.Order), r.Warnings, r.Rose)
		}
		for j := range 10 {
			if r.Scores[j] > 1e-7 {
				t.Errorf("%s: constant feature %d has the norm %v", name, j, r.Scores[j])
			}
		}
		for j := 13; j < 130; j++ {
			if !(math.Abs(r.Scores[j]-r.Scores[j-3]) <= 1e-7) {
				t.Errorf("%s: copies %d and %d have the norms %v and %v", name, j-3, j, r.Scores[j-3], r.Scores[j])
			}
		}
	}
	// m = d: all norms are 1, and column order decides.
	small := normalRows(3, 40, 5)
	for name, g := range forms(small) {
		r := run(t, g, Options{Components: 5})
		if !slices.Equal(r.Order, rowstest.Integers(5)) || !strings.Contains(fmt.Sprint(r.Warnings), "column order decides") {
			t.Errorf("%s, m = d: order %v, warnings %v, want column order and a warning", name, r.Order, r.Warnings)
		}
	}
}

func TestEdges(t *testing.T) {
	for name, g := range forms(mat.NewDense(1, 1, []float64{3})) {
		if r := run(t, g, Options{}); !slices.Equal(r.Order, []int{0}) || math.Abs(r.Scores[0]-1) > 1e-14 {
			t.Errorf("%s, one feature: got %+v, want norm 1", name, r)
		}
	}
	if _, err := RankFeatures(t.Context(), gram.Full(make([]float64, 9), 3), Options{}); !errors.As(err, new(*stream.DataError)) {
		t.Errorf("constant features: got %v, want a data error", err)
	}
	if _, err := RankFeatures(t.Context(), gram.Full([]float64{1, math.NaN(), math.NaN(), 1}, 2), Options{}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("NaN: got %v, want %v", err, linalg.ErrNotFinite)
	}
	// Every subspace is as good.
	if r := run(t, gram.Full([]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, 3), Options{Components: 1}); len(r.Warnings) == 0 {
		t.Error("equal eigenvalues: got no warning")
	}
	_, err := RankFeatures(t.Context(), full(normalRows(1, 5, 3)), Options{Lambda: method.Weight{Value: -1}, Power: 2, Components: -3, MaxIter: -4, Threads: -5, Tol: math.NaN()})
	rowstest.CheckRefusal(t, err, "gamma = -1", "exponent = 2", "components = -3", "max-iter = -4", "threads = -5", "tol = NaN")
}

// TestBytes: a run stays within RankingBytes, which has no d² for a factor.
func TestBytes(t *testing.T) {
	for name, g := range map[string]*gram.Matrix{"factor": factor(normalRows(2, 40, 3000)), "full": full(normalRows(2, 40, 500))} {
		opt := Options{Threads: 2, Components: 4, MaxIter: 3}
		before, most := rowstest.HeapBytes(), int64(0)
		opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
		run(t, g, opt)
		if says := RankingBytes(g.D, g.Rank, opt); most == 0 || most > says || name == "factor" && says > 8*int64(g.D*g.D) {
			t.Errorf("%s: %d bytes held, %d said", name, most, says)
		}
	}
}
