package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Graph is the anchor graph of n rows and d scaled features, in the small matrices that selectors work from. With Z
// the n×m weights of rows on anchors (each row sums to 1), Δ = diag(Zᵀ1), B = ZΔ^(−1/2), A = BBᵀ the n×n affinity and
// L = I − A its Laplacian (eq. 2.6 of SFUFS gives D = I), and X̃ the centred features,
//
//	G = X̃ᵀX̃   C = BᵀX̃   S = BᵀB
//
// With these, XᵀLX = G − CᵀC and XᵀAᵗX = CᵀS^(t−1)C for t ≥ 1. As L1 = 0, centring does not change these products. An
// anchor that no row uses has Δ = 0 and rows of zeros.
//
// A Graph is read-only to selectors, which may run concurrently.
type Graph struct {
	Rows    int64        // n
	M, D    int          // anchors, features
	Delta   []float64    // m
	G       *gram.Matrix // d×d; absent for statistics without a Gram matrix
	C       []float64    // m×d row-major; may be nil if G is a factor
	Columns *Columns     // C in place of the matrix, for statistics that keep it by columns; else nil
	S       []float64    // m×m, symmetric, stored in full
	Scale   []float64    // d: factors of the features after centring
	// Z is set if G is a factor, whose rows are then the rows of X̃. B = ZΔ^(−1/2).
	Z RowWeights
	// Held is set if G is an estimate by a sketch of the rows (see [Graph.Estimate]). It is a factor of the estimated
	// part of G, from the held-out rows.
	Held *gram.Matrix

	knownB []float64    // for an estimate: the last rows of B, M numbers each
	cross  *crossSource // in place of C
}

// crossSource holds the rows and weights from which C can be computed.
type crossSource struct {
	rows    columnPanels
	weights RowWeights
}

// AddCross adds E·C to Y, for an E of k×m and a Y of k×d numbers, row-major, with 2kmd flops. If the graph is made by
// [Among] from points of many features, C would be larger than all else. The product then costs 2knd flops and the
// means of the columns.
func (g *Graph) AddCross(threads, k int, e, y []float64) {
	team, from, to := kernel.NewTeam(threads), kernel.RowMajor(e, k, g.M, g.M), kernel.RowMajor(y, k, g.D, g.D)
	if g.cross == nil {
		kernel.Gemm(team, 1, from, kernel.RowMajor(g.C, g.M, g.D, g.D), to)
		return
	}
	z := g.cross.weights
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
	g.cross.rows(func(from int, x kernel.Matrix[float64]) {
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

// RowWeights has the weights of rows on anchors, Count for each row: row i has the weight Value[i·Count+e] on anchor
// Index[i·Count+e].
type RowWeights struct {
	Rows, Count int
	Index       []int32
	Value       []float64
}

// B returns the n×m matrix ZΔ^(−1/2), row-major, of a Graph whose G is a factor, for the factor's present rows. If G
// is an estimate, these are the rows of [Graph.Estimate], which are fewer than n.
func (g *Graph) B(threads int) []float64 {
	if g.Held != nil {
		b := make([]float64, g.G.Rank*g.M)
		copy(b[len(b)-len(g.knownB):], g.knownB)
		return g.G.RotateToFactor(threads, g.M, b)
	}
	b := make([]float64, g.Z.Rows*g.M)
	for i := range g.Z.Rows {
		for e := i * g.Z.Count; e < (i+1)*g.Z.Count; e++ {
			if j := int(g.Z.Index[e]); g.Delta[j] > 0 { // an anchor may occur twice
				b[i*g.M+j] += g.Z.Value[e] / math.Sqrt(g.Delta[j])
			}
		}
	}
	return g.G.RotateToFactor(threads, g.M, b)
}
