package linalg

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// NewPencil returns a LowRank for the pencil Aw = λMw with the metric M = ρI + UᵀU, ρ > 0. U is scale times the n×d
// matrix of the columns in u. The LowRank keeps u. The eigenvectors w of the pencil are scaled to wᵀMw = 1.
//
// A vector w is represented by the d + n numbers x = (√ρ·w, Uw). The scalar product of two representations is that of
// the metric: xᵀy = wᵀMv if y represents v. Let P be the projection on the space of all representations. The matrix
// that a [Smallest] sees is PĜP with a block diagonal
//
//	Ĝ = D/ρ ⊕ T,  xᵀĜy = wᵀAv,
//
// so that products are cheap, and U is needed only to compute representations. Products with Ĝ, and residuals, may
// differ from the exact ones by a vector that P removes. A row (b₁, b₂) of d + n numbers represents b = √ρ·b₁ + Uᵀb₂,
// because its scalar product with the representation of any w is bᵀw. The alternative, the matrix M^(−1/2)AM^(−1/2),
// had two disadvantages: a product read U twice as often, and the roots of M were exact only after the rows of U had
// been made orthogonal, at a cost of 3·n²·d flops.
//
// squares are the squared lengths of the d columns in u. NewPencil computes UUᵀ approximately in n²·d flops. dual must
// return Σ uuᵀ over the columns without approximation. It is called only in rare cases (see [reducedPencil]).
func NewPencil(team *kernel.Team, u Columns, d, n int, scale float64, squares []float64, dual func() []float64, rho float64) *LowRank {
	a := &LowRank{scaledColumns: scaledColumns{team: team, d: d, n: n, u: u, scale: scale, squares: make([]float64, d)}, rho: rho, metric: true, exactGram: dual}
	for i, v := range squares {
		a.squares[i] = scale * scale * v
	}
	a.uu = kernel.RowMajor(make([]float64, n*n), n, n, n)
	ones := slices.Repeat([]float64{1}, d)
	a.uuError = a.addRoughSum(a.uu, 1, a.allFeatures(), ones, a.weightedTrace(ones)/float64(n))
	kernel.MirrorUpper(team.Threads(), a.uu)
	return a
}

// prepareMetric factors ρI + UUᵀ in its first call. The factor is needed to compute lengths in the norm of M⁻¹.
func (a *LowRank) prepareMetric() error {
	if a.metricFactor.Order() > 0 {
		return nil
	}
	metric := kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
	for i, v := range a.exactGram() {
		metric.Data[i] = a.scale * a.scale * v
	}
	for i := range a.n {
		metric.Data[i*a.n+i] += a.rho
	}
	if err := a.metricFactor.Factor(a.team, metric); err != nil {
		return fmt.Errorf("metric: %w", err)
	}
	return nil
}

// SetSmooth sets T = share·(I − HᵀH) of a pencil. T must be positive semidefinite. SetSmooth keeps the m×n matrix H,
// and costs n²·m flops.
func (a *LowRank) SetSmooth(share float64, h kernel.Matrix[float64]) error {
	if i, _ := firstNotFinite(h); i >= 0 || share-share != 0 {
		return fmt.Errorf("middle of the matrix: %w", ErrNotFinite)
	}
	a.share, a.smooth, a.tau = share, h, nil
	a.middle = kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
	kernel.Syrk(a.team, -share, h.Trans(), a.middle)
	kernel.MirrorUpper(a.team.Threads(), a.middle)
	for i := range a.n {
		a.middle.Data[i*a.n+i] += share
	}
	a.top, a.plainTop = a.topPencilEigenvalues()
	return nil
}

// Vectors returns the vectors w for representations x, see [NewPencil]. A column x has d + n numbers, a row w has d.
func (a *LowRank) Vectors(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	w := kernel.RowMajor(make([]float64, x.Cols*a.d), x.Cols, a.d, a.d)
	kernel.Copy(w, x.Sub(0, 0, a.d, x.Cols).Trans())
	if a.metric {
		scaleRows(w, 1/math.Sqrt(a.rho))
	}
	return w
}

