package greedy

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
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
		copy(start.Data[i*n:], g.R[p*n:(p+1)*n])
	}
	dual := kernel.RowMajor(g.Dual(team.Threads()), n, n, n)
	return tails(team, n, r.Order, r.Error, trace, start, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, dual, dst) })
}

// leastOfSmooth is leastOf for AᵗX.
func leastOfSmooth(team *kernel.Team, g *anchor.Graph, t *aimedTarget, r *Result) []float64 {
	if t.product == nil { // no rounds
		return leastOfData(team, g.G, r)
	}
	return leastOf(team, g.G, r.Order, r.Error, t.total, t.product)
}

// leastOfOrthonormal is leastOf for l directions of length 1, of which k leave l−k.
func leastOfOrthonormal(l int, left []float64) []float64 {
	least := make([]float64, len(left))
	for i := range least {
		least[i] = min(max(float64(l-i-1)/float64(l), 0), left[i])
	}
	return least
}
