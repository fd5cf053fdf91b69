package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func mustMCFS(t *testing.T, g *anchor.Graph, opt MCFSOptions) *MCFSResult {
	t.Helper()
	return must.Get(MCFS(g, opt))(t)
}

// TestMCFSIsTheDenseForm: eigenvectors of the n×n affinity, and for each the lasso's
// solution by coordinate descent on the products of the rows, at the λ where k features
// have a coefficient and one more is about to join.
func TestMCFSIsTheDenseForm(t *testing.T) {
	for seed := range uint64(5) {
		x := randomDense(seed, 60, 12, 9, 1)
		const clusters = 4
		values, u := rowstest.Jacobi(x.l) // 1 − those of A
		for _, k := range []int{1, 3, 6} {
			got := mustMCFS(t, x.graph(), MCFSOptions{K: k, Clusters: clusters})
			if got.Components != 1 || len(got.Warnings) > 0 {
				t.Errorf("seed %d: %d components, warnings %q", seed, got.Components, got.Warnings)
			}
			want := make([]float64, x.d)
			for c := 1; c <= clusters; c++ { // the 0-th is constant
				if math.Abs(got.Eigenvalues[c-1]-(1-values[c])) > 1e-13 {
					t.Errorf("seed %d: eigenvalue %v, want %v", seed, got.Eigenvalues[c-1], 1-values[c])
				}
				for j, v := range denseLasso(x, u, c, k) {
					want[j] = max(want[j], math.Abs(v))
				}
			}
			for j := range want {
				// Eigenvectors are off by rounding over the gaps of eigenvalues (10⁻²), coefficients
				// by the condition (10²) times as much; λ is found to 1e-13.
				if !(math.Abs(got.Scores[j]-want[j]) <= 1e-10) {
					t.Errorf("seed %d, k = %d, feature %d: %v, want %v", seed, k, j, got.Scores[j], want[j])
				}
			}
		}
	}
}

// denseLasso finds λ by bisection: no path, no Gram homotopy.
func denseLasso(x *dense, u [][]float64, column, k int) []float64 {
	g, b := make([]float64, x.d*x.d), make([]float64, x.d)
	high := 0.0
	for j := range x.d {
		for i := range x.n {
			b[j] += x.x[i][j] * u[i][column]
			for l := range x.d {
				g[j*x.d+l] += x.x[i][j] * x.x[i][l]
			}
		}
		if j == x.d-1 {
			b[j] = 0 // repeats feature 0, which is to have it all
			for l := range x.d {
				g[j*x.d+l], g[l*x.d+j] = 0, 0
			}
		}
		high = max(high, math.Abs(b[j]))
	}
	// The first λ from above with more than k: a grid finds its cell, as the number may
	// fall again further down, then bisection.
	low := high
	for low > 1e-9 && nonzero(descend(g, b, low)) <= k {
		high, low = low, low*0.99
	}
	for range 60 {
		if mid := (low + high) / 2; nonzero(descend(g, b, mid)) <= k {
			high = mid
		} else {
			low = mid
		}
	}
	return descend(g, b, high)
}

// TestMCFSOfComponents: contrasts of unconnected parts are the first targets.
func TestMCFSOfComponents(t *testing.T) {
	x := randomDense(3, 61, 15, 9, 3) // parts of 21, 20 and 20 rows
	got := mustMCFS(t, x.graph(), MCFSOptions{K: 9, Clusters: 2})
	if got.Components != 3 || !slices.Equal(got.Eigenvalues, []float64{1, 1}) {
		t.Fatalf("%d components, eigenvalues %v", got.Components, got.Eigenvalues)
	}
	if all := strings.Join(got.Warnings, "; "); !strings.Contains(all, "3 unconnected parts") || !strings.Contains(all, "fewer than k = 9") {
		t.Errorf("warnings %q", got.Warnings)
	}
	part := func(i int) int { return i % 3 }
	targets := rowstest.ZeroRows(61, 2)
	for i := range 61 {
		switch part(i) {
		case 0:
			targets[i][0], targets[i][1] = 1/21.0, 1/41.0
		case 1:
			targets[i][0], targets[i][1] = -1/20.0, 1/41.0
		case 2:
			targets[i][1] = -1 / 20.0
		}
	}
	want := make([]float64, x.d)
	for c, length := range []float64{math.Sqrt(1/21.0 + 1/20.0), math.Sqrt(1/41.0 + 1/20.0)} {
		for i := range 61 {
			targets[i][c] /= length
		}
		// All 7 different features that vary: the end of the path, least squares.
		g, b := make([]float64, 49), make([]float64, 7)
		for j := range 7 {
			for i := range 61 {
				b[j] += x.x[i][j] * targets[i][c]
				for l := range 7 {
					g[j*7+l] += x.x[i][j] * x.x[i][l]
				}
			}
		}
		for j, v := range descend(g, b, 0) {
			want[j] = max(want[j], math.Abs(v))
		}
	}
	for j, v := range want {
		// The path ends at 1e-10 of the longest feature, whose square is below 100.
		if !(math.Abs(got.Scores[j]-v) <= 1e-8) {
			t.Errorf("feature %d: %v, want %v", j, got.Scores[j], v)
		}
	}
	// More targets: eigenvectors within the parts, with eigenvalues below 1.
	more := mustMCFS(t, x.graph(), MCFSOptions{K: 3, Clusters: 5})
	values, _ := rowstest.Jacobi(x.l)
	for c, v := range more.Eigenvalues {
		if math.Abs(v-(1-values[c+1])) > 1e-13 {
			t.Errorf("eigenvalue %d: %v, want %v", c, v, 1-values[c+1])
		}
	}
}

