package ufs

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// maxCorrelated bounds the number of chosen features whose correlations a selection records: twice as many features
// would make the JSON of the correlations four times as long, and a matrix of that size is not readable.
const maxCorrelated = 100

// recordCorrelations records the correlations between the chosen features, if the Gram matrix is in memory and
// exact. It needs k²/2 entries of the matrix. If the matrix is a factor of r rows, each entry costs 2r flops.
func (t *trial) recordCorrelations(order []int) {
	g, offset, weight := t.explainGram, []float64(nil), 0.0
	if g == nil && t.Gram != nil {
		g, offset, weight = &t.Gram.Matrix, t.columnOffsets(), t.Gram.Weight
	}
	if g == nil || g.Absent() || t.bundle.sketch != nil || len(order) > maxCorrelated {
		return
	}
	place := func(j int) int { return j } // index of feature j in the matrix
	if t.explainFeatures != nil {
		place = func(j int) int {
			k, varies := slices.BinarySearch(t.explainFeatures, j)
			if !varies {
				return -1
			}
			return k
		}
	}
	spread := make([]float64, len(order)) // 0 for constant features
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
		t.selection.Correlations = append(t.selection.Correlations, row)
	}
}

// centredEntry returns an entry of the Gram matrix of the centred columns. In a nearly constant column only
// rounding errors remain after centring; centredEntry then returns 0.
func centredEntry(g *gram.Matrix, offset []float64, weight float64, i, j int) float64 {
	entry := g.At(i, j)
	if offset == nil {
		return entry
	}
	centred := entry - weight*(offset[i]*offset[j])
	if i == j && centred <= 1e-10*entry {
		return 0
	}
	return centred
}
