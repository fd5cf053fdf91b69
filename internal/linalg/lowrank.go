package linalg

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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
	uu      kernel.Matrix[float64] // with one, UUᵀ to what float32 knows
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
	// Feature is column j, lent or written to room, of n numbers.
	Feature(room []float64, j int) []float64
}

// inMemory are columns as the rows of a matrix, which are contiguous.
type inMemory kernel.Matrix[float64]

func (m inMemory) Panels(_ int, f func(from, count int, columns []float64)) { f(0, m.Rows, m.Data) }
func (m inMemory) Feature(_ []float64, j int) []float64                     { return m.Data[j*m.RowStride:][:m.Cols] }

// panels calls f for panels of U's columns as rows, before they are scaled.
func (a *LowRank) panels(f func(from int, u kernel.Matrix[float64])) {
	a.u.Panels(a.team.Threads(), func(from, count int, columns []float64) {
		f(from, kernel.RowMajor(columns, count, a.n, a.n))
	})
}

// LowRankBytes is what a LowRank of n rows and d columns holds beside U and UUᵀ, while so many vectors
// are in work: some matrices of n + vectors, of which a factor makes the most, and six blocks. What a pencil is reduced
// to is less than a factor of it, and gone where that is made.
func LowRankBytes(n, d, vectors int) int64 {
	size := int64(n + vectors)
	return 8*(13*size*size+2*mostNear*size+6*int64(vectors)*int64(d)+4*int64(d)+lowRankBlock*int64(n)) + CholeskyBytes(mostNear)
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

// factor implements form.
func (a *LowRank) factor(sigma float64, v kernel.Matrix[float64]) bool {
	a.sigma, a.v = sigma, a.rightSides(v)
	a.e = slices.Clone(a.diag)
	largest, negative := 0.0, 0
	for i := range a.e {
		a.e[i] -= sigma * a.rho
		largest = max(largest, a.e[i])
		if a.e[i] <= 0 {
			negative++
		}
	}
	k := v.Rows
	size := a.n + k
	if negative > size { // rows cannot lift so many
		return false
	}
	for share := nearShare; ; share /= 10 {
		a.near = a.near[:0]
		for i, e := range a.e {
			if e <= share*largest {
				a.near = append(a.near, i)
			}
		}
		if len(a.near) <= max(mostNear, negative) {
			break
		}
		if share < 1e-15 {
			share = 0
		}
	}
	if !a.middleInverse(sigma, k) {
		return false
	}
	if len(a.near) == 0 {
		return true
	}
	q := len(a.near)
	a.un = kernel.RowMajor(make([]float64, q*size), q, size, size)
	room := make([]float64, a.n)
	for i, j := range a.near {
		row := a.un.Data[i*size:]
		for t, x := range a.u.Feature(room, j) {
			row[t] = a.scale * x
		}
		for t := range k {
			row[a.n+t] = a.v.Data[t*a.d+j]
		}
	}
	a.zn = a.small(a.un, a.z)
	complement := a.small(a.zn, a.un.Trans())
	for i, j := range a.near {
		complement.Data[i*q+i] += a.e[j]
	}
	return a.schur.Factor(a.team, complement) == nil
}

// middleInverse makes Z, and reports whether F is positive definite but for the features that are near.
func (a *LowRank) middleInverse(sigma float64, k int) bool {
	size := a.n + k
	if !a.metric {
		sigma = 0
	}
	if !a.spectrum() {
		return false
	}
	var plus, minus []int
	for i, tau := range a.tau {
		if tau = max(tau, 0) - sigma; tau > 0 {
			plus = append(plus, i)
		} else if tau < 0 {
			minus = append(minus, i)
		}
	}
	h := kernel.RowMajor(make([]float64, (len(plus)+k)*size), len(plus)+k, size, size)
	for r, i := range plus {
		root := math.Sqrt(max(a.tau[i], 0) - sigma)
		for j, v := range a.axes.Data[i*a.n : (i+1)*a.n] {
			h.Data[r*size+j] = root * v
		}
	}
	for r := range k {
		h.Data[(len(plus)+r)*size+a.n+r] = 1
	}
	a.w = a.products(k)
	w := a.w
	inner := a.small(a.small(h, w), h.Trans())
	for i := range inner.Rows {
		inner.Data[i*inner.Cols+i]++
	}
	var c Cholesky
	if c.Factor(a.team, inner) != nil {
		return false
	}
	c.HalfSolveTo(a.team, h, h)
	a.z = kernel.RowMajor(make([]float64, size*size), size, size, size)
	kernel.Syrk(a.team, 1, h.Trans(), a.z)
	kernel.Mirror(a.team.Threads(), a.z)
	if len(minus) == 0 {
		return true
	}
	y := kernel.RowMajor(make([]float64, len(minus)*size), len(minus), size, size) // Yᵀ
	for r, i := range minus {
		copy(y.Data[r*size:], a.axes.Data[i*a.n:(i+1)*a.n])
	}
	yw := a.small(y, w)
	x := copyRows(y)
	kernel.Gemm(a.team, -1, yw, a.z, x)
	inner = a.small(x, yw.Trans()) // Yᵀ(I − WZ₊)WY
	for i := range inner.Data {
		inner.Data[i] = -inner.Data[i]
	}
	for r, i := range minus {
		inner.Data[r*len(minus)+r] += 1 / (sigma - max(a.tau[i], 0))
	}
	if c.Factor(a.team, inner) != nil {
		return false
	}
	c.HalfSolveTo(a.team, x, x)
	kernel.Gemm(a.team, -1, x.Trans(), x, a.z)
	return true
}

// products is W of U and V: Σ uuᵀ/E over the features that are not near.
func (a *LowRank) products(k int) kernel.Matrix[float64] {
	size := a.n + k
	w := kernel.RowMajor(make([]float64, size*size), size, size, size)
	weights := a.weights()
	a.addProducts(w.Sub(0, 0, a.n, a.n), weights)
	if k > 0 {
		scaled := copyRows(a.v)
		for t := range k {
			row := scaled.Data[t*a.d : (t+1)*a.d]
			for j := range row {
				row[j] *= weights[j]
			}
		}
		a.panels(func(from int, u kernel.Matrix[float64]) {
			kernel.Gemm(a.team, a.scale, u.Trans(), scaled.Sub(0, from, k, u.Rows).Trans(), w.Sub(0, a.n, a.n, k))
		})
		kernel.Gemm(a.team, 1, scaled, a.v.Trans(), w.Sub(a.n, a.n, k, k))
	}
	kernel.Mirror(a.team.Threads(), w)
	return w
}

// addProducts adds the upper triangle of Σ w·uuᵀ to c, for weights w ≥ 0 of the features.
func (a *LowRank) addProducts(c kernel.Matrix[float64], weights []float64) {
	rows := make([]float64, lowRankBlock*a.n)
	a.panels(func(first int, u kernel.Matrix[float64]) {
		for from := 0; from < u.Rows; from += lowRankBlock {
			h := min(lowRankBlock, u.Rows-from)
			block := kernel.RowMajor(rows, h, a.n, a.n)
			kernel.Each(a.team.Threads(), h, func(i int) {
				by := a.scale * math.Sqrt(weights[first+from+i])
				out := rows[i*a.n : (i+1)*a.n]
				for t, x := range u.Data[(from+i)*a.n:][:a.n] {
					out[t] = by * x
				}
			})
			kernel.Syrk(a.team, 1, block.Trans(), c)
		}
	})
}

// solve implements form, with one U on the way down and one on the way up, and refines what a pencil rounds.
func (a *LowRank) solve(x kernel.Matrix[float64]) {
	b := a.rightSides(x)
	c := kernel.RowMajor(make([]float64, x.Rows*(a.n+a.v.Rows)), x.Rows, a.n+a.v.Rows, a.n+a.v.Rows)
	scaled := a.overE(b)
	a.down(1, scaled, c.Sub(0, 0, x.Rows, a.n))
	kernel.Gemm(a.team, 1, scaled, a.v.Trans(), c.Sub(0, a.n, x.Rows, a.v.Rows))
	z := a.solveDual(b, c, kernel.Matrix[float64]{})
	if a.metric {
		a.refine(b, z)
		scaleRows(b, math.Sqrt(a.rho))
	}
	for i := range x.Rows {
		copy(x.Data[i*x.RowStride:], b.Data[i*a.d:(i+1)*a.d])
	}
	a.settle(x)
}

// overE is a copy of rows of d numbers over E, 0 at N.
func (a *LowRank) overE(b kernel.Matrix[float64]) kernel.Matrix[float64] {
	b = copyRows(b)
	over := a.weights()
	for i := range b.Rows {
		row := b.Data[i*a.d : (i+1)*a.d]
		weigh(row, row, over)
	}
	return b
}

// weights are 1/E, 0 at N.
func (a *LowRank) weights() []float64 {
	over := make([]float64, a.d)
	for i, e := range a.e {
		over[i] = 1 / e
	}
	for _, j := range a.near {
		over[j] = 0
	}
	return over
}

// solveDual overwrites rows b of d numbers, with c = (U and V)E⁻¹b, which it uses up, and returns the z:
//
//	F⁻¹b = E⁻¹(b − Uᵀz − Vᵀz_V),  z = Z(UE⁻¹b + U_N x_N).
//
// Where there is a y, b is 0 and stands for Uᵀy_U + Vᵀy_V, and c is Wy.
func (a *LowRank) solveDual(b, c, y kernel.Matrix[float64]) (z kernel.Matrix[float64]) {
	k, q, kv := b.Rows, len(a.near), a.v.Rows
	apart := kernel.RowMajor(make([]float64, q*k), q, k, k) // b_N, then x_N
	if q > 0 {
		for t, j := range a.near {
			for i := range k {
				apart.Data[t*k+i] = b.Data[i*a.d+j]
			}
		}
		if y.Rows > 0 {
			kernel.Gemm(a.team, 1, a.un, y.Trans(), apart)
		}
		kernel.Gemm(a.team, -1, a.zn, c.Trans(), apart)
		a.schur.SolveTo(a.team, apart, apart)
		kernel.Gemm(a.team, 1, apart.Trans(), a.un, c)
	}
	z = a.small(c, a.z)
	for i, v := range y.Data {
		z.Data[i] -= v
	}
	a.up(-1, z.Sub(0, 0, k, a.n), b)
	kernel.Gemm(a.team, -1, z.Sub(0, a.n, k, kv), a.v, b)
	over := a.weights()
	for i := range k {
		row := b.Data[i*a.d : (i+1)*a.d]
		weigh(row, row, over)
		for t, j := range a.near {
			row[j] = apart.Data[t*k+i]
		}
	}
	return z
}

// inner implements form: what U and V make of V is in W.
func (a *LowRank) inner(g, _ kernel.Matrix[float64]) {
	solved := copyRows(a.v)
	z := a.solveDual(solved, copyRows(a.w.Sub(a.n, 0, a.v.Rows, a.w.Cols)), kernel.Matrix[float64]{})
	if a.metric {
		a.refine(solved, z)
	}
	kernel.Gemm(a.team, 1, a.v, solved.Trans(), g)
}

// DiagonalInverse is the diagonal of (A + τI)⁻¹ for D = 0 and no metric, τ > 0: 2n²d flops.
func (a *LowRank) DiagonalInverse(tau float64) ([]float64, error) {
	if a.metric {
		return nil, errors.New("linalg: no diagonal under a metric")
	}
	diag := a.diag
	defer func() { a.diag = diag }()
	a.SetDiagonal(nil)
	if !a.factor(-tau, kernel.RowMajor[float64](nil, 0, a.d, a.d)) {
		return nil, ErrNotPositiveDefinite
	}
	out := a.Quadratic(a.z)
	for i := range out {
		out[i] = (1 - out[i]/tau) / tau
	}
	return out, nil
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
