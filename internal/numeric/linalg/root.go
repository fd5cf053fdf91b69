package linalg

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// rootBlock is the number of rows of a root that are computed before one product subtracts them all from the matrix.
const rootBlock = 32

// PivotedRoot returns a row-major r×n matrix U with UᵀU = A for a positive semidefinite n×n matrix A. A is row-major
// with both triangles, and is overwritten. The method is Cholesky's factorization with the largest pivot first, but
// without exchanging columns. Of equal pivots it chooses the first. It stops at a pivot of at most n·2⁻⁵² times the
// largest diagonal entry, which counts as rounding. So r is the rank of A to rounding, and the entries of A − UᵀU are
// at most that limit. pivots lists the columns of the r pivots in the order of the rows of U. A row of U is 0 in the
// pivot columns of earlier rows. PivotedRoot costs 2rn² flops. The error wraps [ErrNotFinite].
func PivotedRoot(team *kernel.Team, a kernel.Matrix[float64]) (root kernel.Matrix[float64], pivots []int, err error) {
	n := a.Rows
	left, taken := make([]float64, n), make([]bool, n)
	largest := 0.0
	for i := range n {
		left[i] = a.Data[i*a.RowStride+i]
		if left[i]-left[i] != 0 {
			return root, nil, fmt.Errorf("diagonal entry %d: %w", i+1, ErrNotFinite)
		}
		largest = max(largest, left[i])
	}
	if i, _ := firstNotFinite(a); i >= 0 {
		return root, nil, fmt.Errorf("row %d: %w", i+1, ErrNotFinite)
	}
	var u []float64
	for rank := 0; ; {
		first := rank
		for rank < min(first+rootBlock, n) {
			at := -1
			for i, v := range left {
				if !taken[i] && v > float64(n)*0x1p-52*largest && (at < 0 || v > left[at]) {
					at = i
				}
			}
			if at < 0 {
				return kernel.RowMajor(u, rank, n, n), pivots, nil
			}
			pivots = append(pivots, at)
			u = append(u, a.Data[at*a.RowStride:][:n]...)
			row := u[rank*n:]
			for t := first; t < rank; t++ {
				kernel.Axpy(-u[t*n+at], u[t*n:(t+1)*n], row)
			}
			taken[at] = true
			pivot := math.Sqrt(left[at])
			for i := range row {
				row[i] /= pivot
				if left[i] -= row[i] * row[i]; taken[i] {
					row[i] = 0
				}
			}
			row[at] = pivot
			rank++
		}
		if rank == first {
			return kernel.RowMajor(u, rank, n, n), pivots, nil
		}
		block := kernel.RowMajor(u[first*n:], rank-first, n, n)
		kernel.Gemm(team, -1, block.Trans(), block, a)
	}
}

// RootBytes bounds the memory of [PivotedRoot] without the matrix. It includes copies of the growing result.
func RootBytes(n int) int64 { return 8 * (9*int64(n)*int64(n)/4 + 2*int64(n)) }
