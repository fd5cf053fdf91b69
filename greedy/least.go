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
	// leastShare: the least that any directions leave is found for up to this share of the
	// features. Beyond, it would cost more than greedy itself.
	leastShare = 0.125
	// fewFeatures are cheap at any share.
	fewFeatures = 256
)

// leastBytes is what leastOf holds for k of d features.
func leastBytes(d, k int) int64 {
	if !leastWorth(d, k) {
		return 0
	}
	return linalg.TailsBytes(d, k) + 8*leastRows*int64(d)
}

// leastBytes is the same for the target of m.
func (m *aimed) leastBytes(s method.Shape) int64 {
	d := len(s.Columns)
	if s.Rank == 0 || m.target != targetSmooth {
		return leastBytes(d, s.K) + 8*int64(s.Anchors)*leastRows
	}
	if !leastWorth(d, s.K) {
		return 0
	}
	n := max(s.Rank, s.Anchors)
	return linalg.TailsBytes(n, s.K) + linalg.RootBytes(n) + 8*int64(n)*int64(3*n+2*leastRows)
}

func leastWorth(d, k int) bool {
	return k > 0 && (d <= fewFeatures || float64(k) <= leastShare*float64(d))
}

// leastRows of G, those of the first features chosen, are where the search for the leading
// directions starts: it does not depend on the order of the columns, then.
const leastRows = 16

// leastOf is the least of each error that any so many directions can leave, features or not:
// the tail of the eigenvalues of TᵀT, T the target, in units of its trace. They are those of the
// target that the errors are of: X itself for partitions too, whose errors count all features.
// Product adds Y·TᵀT to its first argument. It is nil for more than an eighth of many features,
// and where the eigenvalues fall too slowly to be told in a few k products.
func leastOf(team *kernel.Team, g *gram.Matrix, order []int, left []float64, trace float64, product func(dst, y kernel.Matrix[float64])) []float64 {
	d := g.D
	if !leastWorth(d, len(order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	rows := min(len(order), leastRows)
	start := kernel.RowMajor(make([]float64, rows*d), rows, d, d)
	g.ColumnsTo(team.Threads(), start.Data, order[:rows])
	return tails(team, d, order, left, trace, start, product)
}

func tails(team *kernel.Team, n int, order []int, left []float64, trace float64, start kernel.Matrix[float64], product func(dst, y kernel.Matrix[float64])) []float64 {
	least := linalg.Tails(team, n, len(order), trace, start, product)
	for i := range least {
		least[i] = min(least[i]/trace, left[i])
	}
	return least
}

// leastOfData is leastOf for X itself. The eigenvalues of a factor's G are those of RRᵀ.
func leastOfData(team *kernel.Team, g *gram.Matrix, r *Result) []float64 {
	trace := 0.0
	for _, v := range g.Diagonal(team.Threads()) {
		trace += v
	}
	if !g.IsFactor() {
		return leastOf(team, g, r.Order, r.Error, trace, func(dst, y kernel.Matrix[float64]) { g.AddProduct(team.Threads(), y.Rows, y.Data, dst.Data) })
	}
	n := g.Rank
	if !leastWorth(g.D, len(r.Order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	rows := min(len(r.Order), leastRows)
	start := kernel.RowMajor(make([]float64, rows*n), rows, n, n)
	for i, p := range r.Order[:rows] {
		row := start.Data[i*n:][:n]
		copy(row, g.Feature(row, p))
	}
	dual := kernel.RowMajor(g.Dual(team.Threads()), n, n, n)
	return tails(team, n, r.Order, r.Error, trace, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, dual, dst) })
}

// leastOfSmooth is leastOf for AᵗX.
func leastOfSmooth(team *kernel.Team, g *anchor.Graph, t *aimedTarget, r *Result) []float64 {
	switch {
	case t.k.Rows > 0:
		return leastOfRows(team, g, t, r)
	case t.product == nil: // no rounds
		return leastOfData(team, g.G, r)
	}
	return leastOf(team, g.G, r.Order, r.Error, t.total, t.product)
}

// leastOfRows is leastOfSmooth where TᵀT = CᵀQC: with Q = UᵀU its eigenvalues other than 0 are those of UKUᵀ,
// K = CCᵀ, of the order of the anchors. It costs nothing of d.
func leastOfRows(team *kernel.Team, g *anchor.Graph, t *aimedTarget, r *Result) []float64 {
	if !leastWorth(g.D, len(r.Order)) || !(t.total > 0 && t.total <= math.MaxFloat64) {
		return nil
	}
	m := g.M
	u, _, err := linalg.Root(team, kernel.RowMajor(slices.Clone(t.q.Data), m, m, m))
	if err != nil {
		return nil
	}
	n := u.Rows
	half, small := kernel.RowMajor(make([]float64, n*m), n, m, m), kernel.RowMajor(make([]float64, n*n), n, n, n)
	kernel.Gemm(team, 1, u, t.k, half)
	kernel.Gemm(team, 1, half, u.Trans(), small)
	rows := min(len(r.Order), leastRows)
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
	return tails(team, n, r.Order, r.Error, t.total, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, small, dst) })
}

// leastOfOrthonormal is leastOf for l directions of length 1, of which k leave l−k.
func leastOfOrthonormal(l int, left []float64) []float64 {
	least := make([]float64, len(left))
	for i := range least {
		least[i] = min(max(float64(l-i-1)/float64(l), 0), left[i])
	}
	return least
}
