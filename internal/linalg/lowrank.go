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
// U n×d with orthogonal rows, or, with a metric M = ρI + UᵀU, the A′ = M^(−1/2)AM^(−1/2) whose eigenvectors x
// give those of Aw = λMw as w = M^(−1/2)x. Roots of M act on the space of U alone: with UUᵀ = Λ and
// H = (ρI + Λ)^(1/2),
//
//	M^(−1/2) = ρ^(−1/2)·(I − UᵀJU),  J = (H² + √ρ·H)⁻¹,
//	M^(1/2) = ρ^(1/2)·(I + UᵀGU),  G = (√ρ·H + ρI)⁻¹.
//
// Were the rows not orthogonal, what rounds in long directions would drown the short ones, which J
// enlarges.
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
// A product takes 4nd flops a vector, 8nd with a metric; a factor n²d.
type LowRank struct {
	team   *kernel.Team
	d, n   int
	u      kernel.Matrix[float64] // the features as rows, d×n; U is scale·uᵀ
	scale  float64
	rho    float64
	metric bool

	lambda  []float64              // Λ
	less    []float64              // J
	more    []float64              // G
	inverse []float64              // H⁻¹
	within  []float64              // UM⁻¹Uᵀ, or Λ without a metric
	middle  kernel.Matrix[float64] // T
	tau     []float64              // eigenvalues of T, ascending
	axes    kernel.Matrix[float64] // its eigenvectors, as rows
	top     float64                // the largest eigenvalue of A′ for D = 0, from below
	plain   float64                // and of A
	diag    []float64              // D
	between kernel.Matrix[float64] // UDUᵀ, once it is known
	norm    float64                // of A′, once it is known; else below 0

	// of F
	e      []float64
	v      kernel.Matrix[float64] // V in the coordinates of A
	w, z   kernel.Matrix[float64] // W and Z
	near   []int                  // N, ascending
	un, zn kernel.Matrix[float64] // U_Nᵀ and U_NᵀZ, |N|×(n + rows of V)
	schur  Cholesky
}

// NewLowRank takes U as scale times the transpose of u, d×n, which it keeps, and Λ, n squares of lengths.
// rho is that of the metric; 0 is none.
func NewLowRank(team *kernel.Team, u kernel.Matrix[float64], scale float64, lambda []float64, rho float64) *LowRank {
	a := &LowRank{team: team, d: u.Rows, n: u.Cols, u: u, scale: scale, rho: 1, metric: rho > 0, lambda: lambda, within: lambda}
	if !a.metric {
		return a
	}
	a.rho = rho
	root := math.Sqrt(rho)
	of := func(f func(lambda float64) float64) []float64 {
		out := make([]float64, a.n)
		for i, v := range lambda {
			out[i] = f(v)
		}
		return out
	}
	a.less = of(func(x float64) float64 { return 1 / (rho + x + root*math.Sqrt(rho+x)) })
	a.more = of(func(x float64) float64 { return 1 / (root*math.Sqrt(rho+x) + rho) })
	a.inverse = of(func(x float64) float64 { return 1 / math.Sqrt(rho+x) })
	a.within = of(func(x float64) float64 { return x / (rho + x) })
	return a
}

// LowRankBytes is what a LowRank of n rows and d columns holds beside U and UUᵀ, while so many vectors
// are in work: some matrices of n + vectors with a root's own, and five blocks.
func LowRankBytes(n, d, vectors int) int64 {
	size := int64(n + vectors)
	return 8*(12*size*size+6*int64(vectors)*int64(d)+4*int64(d)+lowRankBlock*int64(n)) + RootBytes(n+vectors) + CholeskyBytes(mostNear)
}

const (
	// lowRankBlock features are scaled at a time.
	lowRankBlock = 256
	// nearShare of the largest of E is next to nothing, for up to mostNear features.
	nearShare = 1e-4
	mostNear  = 1024
)

// Order is d.
func (a *LowRank) Order() int { return a.d }

