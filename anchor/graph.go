package anchor

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Graph is the anchor graph of n rows and d scaled features, in the form of small matrices for selectors. Let X̃ be the
// centred features, and Z the n×m weights of rows on anchors (each row sums to 1). With Δ = diag(Zᵀ1) and B =
// ZΔ^(−1/2), the affinity of the rows is A = BBᵀ, n×n. Its Laplacian is L = I − A, because by eq. 2.6 of SFUFS the
// matrix of degrees is I. The small matrices are
//
//	G = X̃ᵀX̃   C = BᵀX̃   S = BᵀB
//
// With these, XᵀLX = G − CᵀC and XᵀAᵗX = CᵀS^(t−1)C for t ≥ 1. As L1 = 0, centring does not change these products. If
// no row has a weight on an anchor, the anchor's element of Δ and its rows in C and S are 0.
//
// A Graph is read-only to selectors, which may run concurrently.
type Graph struct {
	Rows    int64        // n
	M, D    int          // anchors, features
	Delta   []float64    // m
	G       *gram.Matrix // d×d; absent for statistics without a Gram matrix
	C       []float64    // m×d row-major; may be nil if G is a factor
	Columns *Columns     // replaces the matrix C for statistics that keep C by columns; else nil
	S       []float64    // m×m, symmetric, stored in full
	Scale   []float64    // d factors by which the features were multiplied after centring
	// Z is set if G is a factor, whose rows are then the rows of X̃. B = ZΔ^(−1/2).
	Z RowWeights
	// Held is set if G is an estimate by a sketch of the rows (see [Graph.Estimate]). The rows held out of the sketch
	// give a second estimate of that part of G which is estimated. Held is a factor of this estimate.
	Held *gram.Matrix

	knownB []float64    // if G is an estimate: the last rows of B, M numbers each
	cross  *crossSource // replaces C if set
}

// crossSource holds the rows and weights from which C can be computed.
type crossSource struct {
	rows    columnPanels
	weights RowWeights
}

// AddCross adds E·C to Y, with 2·k·m·d flops. e and y hold the row-major matrices E, k×m, and Y, k×d. If [Among] made
// the graph from points of many features, it does not store C, which would be larger than all else. The product is then
// computed from the n points and the means of their columns, with 2·k·n·d flops.
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

// RowWeights holds the weights of rows on anchors, Count weights for each row. Row i has the weight Value[i·Count+e] on
// anchor Index[i·Count+e].
type RowWeights struct {
	Rows, Count int
	Index       []int32
	Value       []float64
}

// B returns the n×m matrix ZΔ^(−1/2), row-major, of a Graph whose G is a factor. It has one row for each row of the
// factor. If G is an estimate, these are the rows of [Graph.Estimate], and there are fewer than n.
func (g *Graph) B(threads int) []float64 {
	if g.Held != nil {
		b := make([]float64, g.G.Rank*g.M)
		copy(b[len(b)-len(g.knownB):], g.knownB)
		return g.G.RotateToFactor(threads, g.M, b)
	}
	b := make([]float64, g.Z.Rows*g.M)
	for i := range g.Z.Rows {
		for e := i * g.Z.Count; e < (i+1)*g.Z.Count; e++ {
			if j := int(g.Z.Index[e]); g.Delta[j] > 0 { // an anchor may occur twice in a row
				b[i*g.M+j] += g.Z.Value[e] / math.Sqrt(g.Delta[j])
			}
		}
	}
	return g.G.RotateToFactor(threads, g.M, b)
}
