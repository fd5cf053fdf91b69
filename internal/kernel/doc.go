// Package kernel holds the dense products that every statistic and selector runs
// on: C += A·B, C += A·Bᵀ, G += X·Xᵀ (upper triangle) and y += A·x, in float64.
//
// All matrices are row-major with a leading dimension. A column-major chunk of n
// rows and d columns (column j at x[j*ldx:]) is read as the row-major d×n matrix
// Xᵀ, so that no product needs a transposed copy:
//
//	Xᵀ·X  = Syrk(d, n, …)        the Gram matrix of a chunk
//	Xᵀ·Y  = GemmNT(d, e, n, …)   two chunks of the same rows
//	X·V   = Gemm(c, n, d, …)     transposed: (Vᵀ·Xᵀ), c×n
//
// Every output is cut into tiles whose boundaries depend on the shape alone, and
// every tile has one owner that computes it from start to end. Results are thus
// equal to the last bit for any number of workers. A NaN or Inf in one row of A
// or B reaches only the rows and columns of C that this row contributes to.
//
// Inside a tile the arithmetic is gonum's (SSE2 on amd64), behind this package so
// that faster kernels can replace it without a change elsewhere.
package kernel
