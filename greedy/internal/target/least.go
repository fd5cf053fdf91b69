package target

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

const (
	// boundShare is the largest k/d for which leastErrors computes its bound. Beyond it, the bound costs more than
	// greedy.
	boundShare = 0.125
	// fewFeatures is the largest d for which the bound is computed at any k/d, because it is cheap.
	fewFeatures = 256
)

// LeastErrorBytes returns the memory for the lower bounds of LeastDataErrors, for k of d features.
func LeastErrorBytes(d, k int) int64 {
	if !IsBoundAffordable(d, k) {
		return 0
	}
	return room.Measure(func(l *room.Layout) {
		layOutStart(l, d, k)
		l.Add(linalg.TailsBytes(d, k))
	})
}

func layOutStart(l *room.Layout, n, k int) kernel.Matrix[float64] {
	return kernel.NewMatrix[float64](l, min(k, BoundStartRows), n)
}

// IsBoundAffordable reports whether the lower bound of the error of k of d features costs less than choosing them.
func IsBoundAffordable(d, k int) bool {
	return k > 0 && (d <= fewFeatures || float64(k) <= boundShare*float64(d))
}

// BoundStartRows is the number of rows of G from which the search for the leading directions starts. They are the rows
// of the first features chosen, so the start does not depend on the order of the columns.
const BoundStartRows = 16

// leastErrors returns a lower bound of the error after each choice. The bound after j choices is the least error that
// any j directions can leave, be they features or not: the sum of all but the j largest eigenvalues of TᵀT, divided by
// the sum of all. T is the matrix whose reconstruction errors are measured, and trace is ‖T‖². For Algorithm 2 it is
// the data X and not the sums of groups, because the errors of its result are of X. A bound above its entry of
// greedyErrors is lowered to that entry. product adds y·TᵀT to dst. The result is nil if IsBoundAffordable returns
// false, or if the eigenvalues fall too slowly to be found in a few times k products.
func leastErrors(team *kernel.Team, g *gram.Matrix, order []int, greedyErrors []float64, trace float64, product func(dst, y kernel.Matrix[float64])) []float64 {
	d := g.D
	if !IsBoundAffordable(d, len(order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	start := layOutStart(nil, d, len(order))
	g.ColumnsTo(team.Threads(), start.Data, order[:start.Rows])
	return errorsFromTailEigenvalues(team, d, order, greedyErrors, trace, start, product)
}

func errorsFromTailEigenvalues(team *kernel.Team, n int, order []int, greedyErrors []float64, trace float64, start kernel.Matrix[float64], product func(dst, y kernel.Matrix[float64])) []float64 {
	least := linalg.TailBounds(team, n, len(order), trace, start, product)
	for i := range least {
		least[i] = min(least[i]/trace, greedyErrors[i])
	}
	return least
}

// LeastDataErrors returns the lower bounds of leastErrors for the target T = X. If G is a factor R, they come from RRᵀ.
func LeastDataErrors(team *kernel.Team, g *gram.Matrix, r *selection.Result) []float64 {
	trace := g.Trace(team.Threads())
	if !g.IsFactor() {
		return leastErrors(team, g, r.Order, r.Error, trace, func(dst, y kernel.Matrix[float64]) { g.AddProduct(team.Threads(), y.Rows, y.Data, dst.Data) })
	}
	n := g.Rank
	if !IsBoundAffordable(g.D, len(r.Order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	start := layOutStart(nil, n, len(r.Order))
	for i, p := range r.Order[:start.Rows] {
		row := start.Data[i*n:][:n]
		copy(row, g.Feature(row, p))
	}
	dual := kernel.RowMajor(g.Dual(team.Threads()), n, n, n)
	return errorsFromTailEigenvalues(team, n, r.Order, r.Error, trace, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, dual, dst) })
}

// LeastSmoothErrors returns the lower bounds of leastErrors for a target t made by NewSmooth.
func LeastSmoothErrors(team *kernel.Team, g *anchor.Graph, t *Graph, r *selection.Result) []float64 {
	switch {
	case t.k.Rows > 0:
		return leastAnchorErrors(team, g, t, r)
	case t.product == nil: // no rounds of smoothing
		return LeastDataErrors(team, g.G, r)
	}
	return leastErrors(team, g.G, r.Order, r.Error, t.TotalSquares, t.product)
}

// leastAnchorErrors returns the lower bounds of leastErrors for a target with TᵀT = CᵀQC, C being the m×d matrix of the
// anchor graph. With Q = UᵀU, the eigenvalues of TᵀT other than 0 are the eigenvalues of UKUᵀ, with K = CCᵀ. The order
// of this matrix is at most the number of anchors, so the cost of its eigenvalues does not grow with d.
func leastAnchorErrors(team *kernel.Team, g *anchor.Graph, t *Graph, r *selection.Result) []float64 {
	if !IsBoundAffordable(g.D, len(r.Order)) || !(t.TotalSquares > 0 && t.TotalSquares <= math.MaxFloat64) {
		return nil
	}
	m := g.M
	u, _, err := linalg.PivotedRoot(team, kernel.RowMajor(slices.Clone(t.q.Data), m, m, m))
	if err != nil {
		return nil
	}
	n := u.Rows
	half, small, chosen, start := layOutAnchorErrors(nil, m, n, len(r.Order))
	kernel.Gemm(team, 1, u, t.k, half)
	kernel.Gemm(team, 1, half, u.Trans(), small)
	for i, j := range r.Order[:start.Rows] {
		if g.Columns != nil {
			g.Columns.ColumnTo(chosen.Data[i*m:][:m], j)
			continue
		}
		for a := range m {
			chosen.Data[i*m+a] = g.C[a*g.D+j]
		}
	}
	kernel.Gemm(team, 1, chosen, u.Trans(), start)
	return errorsFromTailEigenvalues(team, n, r.Order, r.Error, t.TotalSquares, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, small, dst) })
}

func layOutAnchorErrors(l *room.Layout, m, n, k int) (half, small, chosen, start kernel.Matrix[float64]) {
	return kernel.NewMatrix[float64](l, n, m), kernel.NewMatrix[float64](l, n, n), layOutStart(l, m, k), layOutStart(l, n, k)
}

// LeastAnchorErrorBytes returns the memory of LeastSmoothErrors for k of d features, if G is a factor, and the factor and
// the graph have at most m rows and anchors.
func LeastAnchorErrorBytes(m, d, k int) int64 {
	if !IsBoundAffordable(d, k) {
		return 0
	}
	return room.Measure(func(l *room.Layout) {
		kernel.NewMatrix[float64](l, m, m) // Q
		l.Add(linalg.RootBytes(m) + linalg.TailsBytes(m, k))
		layOutAnchorErrors(l, m, m, k)
	})
}

// LeastOrthonormalErrors returns leastErrors for l orthonormal columns: k directions leave l−k of their square l.
func LeastOrthonormalErrors(l int, greedyErrors []float64) []float64 {
	least := make([]float64, len(greedyErrors))
	for i := range least {
		least[i] = min(max(float64(l-i-1)/float64(l), 0), greedyErrors[i])
	}
	return least
}
