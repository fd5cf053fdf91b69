package linalg

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// LowRank is a positive semidefinite d×d matrix of a diagonal and few rows, in place of d² numbers:
//
//	A = D + UᵀTU,
//
// U n×d with orthogonal rows, or, with a metric M = ρI + UᵀU and any rows, the pencil Aw = λMw, see [NewPencil].
//
// What a [Smallest] factors is F = A − σM + VᵀV, a diagonal E = D − σρI and rows with a middle
// S = diag(T − σI, I) again. With W = Σ uuᵀ/E Woodbury's identity is
//
//	F⁻¹ = E⁻¹ − E⁻¹UᵀZUE⁻¹,  Z = (S⁻¹ + W)⁻¹,
//
// which must not be a difference of large terms. The eigenvectors of T split S = S₊ − S₋, S₊ = HᵀH, into
// what adds to E, with Z₊ = Hᵀ(I + HWHᵀ)⁻¹H, and the few directions Y, S₋ = YΣYᵀ, that take from it:
//
//	Z = Z₊ − XᵀN⁻¹X,  X = Yᵀ(I − WZ₊),  N = Σ⁻¹ − Yᵀ(W − WZ₊W)Y,
//
// and F is positive definite where N is, as long as E is positive. Features where it is not, or next
// to nothing, are few, and go by their Schur complement E_N + U_NᵀZU_N in place of it.
//
// A product takes 4nd flops a vector, with a metric none, but 4nd for a residual; a factor n²d, and a product with
// its inverse 4nd, or 6nd with a metric, unless that has to be refined.
type LowRank struct {
	team   *kernel.Team
	d, n   int
	u      Columns // U is scale times the matrix of these
	scale  float64
	rho    float64
	metric bool

	lambda  []float64              // Λ, without a metric
	squares []float64              // with one, ‖u‖²
	peak    []float64              // with one, largest entries; nil until they are asked for
	uu      kernel.Matrix[float64] // with one, UUᵀ, but for what is wrong with it
	uuWrong wrong
	within  Cholesky               // with one, of ρI + UUᵀ; made once it is needed
	dual    func() []float64       // UUᵀ over scale²
	middle  kernel.Matrix[float64] // T
	share   float64                // T = share·(I − HᵀH), with a metric
	smooth  kernel.Matrix[float64] // H, m×n
	tau     []float64              // eigenvalues of T, ascending; nil until they are asked for
	axes    kernel.Matrix[float64] // its eigenvectors, as rows
	top     float64                // the largest eigenvalue for D = 0, from below
	plain   float64                // the same without the metric
	diag    []float64              // D
	reduced *reduced
	norm    float64 // once it is known; else below 0

	// of F
	sigma  float64
	e      []float64
	v      kernel.Matrix[float64] // V in the coordinates of A
	w, z   kernel.Matrix[float64] // W and Z
	near   []int                  // N, ascending
	un, zn kernel.Matrix[float64] // U_Nᵀ and U_NᵀZ, |N|×(n + rows of V)
	schur  Cholesky
}

// NewLowRank takes U as scale times the transpose of u, d×n, which it keeps. Its rows are orthogonal, and
// lambda the squares of their lengths.
func NewLowRank(team *kernel.Team, u kernel.Matrix[float64], scale float64, lambda []float64) *LowRank {
	return &LowRank{team: team, d: u.Rows, n: u.Cols, u: inMemory(u), scale: scale, rho: 1, lambda: lambda}
}

// Columns are the d columns of a matrix of n rows, n numbers each.
type Columns interface {
	// Panels calls f for all columns in turn, some at a time: those from `from` on, one after the other, which
	// are lent until f returns.
	Panels(threads int, f func(from, count int, columns []float64))
	// Some are so many columns, from `from` on, one after the other, lent or written to room.
	Some(room []float64, from, count int) []float64
}

// inMemory are columns as the rows of a matrix, which are contiguous.
type inMemory kernel.Matrix[float64]

func (m inMemory) Panels(_ int, f func(from, count int, columns []float64)) { f(0, m.Rows, m.Data) }
func (m inMemory) Some(_ []float64, from, count int) []float64 {
	return m.Data[from*m.RowStride:][:count*m.Cols]
}

