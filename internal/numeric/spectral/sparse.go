package spectral

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// sparseShare is the largest share of nonzero entries for which S is treated as sparse. For 2,000 anchors in 900
// dimensions with 5 neighbours for each row, the share is 0.009.
const sparseShare = 1. / 16

// filterColumns is the number of columns that a filter multiplies by V at a time, see sparseFilter.
const filterColumns = 32

// layOutFilter takes the memory of a sparseFilter from l, for m anchors in the given number of components, and for the
// number of nonzero entries of S.
func layOutFilter(l *room.Layout, m, entries, components int) (own, known, turned kernel.Compressed, y kernel.Matrix[float64]) {
	compressed := func(rows, cols, entries int) kernel.Compressed {
		return kernel.Compressed{Cols: cols, Starts: room.Slice[int32](l, rows+1), Index: room.Slice[int32](l, entries)[:0], Value: room.Slice[float64](l, entries)[:0]}
	}
	return compressed(m, m, m+entries), compressed(components, m, m), compressed(m, components, m), kernel.NewMatrix[float64](l, components, filterColumns)
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
	own, known, turned, y := layOutFilter(nil, m, entries, len(parts))
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
		for j := 0; j < x.Cols; j += filterColumns {
			w := min(filterColumns, x.Cols-j)
			clear(y.Data)
			known.AddProduct(team.Threads(), x.Sub(0, j, m, w), y.Sub(0, 0, len(parts), w))
			turned.AddProduct(team.Threads(), y.Sub(0, 0, len(parts), w), dst.Sub(0, j, m, w))
		}
	}
	return &linalg.Filter{Product: product, Top: 1}
}
