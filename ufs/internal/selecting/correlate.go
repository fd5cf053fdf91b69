package selecting

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// MaxCorrelated bounds the number of chosen features: a selection of more features does not record their correlations.
// The JSON of the correlations grows with the square of the number, and people cannot read a larger matrix.
const MaxCorrelated = 100

// recordCorrelations records the correlations between the chosen features in order, if the Gram matrix is in memory and
// exact. For k features it computes k²/2 entries of the matrix. If the matrix is a factor of r rows, each entry costs
// 2r floating-point operations.
func recordCorrelations(t *Trial, order []int) {
	g, offset, weight := t.ExplainGram, []float64(nil), 0.0
	if g == nil && t.Gram != nil {
		g, offset, weight = &t.Gram.Matrix, t.ColumnOffsets(), t.Gram.Weight
	}
	if g == nil || g.Absent() || t.bundle.Sketch != nil || len(order) > MaxCorrelated {
		return
	}
	place := func(j int) int { return j } // returns the index of feature j in matrix g, or -1 if g lacks it
	if t.explainFeatures != nil {
		place = func(j int) int {
			k, varies := slices.BinarySearch(t.explainFeatures, j)
			if !varies {
				return -1
			}
			return k
		}
	}
	spread := make([]float64, len(order)) // norms of the centred columns; 0 for constant features
	for i, j := range order {
		if k := place(j); k >= 0 {
			spread[i] = math.Sqrt(CentredEntry(g, offset, weight, k, k))
		}
	}
	for i, a := range order {
		row := make([]stream.Number, i)
		for j, b := range order[:i] {
			row[j] = stream.Number(math.NaN())
			if spread[i] > 0 && spread[j] > 0 {
				r := CentredEntry(g, offset, weight, place(a), place(b)) / spread[i] / spread[j]
				row[j] = stream.Number(math.Round(1e4*min(max(r, -1), 1))/1e4 + 0) // + 0 turns −0 into 0
			}
		}
		t.Selection.Correlations = append(t.Selection.Correlations, row)
	}
}

// CentredEntry returns entry (i, j) of the Gram matrix of the centred columns. offset has the means of g's columns and
// weight is the sum of the rows' weights. offset is nil if g is already centred. A diagonal entry that is only a
// rounding error of centring is returned as 0.
func CentredEntry(g *gram.Matrix, offset []float64, weight float64, i, j int) float64 {
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
