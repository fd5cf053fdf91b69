package linalg

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// UseKernels makes gonum's blas64 and blas32, and with them lapack64 and mat, use the products of package kernel in the
// whole process, with the given number of workers (0 means GOMAXPROCS). It replaces GEMM and SYRK, and in float64 also
// TRSM, SYR2K, GEMV and SYMV. Small products still run in gonum, and so do invalid arguments, for which gonum panics.
// Goroutines may call products concurrently. Each product uses its own team of workers.
//
// Only a main function should call UseKernels. If [kernel.InstructionSet] fails, gonum's BLAS is left unchanged.
func UseKernels(workers int) error {
	if _, err := kernel.InstructionSet(); err != nil {
		return err
	}
	b := newBackend(workers)
	blas64.Use(b)
	blas32.Use(b)
	return nil
}

// backend is gonum's implementation with most products of BLAS levels 2 and 3 replaced.
type backend struct {
	gonum.Implementation
	workspaces sync.Pool
}

var (
	_ blas.Float64 = (*backend)(nil)
	_ blas.Float32 = (*backend)(nil)
)

// workspace contains the team and the scratch memory of one product. Only one product uses it at a time. After a panic
// it is not returned to the pool, because its workers may still be running.
type workspace struct {
	team *kernel.Team
	f64  [tileOrder * tileOrder]float64
	f32  [tileOrder * tileOrder]float32
	x, y []float64 // copies of vectors
}

// tileOrder is the order of the diagonal blocks into which one triangle of a symmetric product is divided. These blocks
// are computed in full. For a product of order n with k terms in each sum, both triangles of the blocks cost about
// n·k·tileOrder/2 multiplications more than the n²·k/2 of one triangle.
const tileOrder = 64

func newBackend(workers int) *backend {
	b := &backend{}
	b.workspaces.New = func() any { return &workspace{team: kernel.NewTeam(workers)} }
	return b
}

// smallProduct is the number of multiplications below which gonum's loops are faster than kernels with packing.
const smallProduct = 20 * 20 * 20

func isSmallProduct(m, n, k int) bool {
	return min(m, n, k) <= 0 || float64(m)*float64(n)*float64(k) < smallProduct
}

// checkedView returns op(A), the matrix A or its transpose depending on t, as a view with the given rows and columns.
// It reports whether BLAS allows the arguments. If not, the caller passes them to gonum, whose panic names the fault.
func checkedView[T kernel.Float](t blas.Transpose, rows, cols int, data []T, ld int) (kernel.Matrix[T], bool) {
	m := kernel.RowMajor(data, rows, cols, ld)
	switch t {
	case blas.NoTrans:
	case blas.Trans, blas.ConjTrans:
		m = kernel.RowMajor(data, cols, rows, ld).Trans()
		rows, cols = cols, rows
	default:
		return m, false
	}
	return m, ld >= max(1, cols) && len(data) >= ld*(rows-1)+cols
}

