package linalg

import (
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// smallVector is the length up to which gonum's loops are as fast as copies of vectors.
const smallVector = 24

// strided reports whether BLAS allows the vector, and its elements lie in ascending order.
func strided(n int, x []float64, inc int) bool { return inc > 0 && len(x) > (n-1)*inc }

// scaled copies factor times a vector of n elements, which in LAPACK mostly is a column of a matrix,
// to dst. A factor of 0 clears NaN too.
func scaled(dst []float64, n int, factor float64, x []float64, inc int) []float64 {
	dst = slices.Grow(dst[:0], n)[:n]
	if factor == 0 {
		clear(dst)
		return dst
	}
	for i := range dst {
		dst[i] = factor * x[i*inc]
	}
	return dst
}

func unpack(y []float64, inc int, src []float64) {
	for i, v := range src {
		y[i*inc] = v
	}
}

// Dgemv is y = alpha·op(A)·x + beta·y.
func (b *backend) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	_, ok := view(blas.NoTrans, m, n, a, lda)
	longX, longY := n, m
	if tA != blas.NoTrans {
		longX, longY = m, n
		ok = ok && (tA == blas.Trans || tA == blas.ConjTrans)
	}
	if min(m, n) < 1 || n <= smallVector || !ok || !strided(longX, x, incX) || !strided(longY, y, incY) || alpha == 0 {
		b.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	d := b.desks.Get().(*desk)
	d.x, d.y = scaled(d.x, longX, alpha, x, incX), scaled(d.y, longY, beta, y, incY)
	if tA == blas.NoTrans {
		kernel.Gemv(1, m, n, a, lda, d.x, d.y)
	} else {
		for i, v := range d.x {
			kernel.Axpy(v, a[i*lda:][:n], d.y)
		}
	}
	unpack(y, incY, d.y)
	b.desks.Put(d)
}

// Dsymv is y = alpha·A·x + beta·y, one triangle of the symmetric A given. Each row of it is read once.
func (b *backend) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	_, ok := view(blas.NoTrans, n, n, a, lda)
	if n <= smallVector || !ok || !isTriangle(ul) || !strided(n, x, incX) || !strided(n, y, incY) || alpha == 0 {
		b.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	d := b.desks.Get().(*desk)
	d.x, d.y = scaled(d.x, n, alpha, x, incX), scaled(d.y, n, beta, y, incY)
	for i := range n {
		from, to := i+1, n
		if ul == blas.Lower {
			from, to = 0, i
		}
		row := a[i*lda:][from:to]
		sum := a[i*lda+i]*d.x[i] + kernel.Dot(row, d.x[from:to])
		kernel.Axpy(d.x[i], row, d.y[from:to])
		d.y[i] += sum
	}
	unpack(y, incY, d.y)
	b.desks.Put(d)
}
