package target

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// NewSmooth returns the data after t rounds of smoothing as target, T = AᵗX̃: see [anchor.Graph.Smooth], also for C
// and S. If G is a factor, the target is H = CᵀPC with P = S^(t−1). Then HᵀH = UᵀKU with U = C and K = P·CCᵀ·P. This
// costs m²d flops for m anchors, and no d×d matrix is stored.
func NewSmooth(team *kernel.Team, g *anchor.Graph, t int) (*Graph, error) {
	m, d := g.M, g.D
	if g.G.Sym != nil {
		smoothed := g.Smooth(team.Threads(), t)
		whole := selection.Target{Rows: smoothed.Rows, H: smoothed.H, Own: true}
		out := &Graph{Matrix: NewGiven(whole, d), TotalSquares: smoothed.Total}
		if u, su := kernel.RowMajor(smoothed.U, m, d, d), kernel.RowMajor(smoothed.SU, m, d, d); smoothed.U != nil {
			out.product = func(dst, y kernel.Matrix[float64]) {
				half := kernel.RowMajor(make([]float64, y.Rows*m), y.Rows, m, m)
				kernel.Gemm(team, 1, y, su.Trans(), half)
				kernel.Gemm(team, 1, half, u, dst)
			}
		}
		return out, nil
	}
	if t == 0 {
		whole, err := NewFactored(team, g.G)
		if err != nil {
			return nil, err
		}
		return &Graph{Matrix: whole, TotalSquares: g.G.Trace(team.Threads())}, nil
	}
	power, between := g.Smoothing(team.Threads(), t)
	p, q := kernel.RowMajor(power, m, m, m), kernel.RowMajor(between, m, m, m)
	factored := &Matrix{FullHeight: d, OwnsFeatures: true}
	if g.Columns != nil {
		factored.thin = &thinColumns{Columns: g.Columns}
	} else {
		factored.U = kernel.RowMajor(g.C, m, d, d).Trans()
	}
	out := &Graph{Matrix: factored, q: q}
	factored.Dual = func(gone []bool) kernel.Matrix[float64] {
		var k kernel.Matrix[float64]
		if factored.thin != nil {
			k = factored.thin.dualMatrix(team, gone)
		} else {
			k = dualMatrix(team, factored.U, gone)
		}
		if gone == nil {
			out.TotalSquares, out.k = kernel.Dot(between, k.Data), k
		}
		half, whole := kernel.RowMajor(make([]float64, m*m), m, m, m), kernel.RowMajor(make([]float64, m*m), m, m, m)
		kernel.Gemm(team, 1, p, k, half)
		kernel.Gemm(team, 1, half, p, whole)
		return whole
	}
	return out, factored.StartLayer(team, nil)
}

// SmoothBytes returns the memory for NewSmooth with m anchors and d features, if G is a factor.
func SmoothBytes(m, d int) int64 { return 8*6*int64(m)*int64(m) + kernel.TeamBytes(m, d) }

// Graph is a target T, i.e. a matrix to be reconstructed, that is computed from an anchor graph, or from principal components.
type Graph struct {
	*Matrix
	TotalSquares float64 // ‖T‖²
	// product adds y·TᵀT to dst. It is nil if q and k are used, and if there are no rounds of smoothing.
	product func(dst, y kernel.Matrix[float64])
	// TᵀT = CᵀQC for a C of few rows: q is m×m, and k is K = CCᵀ. Both are empty if this form is not used.
	q, k kernel.Matrix[float64]
}

// ErrorCurve returns the share of ‖T‖² that is left after each choice, by the scores of the choices.
func (t *Graph) ErrorCurve(scores []float64) []float64 {
	return anchor.Target{Total: t.TotalSquares}.Error(scores)
}