// scaleRowRanges multiplies the entries from(i) ≤ j < to(i) of each row i of C by beta. A beta of 0 also clears NaN.
func scaleRowRanges[T kernel.Float](beta T, c kernel.Matrix[T], from, to func(i int) int) {
	if beta == 1 {
		return
	}
	for i := range c.Rows {
		row := c.Data[i*c.RowStride:][from(i):to(i)]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

func constantColumn(j int) func(int) int { return func(int) int { return j } }
func diagonalColumn(i int) int           { return i }
func columnPastDiagonal(i int) int       { return i + 1 }

func isUpperOrLower(ul blas.Uplo) bool { return ul == blas.Upper || ul == blas.Lower }

func scaleTriangle[T kernel.Float](beta T, ul blas.Uplo, c kernel.Matrix[T]) {
	if ul == blas.Upper {
		scaleRowRanges(beta, c, diagonalColumn, constantColumn(c.Cols))
	} else {
		scaleRowRanges(beta, c, constantColumn(0), columnPastDiagonal)
	}
}

func tryGemm[T kernel.Float](b *backend, tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, bb []T, ldb int, beta T, c []T, ldc int) bool {
	if isSmallProduct(m, n, k) {
		return false
	}
	va, okA := checkedView(tA, m, k, a, lda)
	vb, okB := checkedView(tB, k, n, bb, ldb)
	vc, okC := checkedView(blas.NoTrans, m, n, c, ldc)
	if !okA || !okB || !okC {
		return false
	}
	scaleRowRanges(beta, vc, constantColumn(0), constantColumn(n))
	if alpha != 0 {
		d := b.workspaces.Get().(*workspace)
		kernel.Gemm(d.team, alpha, va, vb, vc)
		b.workspaces.Put(d)
	}
	return true
}

func trySyrk[T kernel.Float](b *backend, ul blas.Uplo, tA blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) bool {
	va, okA := checkedView(tA, n, k, a, lda)
	vc, okC := checkedView(blas.NoTrans, n, n, c, ldc)
	if n <= 0 || k < 0 || !isUpperOrLower(ul) || !okA || !okC {
		return false
	}
	if beta == 0 {
		// For small products gonum's SYRK keeps NaN in a lower triangle of Aᵀ·A.
		scaleTriangle(beta, ul, vc)
		beta = 1
	}
	if isSmallProduct(n, n, k) {
		return false
	}
	scaleTriangle(beta, ul, vc)
	if alpha == 0 {
		return true
	}
	d := b.workspaces.Get().(*workspace)
	if ul == blas.Upper {
		kernel.Syrk(d.team, alpha, va, vc)
	} else {
		addTriangle(d, ul, vc, 0, func(c kernel.Matrix[T], i, j int) {
			kernel.Gemm(d.team, alpha, va.Sub(i, 0, c.Rows, k), va.Sub(j, 0, c.Cols, k).Trans(), c)
		})
	}
	b.workspaces.Put(d)
	return true
}

// addTriangle adds a symmetric product to one triangle of the square matrix c. c is the diagonal block of a larger
// matrix C that starts in row and column `at`. add(part, i, j) must add the product to part, the block of C that starts
// in row i and column j.
func addTriangle[T kernel.Float](d *workspace, ul blas.Uplo, c kernel.Matrix[T], at int, add func(c kernel.Matrix[T], i, j int)) {
	n := c.Rows
	if n > tileOrder {
		h := halfOrder(n)
		addTriangle(d, ul, c.Sub(0, 0, h, h), at, add)
		if ul == blas.Upper {
			add(c.Sub(0, h, h, n-h), at, at+h)
		} else {
			add(c.Sub(h, 0, n-h, h), at+h, at)
		}
		addTriangle(d, ul, c.Sub(h, h, n-h, n-h), at+h, add)
		return
	}
	var p any = &d.f64
	var full []T
	if f, ok := p.(*[tileOrder * tileOrder]T); ok {
		full = f[:n*n]
	} else {
		p = &d.f32
		full = p.(*[tileOrder * tileOrder]T)[:n*n]
	}
	clear(full)
	add(kernel.RowMajor(full, n, n, n), at, at)
	for i := range n {
		from, to := i, n
		if ul == blas.Lower {
			from, to = 0, i+1
		}
		row := c.Data[i*c.RowStride:][:n]
		for j := from; j < to; j++ {
			row[j] += full[i*n+j]
		}
	}
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, see [blas.Float64Level3].
func (b *backend) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, bb []float64, ldb int, beta float64, c []float64, ldc int) {
	if !tryGemm(b, tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

func (b *backend) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, bb []float32, ldb int, beta float32, c []float32, ldc int) {
	if !tryGemm(b, tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

// Dsyrk computes one triangle of C = alpha·op(A)·op(A)ᵀ + beta·C.
func (b *backend) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !trySyrk(b, ul, tA, n, k, alpha, a, lda, beta, c, ldc) {
		b.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

func (b *backend) Ssyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !trySyrk(b, ul, tA, n, k, alpha, a, lda, beta, c, ldc) {
		b.Implementation.Ssyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyr2k computes one triangle of C = alpha·op(A)·op(B)ᵀ + alpha·op(B)·op(A)ᵀ + beta·C.
func (b *backend) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, bb []float64, ldb int, beta float64, c []float64, ldc int) {
	va, okA := checkedView(tA, n, k, a, lda)
	vb, okB := checkedView(tA, n, k, bb, ldb)
	vc, okC := checkedView(blas.NoTrans, n, n, c, ldc)
	if isSmallProduct(n, n, k) || !isUpperOrLower(ul) || !okA || !okB || !okC {
		b.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
		return
	}
	scaleTriangle(beta, ul, vc)
	if alpha == 0 {
		return
	}
	d := b.workspaces.Get().(*workspace)
	addTriangle(d, ul, vc, 0, func(c kernel.Matrix[float64], i, j int) {
		kernel.Gemm(d.team, alpha, va.Sub(i, 0, c.Rows, k), vb.Sub(j, 0, c.Cols, k).Trans(), c)
		kernel.Gemm(d.team, alpha, vb.Sub(i, 0, c.Rows, k), va.Sub(j, 0, c.Cols, k).Trans(), c)
	})
	b.workspaces.Put(d)
}

// Dtrsm solves op(A)·X = alpha·B or X·op(A) = alpha·B for a triangular A, and overwrites B by X.
func (b *backend) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, diag blas.Diag, m, n int, alpha float64, a []float64, lda int, bb []float64, ldb int) {
	order, others := m, n
	if s == blas.Right {
		order, others = n, m
	}
	u, okA := checkedView(tA, order, order, a, lda)
	vb, okB := checkedView(blas.NoTrans, m, n, bb, ldb)
	okSide := s == blas.Left || s == blas.Right
	okDiag := diag == blas.Unit || diag == blas.NonUnit
	if isSmallProduct(order, order, others) || !okSide || !isUpperOrLower(ul) || !okDiag || !okA || !okB {
		b.Implementation.Dtrsm(s, ul, tA, diag, m, n, alpha, a, lda, bb, ldb)
		return
	}
	scaleRowRanges(alpha, vb, constantColumn(0), constantColumn(n))
	if alpha == 0 {
		return
	}
	// If op(A) multiplies X from the left, u is op(A). If it multiplies from the right, u is op(A)ᵀ, which multiplies Xᵀ
	// from the left.
	upper := (ul == blas.Upper) == (tA == blas.NoTrans)
	if s == blas.Right {
		u, vb, upper = u.Trans(), vb.Trans(), !upper
	}
	d := b.workspaces.Get().(*workspace)
	if upper {
		solveUpper(d.team, u, diag == blas.Unit, vb)
	} else {
		solveTrans(d.team, u.Trans(), diag == blas.Unit, vb)
	}
	b.workspaces.Put(d)
}
