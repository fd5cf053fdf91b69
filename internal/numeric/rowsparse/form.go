// Package rowsparse finds projections on c dimensions that use few features: the matrix W, d×c, that minimizes
//
//	Tr(WᵀMW) + γ‖W‖₂,₁   subject to WᵀW = I
//
// for a positive semidefinite d×d matrix M. An update computes the c eigenvectors of M + γD with the smallest
// eigenvalues, for D_ii = 1/(2√(‖wᵢ‖² + ε)) of the previous W. The constant ε = 1e-8 keeps D finite if a row of W is 0.
// With √(‖wᵢ‖² + ε) in place of ‖wᵢ‖ no update raises the objective. Updates and their solver are Yang, Shen, Ma, Huang
// and Zhou's, "ℓ2,1-norm regularized discriminative feature selection for unsupervised learning" (IJCAI 2011).
//
// [NewComponentSolver] does the same for M = −G and Σ‖wᵢ‖ᵖ with 0 < p ≤ 1. [Choice] is the problem in which only k rows of
// W may differ from 0.
package rowsparse

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// Matrix is a representation of the matrix M that the iterations use: [Full], d×d numbers, or [Product].
type Matrix interface {
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

// IsWide reports whether M is stored as a product with the n rows of the data, for d features. As for factors of Gram
// matrices, this is the case if n is at most half of d.
func IsWide(n int64, d int) bool { return 2*n <= int64(d) }

// pairCount returns the number of eigenpairs to compute. It is one more than the number of columns of W, because the
// next eigenvalue shows whether W is unique.
func pairCount(d, c int) int { return min(c+1, d) }

// Full stores M as d×d numbers.
type Full struct {
	d    int
	team *kernel.Team
	m, a []float64 // d×d: M with both triangles, and M + diag(q)
	eig  *linalg.Smallest
}

// NewFull returns the matrix of the d×d numbers in m, with both triangles, for a projection on c dimensions. It keeps m.
func NewFull(team *kernel.Team, m []float64, d, c int) *Full {
	return &Full{d: d, team: team, m: m, a: make([]float64, d*d), eig: linalg.NewSmallest(team, d, pairCount(d, c), linalg.EigenOptions{})}
}

func (f *Full) largestColumnNorm() (norm float64) {
	for i := range f.d {
		row := f.m[i*f.d:][:f.d]
		norm = max(norm, math.Sqrt(kernel.Dot(row, row)))
	}
	return norm
}

func (f *Full) smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	copy(f.a, f.m)
	for i, v := range q {
		f.a[i*f.d+i] += v
	}
	return f.eig.Solve(kernel.RowMajor(f.a, f.d, f.d, f.d), warm)
}

func (f *Full) traceCost(w kernel.Matrix[float64]) float64 {
	return kernel.Dot(w.Data, linalg.MultiplyMatrices(f.team, kernel.RowMajor(f.m, f.d, f.d, f.d), w).Data)
}

func (f *Full) inverseDiagonal(tau float64) ([]float64, error) {
	return linalg.InverseDiagonal(f.team, f.d, f.m, tau, f.a)
}

// Product represents M = XᵀLX by X and L, for data with few rows. [linalg.LowRank] needs a factor with orthogonal rows.
// Therefore X is written as VU, V being orthogonal and the rows of U orthogonal to each other (the principal axes of
// the data). Then M = UᵀTU with T = VᵀLV.
type Product struct {
	team    *kernel.Team
	axes    kernel.Matrix[float64] // V, n×n
	lv, mid kernel.Matrix[float64] // LV and T, n×n
	a       *linalg.LowRank
	eig     *linalg.Smallest
}

// NewProduct returns the matrix XᵀLX for a projection on c dimensions, and for the n×d matrix x, row-major. L is set by
// [Product.SetLaplacian]. It costs 2·n²·d flops, and the eigenvectors of an n×n matrix.
func NewProduct(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], c int) (*Product, error) {
	n, d := x.Rows, x.Cols
	f := &Product{team: team}
	u := f.layOut(nil, n, d)
	kernel.Syrk(team, 1, x, f.axes)
	kernel.MirrorUpper(team.Threads(), f.axes)
	lambda, err := linalg.SymmetricEigen(team, f.axes)
	if err != nil {
		return nil, fmt.Errorf("products of the rows: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	kernel.Gemm(team, 1, x.Trans(), f.axes, u)
	f.a, f.eig = linalg.NewLowRank(team, u, 1, lambda), linalg.NewSmallest(team, d, pairCount(d, c), linalg.EigenOptions{})
	return f, nil
}

func (f *Product) layOut(l *room.Layout, n, d int) (u kernel.Matrix[float64]) {
	f.axes, f.lv, f.mid = kernel.NewMatrix[float64](l, n, n), kernel.NewMatrix[float64](l, n, n), kernel.NewMatrix[float64](l, n, n)
	return kernel.NewMatrix[float64](l, d, n)
}

// SetLaplacian sets L, a symmetric n×n matrix, which it does not keep. It costs 4·n³ flops.
func (f *Product) SetLaplacian(l kernel.Matrix[float64]) error {
	linalg.MultiplyTo(f.team, f.lv, 1, l, f.axes)
	linalg.MultiplyTo(f.team, f.mid, 1, f.axes.Trans(), f.lv)
	linalg.Symmetrize(f.mid)
	if err := f.a.SetMiddle(f.mid); err != nil {
		return fmt.Errorf("the scatter of the rows: %w", err)
	}
	return nil
}

func (f *Product) largestColumnNorm() float64 { return f.a.LargestColumnNorm() }

func (f *Product) smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	f.a.SetDiagonal(append([]float64(nil), q...))
	return f.eig.SolveForm(f.a, warm)
}

func (f *Product) traceCost(w kernel.Matrix[float64]) float64 {
	rows := kernel.RowMajor(make([]float64, len(w.Data)), w.Cols, w.Rows, w.Rows)
	kernel.Copy(rows, w.Trans())
	return f.a.Trace(rows)
}

func (f *Product) inverseDiagonal(tau float64) ([]float64, error) { return f.a.DiagonalInverse(tau) }

// panelRows is the number of rows of LX that [WriteScatter] computes at a time. Their products are added up in order.
const panelRows = 256

// LayOutPanel takes the memory of [WriteScatter] for n rows of d features from l.
func LayOutPanel(l *room.Layout, n, d int) []float64 {
	return room.Slice[float64](l, min(panelRows, n)*d)
}

// WriteScatter writes M = XᵀLX to the d×d numbers of m, with both triangles, for the n×d matrix x, row-major, and a
// symmetric L. The function multiply must write h rows of LX, from row `first` on, to dst. panel is the result of
// [LayOutPanel]. It costs 2·n·d² flops in addition to LX. The error is the context's, or wraps [linalg.ErrNotFinite].
func WriteScatter(ctx context.Context, team *kernel.Team, m, panel []float64, x kernel.Matrix[float64], multiply func(dst []float64, first, h int)) error {
	n, d := x.Rows, x.Cols
	clear(m)
	for first := 0; first < n; first += panelRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		h := min(panelRows, n-first)
		multiply(panel, first, h)
		kernel.Gemm(team, 1, x.Sub(first, 0, h, d).Trans(), kernel.RowMajor(panel, h, d, d), kernel.RowMajor(m, d, d, d))
	}
	linalg.Symmetrize(kernel.RowMajor(m, d, d, d))
	for _, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the scatter of the rows: %w", linalg.ErrNotFinite)
		}
	}
	return nil
}
