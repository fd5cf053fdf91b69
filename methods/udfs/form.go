package udfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// scatterForm is a representation of the matrix M that the iterations use: d×d numbers, or a product.
type scatterForm interface {
	// largestColumnNorm returns the largest norm of a column of M.
	largestColumnNorm() float64
	// smallestPairs computes the eigenpairs of M + diag(q) with the smallest eigenvalues. The iteration starts from the
	// columns of warm. q may be changed after the call.
	smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error)
	// traceCost returns Tr(WᵀMW) for W, d×c.
	traceCost(w kernel.Matrix[float64]) float64
	// inverseDiagonal returns a multiple of the diagonal of (M + τI)⁻¹.
	inverseDiagonal(tau float64) ([]float64, error)
}

// isWide reports whether M is stored as a product with the n rows of the data, for d features. As for factors of Gram
// matrices, this is the case if n is at most half of d.
func isWide(n int64, d int) bool { return 2*n <= int64(d) }

// pairCount returns the number of eigenpairs to compute. It is one more than the number of columns of W, because the
// next eigenvalue shows whether W is unique.
func pairCount(d, c int) int { return min(c+1, d) }

// fullForm stores M as d×d numbers.
type fullForm struct {
	d    int
	team *kernel.Team
	m, a []float64 // d×d: M with both triangles, and M + diag(q)
	eig  *linalg.Smallest
}

func newFullForm(team *kernel.Team, m []float64, d, c int) *fullForm {
	return &fullForm{d: d, team: team, m: m, a: make([]float64, d*d), eig: linalg.NewSmallest(team, d, pairCount(d, c), linalg.EigenOptions{})}
}

func (f *fullForm) largestColumnNorm() (norm float64) {
	for i := range f.d {
		row := f.m[i*f.d:][:f.d]
		norm = max(norm, math.Sqrt(kernel.Dot(row, row)))
	}
	return norm
}

func (f *fullForm) smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	copy(f.a, f.m)
	for i, v := range q {
		f.a[i*f.d+i] += v
	}
	return f.eig.Solve(kernel.RowMajor(f.a, f.d, f.d, f.d), warm)
}

func (f *fullForm) traceCost(w kernel.Matrix[float64]) float64 {
	return kernel.Dot(w.Data, linalg.MultiplyMatrices(f.team, kernel.RowMajor(f.m, f.d, f.d, f.d), w).Data)
}

func (f *fullForm) inverseDiagonal(tau float64) ([]float64, error) {
	return linalg.InverseDiagonal(f.team, f.d, f.m, tau, f.a)
}

// rowForm represents M = XᵀLX by X and L, for data with few rows. [linalg.LowRank] needs a factor with orthogonal rows.
// Therefore X is written as VU, V being orthogonal and the rows of U orthogonal to each other (the principal axes of
// the data). Then M = UᵀTU with T = VᵀLV.
type rowForm struct {
	a   *linalg.LowRank
	eig *linalg.Smallest
}

func newRowForm(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], p *patches, c int) (*rowForm, error) {
	n, d := x.Rows, x.Cols
	square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, n*n), n, n, n) }
	axes := square()
	kernel.Syrk(team, 1, x, axes)
	kernel.MirrorUpper(team.Threads(), axes)
	lambda, err := linalg.SymmetricEigen(team, axes)
	if err != nil {
		return nil, fmt.Errorf("udfs: products of the rows: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u := kernel.RowMajor(make([]float64, d*n), d, n, n)
	kernel.Gemm(team, 1, x.Trans(), axes, u)
	lv, t := square(), square()
	kernel.Gemm(team, 1, p.laplacianMatrix(n), axes, lv)
	kernel.Gemm(team, 1, axes.Trans(), lv, t)
	linalg.Symmetrize(t)
	f := &rowForm{a: linalg.NewLowRank(team, u, 1, lambda), eig: linalg.NewSmallest(team, d, pairCount(d, c), linalg.EigenOptions{})}
	if err := f.a.SetMiddle(t); err != nil {
		return nil, fmt.Errorf("udfs: the scatter of the patches: %w", err)
	}
	return f, nil
}

func (f *rowForm) largestColumnNorm() float64 { return f.a.LargestColumnNorm() }

func (f *rowForm) smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	f.a.SetDiagonal(append([]float64(nil), q...))
	return f.eig.SolveForm(f.a, warm)
}

func (f *rowForm) traceCost(w kernel.Matrix[float64]) float64 {
	rows := kernel.RowMajor(make([]float64, len(w.Data)), w.Cols, w.Rows, w.Rows)
	kernel.Copy(rows, w.Trans())
	return f.a.Trace(rows)
}

func (f *rowForm) inverseDiagonal(tau float64) ([]float64, error) { return f.a.DiagonalInverse(tau) }
