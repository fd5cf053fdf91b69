package sfufs

import (
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// inverseFactor writes L⁻¹ to x, A = LLᵀ being the Cholesky factorization of a. x must be n×n and zero, and becomes
// lower triangular. It holds a copy of A during the computation. The error wraps [linalg.ErrNotPositiveDefinite].
func inverseFactor(team *kernel.Team, a, x kernel.Matrix[float64]) error {
	var c linalg.Cholesky
	if err := c.Factor(team, a); err != nil {
		return err
	}
	for i := range x.Rows {
		x.Data[i*x.RowStride+i] = 1
	}
	c.HalfSolveTo(team, x, x)
	return nil
}
