package sfufs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestEdges(t *testing.T) {
	for _, d := range []int{1, 2, 3, 12} {
		x, z := sample(50, d, 6, 3, 6)
		g := rowstest.BuildGraph(x, z)
		for _, constraint := range []Constraint{Identity, Scatter} {
			for _, l := range []int{1, d} {
				for _, gamma := range []float64{0, 1, 1e12, maxWeight} {
					name := fmt.Sprintf("d %d %v l %d γ %v", d, constraint, l, gamma)
					r := mustSelect(t, g, Options{Constraint: constraint, Clusters: l, Gamma: gamma, NoPenalty: gamma == 0})
					if len(r.Order) != d || len(r.Scores) != d || r.Rose != nil {
						t.Errorf("%s: ranking incomplete, or the objective rose: %+v", name, r)
					}
					for i, s := range r.Scores {
						if !(s >= 0 && s <= 1e3) {
							t.Errorf("%s: norm %d is %v", name, i, s)
						}
						// W is square and orthogonal.
						if constraint == Identity && l == d && !(math.Abs(s-1) <= 1e-12) {
							t.Errorf("%s: norm %d is %v, want 1", name, i, s)
						}
					}
					if constraint == Identity && l == d && !slices.IsSorted(r.Order) {
						t.Errorf("%s: order %v of equal norms", name, r.Order)
					}
				}
			}
		}
	}
}

// TestNoPenalty: γ = 0 leaves the first eigenvectors, which no second update changes.
func TestNoPenalty(t *testing.T) {
	x, z := sample(50, 10, 6, 3, 7)
	m := denseMatrix(x, z, SFUFS, 1)
	_, want := denseRun(m, nil, 0, 3, 1)
	r := mustSelect(t, rowstest.BuildGraph(x, z), Options{Constraint: Identity, Clusters: 3, NoPenalty: true})
	if off := rowstest.RelativeDistance(r.Scores, want); !(off <= 1e-8) || len(r.Objective) != 2 || !r.Converged {
		t.Errorf("norms off by %.2g after %d iterations, converged %t", off, len(r.Objective), r.Converged)
	}
}

// TestLargeGamma: exactly l rows keep norm 1, in column order; the rest are about √ε.
func TestLargeGamma(t *testing.T) {
	x, z := sample(60, 20, 8, 3, 1)
	for _, gamma := range []float64{1e4, 1e8} {
		r := mustSelect(t, rowstest.BuildGraph(x, z), Options{Constraint: Identity, Clusters: 4, Gamma: gamma})
		for k, i := range r.Order {
			if s := r.Scores[i]; k < 4 && math.Abs(s-1) > tieShare || k >= 4 && s > 2e-4 {
				t.Errorf("γ %v: rank %d has norm %v", gamma, k, s)
			}
		}
		if !slices.IsSorted(r.Order[:4]) {
			t.Errorf("γ %v: equal norms in the order %v", gamma, r.Order[:4])
		}
		if from, to := r.Ties.At(2); from != 0 || to != 4 {
			t.Errorf("γ %v: ranks %d to %d are tied at 2", gamma, from, to)
		}
		if from, to := r.Ties.At(4); from != to {
			t.Errorf("γ %v: ranks %d to %d are tied at 4", gamma, from, to)
		}
	}
}