// panels calls f for panels of U's columns as rows, before they are scaled.
func (a *LowRank) panels(f func(from int, u kernel.Matrix[float64])) {
	a.u.Panels(a.team.Threads(), func(from, count int, columns []float64) {
		f(from, kernel.RowMajor(columns, count, a.n, a.n))
	})
}

// LowRankBytes is what a LowRank of n rows and d columns holds beside U and UUᵀ, while so many vectors
// are in work: some matrices of n + vectors, of which a factor makes the most, and six blocks. What a pencil is reduced
// to is gone where a factor is made, and more only where rows are few.
func LowRankBytes(n, d, vectors int) int64 {
	size := int64(n + vectors)
	squares := max(13*size*size, 10*size*size+int64(2*kernel.DeepestWhole+stretches(n, vectors)*stretchBlock)*int64(n))
	return 8*(squares+2*mostNear*size+6*int64(vectors)*int64(d)+5*int64(d)+lowRankBlock*int64(n)) + CholeskyBytes(mostNear)
}

const (
	// lowRankBlock features are scaled at a time.
	lowRankBlock = 256
	// nearShare of the largest of E is next to nothing, for up to mostNear features.
	nearShare = 1e-4
	mostNear  = 1024
)

// Length is the order of the matrix that a [Smallest] sees, d, or d + n with a metric.
func (a *LowRank) Length() int {
	if a.metric {
		return a.d + a.n
	}
	return a.d
}

// SetMiddle sets T, n×n, symmetric and positive semidefinite, which it keeps, where there is no metric. Costs its
// eigenpairs.
func (a *LowRank) SetMiddle(t kernel.Matrix[float64]) error {
	a.middle, a.tau = t, nil
	if i, _ := notFinite(t); i >= 0 {
		return fmt.Errorf("middle of the matrix: %w", ErrNotFinite)
	}
	if !a.spectrum() {
		return ErrNoConvergence
	}
	a.plain = a.largest(a.lambda)
	a.top = a.plain
	return nil
}

// spectrum makes the eigenpairs of T, once.
func (a *LowRank) spectrum() bool {
	if a.tau != nil {
		return true
	}
	vectors, tau := slices.Clone(a.middle.Data), make([]float64, a.n)
	if !symmetricEigen(a.team.Threads(), vectors, a.n, tau) {
		return false
	}
	a.tau, a.axes = tau, kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
	kernel.Copy(a.axes, kernel.RowMajor(vectors, a.n, a.n, a.n).Trans())
	return true
}

// largest is the largest eigenvalue of P^½TP^½ for a diagonal P, from below, by power iteration.
func (a *LowRank) largest(p []float64) (value float64) {
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
		value = max(value, kernel.Dot(x, y)/weight) // Rayleigh's quotient in the product of P
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

// SetDiagonal sets D, which it keeps; nil is 0.
func (a *LowRank) SetDiagonal(d []float64) {
	if a.diag = d; d == nil {
		a.diag = make([]float64, a.d)
	}
	a.norm = -1
}

// Norm is a lower bound of the norm of the matrix, which it reaches but for a small factor: the norms of
// the columns with the largest of D.
func (a *LowRank) Norm() float64 {
	if a.norm >= 0 {
		return a.norm
	}
	if a.metric {
		a.norm = max(a.top, a.heights())
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
	a.times(y, x)
	norm := a.top
	for i := range largest {
		norm = max(norm, norm2(y.Data[i*a.d:(i+1)*a.d]))
	}
	a.norm = norm
	return norm
}

// Top is the largest eigenvalue for D = 0, from below.
func (a *LowRank) Top() float64 { return a.top }

// Plain is the largest eigenvalue for D = 0 and no metric, from below.
func (a *LowRank) Plain() float64 { return a.plain }

// Trace is Σ xUᵀTUxᵀ over the rows x of X, or of the w of vectors as rows.
func (a *LowRank) Trace(x kernel.Matrix[float64]) float64 {
	var down kernel.Matrix[float64]
	if a.metric {
		down = copyRows(x.Sub(0, a.d, x.Rows, a.n))
	} else {
		down = a.Down(x)
	}
	return kernel.Dot(down.Data, a.small(down, a.middle).Data)
}

// Times is X·A of the rows of X.
func (a *LowRank) Times(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*x.Cols), x.Rows, x.Cols, x.Cols)
	a.times(y, x)
	return y
}