// SetMiddle sets T, n×n, symmetric and positive semidefinite, which it keeps. Costs its eigenpairs.
func (a *LowRank) SetMiddle(t kernel.Matrix[float64]) error {
	a.middle = t
	if i, _ := notFinite(t); i >= 0 {
		return fmt.Errorf("middle of the matrix: %w", ErrNotFinite)
	}
	vectors := slices.Clone(t.Data)
	a.tau = make([]float64, a.n)
	if !symmetricEigen(a.team.Threads(), vectors, a.n, a.tau) {
		return ErrNoConvergence
	}
	a.axes = kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
	kernel.Copy(a.axes, kernel.RowMajor(vectors, a.n, a.n, a.n).Trans())
	a.top, a.plain = a.largest(a.within), a.largest(a.lambda)
	return nil
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
	a.norm, a.between = -1, kernel.Matrix[float64]{}
}

// Norm is a lower bound of the norm of the matrix, which it reaches but for a small factor: the norms of
// the columns with the largest of D.
func (a *LowRank) Norm() float64 {
	if a.norm >= 0 {
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

// Trace is Σ xUᵀTUxᵀ over the rows x of X.
func (a *LowRank) Trace(x kernel.Matrix[float64]) float64 {
	down := a.Down(x)
	return kernel.Dot(down.Data, a.small(down, a.middle).Data)
}

// Times is X·A of the rows of X.
func (a *LowRank) Times(x kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*a.d), x.Rows, a.d, a.d)
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
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(a.team, factor*a.scale, x.Sub(i, 0, h, a.d), a.u, y.Sub(i, 0, h, a.n))
	}
}

// up adds factor·Y·U to X.
func (a *LowRank) up(factor float64, y, x kernel.Matrix[float64]) {
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(a.team, factor*a.scale, y.Sub(i, 0, h, a.n), a.u.Trans(), x.Sub(i, 0, h, a.d))
	}
}

// small is X·C of small matrices.
func (a *LowRank) small(x, c kernel.Matrix[float64]) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, x.Rows*c.Cols), x.Rows, c.Cols, c.Cols)
	kernel.Gemm(a.team, 1, x, c, y)
	return y
}

// Unroot overwrites the rows of X with those of X·M^(−1/2).
func (a *LowRank) Unroot(x kernel.Matrix[float64]) {
	if a.metric {
		a.up(-1, weighted(a.Down(x), a.less), x)
		scaleRows(x, 1/math.Sqrt(a.rho))
	}
}

// root overwrites the rows of X with those of X·M^(1/2).
func (a *LowRank) root(x kernel.Matrix[float64]) {
	if a.metric {
		a.up(1, weighted(a.Down(x), a.more), x)
		scaleRows(x, math.Sqrt(a.rho))
	}
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

// times implements form. U passes by once on the way down, for x and Dx, and once on the way up.
func (a *LowRank) times(y, x kernel.Matrix[float64]) {
	k := x.Rows
	if !a.metric {
		own := a.small(a.Down(x), a.middle)
		a.up(1, own, y)
		for i := range k {
			to, row := y.Data[i*y.RowStride:][:a.d], x.Data[i*x.RowStride:]
			for j, v := range a.diag {
				to[j] += v * row[j]
			}
		}
		return
	}
	// With S = M^(−1/2) and σ = ρ^(−1/2): Sx = σ(x − UᵀJUx), and of USx = H⁻¹Ux the digits must not come
	// from a difference. S(D·Sx) = σD·Sx − σUᵀJ·UD·Sx.
	both := kernel.RowMajor(make([]float64, 2*k*a.d), 2*k, a.d, a.d)
	for i := range k {
		row := both.Data[i*a.d : (i+1)*a.d]
		copy(row, x.Data[i*x.RowStride:])
		weigh(both.Data[(k+i)*a.d:(k+i+1)*a.d], row, a.diag)
	}
	down := a.Down(both)
	half, sigma := down.Sub(0, 0, k, a.n), 1/math.Sqrt(a.rho)
	less := weighted(copyRows(half), a.less)                      // JUx
	within := down.Sub(k, 0, k, a.n)                              // UDx, then UD(x − UᵀJUx)
	kernel.Gemm(a.team, -1, less, a.loaded(), within)             //
	own := a.small(weighted(copyRows(half), a.inverse), a.middle) // T·USx
	weighted(own, a.inverse)
	pair := kernel.RowMajor(make([]float64, 2*k*a.n), 2*k, a.n, a.n)
	for i := range k {
		for t := range a.n {
			pair.Data[i*a.n+t] = less.Data[i*a.n+t]
			pair.Data[(k+i)*a.n+t] = own.Data[i*a.n+t] - sigma*sigma*a.less[t]*within.Data[i*within.RowStride+t]
		}
	}
	clear(both.Data)
	a.up(1, pair, both)
	for i := range k {
		to, row := y.Data[i*y.RowStride:][:a.d], x.Data[i*x.RowStride:]
		gone, more := both.Data[i*a.d:(i+1)*a.d], both.Data[(k+i)*a.d:(k+i+1)*a.d]
		for j, v := range a.diag {
			to[j] += sigma*sigma*v*(row[j]-gone[j]) + more[j]
		}
	}
}

// weigh writes x∘w to dst.
func weigh(dst, x, w []float64) {
	for j, v := range w {
		dst[j] = v * x[j]
	}
}

// loaded is UDUᵀ, made once for each D: n²d flops.
func (a *LowRank) loaded() kernel.Matrix[float64] {
	if a.between.Rows == 0 {
		a.between = kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n)
		a.addProducts(a.between, a.diag)
		kernel.Mirror(a.team.Threads(), a.between)
	}
	return a.between
}

