package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// tile is the side of an output tile: gonum's own block size, so that a tile is one
// block to Dgemm, which then neither starts goroutines nor splits it. For 64×64×256
// products 64×192 tiles and plain rows of Ddot were level with it at 7 to 8 GFLOP/s a
// core; 2×4 and 4×4 register blocks in pure Go gave 3 to 6.
const tile = 64

// Syrk adds X·Xᵀ to the upper triangle of g: g[i*ldg+j] += Σ_k x[i*ldx+k]·x[j*ldx+k]
// for i ≤ j < d and k < rows. The strict lower triangle of g is not touched.
// x is d×rows with ldx ≥ rows (a column-major chunk of d columns), ldg ≥ d.
// Costs rows·d² flops (symmetry used); workers as in [Each].
func Syrk(workers, rows, d int, x []float64, ldx int, g []float64, ldg int) {
	if rows == 0 || d == 0 {
		return
	}
	n := tiles(d)
	Each(workers, n*(n+1)/2, func(t int) {
		// Tile t of the upper triangle, row of tiles by row of tiles.
		ti, left := 0, n
		for t >= left {
			t, ti, left = t-left, ti+1, left-1
		}
		i, j := ti*tile, (ti+t)*tile
		h, w := min(tile, d-i), min(tile, d-j)
		if i != j {
			gemmNT(h, w, rows, x[i*ldx:], ldx, x[j*ldx:], ldx, g[i*ldg+j:], ldg)
			return
		}
		for r := i; r < i+h; r++ { // the diagonal tile, row by row from its diagonal on
			gemmNT(1, i+h-r, rows, x[r*ldx:], ldx, x[r*ldx:], ldx, g[r*ldg+r:], ldg)
		}
	})
}

// GemmNT adds A·Bᵀ to the m×n matrix c; a is m×k, b is n×k. Costs 2·m·n·k flops.
func GemmNT(workers, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	eachTile(workers, m, n, k, func(i, j, h, w int) {
		gemmNT(h, w, k, a[i*lda:], lda, b[j*ldb:], ldb, c[i*ldc+j:], ldc)
	})
}

// Gemm adds A·B to the m×n matrix c; a is m×k, b is k×n. Costs 2·m·n·k flops.
//
// Every tile copies its columns of B, deep rows at a time, into rows that gemmNT
// takes: gonum's product of two untransposed matrices is made of Daxpy, and reached
// 1.8 GFLOP/s where this reaches that of GemmNT.
func Gemm(workers, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	const deep = 256
	eachTile(workers, m, n, k, func(i, j, h, w int) {
		packed := make([]float64, w*min(deep, k))
		for from := 0; from < k; from += deep {
			rows := min(deep, k-from)
			for l := range rows {
				for q, x := range b[(from+l)*ldb+j:][:w] {
					packed[q*rows+l] = x
				}
			}
			gemmNT(h, w, rows, a[i*lda+from:], lda, packed, rows, c[i*ldc+j:], ldc)
		}
	})
}

// Gemv adds A·x to y; a is m×n, and for a symmetric matrix stored in full this is
// Symv. Costs 2·m·n flops and one reading of a.
func Gemv(workers, m, n int, a []float64, lda int, x, y []float64) {
	if n == 0 {
		return
	}
	Each(workers, tiles(m), func(t int) {
		for i := t * tile; i < min(m, (t+1)*tile); i++ {
			y[i] += Dot(a[i*lda:i*lda+n], x[:n])
		}
	})
}

// Dot returns Σ x[i]·y[i]; y is as long as x.
func Dot(x, y []float64) float64 {
	return gonum.Implementation{}.Ddot(len(x), x, 1, y, 1)
}

// Axpy adds alpha·x to y, which is as long as x.
func Axpy(alpha float64, x, y []float64) {
	gonum.Implementation{}.Daxpy(len(x), alpha, x, 1, y, 1)
}

// eachTile hands out the tiles of an m×n output: h×w at (i, j).
func eachTile(workers, m, n, k int, product func(i, j, h, w int)) {
	if k == 0 {
		return
	}
	across := tiles(n)
	Each(workers, tiles(m)*across, func(t int) {
		i, j := t/across*tile, t%across*tile
		product(i, j, min(tile, m-i), min(tile, n-j))
	})
}

// gemmNT is the product of one tile: h, w ≤ tile, so gonum runs it on this goroutine.
// This branch of Dgemm is made of dot products and skips nothing.
func gemmNT(h, w, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	gonum.Implementation{}.Dgemm(blas.NoTrans, blas.Trans, h, w, k, 1, a, lda, b, ldb, 1, c, ldc)
}
