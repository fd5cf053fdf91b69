package linalg

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// LowRank is a positive semidefinite d×d matrix, stored as a diagonal and a few rows instead of d² numbers:
//
//	A = D + UᵀTU,
//
// U is n×d with orthogonal rows. A LowRank can also represent the pencil Aw = λMw with a metric M = ρI + UᵀU, see
// [NewPencil]. The rows of U need not be orthogonal then.
//
// A [Smallest] factors F = A − σM + VᵀV. F has the same form as A: a diagonal E = D − σρI, and the rows of U and V with
// the matrix S = diag(T − σI, I) between them. Without a metric ρ is 1, and S = diag(T, I). Let W be the sum of uuᵀ/e
// over the columns u of U and V together, e being the column's entry of E. Woodbury's identity is
//
//	F⁻¹ = E⁻¹ − E⁻¹UᵀZUE⁻¹,  Z = (S⁻¹ + W)⁻¹,
//
// which must not be computed as a difference of large terms. Therefore S is split by the eigenvectors of T into
// positive and negative parts, S = S₊ − S₋. Adding S₊ = HᵀH to E gives Z₊ = Hᵀ(I + HWHᵀ)⁻¹H. S₋ = YΣYᵀ is subtracted:
//
//	Z = Z₊ − XᵀQ⁻¹X,  X = Yᵀ(I − WZ₊),  Q = Σ⁻¹ − Yᵀ(W − WZ₊W)Y,
//
// If E is positive, F is positive definite exactly if Q is. A few features may have an entry of E that is not positive
// or nearly 0. Let N be the list of these features, E_N their part of E, and U_N their columns of U. For them, systems
// are solved by the Schur complement E_N + U_NᵀZU_N instead of E.
//
// A product of A and a vector costs 4·n·d flops. With a metric this product does not read U, but a residual costs 4·n·d
// flops. Computing a factor of F costs n²·d flops. A product of F⁻¹ and a vector costs 4·n·d flops, or 6·n·d with a
// metric. Refining the solution costs more, see refineSolutions.
type LowRank struct {
	scaledColumns
	rho    float64
	metric bool

	lambda        []float64              // squared length of each row of U, from NewLowRank
	uu            kernel.Matrix[float64] // UUᵀ with an error of at most uuError, with a metric
	uuError       sumError
	metricFactor  Cholesky               // factor of ρI + UUᵀ, with a metric; empty until needed
	exactGram     func() []float64       // returns UUᵀ/scale² without rounding the columns, see NewPencil
	middle        kernel.Matrix[float64] // T
	share         float64                // T = share·(I − HᵀH), with a metric
	smooth        kernel.Matrix[float64] // H, m×n, with a metric
	tau           []float64              // eigenvalues of T, ascending; nil until needed
	middleVectors kernel.Matrix[float64] // eigenvectors of T, as rows
	top           float64                // a lower bound on the largest eigenvalue for D = 0
	plainTop      float64                // the same bound for the matrix without the metric
	diag          []float64              // D
	reduction     *reducedPencil
	norm          float64 // lower bound on the norm; negative until computed
}

// NewLowRank returns a LowRank without a metric. Its U is scale times the transpose of the d×n matrix u. It keeps u.
// The rows of U must be orthogonal, and lambda must contain the squares of their lengths; negative ones count as 0.
func NewLowRank(team *kernel.Team, u kernel.Matrix[float64], scale float64, lambda []float64) *LowRank {
	for i, v := range lambda {
		lambda[i] = max(v, 0)
	}
	return &LowRank{scaledColumns: scaledColumns{team: team, d: u.Rows, n: u.Cols, u: memoryColumns(u), scale: scale}, rho: 1, lambda: lambda}
}

// NewDeficit returns a LowRank for D − UᵀU, with T = −I. U is scale times the n×d matrix of the columns in u, which it
// keeps, and its rows need not be orthogonal. D, see [LowRank.SetDiagonal], must be so large that the matrix is
// positive semidefinite.
func NewDeficit(team *kernel.Team, u Columns, d, n int, scale float64) *LowRank {
	a := &LowRank{scaledColumns: scaledColumns{team: team, d: d, n: n, u: u, scale: scale}, rho: 1}
	a.middle, a.tau = kernel.RowMajor(make([]float64, n*n), n, n, n), slices.Repeat([]float64{-1}, n)
	for i := range n {
		a.middle.Data[i*n+i] = -1
	}
	a.middleVectors = a.middle
	return a
}