// completeVectors implements matrixForm. It computes Uw, the last n numbers of each row, from the vector w before them.
func (a *LowRank) completeVectors(x kernel.Matrix[float64]) {
	if !a.metric {
		return
	}
	down := x.Sub(0, a.d, x.Rows, a.n)
	for i := range x.Rows {
		clear(down.Data[i*down.RowStride:][:a.n])
	}
	a.addTimesUTransposed(1/math.Sqrt(a.rho), x.Sub(0, 0, x.Rows, a.d), down)
}

// rightHandSides returns the vectors b that the rows of x represent, in new memory, see [NewPencil].
func (a *LowRank) rightHandSides(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	b := copyRows(x.Sub(0, 0, x.Rows, a.d))
	if !a.metric {
		return b
	}
	scaleRows(b, math.Sqrt(a.rho))
	rest := copyRows(x.Sub(0, a.d, x.Rows, a.n))
	if maxAbs(rest.Data) > 0 {
		a.addTimesU(1, rest, b)
	}
	return b
}

// measureResiduals implements matrixForm. It replaces a row that represents the vector b, see [NewPencil], by the
// equivalent row (b/√ρ, 0). The length is the norm of b for M⁻¹ = (I − Uᵀ(ρI + UUᵀ)⁻¹U)/ρ.
func (a *LowRank) measureResiduals(r kernel.Matrix[float64], lengths []float64) {
	if !a.metric {
		writeRowLengths(r, lengths)
		return
	}
	b := a.rightHandSides(r)
	scaleRows(b, 1/math.Sqrt(a.rho))
	c := a.TimesUTransposed(b)
	a.metricFactor.HalfSolveTo(a.team, c.Trans(), c.Trans())
	for i := range r.Rows {
		row, own := r.Data[i*r.RowStride:][:a.d+a.n], b.Data[i*a.d:(i+1)*a.d]
		copy(row, own)
		clear(row[a.d:])
		// The length is the root of a difference of squares. Its error is thus at most 2⁻²⁶ of the length of b/√ρ.
		gone := c.Data[i*a.n : (i+1)*a.n]
		lengths[i] = math.Sqrt(max(kernel.Dot(own, own)-kernel.Dot(gone, gone), 0))
	}
}

// minShiftDistance is the smallest distance of a shift from the spectrum of a pencil, as a share of T's largest
// eigenvalue. If D is negligible, the entries of the diagonal E, see [LowRank], are ρ times that distance.
const minShiftDistance = 1e-4

func (a *LowRank) addPencilProduct(y, x kernel.Matrix[float64]) {
	for i := range x.Rows {
		to, row := y.Data[i*y.RowStride:][:a.d], x.Data[i*x.RowStride:]
		for j, v := range a.diag {
			to[j] += v * row[j] / a.rho
		}
	}
	kernel.Gemm(a.team, 1, x.Sub(0, a.d, x.Rows, a.n), a.middle, y.Sub(0, a.d, x.Rows, a.n))
}

// diagonalLowerBound returns a lower bound on the norm that follows from D alone, see [LowRank] for A = D + UᵀTU. For
// any n + 1 features there is a vector w with Uw = 0 that is 0 at all other features. T does not contribute to wᵀAw, so
// wᵀAw depends on D alone.
func (a *LowRank) diagonalLowerBound() float64 {
	if a.d <= a.n {
		return 0
	}
	sorted := slices.Clone(a.diag)
	slices.Sort(sorted)
	return sorted[a.d-a.n-1] / a.rho
}

