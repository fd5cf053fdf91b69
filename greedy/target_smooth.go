package greedy

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

type graphTarget struct {
	*target
	totalSquares float64 // ‖T‖²
	// product adds y·TᵀT to dst. It is nil if q and k are used, and if there are no rounds of smoothing.
	product func(dst, y kernel.Matrix[float64])
	// TᵀT = CᵀQC for a C of few rows: q is m×m, and k is K = CCᵀ. Both are empty if this form is not used.
	q, k kernel.Matrix[float64]
}

func (t *graphTarget) errorCurve(scores []float64) []float64 {
	return anchor.Target{Total: t.totalSquares}.Error(scores)
}

// smoothTarget returns the data after t rounds of smoothing as target, T = AᵗX̃: see [anchor.Graph.Smooth], also for C
// and S. If G is a factor, the target is H = CᵀPC with P = S^(t−1). Then HᵀH = UᵀKU with U = C and K = P·CCᵀ·P. This
// costs m²d flops for m anchors, and no d×d matrix is stored.
func smoothTarget(team *kernel.Team, g *anchor.Graph, t int) (*graphTarget, error) {
	m, d := g.M, g.D
	if g.G.Sym != nil {
		smoothed := g.Smooth(team.Threads(), t)
		whole := Target{Rows: smoothed.Rows, H: smoothed.H, Own: true}
		out := &graphTarget{target: whole.toTarget(d), totalSquares: smoothed.Total}
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
		whole, err := factoredTarget(team, g.G)
		if err != nil {
			return nil, err
		}
		out := &graphTarget{target: whole}
		for _, v := range g.G.Diagonal(team.Threads()) {
			out.totalSquares += v
		}
		return out, nil
	}
	power, between := g.Smoothing(team.Threads(), t)
	p, q := kernel.RowMajor(power, m, m, m), kernel.RowMajor(between, m, m, m)
	factored := &target{fullHeight: d, ownsFeatures: true}
	if g.Columns != nil {
		factored.thin = &thinColumns{Columns: g.Columns}
	} else {
		factored.u = kernel.RowMajor(g.C, m, d, d).Trans()
	}
	out := &graphTarget{target: factored, q: q}
	factored.dual = func(gone []bool) kernel.Matrix[float64] {
		var k kernel.Matrix[float64]
		if factored.thin != nil {
			k = factored.thin.dual(team, gone)
		} else {
			k = dualMatrix(team, factored.u, gone)
		}
		if gone == nil {
			out.totalSquares, out.k = kernel.Dot(between, k.Data), k
		}
		half, whole := kernel.RowMajor(make([]float64, m*m), m, m, m), kernel.RowMajor(make([]float64, m*m), m, m, m)
		kernel.Gemm(team, 1, p, k, half)
		kernel.Gemm(team, 1, half, p, whole)
		return whole
	}
	return out, factored.startLayer(team, nil)
}

func smoothBytes(m, d int) int64 { return 8*6*int64(m)*int64(m) + kernel.TeamBytes(m, d) }
