package spec

import (
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// fixture is a spec_*.json: the three scores on a given graph W, X as it is, γ(λ) = λ.
type fixture struct {
	X, W             [][]float64
	K                int
	Phi1, Phi2, Phi3 []float64
}

// TestFixtureSPEC: the graph of n given rows, in the form that Select takes.
func TestFixtureSPEC(t *testing.T) {
	for name, f := range fixtures.ReadCases[fixture](t, "spec") {
		g, mean := lazy(f.X, f.W)
		for score, want := range map[Score][]float64{Phi1: f.Phi1, Phi2: f.Phi2, Phi3: f.Phi3} {
			if len(want) != g.D {
				t.Fatalf("%s: %d scores %v of %d features", name, len(want), score, g.D)
			}
			r := must.Get(selectScaled(g, Options{Score: score, Clusters: f.K, Mean: mean}, 2))(t)
			for j, v := range want {
				// The fixture's own digits, of eigenvectors with gaps of a few hundredths.
				if !(math.Abs(r.Scores[j]-v) <= 1e-9) {
					t.Errorf("%s, %v, feature %d: %v, want %v", name, score, j, r.Scores[j], v)
				}
			}
		}
	}
}

// lazy returns a Graph of n anchors for a graph W of n rows with A = D^(−1/2)WD^(−1/2): B is the
// square root of (I + A)/2, so that I − BBᵀ = (I − A)/2. The features are D^(1/2)x, without
// their part along D^(1/2)1, which is the constant vector's place here; mean·√n is that part.
func lazy(x, w [][]float64) (g *anchor.Graph, mean []float64) {
	n, d := len(x), len(x[0])
	degree, total := make([]float64, n), 0.0
	for i := range w {
		for _, v := range w[i] {
			degree[i] += v
		}
		total += degree[i]
	}
	half := rowstest.ZeroRows(n, n) // (I + A)/2
	for i := range half {
		for j := range half {
			half[i][j] = w[i][j] / math.Sqrt(degree[i]*degree[j]) / 2
		}
		half[i][i] += 0.5
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
	f := rowstest.ZeroRows(n, d)
	mean = make([]float64, d)
	for j := range d {
		along := 0.0
		for i := range n {
			f[i][j] = math.Sqrt(degree[i]) * x[i][j]
			along += math.Sqrt(degree[i]/total) * f[i][j]
		}
		for i := range n {
			f[i][j] -= along * math.Sqrt(degree[i]/total)
		}
		mean[j] = along / math.Sqrt(float64(n))
	}
	g = &anchor.Graph{Rows: int64(n), M: n, D: d, Delta: make([]float64, n),
		G: gram.Full(make([]float64, d*d), d), C: make([]float64, n*d), S: make([]float64, n*n)}
	for i := range n {
		g.Delta[i] = degree[i] / total * float64(n)
		copy(g.S[i*n:], half[i])
		for j := range d {
			for k := range d {
				g.G.Sym[j*d+k] += f[i][j] * f[i][k]
			}
			for a := range n {
				g.C[a*d+j] += b[i][a] * f[i][j]
			}
		}
	}
	return g, mean
}
