package rows

import (
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// EntryBytes is the size of an entry of an AnchoredGraph in a scratch file: its value and the index of its column.
const EntryBytes = 8 + 4

// AnchoredGraph stores the sparse n×m matrix of the anchor graph L = I − BBᵀ in a scratch file: first Z, the weights of
// n rows on m anchors, later B = ZΔ^(−1/2). A row has Count entries. For each block of rows there is one record, with
// the values of the entries followed by the indices of their columns.
type AnchoredGraph struct {
	M, Count int
	File     stream.ScratchFile
	Delta    []float64 // Δ: the sums of the m columns of Z

	nearest  *kernel.Nearest
	weights  func(weight, square []float64) bool
	index    []int32
	distance []float64
}

// NewAnchored returns an AnchoredGraph, and creates its scratch file for n rows, in blocks of at most block rows.
func NewAnchored(scratch stream.Scratch, m, count int, n int64, block int) (*AnchoredGraph, error) {
	entries := EntryBytes * count
	f, err := scratch.Make("the anchor graph", n*int64(entries), block*entries)
	return &AnchoredGraph{M: m, Count: count, File: f, Delta: make([]float64, m)}, err
}

// ViewRows returns the h rows of a block as a view of their record.
func (g *AnchoredGraph) ViewRows(record []byte, h int) kernel.Sparse {
	entries := h * g.Count
	return kernel.Sparse{Rows: h, Cols: g.M, Count: g.Count,
		Value: ViewNumbers[float64](record[:8*entries]), Index: ViewNumbers[int32](record[8*entries:])[:entries]}
}

// SetAnchors sets the m×d matrix of anchors, and the function that computes the weights of a row on its nearest anchors
// from its squared distances to them. Callers pass anchor.Weights. This package cannot import it, because the tests of
// package anchor import greedy.
func (g *AnchoredGraph) SetAnchors(team *kernel.Team, points kernel.Matrix[float64], weights func(weight, square []float64) bool) {
	g.nearest, g.weights = kernel.NewNearest(team, points, g.Count+1), weights
}

// WeighRows computes the weights of each row of the block x on its nearest anchors. It writes them to z, the rows of Z,
// and adds them to Δ.
func (g *AnchoredGraph) WeighRows(z kernel.Sparse, x kernel.Matrix[float64]) error {
	k := g.Count
	g.index, g.distance = ResizeSlice(g.index, z.Rows*(k+1)), ResizeSlice(g.distance, z.Rows*(k+1))
	g.nearest.SearchTo(g.index, g.distance, x)
	for i := range z.Rows {
		copy(z.Index[i*k:][:k], g.index[i*(k+1):])
		if !g.weights(z.Value[i*k:][:k], g.distance[i*(k+1):][:k+1]) {
			return stream.Dataf("", "squared distances between rows and anchors overflow; choose {scale minmax}")
		}
	}
	g.AddWeights(z)
	return nil
}

// AddWeights adds the weights z, rows of Z, to the column sums Δ.
func (g *AnchoredGraph) AddWeights(z kernel.Sparse) {
	for e, j := range z.Index {
		g.Delta[j] += z.Value[e]
	}
}

// AddProduct adds alpha·B·S to x. B is h×m, S is m×c and x is h×c. S and x are row-major.
func AddProduct(workers int, alpha float64, b kernel.Sparse, s, x []float64, c int) {
	EachRun(workers, b.Rows, func(_, from, to int) {
		for i := from; i < to; i++ {
			row := x[i*c:][:c]
			for e := i * b.Count; e < (i+1)*b.Count; e++ {
				v := alpha * b.Value[e]
				for k, y := range s[int(b.Index[e])*c:][:c] {
					row[k] += float64(v * y)
				}
			}
		}
	})
}
