package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Graph is the anchor graph of n rows and d scaled features, in the small matrices
// that selectors work from. With Z the n×m weights of rows on anchors (each row sums
// to 1), Δ = diag(Zᵀ1), B = ZΔ^(−1/2), A = BBᵀ the n×n affinity and L = I − A its
// Laplacian (eq. 2.6 of SFUFS gives D = I), and X̃ the centred features,
//
//	G = X̃ᵀX̃   C = BᵀX̃   S = BᵀB
//
// so that XᵀLX = G − CᵀC and XᵀAᵗX = CᵀS^(t−1)C for t ≥ 1: L1 = 0, so that centring
// changes nothing. An anchor that no row uses has Δ = 0 and rows of zeros.
//
// A Graph is read-only to selectors, who may run at the same time.
type Graph struct {
	Rows    int64        // n
	M, D    int          // anchors, features
	Delta   []float64    // m
	G       *gram.Matrix // d×d; absent where the statistics were of the graph alone
	C       []float64    // m×d row-major; nil where nobody reads it of a G that is a factor
	Columns *Columns     // C in place of the matrix, of statistics that keep it so; else nil
	S       []float64    // m×m, symmetric, stored in full
	Scale   []float64    // d: what the features were multiplied by, once centred
	// Z is there beside a G that is a factor, whose rows are those of X̃ then. B = ZΔ^(−1/2).
	Z RowWeights
	// Held is there where G is an estimate by a sketch of the rows (see [Graph.Estimate]): a factor of what
	// the rows held back say of the part of G that is estimated.
	Held *gram.Matrix

	lower   []float64 // of an estimate: the last rows of B, M numbers each
	through *through  // in place of C
}

// through is what C is made of.
type through struct {
	rows    panels
	weights RowWeights
}

// AddCross adds E·C to Y, for an E of k×m and a Y of k×d numbers, row-major: 2kmd flops, or 2knd and the columns'
// means where the graph is [Among] points of many features, whose C would be more than all else.
func (g *Graph) AddCross(threads, k int, e, y []float64) {
	team, from, to := kernel.NewTeam(threads), kernel.RowMajor(e, k, g.M, g.M), kernel.RowMajor(y, k, g.D, g.D)
	if g.through == nil {
		kernel.Gemm(team, 1, from, kernel.RowMajor(g.C, g.M, g.D, g.D), to)
		return
	}
	z := g.through.weights
	eb := kernel.RowMajor(make([]float64, k*z.Rows), k, z.Rows, z.Rows) // EBᵀ
	sums := make([]float64, k)
	for i := range k {
		for at, j := range z.Index {
			if g.Delta[j] > 0 {
				v := e[i*g.M+int(j)] * z.Value[at] / math.Sqrt(g.Delta[j])
				eb.Data[i*z.Rows+at/z.Count] += v
				sums[i] += v
			}
		}
	}
	g.through.rows(func(from int, x kernel.Matrix[float64]) {
		some := to.Sub(0, from, k, x.Cols)
		kernel.Gemm(team, 1, eb, x, some)
		kernel.Each(team.Threads(), x.Cols, func(c int) {
			mean := 0.0
			for i := range x.Rows {
				mean += x.Data[i*x.RowStride+c*x.ColStride]
			}
			mean /= float64(x.Rows)
			for i, sum := range sums {
				some.Data[i*some.RowStride+c*some.ColStride] -= sum * mean
			}
		})
	})
}

// RowWeights are the weights of rows on anchors, as many for each: row i has Value[i·Count+e] on anchor
// Index[i·Count+e].
type RowWeights struct {
	Rows, Count int
	Index       []int32
	Value       []float64
}

// B is the n×m matrix ZΔ^(−1/2), row-major, of a Graph whose G is a factor, for its rows as they are.
// Where G is an estimate, these are the rows of [Graph.Estimate], which are fewer than n.
func (g *Graph) B(threads int) []float64 {
	if g.Held != nil {
		b := make([]float64, g.G.Rank*g.M)
		copy(b[len(b)-len(g.lower):], g.lower)
		return g.G.Turned(threads, g.M, b)
	}
	b := make([]float64, g.Z.Rows*g.M)
	for i := range g.Z.Rows {
		for e := i * g.Z.Count; e < (i+1)*g.Z.Count; e++ {
			if j := int(g.Z.Index[e]); g.Delta[j] > 0 { // an anchor may be named twice
				b[i*g.M+j] += g.Z.Value[e] / math.Sqrt(g.Delta[j])
			}
		}
	}
	return g.G.Turned(threads, g.M, b)
}