// LowRankBytes bounds the memory of a LowRank of n rows and d columns, without U and UUᵀ, while it processes the given
// number of vectors. The bound includes six blocks of vectors. For a factor it includes 13 matrices of order n + vectors
// at most, and matrices of near features. A pencil releases its reduction before it computes a factor. The reduction
// needs more memory than a factor only for few rows.
func LowRankBytes(n, d, vectors int) int64 {
	size := n + vectors
	return room.Measure(func(l *room.Layout) {
		room.Slice[float64](l, 6*vectors*d+5*d+lowRankBlock*n)
		l.Phase(func() {
			layOutReduction(l, maxStretches, n, vectors)
			kernel.NewMatrix[float64](l, n, n) // T
			l.Phase(func() { (&searchSpace{n: n, p: min(n, vectors+2)}).layOut(l, maxPanels) })
			kernel.NewMatrix[float64](l, n+2*kernel.DeepestWhole, n) // scratch of sums
		})
		room.Slice[float64](l, 13*size*size+2*maxNearFeatures*size)
		new(Cholesky).LayOut(l, maxNearFeatures)
	})
}

const (
	// lowRankBlock is the number of features that are scaled at a time.
	lowRankBlock = 256
	// nearShare is the share of the largest entry of E, see [LowRank], up to which another entry counts as nearly 0.
	// maxNearFeatures limits the number of such entries.
	nearShare       = 1e-4
	maxNearFeatures = 1024
)

// Length returns the order of the matrix that a [Smallest] sees: d, or d + n with a metric.
func (a *LowRank) Length() int {
	if a.metric {
		return a.d + a.n
	}
	return a.d
}

// SetMiddle sets T of a LowRank without a metric, and keeps t. T is n×n, symmetric and positive semidefinite. SetMiddle
// computes all eigenpairs of T.
func (a *LowRank) SetMiddle(t kernel.Matrix[float64]) error {
	a.middle, a.tau = t, nil
	if i, _ := firstNotFinite(t); i >= 0 {
		return fmt.Errorf("middle of the matrix: %w", ErrNotFinite)
	}
	if !a.decomposeMiddle() {
		return ErrNoConvergence
	}
	a.plainTop = a.topEigenvalue(a.lambda)
	a.top = a.plainTop
	return nil
}

func (a *LowRank) decomposeMiddle() bool {
	if a.tau != nil {
		return true
	}
	vectors, tau := slices.Clone(a.middle.Data), make([]float64, a.n)
	if !symmetricEigen(a.team.Threads(), vectors, a.n, tau) {
		return false
	}
	for i, v := range tau {
		tau[i] = max(v, 0)
	}
	a.tau, a.middleVectors = tau, kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
	kernel.Copy(a.middleVectors, kernel.RowMajor(vectors, a.n, a.n, a.n).Trans())
	return true
}

// topEigenvalue returns a lower bound on the largest eigenvalue of P^½TP^½ for a diagonal P, found by power iteration.
func (a *LowRank) topEigenvalue(p []float64) (value float64) {
	const steps = 40
	x, y, before := make([]float64, a.n), make([]float64, a.n), make([]float64, a.n)
	for i := range x {
		x[i] = 1 + float64(i%7)/7
	}
	for range steps {
		copy(before, x)
		for i, v := range p {
			y[i] = v * x[i]
		}
		weight := kernel.Dot(before, y)
		clear(x)
		kernel.Gemv(a.team.Threads(), a.n, a.n, a.middle.Data, a.n, y, x)
		if weight <= 0 {
			return value
		}
		value = max(value, kernel.Dot(x, y)/weight) // Rayleigh's quotient for the scalar product with weights P
		norm := norm2(x)
		if norm == 0 {
			return value
		}
		for i := range x {
			x[i] /= norm
		}
	}
	return value
}

// SetDiagonal sets D, which it keeps; nil means 0.
func (a *LowRank) SetDiagonal(d []float64) {
	if a.diag = d; d == nil {
		a.diag = make([]float64, a.d)
	}
	a.norm = -1
}