// roundingScale returns the size s of the terms whose rounding limits the precision of a residual: its tolerance is
// 16√d·2⁻⁵³·s. Without the metric, s is the norm of the matrix. With the metric, the error of Uw counts too, see
// [NewPencil] for U, w and ρ. For features of length 1 it is about 2⁻⁵³·√(d/ρ), because |U|² ≤ d and |w| ≤ 1/√ρ; the
// tolerance is at least 4·top times this.
func (a *LowRank) roundingScale() float64 {
	if !a.metric {
		return a.Norm()
	}
	return max(a.Norm(), a.top/(4*math.Sqrt(a.rho)))
}

// topPencilEigenvalues returns lower bounds on the largest eigenvalue for D = 0: top with the metric, and plain without
// it. It uses power iteration with w = Uᵀy and z = Uw = UUᵀy.
func (a *LowRank) topPencilEigenvalues() (top, plain float64) {
	const steps, columns = 20, 8
	z := kernel.RowMajor(make([]float64, columns*a.n), columns, a.n, a.n)
	for i := range z.Data {
		z.Data[i] = math.Sin(float64(i + 1))
	}
	for range steps {
		y := MultiplyMatrices(a.team, z, a.middle)
		z = MultiplyMatrices(a.team, y, a.uu)
		tz := MultiplyMatrices(a.team, z, a.middle)
		for i := range columns {
			row := z.Data[i*a.n : (i+1)*a.n]
			value, square := kernel.Dot(row, tz.Data[i*a.n:(i+1)*a.n]), kernel.Dot(row, y.Data[i*a.n:(i+1)*a.n])
			if !(square > 0) {
				continue
			}
			plain, top = max(plain, value/square), max(top, value/(a.rho*square+kernel.Dot(row, row)))
			length := norm2(row)
			for j := range row {
				row[j] /= length
			}
		}
	}
	return top, plain
}

// solveInFull computes the eigenpairs of a pencil from full d×d matrices, by a Cholesky factor of the metric M.
func (a *LowRank) solveInFull(l int, opt EigenOptions) (Eigen, error) {
	d := a.d
	square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, d*d), d, d, d) }
	metric, full := square(), square()
	u := kernel.RowMajor(make([]float64, d*a.n), d, a.n, a.n)
	a.eachPanel(func(from int, some kernel.Matrix[float64]) { copy(u.Data[from*a.n:], some.Data[:some.Rows*a.n]) })
	kernel.Gemm(a.team, a.scale*a.scale, u, u.Trans(), metric)
	a.addTimesU(1, MultiplyMatrices(a.team, scaledRowCopy(u, a.scale), a.middle), full)
	for i := range d {
		metric.Data[i*d+i] += a.rho
		full.Data[i*d+i] += a.diag[i]
	}
	var c Cholesky
	if err := c.Factor(a.team, metric); err != nil {
		return Eigen{}, fmt.Errorf("metric: %w", err)
	}
	c.HalfSolveTo(a.team, full, full)
	c.HalfSolveTo(a.team, full.Trans(), full.Trans())
	e, err := NewSmallest(a.team, d, l, opt).Solve(full, kernel.Matrix[float64]{})
	if err != nil {
		return e, err
	}
	c.BackSolveTo(a.team, e.Basis, e.Basis)
	basis := kernel.RowMajor(make([]float64, e.Basis.Cols*(d+a.n)), e.Basis.Cols, d+a.n, d+a.n)
	kernel.Copy(basis.Sub(0, 0, basis.Rows, d), e.Basis.Trans())
	scaleRows(basis.Sub(0, 0, basis.Rows, d), math.Sqrt(a.rho))
	a.completeVectors(basis)
	e.Basis = kernel.RowMajor(make([]float64, len(basis.Data)), d+a.n, basis.Rows, basis.Rows)
	kernel.Copy(e.Basis, basis.Trans())
	e.Vectors = e.Basis.Sub(0, 0, d+a.n, l)
	return e, nil
}

func scaledRowCopy(x kernel.Matrix[float64], factor float64) kernel.Matrix[float64] {
	y := copyRows(x)
	scaleRows(y, factor)
	return y
}