// Full is the matrix in full.
func (a *LowRank) Full() kernel.Matrix[float64] {
	unit, out := kernel.RowMajor(make([]float64, a.d*a.d), a.d, a.d, a.d), kernel.RowMajor(make([]float64, a.d*a.d), a.d, a.d, a.d)
	for i := range a.d {
		unit.Data[i*a.d+i] = 1
	}
	a.times(out, unit)
	return out
}

// Down is X·Uᵀ, k×n, of k rows of d numbers.
func (a *LowRank) Down(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*a.n), x.Rows, a.n, a.n)
	a.down(1, x, y)
	return y
}

// thinRows go through U at a time: so few that kernel.Gemm does not pack it. Of 50,000 features and 500 rows
// 28 vectors took 54 ms on the way down at once, 35 in two halves, and 35 and 21 on the way up.
const thinRows = 16

func (a *LowRank) down(factor float64, x, y kernel.Matrix[float64]) {
	a.panels(func(from int, u kernel.Matrix[float64]) {
		for i := 0; i < x.Rows; i += thinRows {
			h := min(thinRows, x.Rows-i)
			kernel.Gemm(a.team, factor*a.scale, x.Sub(i, from, h, u.Rows), u, y.Sub(i, 0, h, a.n))
		}
	})
}

// up adds factor·Y·U to X.
func (a *LowRank) up(factor float64, y, x kernel.Matrix[float64]) {
	a.panels(func(from int, u kernel.Matrix[float64]) {
		for i := 0; i < x.Rows; i += thinRows {
			h := min(thinRows, x.Rows-i)
			kernel.Gemm(a.team, factor*a.scale, y.Sub(i, 0, h, a.n), u.Trans(), x.Sub(i, from, h, u.Rows))
		}
	})
}

// small is X·C of small matrices.
func (a *LowRank) small(x, c kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*c.Cols), x.Rows, c.Cols, c.Cols)
	kernel.Gemm(a.team, 1, x, c, y)
	return y
}

// weighted multiplies the columns of X, contiguous, by w, and returns it.
func weighted(x kernel.Matrix[float64], w []float64) kernel.Matrix[float64] {
	for i := range x.Data {
		x.Data[i] *= w[i%len(w)]
	}
	return x
}

func scaleRows(x kernel.Matrix[float64], by float64) {
	for i := range x.Rows {
		row := x.Data[i*x.RowStride:][:x.Cols]
		for j := range row {
			row[j] *= by
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

// times implements form.
func (a *LowRank) times(y, x kernel.Matrix[float64]) {
	if a.metric {
		a.bothTimes(y, x)
		return
	}
	a.up(1, a.small(a.Down(x), a.middle), y)
	for i := range x.Rows {
		to, row := y.Data[i*y.RowStride:][:a.d], x.Data[i*x.RowStride:]
		for j, v := range a.diag {
			to[j] += v * row[j]
		}
	}
}

// weigh writes x∘w to dst.
func weigh(dst, x, w []float64) {
	for j, v := range w {
		dst[j] = v * x[j]
	}
}

// Between is C·UUᵀ·C for a symmetric n×n matrix C: with it [LowRank.Quadratic] is the square of the length
// of each feature's column of UᵀCU.
func (a *LowRank) Between(c kernel.Matrix[float64]) kernel.Matrix[float64] {
	return a.small(weighted(copyRows(c), a.lambda), c)
}

// Quadratic is uᵀCu of every feature u, for a symmetric n×n matrix C: 2n²d flops.
func (a *LowRank) Quadratic(c kernel.Matrix[float64]) []float64 {
	out := make([]float64, a.d)
	times := make([]float64, lowRankBlock*a.n)
	a.panels(func(first int, u kernel.Matrix[float64]) {
		for from := 0; from < u.Rows; from += lowRankBlock {
			h := min(lowRankBlock, u.Rows-from)
			rows, product := u.Sub(from, 0, h, a.n), kernel.RowMajor(times, h, a.n, a.n)
			clear(times)
			kernel.Gemm(a.team, a.scale*a.scale, rows, c, product)
			kernel.Each(a.team.Threads(), h, func(i int) {
				out[first+from+i] = kernel.Dot(rows.Data[i*a.n:][:a.n], times[i*a.n:(i+1)*a.n])
			})
		}
	})
	return out
}
