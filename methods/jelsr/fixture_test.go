package jelsr

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// jelsrFixture is a jelsr_*.json: X centred, L = I − D^(−1/2)WD^(−1/2), row norms after T
// iterations, the objective of each.
type jelsrFixture struct {
	X, W             [][]float64
	M                int
	Alpha, Beta      float64
	T                int
	Norms, Objective []float64
}

func TestFixtureJELSR(t *testing.T) {
	for name, f := range fixtures.ReadCases[jelsrFixture](t, "jelsr") {
		if len(f.Objective) != f.T || len(f.Norms) != len(f.X[0]) {
			t.Fatalf("%s: %d objectives, %d norms", name, len(f.Objective), len(f.Norms))
		}
		// With half the Laplacian and half β the objective is half of theirs, at the same W.
		r := must.Get(Select(t.Context(), lazy(f.X, f.W), Options{Alpha: f.Alpha, Beta: f.Beta / 2, Clusters: f.M, Iterations: f.T, Threads: 2}))(t)
		if r.Rose != nil {
			t.Fatalf("%s: the objective rose: %+v", name, *r.Rose)
		}
		for i, v := range f.Objective {
			if !(math.Abs(2*r.Objective[i]-v) <= 1e-9*math.Abs(v)) {
				t.Errorf("%s: objective %d is %v, want %v", name, i+1, 2*r.Objective[i], v)
			}
		}
		same(t, name, r.Scores, f.Norms)
	}
}

// ndfsFixture is an ndfs_*.json: as the other, from F0, with the norms of every iteration.
type ndfsFixture struct {
	X, W, F0           [][]float64
	Alpha, Beta, Gamma float64
	T                  int
	Norms, F           [][]float64
}

func TestFixtureNDFS(t *testing.T) {
	for name, f := range fixtures.ReadCases[ndfsFixture](t, "ndfs") {
		if len(f.Norms) != f.T || len(f.F) != len(f.X) || len(f.F0) != len(f.X) {
			t.Fatalf("%s: %d norms, %d and %d rows of labels", name, len(f.Norms), len(f.F), len(f.F0))
		}
		p := onRows(f.X, f.W)
		for step, norm := range f.Norms {
			opt := Options{Method: NDFS, Alpha: f.Alpha, Beta: f.Beta, Gamma: f.Gamma, Iterations: step + 1}
			r, last, err := p.iterateLabels(t.Context(), matrixOf(f.F0), opt.withDefaults())
			must.Do(t, err)
			same(t, name, r.Scores, norm)
			if step+1 == f.T {
				same(t, name+" labels", last.q.Data, matrixOf(f.F).Data)
			}
		}
	}
}

// same allows the fixtures' own digits: 1e-9 of the largest.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if off := rowstest.RelativeDistance(got, want); !(off <= 1e-9) {
		t.Errorf("%s is off by %.2g:\n%v\n%v", what, off, got, want)
	}
}

func matrixOf(rows [][]float64) kernel.Matrix[float64] {
	m := kernel.RowMajor(make([]float64, len(rows)*len(rows[0])), len(rows), len(rows[0]), len(rows[0]))
	for i, row := range rows {
		copy(m.Data[i*m.Cols:], row)
	}
	return m
}

// affinity is A = D^(−1/2)WD^(−1/2).
func affinity(w [][]float64) [][]float64 {
	degree := make([]float64, len(w))
	for i := range w {
		for _, v := range w[i] {
			degree[i] += v
		}
	}
	a := rowstest.ZeroRows(len(w), len(w))
	for i := range a {
		for j := range a {
			a[i][j] = w[i][j] / math.Sqrt(degree[i]*degree[j])
		}
	}
	return a
}

// onRows is the paper's own problem: labels of n rows on any graph.
func onRows(x, w [][]float64) *labelProblem {
	x = rowstest.CentreColumns(x)
	n, d := len(x), len(x[0])
	one, l := rowstest.ZeroRows(n, n), affinity(w)
	for i := range l {
		for j := range l {
			l[i][j] = -l[i][j]
		}
		one[i][i] = 1
		l[i][i]++
	}
	p := &labelProblem{team: kernel.NewTeam(2), m: n, d: d, k: matrixOf(one), l: matrixOf(l), c: matrixOf(x), gram: gram.Full(make([]float64, d*d), d)}
	for i := range x {
		for j := range d {
			for k := range d {
				p.gram.Sym[j*d+k] += x[i][j] * x[i][k]
			}
		}
	}
	return p
}

// lazy returns a Graph of n anchors for a graph W of n rows: B is the square root of
// (I + A)/2, so that I − BBᵀ is half of W's Laplacian, and has the same eigenvectors.
func lazy(x, w [][]float64) *anchor.Graph {
	x = rowstest.CentreColumns(x)
	n, d := len(x), len(x[0])
	half := affinity(w)
	for i := range half {
		half[i][i]++
		for j := range half {
			half[i][j] /= 2
		}
	}
	values, vectors := rowstest.Jacobi(half)
	b := rowstest.ZeroRows(n, n)
	for k, v := range values {
		root := math.Sqrt(max(v, 0))
		for i := range b {
			for j := range b {
				b[i][j] += root * vectors[i][k] * vectors[j][k]
			}
		}
	}
	g := &anchor.Graph{Rows: int64(n), M: n, D: d, Delta: make([]float64, n), G: gram.Full(make([]float64, d*d), d), C: make([]float64, n*d), S: make([]float64, n*n)}
	for i := range n {
		copy(g.S[i*n:], half[i])
		for j := range d {
			for k := range d {
				g.G.Sym[j*d+k] += x[i][j] * x[i][k]
			}
			for a := range n {
				g.C[a*d+j] += b[i][a] * x[i][j]
			}
		}
	}
	return g
}