// factor implements form.
func (a *LowRank) factor(sigma float64, v kernel.Matrix[float64]) bool {
	a.v = copyRows(v)
	a.root(a.v)
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
	for i, j := range a.near {
		row := a.un.Data[i*size:]
		for t, x := range a.u.Data[j*a.u.RowStride:][:a.n] {
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
	weights := make([]float64, a.d)
	for i, e := range a.e {
		weights[i] = 1 / e
	}
	for _, j := range a.near {
		weights[j] = 0
	}
	a.addProducts(w.Sub(0, 0, a.n, a.n), weights)
	if k > 0 {
		scaled := copyRows(a.v)
		for t := range k {
			row := scaled.Data[t*a.d : (t+1)*a.d]
			for j := range row {
				row[j] *= weights[j]
			}
		}
		kernel.Gemm(a.team, a.scale, a.u.Trans(), scaled.Trans(), w.Sub(0, a.n, a.n, k))
		kernel.Gemm(a.team, 1, scaled, a.v.Trans(), w.Sub(a.n, a.n, k, k))
	}
	kernel.Mirror(a.team.Threads(), w)
	return w
}

// addProducts adds the upper triangle of Σ w·uuᵀ to c, for weights w ≥ 0 of the features.
func (a *LowRank) addProducts(c kernel.Matrix[float64], weights []float64) {
	rows := make([]float64, lowRankBlock*a.n)
	for from := 0; from < a.d; from += lowRankBlock {
		h := min(lowRankBlock, a.d-from)
		block := kernel.RowMajor(rows, h, a.n, a.n)
		kernel.Each(a.team.Threads(), h, func(i int) {
			by := a.scale * math.Sqrt(weights[from+i])
			out := rows[i*a.n : (i+1)*a.n]
			for t, x := range a.u.Data[(from+i)*a.u.RowStride:][:a.n] {
				out[t] = by * x
			}
		})
		kernel.Syrk(a.team, 1, block.Trans(), c)
	}
}

// solve implements form, with one U on the way down and one on the way up. With b = M^(1/2)x =
// √ρ(x + UᵀGUx),
//
//	F⁻¹b = E⁻¹(b − Uᵀz − Vᵀz_V),  z = Z(UE⁻¹b + U_N x_N),
//
// where UE⁻¹b = √ρ(UE⁻¹x + WGUx), and U times the result is W's too.
func (a *LowRank) solve(x kernel.Matrix[float64]) {
	size, k, q, kv := a.n+a.v.Rows, x.Rows, len(a.near), a.v.Rows
	root := math.Sqrt(a.rho)
	over := make([]float64, a.d) // 1/E, 0 at N
	for j, e := range a.e {
		over[j] = 1 / e
	}
	for _, j := range a.near {
		over[j] = 0
	}
	both := kernel.RowMajor(make([]float64, 2*k*a.d), 2*k, a.d, a.d)
	for i := range k {
		row := both.Data[i*a.d : (i+1)*a.d]
		copy(row, x.Data[i*x.RowStride:])
		weigh(both.Data[(k+i)*a.d:(k+i+1)*a.d], row, over)
	}
	down := a.Down(both)
	lift := kernel.RowMajor(make([]float64, k*size), k, size, size) // √ρGUx, and nothing for V
	c := kernel.RowMajor(make([]float64, k*size), k, size, size)
	for i := range k {
		for t := range a.n {
			if a.metric {
				lift.Data[i*size+t] = root * a.more[t] * down.Data[i*a.n+t]
			}
			c.Data[i*size+t] = root * down.Data[(k+i)*a.n+t]
		}
	}
	kernel.Gemm(a.team, root, both.Sub(k, 0, k, a.d), a.v.Trans(), c.Sub(0, a.n, k, kv))
	kernel.Gemm(a.team, 1, lift, a.w, c)
	apart := kernel.RowMajor(make([]float64, q*k), q, k, k) // b_N, then x_N
	whole := copyRows(c)
	if q > 0 {
		for t, j := range a.near {
			for i := range k {
				apart.Data[t*k+i] = root * x.Data[i*x.RowStride+j]
			}
		}
		kernel.Gemm(a.team, 1, a.un, lift.Trans(), apart)
		kernel.Gemm(a.team, -1, a.zn, c.Trans(), apart)
		a.schur.SolveTo(a.team, apart, apart)
		kernel.Gemm(a.team, 1, apart.Trans(), a.un, whole)
	}
	z := a.small(whole, a.z)
	for i, v := range z.Data { // what U and V add to √ρx
		lift.Data[i] -= v
	}
	wide := k
	if a.metric { // of the result's own root
		for i := range k {
			for t := range a.n {
				c.Data[i*size+t] = root * down.Data[(k+i)*a.n+t]
			}
		}
		kernel.Gemm(a.team, 1, lift, a.w, c)
		if q > 0 {
			kernel.Gemm(a.team, 1, apart.Trans(), a.un, c)
		}
		wide = 2 * k
	}
	pair := kernel.RowMajor(make([]float64, wide*a.n), wide, a.n, a.n)
	for i := range k {
		for t := range a.n {
			pair.Data[i*a.n+t] = lift.Data[i*size+t]
			if a.metric {
				pair.Data[(k+i)*a.n+t] = a.more[t] * c.Data[i*size+t]
			}
		}
	}
	clear(both.Data)
	a.up(1, pair, both.Sub(0, 0, wide, a.d))
	kernel.Gemm(a.team, 1, lift.Sub(0, a.n, k, kv), a.v, both.Sub(0, 0, k, a.d))
	for i := range k {
		row, added, more := x.Data[i*x.RowStride:][:a.d], both.Data[i*a.d:(i+1)*a.d], both.Data[(k+i)*a.d:(k+i+1)*a.d]
		for j := range row {
			row[j] = (root*row[j] + added[j]) * over[j]
		}
		for t, j := range a.near {
			row[j] = apart.Data[t*k+i]
		}
		if a.metric {
			for j := range row {
				row[j] = root * (row[j] + more[j])
			}
		}
	}
}

// inner implements form.
func (a *LowRank) inner(g, z kernel.Matrix[float64]) {
	solved := copyRows(z)
	a.solve(solved)
	kernel.Gemm(a.team, 1, z, solved.Trans(), g)
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
	for from := 0; from < a.d; from += lowRankBlock {
		h := min(lowRankBlock, a.d-from)
		rows, product := a.u.Sub(from, 0, h, a.n), kernel.RowMajor(times, h, a.n, a.n)
		clear(times)
		kernel.Gemm(a.team, a.scale*a.scale, rows, c, product)
		kernel.Each(a.team.Threads(), h, func(i int) {
			out[from+i] = kernel.Dot(rows.Data[i*rows.RowStride:][:a.n], times[i*a.n:(i+1)*a.n])
		})
	}
	return out
}
