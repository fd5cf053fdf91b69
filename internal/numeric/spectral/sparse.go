package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// sparseShare is the largest share of nonzero entries for which S is treated as sparse. For 2,000 anchors in 900
// dimensions with 5 neighbours for each row, the share is 0.009.
const sparseShare = 1. / 16

func sparseFilterBytes(anchors int) int64 {
	return int64(1.25*12*sparseShare*float64(anchors)*float64(anchors)) + 60*int64(anchors)
}

// sparseFilter returns a filter for the matrix of deflatedLaplacian. The filter multiplies by this matrix using only
// the nonzero entries of S. If S is dense, sparseFilter returns nil.
func sparseFilter(team *kernel.Team, g *anchor.Graph, parts []component) *linalg.Filter {
	m := g.M
	entries := 0
	for _, s := range g.S {
		if s != 0 {
			entries++
		}
	}
	if float64(entries) > sparseShare*float64(len(g.S)) {
		return nil
	}
	// A = (I − S) + Vᵀ·V, V having one row for each component. own is I − S, known is V and turned is Vᵀ.
	own, known, turned := kernel.Compressed{Cols: m}, kernel.Compressed{Cols: m}, kernel.Compressed{Cols: len(parts)}
	for a := range m {
		own.AddEntry(a, 1)
		for b, s := range g.S[a*m:][:m] {
			if s != 0 {
				own.AddEntry(b, -s)
			}
		}
		own.EndRow()
	}
	in := make([]int, m)
	for t, p := range parts {
		for _, a := range p.anchors {
			known.AddEntry(a, math.Sqrt(g.Delta[a]/p.rows))
			in[a] = t + 1
		}
		known.EndRow()
	}
	for a, t := range in {
		if t > 0 {
			turned.AddEntry(t-1, math.Sqrt(g.Delta[a]/parts[t-1].rows))
		}
		turned.EndRow()
	}
	product := func(dst, x kernel.Matrix[float64]) {
		clear(dst.Data[:m*x.Cols])
		own.AddProduct(team.Threads(), x, dst)
		y := kernel.RowMajor(make([]float64, len(parts)*x.Cols), len(parts), x.Cols, x.Cols)
		known.AddProduct(team.Threads(), x, y)
		turned.AddProduct(team.Threads(), y, dst)
	}
	return &linalg.Filter{Product: product, Top: 1}
}