// Norm returns a lower bound on the norm of the matrix, which is less than the norm only by a small factor. Without a
// metric it is the largest of five numbers: TopEigenvalue, and the lengths of the four columns of A with the largest
// entries of D.
func (a *LowRank) Norm() float64 {
	if a.norm >= 0 {
		return a.norm
	}
	if a.metric {
		a.norm = max(a.top, a.diagonalLowerBound())
		return a.norm
	}
	const columns = 4
	largest := make([]int, 0, columns+1)
	for i, v := range a.diag {
		if len(largest) < columns || v > a.diag[largest[columns-1]] {
			at, _ := slices.BinarySearchFunc(largest, v, func(j int, v float64) int { return cmp.Compare(v, a.diag[j]) })
			largest = slices.Insert(largest, at, i)[:min(len(largest)+1, columns)]
		}
	}
	x, y := kernel.RowMajor(make([]float64, len(largest)*a.d), len(largest), a.d, a.d), kernel.RowMajor(make([]float64, len(largest)*a.d), len(largest), a.d, a.d)
	for i, j := range largest {
		x.Data[i*a.d+j] = 1
	}
	a.addProduct(y, x)
	norm := a.top
	for i := range largest {
		norm = max(norm, norm2(y.Data[i*a.d:(i+1)*a.d]))
	}
	a.norm = norm
	return norm
}

// TopEigenvalue returns a lower bound on the largest eigenvalue that the matrix or pencil would have if its diagonal D
// were 0.
func (a *LowRank) TopEigenvalue() float64 { return a.top }

// TopWithoutMetric returns a lower bound on the largest eigenvalue of UᵀTU, i.e. without the diagonal D and without the
// metric.
func (a *LowRank) TopWithoutMetric() float64 { return a.plainTop }

// Trace returns Σ xUᵀTUxᵀ over the rows x of X, i.e. without D. With a metric, a row x represents a vector w, see
// [NewPencil], and the sum is over the vectors w.
func (a *LowRank) Trace(x kernel.Matrix[float64]) float64 {
	var down kernel.Matrix[float64]
	if a.metric {
		down = copyRows(x.Sub(0, a.d, x.Rows, a.n))
	} else {
		down = a.TimesUTransposed(x)
	}
	return kernel.Dot(down.Data, MultiplyMatrices(a.team, down, a.middle).Data)
}

// Times returns X·A.
func (a *LowRank) Times(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*x.Cols), x.Rows, x.Cols, x.Cols)
	a.addProduct(y, x)
	return y
}

// ToFull returns the matrix as d×d numbers.
func (a *LowRank) ToFull() kernel.Matrix[float64] {
	unit, out := kernel.RowMajor(make([]float64, a.d*a.d), a.d, a.d, a.d), kernel.RowMajor(make([]float64, a.d*a.d), a.d, a.d, a.d)
	for i := range a.d {
		unit.Data[i*a.d+i] = 1
	}
	a.addProduct(out, unit)
	return out
}

func scaleRows(x kernel.Matrix[float64], factor float64) {
	for i := range x.Rows {
		row := x.Data[i*x.RowStride:][:x.Cols]
		for j := range row {
			row[j] *= factor
		}
	}
}

func copyRows(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*x.Cols), x.Rows, x.Cols, x.Cols)
	for i := range x.Rows {
		copy(y.Data[i*x.Cols:(i+1)*x.Cols], x.Data[i*x.RowStride:])
	}
	return y
}

func (a *LowRank) addProduct(y, x kernel.Matrix[float64]) {
	if a.metric {
		a.addPencilProduct(y, x)
		return
	}
	a.addTimesU(1, MultiplyMatrices(a.team, a.TimesUTransposed(x), a.middle), y)
	for i := range x.Rows {
		to, row := y.Data[i*y.RowStride:][:a.d], x.Data[i*x.RowStride:]
		for j, v := range a.diag {
			to[j] += v * row[j]
		}
	}
}

func multiplyElements(dst, x, w []float64) {
	for j, v := range w {
		dst[j] = v * x[j]
	}
}

// LargestColumnNorm returns the largest length of a column of UᵀTU, i.e. without the diagonal D. There must be no
// metric.
func (a *LowRank) LargestColumnNorm() (norm float64) {
	weighted := copyRows(a.middle)
	for i := range weighted.Data {
		weighted.Data[i] *= a.lambda[i%a.n]
	}
	for _, square := range a.QuadraticForms(MultiplyMatrices(a.team, weighted, a.middle)) {
		norm = max(norm, math.Sqrt(max(square, 0)))
	}
	return norm
}