func warned(r *Result, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestWarnings(t *testing.T) {
	x, z := sample(60, 12, 8, 3, 1)
	if r := mustSelect(t, rowstest.BuildGraph(x, z), Options{Constraint: Identity, Clusters: 3}); len(r.Warnings) > 0 || len(r.Costless) > 0 {
		t.Errorf("plain data: %q, costless %v", r.Warnings, r.Costless)
	}
	for i := range x {
		x[i][4] *= 1e-5
	}
	names := strings.Split("a b c d e f g h i j k l", " ")
	r := mustSelect(t, rowstest.BuildGraph(x, z), Options{Constraint: Identity, Clusters: 3, Names: names})
	if !slices.Equal(r.Costless, []int{4}) || !warned(r, `"e"`) || r.Order[0] != 4 {
		t.Errorf("near-constant column: %q, costless %v, order %v", r.Warnings, r.Costless, r.Order)
	}
	r = mustSelect(t, rowstest.BuildGraph(x, z), Options{Clusters: 3})
	if warned(r, "hardly vary") || r.Order[0] == 4 {
		t.Errorf("near-constant column under scatter: %q, order %v", r.Warnings, r.Order)
	}
	wide, z := sample(8, 20, 4, 2, 1)
	if r := mustSelect(t, rowstest.BuildGraph(wide, z), Options{Constraint: Identity, Clusters: 3}); !warned(r, "cost nothing") {
		t.Errorf("8 rows of 20 features: %q", r.Warnings)
	}
	// Two features alike in all but their sign, and nothing else: M has equal
	// eigenvalues once the two stand alone.
	g := &anchor.Graph{Rows: 9, M: 1, D: 2, Delta: []float64{9}, G: gram.Full([]float64{5, 0, 0, 5}, 2), C: []float64{0, 0}, S: []float64{1}}
	if r := mustSelect(t, g, Options{Constraint: Identity, Clusters: 1}); !warned(r, "equal to rounding") {
		t.Errorf("equal eigenvalues: %q", r.Warnings)
	}
}

func TestRank(t *testing.T) {
	order, groups := rankFeatures([]float64{0.5, 1, 1 + 1e-8, 0, 0.5 + 1e-8, 1e-13, 0.4})
	if !slices.Equal(order, []int{1, 2, 0, 4, 6, 3, 5}) || !slices.Equal(groups, []int{2, 2, 1, 2}) {
		t.Errorf("order %v, groups %v", order, groups)
	}
	r := &Result{Descent: method.Descent{Ties: groups}}
	for k, want := range [][2]int{{0, 0}, {0, 2}, {0, 0}, {2, 4}, {0, 0}, {0, 0}, {5, 7}, {0, 0}} {
		if from, to := r.Ties.At(k); from != want[0] || to != want[1] {
			t.Errorf("k %d: %d to %d, want %v", k, from, to, want)
		}
	}
}

func TestValidateNamesEveryFault(t *testing.T) {
	opt := Options{Method: 7, Constraint: -1, Alpha: math.NaN(), Gamma: -1, Clusters: 5, Tol: 1, MaxIter: -1, Iterations: -1, Threads: -1, Names: []string{"a"}}
	rowstest.CheckRefusal(t, opt.Validate(4), "method", "constraint", "alpha", "gamma", "clusters", "tol", "max-iter", "iterations", "threads", "names")
	for _, opt := range []Options{{Alpha: 1e-12}, {Alpha: math.Inf(1)}, {Gamma: math.Inf(1)}, {Gamma: 1, NoPenalty: true}, {Clusters: -1}} {
		if opt.Validate(4) == nil {
			t.Errorf("%+v is valid", opt)
		}
	}
	rowstest.CheckRefusal(t, Options{}.Validate(0), "no features")
	_, err := Select(t.Context(), &anchor.Graph{}, Options{})
	rowstest.CheckRefusal(t, err, "no features")
}

func TestBadGraph(t *testing.T) {
	x, z := sample(30, 4, 6, 3, 1)
	for _, constraint := range []Constraint{Identity, Scatter} {
		g := rowstest.BuildGraph(x, z)
		g.G.Sym[0] = math.NaN()
		if _, err := Select(t.Context(), g, Options{Constraint: constraint}); !errors.Is(err, linalg.ErrNotFinite) {
			t.Errorf("%v: a NaN gives %v", constraint, err)
		}
	}
	still := rowstest.BuildGraph(rowstest.ZeroRows(30, 4), z)
	var data *stream.DataError
	if _, err := Select(t.Context(), still, Options{}); !errors.As(err, &data) {
		t.Errorf("constant features: %v", err)
	}
	for _, opt := range []Options{{Constraint: Identity}, {Constraint: Identity, NoPenalty: true}} {
		if r := mustSelect(t, still, opt); len(r.Costless) != 4 || r.Gap != r.Gap {
			t.Errorf("constant features: costless %v, gap %v", r.Costless, r.Gap)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Select(ctx, rowstest.BuildGraph(x, z), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBytes measures the memory after two updates.
func TestBytes(t *testing.T) {
	g := rowstest.BuildGraph(sample(60, panelColumns+3, 40, 3, 8))
	for _, opt := range []Options{{Constraint: Identity}, {}, {Method: FUFS}} {
		opt.Iterations = 2
		before := rowstest.HeapBytes()
		e := must.Get(newSettingSolver(g, opt.WithDefaults(g.D)))(t)
		must.Do(t, e.loadAlpha(t.Context(), 1))
		if _, err := e.solveGamma(t.Context(), 1); err != nil {
			t.Fatalf("solving with γ = 1: %v", err)
		}
		size, bound := rowstest.HeapBytes()-before, Bytes(g.D, g.M, 0, opt)
		runtime.KeepAlive(e)
		if size > bound || size < bound/4 {
			t.Errorf("%+v: it takes %d bytes, the bound is %d", opt, size, bound)
		}
	}
}
