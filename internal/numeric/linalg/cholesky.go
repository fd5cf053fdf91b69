package linalg

import (
	"errors"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// ErrNotPositiveDefinite means that a matrix does not have a Cholesky factor to working precision. The error of
// [Cholesky.Factor] wraps it and names the pivot.
var ErrNotPositiveDefinite = errors.New("matrix is not positive definite")

// Cholesky contains the factor U of a symmetric positive definite n×n matrix A = UᵀU. The zero value contains the
// factor of the 0×0 matrix. A Cholesky keeps 8·n² bytes, which the next Factor of the same or a smaller order reuses.
type Cholesky struct {
	u    kernel.Matrix[float64] // n×n row-major, upper triangle
	data []float64
}

// Factor computes the factor of the n×n matrix A from the upper triangle of A. It costs n³/3 flops, nearly all of them
// in [kernel.Syrk] and [kernel.Gemm]. A is unchanged. The bits of the factor do not depend on the team.
//
// The factor is backward stable: UᵀU = A + E with |E| ≤ n·2⁻⁵²·|U|ᵀ|U| elementwise. If a pivot is not positive and
// finite, the error wraps [ErrNotPositiveDefinite], and c does not contain a factor.
func (c *Cholesky) Factor(team *kernel.Team, a kernel.Matrix[float64]) error {
	n := a.Rows
	if a.Cols != n {
		panic(fmt.Sprintf("linalg: Cholesky factor of a %d×%d matrix", n, a.Cols))
	}
	if cap(c.data) < n*n {
		c.LayOut(nil, n)
	}
	c.u = kernel.RowMajor(c.data[:n*n], n, n, n)
	copyUpper(team.Threads(), c.u, a)
	if at, pivot := factorUpper(team, c.u); at >= 0 {
		c.u = kernel.Matrix[float64]{}
		return fmt.Errorf("pivot %d of %d is %.3g: %w", at+1, n, pivot, ErrNotPositiveDefinite)
	}
	return nil
}

// Order returns n, the order of the factored matrix.
func (c *Cholesky) Order() int { return c.u.Rows }

// SolveTo writes A⁻¹·B to dst. B and dst are n×m, each row- or column-major. It costs 2·n²·m flops. dst may be B
// itself, but must not overlap B otherwise. The bits of a column of the result depend only on that column of B.
func (c *Cholesky) SolveTo(team *kernel.Team, dst, b kernel.Matrix[float64]) {
	c.HalfSolveTo(team, dst, b)
	solveUpper(team, c.u, false, dst)
}

// HalfSolveTo writes U⁻ᵀ·B to dst, with the rules of SolveTo. Applied to both sides of a matrix C it yields U⁻ᵀCU⁻¹.
// This turns the generalized eigenproblem Cx = λAx into an ordinary one.
func (c *Cholesky) HalfSolveTo(team *kernel.Team, dst, b kernel.Matrix[float64]) {
	c.copyRightSide(dst, b)
	solveTrans(team, c.u, false, dst)
}

// HalfInverseTo writes U⁻ᵀ to x, which is n×n and row-major without gaps.
func (c *Cholesky) HalfInverseTo(team *kernel.Team, x kernel.Matrix[float64]) {
	clear(x.Data)
	for i := range x.Rows {
		x.Data[i*(x.Rows+1)] = 1
	}
	c.HalfSolveTo(team, x, x)
}

// BackSolveTo writes U⁻¹·B to dst, with the rules of SolveTo. It turns eigenvectors of the ordinary eigenproblem, see
// HalfSolveTo, into eigenvectors of the generalized one.
func (c *Cholesky) BackSolveTo(team *kernel.Team, dst, b kernel.Matrix[float64]) {
	c.copyRightSide(dst, b)
	solveUpper(team, c.u, false, dst)
}

func (c *Cholesky) copyRightSide(dst, b kernel.Matrix[float64]) {
	if b.Rows != c.u.Rows || dst.Rows != b.Rows || dst.Cols != b.Cols {
		panic(fmt.Sprintf("linalg: Cholesky solve of order %d for %d×%d into %d×%d",
			c.u.Rows, b.Rows, b.Cols, dst.Rows, dst.Cols))
	}
	kernel.Copy(dst, b)
}

// LayOut takes the memory for a factor of order n from l. Factor calls it if it has not been called for this order or a
// larger one.
func (c *Cholesky) LayOut(l *room.Layout, n int) { c.data = room.Slice[float64](l, n*n) }

// CholeskyBytes returns the memory of a [Cholesky] of order n, without the scratch memory of its team.
func CholeskyBytes(n int) int64 {
	return room.Measure(func(l *room.Layout) { new(Cholesky).LayOut(l, n) })
}

func copyUpper(threads int, dst, a kernel.Matrix[float64]) {
	const run = 64 // number of rows that a worker copies at a time
	kernel.Each(threads, (dst.Rows+run-1)/run, func(t int) {
		for i := t * run; i < min((t+1)*run, dst.Rows); i++ {
			row := dst.Data[i*dst.RowStride:][:dst.Cols]
			if a.ColStride == 1 {
				copy(row[i:], a.Data[i*a.RowStride+i:])
				continue
			}
			for j := i; j < dst.Cols; j++ {
				row[j] = a.Data[i*a.RowStride+j*a.ColStride]
			}
		}
	})
}

// unblockedOrder is the order up to which factorUpper uses plain loops. At this order they need about 10 µs.
const unblockedOrder = 32

// factorUpper overwrites the upper triangle of the row-major matrix A by the factor U of A = UᵀU. It returns the index
// and the value of the first pivot that is not positive and finite, or −1 as the index if there is none. It halves the
// matrix recursively (Gustavson 1997), so that most of the work consists of products large enough for kernel.Gemm.
func factorUpper(team *kernel.Team, a kernel.Matrix[float64]) (at int, pivot float64) {
	n := a.Rows
	if n <= unblockedOrder {
		return factorUnblocked(a)
	}
	h := halfOrder(n)
	a11, a12, a22 := a.Sub(0, 0, h, h), a.Sub(0, h, h, n-h), a.Sub(h, h, n-h, n-h)
	if at, pivot = factorUpper(team, a11); at >= 0 {
		return at, pivot
	}
	solveTrans(team, a11, false, a12)
	kernel.Syrk(team, -1, a12.Trans(), a22)
	if at, pivot = factorUpper(team, a22); at >= 0 {
		at += h
	}
	return at, pivot
}

func factorUnblocked(a kernel.Matrix[float64]) (at int, pivot float64) {
	n := a.Rows
	for k := range n {
		row := a.Data[k*a.RowStride:][:n]
		d := row[k]
		if !(d > 0 && d <= math.MaxFloat64) {
			return k, d
		}
		d = math.Sqrt(d)
		row[k] = d
		for j := k + 1; j < n; j++ {
			row[j] /= d
		}
		for i := k + 1; i < n; i++ {
			kernel.Axpy(-row[i], row[i:], a.Data[i*a.RowStride+i:][:n-i])
		}
	}
	return -1, 0
}

// InverseDiagonal returns the diagonal of (M + shift·I)⁻¹ for an n×n matrix M, row-major without gaps, if the sum is
// positive definite. It overwrites scratch, which has the length of m.
func InverseDiagonal(team *kernel.Team, n int, m []float64, shift float64, scratch []float64) ([]float64, error) {
	copy(scratch, m)
	for i := range n {
		scratch[i*n+i] += shift
	}
	var c Cholesky
	a := kernel.RowMajor(scratch, n, n, n)
	if err := c.Factor(team, a); err != nil {
		return nil, err
	}
	c.HalfInverseTo(team, a)
	squares := make([]float64, a.Rows)
	for i, v := range a.Data { // A⁻¹ = XᵀX
		squares[i%a.Rows] += v * v
	}
	return squares, nil
}
