package greedy

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
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
func leastOf(team *kernel.Team, sym []float64, d int, order []int, left []float64, trace float64, product func(dst, y kernel.Matrix[float64])) []float64 {
	if !leastWorth(d, len(order)) || !(trace > 0 && trace <= math.MaxFloat64) {
		return nil
	}
	rows := min(len(order), leastRows)
	start := kernel.RowMajor(make([]float64, rows*d), rows, d, d)
	for i, p := range order[:rows] {
		copy(start.Data[i*d:(i+1)*d], sym[p*d:(p+1)*d])
	}
	least := linalg.Tails(team, d, len(order), trace, start, product)
	for i := range least {
		least[i] = min(least[i]/trace, left[i])
	}
	return least
}

// leastOfData is leastOf for X itself.
func leastOfData(team *kernel.Team, sym []float64, d int, r *Result) []float64 {
	trace := 0.0
	for i := range d {
		trace += sym[i*d+i]
	}
	g := kernel.RowMajor(sym, d, d, d)
	return leastOf(team, sym, d, r.Order, r.Error, trace, func(dst, y kernel.Matrix[float64]) { kernel.Gemm(team, 1, y, g, dst) })
}

// leastOfSmooth is leastOf for AᵗX.
func leastOfSmooth(team *kernel.Team, g *anchor.Graph, target anchor.Target, r *Result) []float64 {
	if target.U == nil { // no rounds
		return leastOfData(team, g.G, g.D, r)
	}
	m, d := g.M, g.D
	u, su := kernel.RowMajor(target.U, m, d, d), kernel.RowMajor(target.SU, m, d, d)
	return leastOf(team, g.G, d, r.Order, r.Error, target.Total, func(dst, y kernel.Matrix[float64]) {
		half := kernel.RowMajor(make([]float64, y.Rows*m), y.Rows, m, m)
		kernel.Gemm(team, 1, y, su.Trans(), half)
		kernel.Gemm(team, 1, half, u, dst)
	})
}

// leastOfOrthonormal is leastOf for l directions of length 1, of which k leave l−k.
func leastOfOrthonormal(l int, left []float64) []float64 {
	least := make([]float64, len(left))
	for i := range least {
		least[i] = min(max(float64(l-i-1)/float64(l), 0), left[i])
	}
	return least
}
