package selecting

import (
	"github.com/ufs-stream/ufs-stream/gram"
)

// MaxCorrelated bounds the number of chosen features: a selection of more features does not record their correlations.
// The JSON of the correlations grows with the square of the number, and people cannot read a larger matrix.
const MaxCorrelated = 100

// CentredEntry returns entry (i, j) of the Gram matrix of the centred columns, computed from g. offset has the means of
// g's columns, and weight is the sum of the rows' weights. offset is nil if g is already centred. A diagonal entry that
// is only a rounding error of centring is returned as 0.
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
