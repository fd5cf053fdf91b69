package jelsr

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestEdges: few features, few anchors, constant and repeated features.
func TestEdges(t *testing.T) {
	for _, d := range []int{1, 2, 12} {
		x, z := sample(8, 30, d, 6)
		for i := range x {
			if d > 2 {
				x[i][3], x[i][5] = 4, x[i][0]
			}
		}
		g := rowstest.BuildGraph(x, z)
		for _, opt := range both {
			for _, opt.Clusters = range []int{1, 3, 40} {
				r := must.Get(Select(t.Context(), g, opt))(t)
				if len(r.Order) != d || len(r.Scores) != d || r.Rose != nil {
					t.Errorf("%v, d %d, %d clusters: got %+v, want %d features with a score each and no rise", opt.Method, d, opt.Clusters, r, d)
				}
				for j, v := range r.Scores {
					if !(v >= 0 && v <= 1e3) {
						t.Errorf("%v, d %d, c %d: norm %d is %v", opt.Method, d, opt.Clusters, j, v)
					}
				}
				if d > 2 && r.Scores[3] != 0 {
					t.Errorf("%v: the constant feature has norm %v", opt.Method, r.Scores[3])
				}
				if d > 2 && !(math.Abs(r.Scores[0]-r.Scores[5]) <= 1e-7*r.Scores[r.Order[0]]) {
					t.Errorf("%v, c %d: equal features have norms %v and %v", opt.Method, opt.Clusters, r.Scores[0], r.Scores[5])
				}
				if opt.Clusters == 40 && len(r.Warnings) == 0 {
					t.Errorf("%v, d %d: no warning about 40 clusters", opt.Method, d)
				}
			}
		}
	}
}

// TestRiseIsReported: an objective that jumps up ends the run.
func TestRiseIsReported(t *testing.T) {
	r := &Result{}
	if opt := (Options{}).withDefaults(); !r.RecordStep(1, 1, 0, opt.Tol, opt.Progress) || r.RecordStep(2, 2, 0.5, opt.Tol, opt.Progress) || r.Rose == nil || r.Rose.Iteration != 2 || r.Converged {
		t.Errorf("after objectives 0, 1, 2: got %+v, want a rise in iteration 2 that ends the run unconverged", r)
	}
	r = &Result{}
	if opt := (Options{}).withDefaults(); !r.RecordStep(1, 1, 0, opt.Tol, opt.Progress) || r.RecordStep(2, math.NaN(), 0.5, opt.Tol, opt.Progress) {
		t.Errorf("NaN was taken: %+v", r)
	}
}

func TestFaults(t *testing.T) {
	rowstest.CheckRefusal(t, Options{Alpha: -1, Beta: math.NaN(), Gamma: 1, Clusters: -1, Tol: 1, MaxIter: -2, Iterations: -3, Threads: -4}.Validate(0),
		"no features", "alpha = -1", "beta = NaN", "jelsr has no gamma", "clusters = -1", "tol = 1", "max-iter = -2", "iterations = -3", "threads = -4")
	rowstest.CheckRefusal(t, Options{Method: 5, Alpha: 1e13}.Validate(2), "method 5", "alpha = 1e+13")

	x, z := sample(9, 30, 4, 6)
	g := rowstest.BuildGraph(x, z)
	for _, opt := range both {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Select(ctx, g, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%v cancelled: %v", opt.Method, err)
		}
		flat := rowstest.BuildGraph(rowstest.ZeroRows(30, 4), z)
		_, err := Select(t.Context(), flat, opt)
		if data := (*stream.DataError)(nil); !errors.As(err, &data) {
			t.Errorf("%v of constant features: %v", opt.Method, err)
		}
		// A weight that sums of squares swallow leaves G as it is, which here is singular.
		alike := rowstest.ZeroRows(30, 4)
		for i := range alike {
			for j := range alike[i] {
				alike[i][j] = 1e6 * x[i][0] * float64(j+1)
			}
		}
		opt.Alpha, opt.Beta = leastWeight, leastWeight
		if _, err := Select(t.Context(), rowstest.BuildGraph(alike, z), opt); !errors.Is(err, linalg.ErrNotPositiveDefinite) || !strings.Contains(err.Error(), "want") {
			t.Errorf("%v: a weight below rounding: %v", opt.Method, err)
		}
	}
	g.G.Sym[0] = math.Inf(1)
	if _, err := Select(t.Context(), g, Options{}); !errors.Is(err, linalg.ErrNotFinite) {
		t.Errorf("infinite: %v", err)
	}
}

// TestBytes: what is reachable after an iteration stays within what Bytes says, and is a
// good part of it for JELSR; NDFS's k-means, whose buffers are gone by then, holds most. Where G is a
// factor nothing of d² is planned for.
func TestBytes(t *testing.T) {
	x, z := sample(10, 300, 250, 120)
	wide, far := sample(10, 60, 3000, 40)
	for _, g := range []*anchor.Graph{rowstest.BuildGraph(x, z), rowstest.FactoredGraph(wide, far)} {
		for _, opt := range both {
			opt.Clusters, opt.Iterations = 5, 2
			before, most := rowstest.HeapBytes(), int64(0)
			opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
			must.Get(Select(t.Context(), g, opt))(t)
			says := Bytes(g.D, g.M, g.G.Rank, opt)
			if most > says || !g.G.IsFactor() && opt.Method == JELSR && most < says/4 || g.G.IsFactor() && says > 8*int64(g.D*g.D) {
				t.Errorf("%v of %d features holds %d bytes, says %d", opt.Method, g.D, most, says)
			}
		}
	}
}
