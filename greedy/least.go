package greedy

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/method"
)

const (
	// boundShare is the largest k/d for which leastErrors computes its bound. Beyond it, the bound costs more than greedy.
	boundShare = 0.125
	// fewFeatures is the largest d for which the bound is computed at any k/d, because it is cheap.
	fewFeatures = 256
)

func leastErrorBytes(d, k int) int64 {
	if !isBoundAffordable(d, k) {
		return 0
	}
	return linalg.TailsBytes(d, k) + 8*boundStartRows*int64(d)
}

func (m *graphGreedy) leastErrorBytes(s method.Shape) int64 {
	d := len(s.Columns)
	if s.Rank == 0 || m.target != targetSmooth {
		return leastErrorBytes(d, s.K) + 8*int64(s.Anchors)*boundStartRows
	}
	if !isBoundAffordable(d, s.K) {
		return 0
	}
	n := max(s.Rank, s.Anchors)
	return linalg.TailsBytes(n, s.K) + linalg.RootBytes(n) + 8*int64(n)*int64(3*n+2*boundStartRows)
}

func isBoundAffordable(d, k int) bool {
	return k > 0 && (d <= fewFeatures || float64(k) <= boundShare*float64(d))
}

// boundStartRows is the number of rows of G from which the search for the leading directions starts. They are the rows
// of the first features chosen, so the start does not depend on the order of the columns.
const boundStartRows = 16

// leastErrors returns a lower bound of the error after each choice. The bound after j choices is the least error that
// any j directions can leave, be they features or not: the sum of all but the j largest eigenvalues of TᵀT, divided by
// the sum of all. T is the matrix whose reconstruction errors are measured, and trace is ‖T‖². For Algorithm 2 it is
// the data X and not the sums of groups, because the errors of its result are of X. A bound above its entry of
// greedyErrors is lowered to that entry. product adds y·TᵀT to dst. The result is nil if isBoundAffordable returns
// false, or if the eigenvalues fall too slowly to be found in a few times k products.
func leastErrors(team *kernel.Team, g *gram.Matrix, order []int, greedyErrors []float64, trace float64, product func(dst, y kernel.Matrix[float64])) []float64 {
	d := g.D
	if !isBoundAffordable(d, len(order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	rows := min(len(order), boundStartRows)
	start := kernel.RowMajor(make([]float64, rows*d), rows, d, d)
	g.ColumnsTo(team.Threads(), start.Data, order[:rows])
	return tailEigenvalueErrors(team, d, order, greedyErrors, trace, start, product)
}

func tailEigenvalueErrors(team *kernel.Team, n int, order []int, greedyErrors []float64, trace float64, start kernel.Matrix[float64], product func(dst, y kernel.Matrix[float64])) []float64 {
	least := linalg.TailBounds(team, n, len(order), trace, start, product)
	for i := range least {
		least[i] = min(least[i]/trace, greedyErrors[i])
	}
	return least
}

// leastDataErrors returns leastErrors for the target T = X. If G is a factor R, the eigenvalues come from RRᵀ.
func leastDataErrors(team *kernel.Team, g *gram.Matrix, r *Result) []float64 {
	trace := 0.0
	for _, v := range g.Diagonal(team.Threads()) {
		trace += v
	}
	if !g.IsFactor() {
		return leastErrors(team, g, r.Order, r.Error, trace, func(dst, y kernel.Matrix[float64]) { g.AddProduct(team.Threads(), y.Rows, y.Data, dst.Data) })
	}
	n := g.Rank
	if !isBoundAffordable(g.D, len(r.Order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	rows := min(len(r.Order), boundStartRows)
	start := kernel.RowMajor(make([]float64, rows*n), rows, n, n)
	for i, p := range r.Order[:rows] {
		row := start.Data[i*n:][:n]
		copy(row, g.Feature(row, p))
	}
	dual := kernel.RowMajor(g.Dual(team.Threads()), n, n, n)
	return tailEigenvalueErrors(team, n, r.Order, r.Error, trace, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, dual, dst) })
}

func leastSmoothErrors(team *kernel.Team, g *anchor.Graph, t *graphTarget, r *Result) []float64 {
	switch {
	case t.k.Rows > 0:
		return leastAnchorErrors(team, g, t, r)
	case t.product == nil: // no rounds of smoothing
		return leastDataErrors(team, g.G, r)
	}
	return leastErrors(team, g.G, r.Order, r.Error, t.totalSquares, t.product)
}

// leastAnchorErrors returns leastErrors for a target with TᵀT = CᵀQC, C being the m×d matrix of the anchor graph. With
// Q = UᵀU, the eigenvalues of TᵀT other than 0 are the eigenvalues of UKUᵀ, with K = CCᵀ. The order of this matrix is
// at most the number of anchors, so the cost of its eigenvalues does not grow with d.
func leastAnchorErrors(team *kernel.Team, g *anchor.Graph, t *graphTarget, r *Result) []float64 {
	if !isBoundAffordable(g.D, len(r.Order)) || !(t.totalSquares > 0 && t.totalSquares <= math.MaxFloat64) {
		return nil
	}
	m := g.M
	u, _, err := linalg.PivotedRoot(team, kernel.RowMajor(slices.Clone(t.q.Data), m, m, m))
	if err != nil {
		return nil
	}
	n := u.Rows
	half, small := kernel.RowMajor(make([]float64, n*m), n, m, m), kernel.RowMajor(make([]float64, n*n), n, n, n)
	kernel.Gemm(team, 1, u, t.k, half)
	kernel.Gemm(team, 1, half, u.Trans(), small)
	rows := min(len(r.Order), boundStartRows)
	chosen, start := kernel.RowMajor(make([]float64, rows*m), rows, m, m), kernel.RowMajor(make([]float64, rows*n), rows, n, n)
	for i, j := range r.Order[:rows] {
		if g.Columns != nil {
			g.Columns.ColumnTo(chosen.Data[i*m:][:m], j)
			continue
		}
		for a := range m {
			chosen.Data[i*m+a] = g.C[a*g.D+j]
		}
	}
	kernel.Gemm(team, 1, chosen, u.Trans(), start)
	return tailEigenvalueErrors(team, n, r.Order, r.Error, t.totalSquares, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, small, dst) })
}

// leastOrthonormalErrors returns leastErrors for l orthonormal columns: k directions leave l−k of their square l.
func leastOrthonormalErrors(l int, greedyErrors []float64) []float64 {
	least := make([]float64, len(greedyErrors))
	for i := range least {
		least[i] = min(max(float64(l-i-1)/float64(l), 0), greedyErrors[i])
	}
	return least
}
