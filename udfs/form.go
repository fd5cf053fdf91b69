package udfs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// form is the matrix M as the iterations use it.
type form interface {
	// norm is the largest norm of a column of M.
	norm() float64
	// smallest finds the eigenpairs of M + diag(q), for a q that it does not keep, with the smallest
	// eigenvalues.
	smallest(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error)
	// cost is Tr(WᵀMW) of a W, d×c.
	cost(w kernel.Matrix[float64]) float64
	// free is the diagonal of (M + τI)⁻¹ up to a factor.
	free(tau float64) ([]float64, error)
}

// isWide says that M goes by its n rows: as plans do for Gram matrices, where these are half as many as the
// features or fewer.
func isWide(n int64, d int) bool { return 2*n <= int64(d) }

// pairs is how many eigenpairs are found: one more than W has columns shows whether W is one of many.
func pairs(d, c int) int { return min(c+1, d) }

// inFull is M as d×d numbers.
type inFull struct {
	d    int
	team *kernel.Team
	m, a []float64 // d×d: M, symmetric in full, and M + diag(q)
	eig  *linalg.Smallest
}

func newInFull(team *kernel.Team, m []float64, d, c int) *inFull {
	return &inFull{d: d, team: team, m: m, a: make([]float64, d*d), eig: linalg.NewSmallest(team, d, pairs(d, c), linalg.EigenOptions{})}
}

func (f *inFull) norm() (norm float64) {
	for i := range f.d {
		row := f.m[i*f.d:][:f.d]
		norm = max(norm, math.Sqrt(kernel.Dot(row, row)))
	}
	return norm
}

func (f *inFull) smallest(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	copy(f.a, f.m)
	for i, v := range q {
		f.a[i*f.d+i] += v
	}
	return f.eig.Solve(kernel.RowMajor(f.a, f.d, f.d, f.d), warm)
}

func (f *inFull) cost(w kernel.Matrix[float64]) float64 {
	mw := kernel.RowMajor(make([]float64, f.d*w.Cols), f.d, w.Cols, w.Cols)
	kernel.Gemm(f.team, 1, kernel.RowMajor(f.m, f.d, f.d, f.d), w, mw)
	return kernel.Dot(w.Data, mw.Data)
}

func (f *inFull) free(tau float64) ([]float64, error) {
	d := f.d
	copy(f.a, f.m)
	for i := range d {
		f.a[i*d+i] += tau
	}
	var c linalg.Cholesky
	if err := c.Factor(f.team, kernel.RowMajor(f.a, d, d, d)); err != nil {
		return nil, err
	}
	x := kernel.RowMajor(f.a, d, d, d)
	clear(f.a)
	for i := range d {
		f.a[i*d+i] = 1
	}
	c.HalfSolveTo(f.team, x, x) // (M + τI)⁻¹ = XᵀX
	squares := make([]float64, d)
	for i := range d {
		for j, v := range f.a[i*d:][:d] {
			squares[j] += v * v
		}
	}
	return squares, nil
}

// byRows is M = XᵀLX of few rows, as X and L. [linalg.LowRank] wants orthogonal rows: X = VU for the
// principal axes V of the rows, and M = UᵀTU with T = VᵀLV.
type byRows struct {
	a   *linalg.LowRank
	t   kernel.Matrix[float64] // T
	eig *linalg.Smallest
}

func newByRows(ctx context.Context, team *kernel.Team, x kernel.Matrix[float64], p *patches, c int) (*byRows, error) {
	n, d := x.Rows, x.Cols
	square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, n*n), n, n, n) }
	axes := square()
	kernel.Syrk(team, 1, x, axes)
	kernel.Mirror(team.Threads(), axes)
	lambda, err := linalg.SymmetricEigen(team, axes)
	if err != nil {
		return nil, fmt.Errorf("udfs: products of the rows: %w", err)
	}
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u := kernel.RowMajor(make([]float64, d*n), d, n, n)
	kernel.Gemm(team, 1, x.Trans(), axes, u)
	lv, t := square(), square()
	kernel.Gemm(team, 1, p.laplacian(n), axes, lv)
	kernel.Gemm(team, 1, axes.Trans(), lv, t)
	symmetrize(t.Data, n)
	f := &byRows{a: linalg.NewLowRank(team, u, 1, lambda), t: t, eig: linalg.NewSmallest(team, d, pairs(d, c), linalg.EigenOptions{})}
	if err := f.a.SetMiddle(t); err != nil {
		return nil, fmt.Errorf("udfs: the scatter of the patches: %w", err)
	}
	return f, nil
}

func (f *byRows) norm() (norm float64) {
	for _, square := range f.a.Quadratic(f.a.Between(f.t)) {
		norm = max(norm, math.Sqrt(max(square, 0)))
	}
	return norm
}

func (f *byRows) smallest(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	f.a.SetDiagonal(append([]float64(nil), q...))
	return f.eig.SolveForm(f.a, warm)
}

func (f *byRows) cost(w kernel.Matrix[float64]) float64 {
	rows := kernel.RowMajor(make([]float64, len(w.Data)), w.Cols, w.Rows, w.Rows)
	kernel.Copy(rows, w.Trans())
	return f.a.Trace(rows)
}

func (f *byRows) free(tau float64) ([]float64, error) {
	diagonal, err := f.a.DiagonalInverse(tau)
	for i, v := range diagonal {
		diagonal[i] = max(v, 0)
	}
	return diagonal, err
}
