package linalg

import (
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// smallVector is the length up to which gonum's strided loops are as fast as copying the vectors first.
const smallVector = 24

func isForwardVector(n int, x []float64, inc int) bool { return inc > 0 && len(x) > (n-1)*inc }

// scaledCopy returns a contiguous copy of the n elements of x, multiplied by factor. It uses the memory of dst if that
// is large enough. The elements of x are inc apart. LAPACK mostly passes a column of a row-major matrix as x, which is
// slow to read repeatedly. If factor is 0, all results are 0, also for NaN.
func scaledCopy(dst []float64, n int, factor float64, x []float64, inc int) []float64 {
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

func copyToStrided(y []float64, inc int, src []float64) {
	for i, v := range src {
		y[i*inc] = v
	}
}

// Dgemv computes y = alpha·op(A)·x + beta·y.
func (b *backend) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	_, ok := checkedView(blas.NoTrans, m, n, a, lda)
	longX, longY := n, m
	if tA != blas.NoTrans {
		longX, longY = m, n
		ok = ok && (tA == blas.Trans || tA == blas.ConjTrans)
	}
	if min(m, n) < 1 || n <= smallVector || !ok || !isForwardVector(longX, x, incX) || !isForwardVector(longY, y, incY) || alpha == 0 {
		b.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	d := b.workspaces.Get().(*workspace)
	d.x, d.y = scaledCopy(d.x, longX, alpha, x, incX), scaledCopy(d.y, longY, beta, y, incY)
	if tA == blas.NoTrans {
		kernel.Gemv(1, m, n, a, lda, d.x, d.y)
	} else {
		for i, v := range d.x {
			kernel.Axpy(v, a[i*lda:][:n], d.y)
		}
	}
	copyToStrided(y, incY, d.y)
	b.workspaces.Put(d)
}

// Dsymv computes y = alpha·A·x + beta·y for a symmetric A given by one triangle. It reads each row of A once.
func (b *backend) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	_, ok := checkedView(blas.NoTrans, n, n, a, lda)
	if n <= smallVector || !ok || !isUpperOrLower(ul) || !isForwardVector(n, x, incX) || !isForwardVector(n, y, incY) || alpha == 0 {
		b.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	d := b.workspaces.Get().(*workspace)
	d.x, d.y = scaledCopy(d.x, n, alpha, x, incX), scaledCopy(d.y, n, beta, y, incY)
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
	copyToStrided(y, incY, d.y)
	b.workspaces.Put(d)
}