// TestMCFSLaws: workers do not change a bit, permuted columns have permuted scores, and
// features twice as long have half the coefficients where all are.
func TestMCFSLaws(t *testing.T) {
	x := randomDense(4, 80, 14, 10, 1)
	g := x.graph()
	want := mustMCFS(t, g, MCFSOptions{K: 4, Clusters: 5, Threads: 1})
	for _, workers := range []int{2, 8} {
		got := mustMCFS(t, g, MCFSOptions{K: 4, Clusters: 5, Threads: workers})
		if !slices.Equal(got.Scores, want.Scores) {
			t.Errorf("other bits from %d workers", workers)
		}
	}
	twice := *g
	twice.G, twice.C = gram.Full(slices.Clone(g.G.Sym), g.D), slices.Clone(g.C)
	for i := range twice.G.Sym {
		twice.G.Sym[i] *= 4
	}
	for i := range twice.C {
		twice.C[i] *= 2
	}
	for j, v := range mustMCFS(t, &twice, MCFSOptions{K: 4, Clusters: 5}).Scores {
		if v != want.Scores[j]/2 { // powers of 2 are exact
			t.Errorf("twice as long, feature %d: %v, want %v", j, v, want.Scores[j]/2)
		}
	}
	order := rand.New(rand.NewPCG(4, 4)).Perm(x.d - 1) // without the repeated one, which goes by order
	permuted := rowstest.PermuteFeatures(g, order)
	for to, v := range mustMCFS(t, permuted, MCFSOptions{K: 4, Clusters: 5}).Scores {
		// The same features, in sums of other orders; the condition is below 10².
		if math.Abs(v-want.Scores[order[to]]) > 1e-12 {
			t.Errorf("feature %d: %v, permuted %v", order[to], want.Scores[order[to]], v)
		}
	}
}

func TestMCFSEdges(t *testing.T) {
	x := randomDense(5, 30, 6, 5, 1)
	g := x.graph()
	r := mustMCFS(t, g, MCFSOptions{Clusters: 20}) // k defaults to all 5 features, 3 different ones that vary
	if len(r.Eigenvalues) > 5 || !strings.Contains(strings.Join(r.Warnings, "; "), "eigenvectors for 20 clusters") {
		t.Errorf("%d eigenvalues of 6 anchors; warnings %q", len(r.Eigenvalues), r.Warnings)
	}
	if r.Scores[3] != 0 || r.Scores[4] != 0 || r.Scores[0] == 0 {
		t.Errorf("scores %v: want 0 for the constant and the repeated feature", r.Scores)
	}
	// An anchor that no row uses changes nothing.
	wider := &anchor.Graph{Rows: g.Rows, M: 7, D: 5, Delta: append(slices.Clone(g.Delta), 0), G: g.G,
		C: append(slices.Clone(g.C), make([]float64, 5)...), S: make([]float64, 49)}
	for a := range 6 {
		copy(wider.S[a*7:], g.S[a*6:][:6])
	}
	more, same := mustMCFS(t, wider, MCFSOptions{Clusters: 3}), mustMCFS(t, g, MCFSOptions{Clusters: 3})
	for j := range more.Scores {
		if math.Abs(more.Scores[j]-same.Scores[j]) > 1e-10 {
			t.Errorf("an anchor without rows changes score %d from %v to %v", j, same.Scores[j], more.Scores[j])
		}
	}
	// A ring of four equal anchors: its second and third eigenvalue are one.
	ring := &anchor.Graph{Rows: 8, M: 4, D: 1, Delta: []float64{2, 2, 2, 2}, G: gram.Full([]float64{1}, 1), C: []float64{0.5, 0, -0.5, 0},
		S: []float64{.5, .25, 0, .25, .25, .5, .25, 0, 0, .25, .5, .25, .25, 0, .25, .5}}
	if r := mustMCFS(t, ring, MCFSOptions{Clusters: 2}); !strings.Contains(strings.Join(r.Warnings, "; "), "arbitrary") {
		t.Errorf("warnings %q, want one for the double eigenvalue", r.Warnings)
	}
	single := &anchor.Graph{Rows: 3, M: 1, D: 1, Delta: []float64{3}, G: gram.Full([]float64{2}, 1), C: []float64{0}, S: []float64{1}}
	if r := mustMCFS(t, single, MCFSOptions{}); r.Scores[0] != 0 || len(r.Warnings) != 1 {
		t.Errorf("one anchor: scores %v, warnings %q", r.Scores, r.Warnings)
	}
	_, err := MCFS(g, MCFSOptions{K: 6, Clusters: -1, Threads: -1})
	rowstest.CheckRefusal(t, err, "k = 6", "clusters = -1", "threads = -1")
	_, err = MCFS(&anchor.Graph{}, MCFSOptions{K: -1})
	rowstest.CheckRefusal(t, err, "no features")
}
