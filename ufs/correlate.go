package ufs

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mostCorrelated bounds the chosen features whose correlations a selection records: twice as many
// would be four times as long in its JSON, and no map that anyone reads.
const mostCorrelated = 100

// correlate records how the chosen features correlate with each other, where the Gram matrix is in memory and
// no estimate. It takes k²/2 entries of the matrix, each 2r flops of a factor of r rows.
func (t *trial) correlate(order []int) {
	g, offset, weight := t.whole, []float64(nil), 0.0
	if g == nil && t.Gram != nil {
		g, offset, weight = &t.Gram.Matrix, t.offset(), t.Gram.Weight
	}
	if g == nil || g.Absent() || t.from.sketch != nil || len(order) > mostCorrelated {
		return
	}
	place := func(j int) int { return j } // of a feature in the matrix
	if t.among != nil {
		place = func(j int) int {
			k, varies := slices.BinarySearch(t.among, j)
			if !varies {
				return -1
			}
			return k
		}
	}
	spread := make([]float64, len(order)) // 0 of constant features
	for i, j := range order {
		if k := place(j); k >= 0 {
			spread[i] = math.Sqrt(centredEntry(g, offset, weight, k, k))
		}
	}
	for i, a := range order {
		row := make([]stream.Number, i)
		for j, b := range order[:i] {
			row[j] = stream.Number(math.NaN())
			if spread[i] > 0 && spread[j] > 0 {
				r := centredEntry(g, offset, weight, place(a), place(b)) / spread[i] / spread[j]
				row[j] = stream.Number(math.Round(1e4*min(max(r, -1), 1))/1e4 + 0) // + 0: no −0
			}
		}
		t.s.Correlations = append(t.s.Correlations, row)
	}
}

// centredEntry is an entry of the matrix of the centred columns. What is left of a column that is all but
// constant is rounding: it is 0.
func centredEntry(g *gram.Matrix, offset []float64, weight float64, i, j int) float64 {
	entry := g.At(i, j)
	if offset == nil {
		return entry
	}
	left := entry - weight*(offset[i]*offset[j])
	if i == j && left <= 1e-10*entry {
		return 0
	}
	return left
}
