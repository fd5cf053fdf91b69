package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// FactorPivoted overwrites the upper triangle of the positive semidefinite n×n matrix A, row-major, by the factor U of PᵀAP
// = UᵀU, the largest pivot first, up to the first pivot of at most tol: LAPACK's DPSTRF. Column k of U belongs to
// column pivots[k] of A; U has rank rows, over all columns, and the rows below them are garbage. Costs n·rank² flops
// and holds A and 3n numbers. The error wraps [ErrNotFinite].
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
	if a.Data[0] <= tol && largestDiagonal(a) <= tol { // LAPACK does not compare the first pivot with tol
		for i := range pivots {
			pivots[i] = i
		}
		return pivots, 0, nil
	}
	_, rank, _ = lapack64.Pstrf(sym, pivots, max(tol, 0), make([]float64, 2*n))
	return pivots, rank, nil
}

func largestDiagonal(a kernel.Matrix[float64]) float64 {
	largest := 0.0
	for i := range a.Rows {
		largest = max(largest, a.Data[i*(a.RowStride+1)])
	}
	return largest
}

// SolveUpper overwrites B, n×m row-major, by U⁻¹B for the n×n upper triangle U; n²m flops.
func SolveUpper(team *kernel.Team, u, b kernel.Matrix[float64]) { solveUpper(team, u, false, b) }

// InvertUpper overwrites the n×n upper triangle U, row-major, by its inverse; entries below the diagonal are neither
// read nor written. With
//
//	U = (U₁ B; 0 U₂),  U⁻¹ = (U₁⁻¹ −U₁⁻¹BU₂⁻¹; 0 U₂⁻¹)
//
// nearly all of the n³/3 flops are products.
func InvertUpper(team *kernel.Team, u kernel.Matrix[float64]) {
	n := u.Rows
	if n <= leaf {
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
		for i := range j { // the entries above, with the columns before j inverted
			s := 0.0
			for k := i; k < j; k++ {
				s += *at(i, k) * *at(k, j)
			}
			*at(i, j) = -s * *at(j, j)
		}
	}
}
