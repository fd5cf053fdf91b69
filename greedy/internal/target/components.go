package target

import (
	"math"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

// NewComponents returns the leading principal components of the data as target, each of norm 1: T = XVΛ^(−1/2), with
// the eigenvalues Λ and the unit eigenvectors V of G = XᵀX, so that
//
//	H = TᵀX = Λ^(1/2)Vᵀ,  ‖T‖² = q.
//
// It overwrites the loadings Vᵀ by H.
func NewComponents(c *spectral.Components) *Graph {
	q, d := c.Loadings.Rows, c.Loadings.Cols
	t := selection.Target{Rows: q, H: c.Loadings.Data}
	for i, value := range c.Values {
		row := t.H[i*d:][:d]
		for j := range row {
			row[j] *= math.Sqrt(value)
		}
	}
	return &Graph{Matrix: NewGiven(t, d), TotalSquares: float64(q)}
}
