package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// FactorPivoted overwrites the upper triangle of the row-major, positive semidefinite n×n matrix A by the factor U of
// PᵀAP = UᵀU, P being a permutation. It uses LAPACK's DPSTRF, which always chooses the largest pivot and stops when
// that is at most tol. Column k of U belongs to column pivots[k] of A. Only the first rank rows belong to U; the rows
// below contain garbage. The cost is n·rank² flops and memory for 3n numbers. The error wraps [ErrNotFinite].
func FactorPivoted(a kernel.Matrix[float64], tol float64) (pivots []int, rank int, err error) {
	n := a.Rows
	if i, _ := firstNotFinite(a); i >= 0 {
		return nil, 0, fmt.Errorf("row %d: %w", i+1, ErrNotFinite)
	}
	pivots = make([]int, n)
	if n == 0 {
		return pivots, 0, nil
	}
	sym := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: a.RowStride, Data: a.Data}
	if a.Data[0] <= tol && maxDiagonal(a) <= tol { // LAPACK does not compare the first pivot with tol
		for i := range pivots {
			pivots[i] = i
		}
		return pivots, 0, nil
	}
	_, rank, _ = lapack64.Pstrf(sym, pivots, max(tol, 0), make([]float64, 2*n))
	return pivots, rank, nil
}

// SolveUpper overwrites the row-major n×m matrix B by U⁻¹B for an upper triangular n×n matrix U. It costs n²·m flops.
func SolveUpper(team *kernel.Team, u, b kernel.Matrix[float64]) { solveUpper(team, u, false, b) }

// InvertUpper overwrites the row-major, upper triangular n×n matrix U by its inverse. It neither reads nor writes
// entries below the diagonal. By the formula
//
//	U = (U₁ B; 0 U₂),  U⁻¹ = (U₁⁻¹ −U₁⁻¹BU₂⁻¹; 0 U₂⁻¹)
//
// nearly all of the n³/3 flops are spent in products.
func InvertUpper(team *kernel.Team, u kernel.Matrix[float64]) {
	n := u.Rows
	if n <= leafOrder {
		invertLeaf(u)
		return
	}
	h := halfOrder(n)
	u1, b, u2 := u.Sub(0, 0, h, h), u.Sub(0, h, h, n-h), u.Sub(h, h, n-h, n-h)
	solveUpper(team, u1, false, b)
	solveTrans(team, u2, false, b.Trans())
	kernel.Each(team.Threads(), h, func(i int) {
		row := b.Data[i*b.RowStride:][:n-h]
		for j := range row {
			row[j] = -row[j]
		}
	})
	InvertUpper(team, u1)
	InvertUpper(team, u2)
}

func invertLeaf(u kernel.Matrix[float64]) {
	n := u.Rows
	at := func(i, j int) *float64 { return &u.Data[i*u.RowStride+j] }
	for j := range n {
		*at(j, j) = 1 / *at(j, j)
		for i := range j { // entries above the diagonal; columns 0 to j−1 are inverted already
			s := 0.0
			for k := i; k < j; k++ {
				s += *at(i, k) * *at(k, j)
			}
			*at(i, j) = -s * *at(j, j)
		}
	}
}
