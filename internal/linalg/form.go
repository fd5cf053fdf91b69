package linalg

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// form is a symmetric matrix A as a [Smallest] works with it. Vectors are rows.
type form interface {
	// times adds X·A to Y.
	times(y, x kernel.Matrix[float64])
	// factor makes B = A − σI + VᵀV ready for what follows, and reports whether it is positive
	// definite.
	factor(sigma float64, v kernel.Matrix[float64]) bool
	// solve overwrites the rows of X with X·B⁻¹.
	solve(x kernel.Matrix[float64])
	// inner writes V·B⁻¹·Vᵀ to the upper triangle of g; it may use V up, which is factor's.
	inner(g, v kernel.Matrix[float64])
	// settle makes rows vectors of the form: it may hold more numbers than a vector has coordinates, which
	// then follow from the first.
	settle(x kernel.Matrix[float64])
	// residuals puts rows in place of residuals that stand for the same, and writes their lengths.
	residuals(r kernel.Matrix[float64], lengths []float64)
}

// whole is a matrix of n×n numbers.
type whole struct {
	n    int
	team *kernel.Team
	a    []float64 // symmetric in full, scaled; n×n
	u    []float64 // B, factored as UᵀU; or the dense solver's
}

func (f *whole) matrix() kernel.Matrix[float64] { return kernel.RowMajor(f.a, f.n, f.n, f.n) }
func (f *whole) root() kernel.Matrix[float64]   { return kernel.RowMajor(f.u, f.n, f.n, f.n) }

func (f *whole) times(y, x kernel.Matrix[float64]) { kernel.Gemm(f.team, 1, x, f.matrix(), y) }

func (f *whole) factor(sigma float64, v kernel.Matrix[float64]) bool {
	n := f.n
	for i := range n {
		copy(f.u[i*n+i:(i+1)*n], f.a[i*n+i:])
		f.u[i*n+i] -= sigma
	}
	if v.Rows > 0 {
		kernel.Syrk(f.team, 1, v.Trans(), f.root())
	}
	at, _ := factor(f.team, f.root())
	return at < 0
}

func (f *whole) solve(x kernel.Matrix[float64]) {
	solveTrans(f.team, f.root(), false, x.Trans())
	solve(f.team, f.root(), false, x.Trans())
}

func (f *whole) inner(g, v kernel.Matrix[float64]) {
	solveTrans(f.team, f.root(), false, v.Trans())
	kernel.Syrk(f.team, 1, v, g)
}

func (f *whole) settle(kernel.Matrix[float64]) {}
func (f *whole) residuals(r kernel.Matrix[float64], lengths []float64) {
	rowLengths(r, lengths)
}

// rowLengths writes the lengths of the rows.
func rowLengths(r kernel.Matrix[float64], lengths []float64) {
	for i := range r.Rows {
		lengths[i] = norm2(r.Data[i*r.RowStride:][:r.Cols])
	}
}
