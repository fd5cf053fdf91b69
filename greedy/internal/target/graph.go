package target

import (
	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Graph is a target T, i.e. a matrix to be reconstructed, that is computed from an anchor graph, or from principal components.
type Graph struct {
	*Matrix
	TotalSquares float64 // ‖T‖²
	// product adds y·TᵀT to dst. It is nil if q and k are used, and if there are no rounds of smoothing.
	product func(dst, y kernel.Matrix[float64])
	// TᵀT = CᵀQC for a C of few rows: q is m×m, and k is K = CCᵀ. Both are empty if this form is not used.
	q, k kernel.Matrix[float64]
}

// ErrorCurve returns the share of ‖T‖² that is left after each choice, by the scores of the choices.
func (t *Graph) ErrorCurve(scores []float64) []float64 {
	return anchor.Target{Total: t.TotalSquares}.Error(scores)
}
