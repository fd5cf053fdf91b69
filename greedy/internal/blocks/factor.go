package blocks

import (
	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// blockFactor is the Cholesky factor L of E_gg of one block, restricted to its pivots (see blockEngine).
type blockFactor struct {
	pivots []int     // features, in the order of the factorization
	lower  []float64 // L, n×n, lower triangular; row m belongs to pivots[m]
}

// solveRows replaces the matrix X by L⁻¹X. rows has the rows of X one after the other, each of width numbers.
func (f *blockFactor) solveRows(rows []float64, width int) {
	n := len(f.pivots)
	for m := range n {
		row := rows[m*width : (m+1)*width]
		for r := range m {
			kernel.Axpy(-f.lower[m*n+r], rows[r*width:(r+1)*width], row)
		}
		floats.Scale(1/f.lower[m*n+m], row)
	}
}
