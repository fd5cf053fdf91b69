package linalg

import (
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// lowRankFactor is a factor of F = A − σM + VᵀV, see [LowRank] for F and its symbols.
type lowRankFactor struct {
	*scaledColumns
	a                     *LowRank
	sigma                 float64                // σ
	e                     []float64              // E
	v                     kernel.Matrix[float64] // V; with a metric, the vectors b that its rows represent
	gramUV, middleInverse kernel.Matrix[float64] // W and Z
	nearFeatures          []int                  // N, the features whose E is not positive or nearly 0, ascending
	un, zn                kernel.Matrix[float64] // U_Nᵀ and U_NᵀZ, |N|×(n + rows of V)
	schur                 Cholesky               // factor of the Schur complement for N
}

func (a *LowRank) factorShifted(sigma float64, v kernel.Matrix[float64]) shiftedFactor {
	f := &lowRankFactor{scaledColumns: &a.scaledColumns, a: a, sigma: sigma, e: slices.Clone(a.diag), v: a.rightHandSides(v)}
	if !f.computeFactor() {
		return nil
	}
	return f
}

func (f *lowRankFactor) computeFactor() bool {
	largest, negative := 0.0, 0
	for i := range f.e {
		f.e[i] -= f.sigma * f.a.rho
		largest = max(largest, f.e[i])
		if f.e[i] <= 0 {
			negative++
		}
	}
	k := f.v.Rows
	size := f.n + k
	if negative > size { // E has more negative entries than the rows of U and V can make positive
		return false
	}
	for share := nearShare; ; share /= 10 {
		f.nearFeatures = f.nearFeatures[:0]
		for i, e := range f.e {
			if e <= share*largest {
				f.nearFeatures = append(f.nearFeatures, i)
			}
		}
		if len(f.nearFeatures) <= max(maxNearFeatures, negative) {
			break
		}
		if share < 1e-15 {
			share = 0
		}
	}
	if !f.invertMiddle(k) {
		return false
	}
	if len(f.nearFeatures) == 0 {
		return true
	}
	q := len(f.nearFeatures)
	f.un = kernel.RowMajor(make([]float64, q*size), q, size, size)
	room := make([]float64, f.n)
	for i, j := range f.nearFeatures {
		row := f.un.Data[i*size:]
		for t, x := range f.u.Some(room, j, 1) {
			row[t] = f.scale * x
		}
		for t := range k {
			row[f.n+t] = f.v.Data[t*f.d+j]
		}
	}
	f.zn = MultiplyMatrices(f.team, f.un, f.middleInverse)
	complement := MultiplyMatrices(f.team, f.zn, f.un.Trans())
	for i, j := range f.nearFeatures {
		complement.Data[i*q+i] += f.e[j]
	}
	return f.schur.Factor(f.team, complement) == nil
}

// invertMiddle computes the matrix Z for k rows of V, see [LowRank] for Z, V and F. It reports whether F without the
// rows and columns of the near features is positive definite.
func (f *lowRankFactor) invertMiddle(k int) bool {
	size, sigma := f.n+k, 0.0
	if f.a.metric {
		sigma = f.sigma
	}
	if !f.a.decomposeMiddle() {
		return false
	}
	var plus, minus []int
	for i, tau := range f.a.tau {
		if tau -= sigma; tau > 0 {
			plus = append(plus, i)
		} else if tau < 0 {
			minus = append(minus, i)
		}
	}
	h := kernel.RowMajor(make([]float64, (len(plus)+k)*size), len(plus)+k, size, size)
	for r, i := range plus {
		root := math.Sqrt(f.a.tau[i] - sigma)
		for j, v := range f.a.middleVectors.Data[i*f.n : (i+1)*f.n] {
			h.Data[r*size+j] = root * v
		}
	}
	for r := range k {
		h.Data[(len(plus)+r)*size+f.n+r] = 1
	}
	f.gramUV = f.weightedGram(k)
	w := f.gramUV
	inner := MultiplyMatrices(f.team, MultiplyMatrices(f.team, h, w), h.Trans())
	for i := range inner.Rows {
		inner.Data[i*inner.Cols+i]++
	}
	var c Cholesky
	if c.Factor(f.team, inner) != nil {
		return false
	}
	c.HalfSolveTo(f.team, h, h)
	f.middleInverse = kernel.RowMajor(make([]float64, size*size), size, size, size)
	kernel.Syrk(f.team, 1, h.Trans(), f.middleInverse)
	kernel.MirrorUpper(f.team.Threads(), f.middleInverse)
	if len(minus) == 0 {
		return true
	}
	y := kernel.RowMajor(make([]float64, len(minus)*size), len(minus), size, size) // Yᵀ
	for r, i := range minus {
		copy(y.Data[r*size:], f.a.middleVectors.Data[i*f.n:(i+1)*f.n])
	}
	yw := MultiplyMatrices(f.team, y, w)
	x := copyRows(y)
	kernel.Gemm(f.team, -1, yw, f.middleInverse, x)
	inner = MultiplyMatrices(f.team, x, yw.Trans()) // Yᵀ(I − WZ₊)WY
	for i := range inner.Data {
		inner.Data[i] = -inner.Data[i]
	}
	for r, i := range minus {
		inner.Data[r*len(minus)+r] += 1 / (sigma - f.a.tau[i])
	}
	if c.Factor(f.team, inner) != nil {
		return false
	}
	c.HalfSolveTo(f.team, x, x)
	kernel.Gemm(f.team, -1, x.Trans(), x, f.middleInverse)
	return true
}

// weightedGram returns the W of [LowRank] for U and the k rows of V, summed over all features that are not in
// f.nearFeatures.
func (f *lowRankFactor) weightedGram(k int) kernel.Matrix[float64] {
	size := f.n + k
	w := kernel.RowMajor(make([]float64, size*size), size, size, size)
	weights := f.inverseE()
	f.addOuterProducts(w.Sub(0, 0, f.n, f.n), weights)
	if k > 0 {
		scaled := copyRows(f.v)
		for t := range k {
			row := scaled.Data[t*f.d : (t+1)*f.d]
			for j := range row {
				row[j] *= weights[j]
			}
		}
		f.eachPanel(func(from int, u kernel.Matrix[float64]) {
			kernel.Gemm(f.team, f.scale, u.Trans(), scaled.Sub(0, from, k, u.Rows).Trans(), w.Sub(0, f.n, f.n, k))
		})
		kernel.Gemm(f.team, 1, scaled, f.v.Trans(), w.Sub(f.n, f.n, k, k))
	}
	kernel.MirrorUpper(f.team.Threads(), w)
	return w
}

// solveRows implements shiftedFactor: it overwrites the rows of x with x·F⁻¹. It multiplies once by Uᵀ and once by U,
// see [LowRank], and refines the solutions of a pencil.
func (f *lowRankFactor) solveRows(x kernel.Matrix[float64]) {
	b := f.a.rightHandSides(x)
	c := kernel.RowMajor(make([]float64, x.Rows*(f.n+f.v.Rows)), x.Rows, f.n+f.v.Rows, f.n+f.v.Rows)
	scaled := f.dividedByE(b)
	f.addTimesUTransposed(1, scaled, c.Sub(0, 0, x.Rows, f.n))
	kernel.Gemm(f.team, 1, scaled, f.v.Trans(), c.Sub(0, f.n, x.Rows, f.v.Rows))
	z := f.solveDual(b, c, kernel.Matrix[float64]{})
	if f.a.metric {
		f.refineSolutions(b, z)
		scaleRows(b, math.Sqrt(f.a.rho))
	}
	for i := range x.Rows {
		copy(x.Data[i*x.RowStride:], b.Data[i*f.d:(i+1)*f.d])
	}
	f.a.completeVectors(x)
}

func (f *lowRankFactor) dividedByE(b kernel.Matrix[float64]) kernel.Matrix[float64] {
	b = copyRows(b)
	inverse := f.inverseE()
	for i := range b.Rows {
		row := b.Data[i*f.d : (i+1)*f.d]
		multiplyElements(row, row, inverse)
	}
	return b
}

func (f *lowRankFactor) inverseE() []float64 {
	inverse := make([]float64, f.d)
	for i, e := range f.e {
		inverse[i] = 1 / e
	}
	for _, j := range f.nearFeatures {
		inverse[j] = 0
	}
	return inverse
}

// solveDual overwrites the rows b of d numbers by F⁻¹b. c must contain the products of U and V with E⁻¹b, and is
// overwritten. With x_N for the solution at the features N, see [LowRank], z is the vector in
//
//	F⁻¹b = E⁻¹(b − Uᵀz − Vᵀz_V),  z = Z(UE⁻¹b + U_N x_N).
//
// If y is given, the right-hand side is Uᵀy_U + Vᵀy_V instead. b must then be 0, and c must be Wy.
func (f *lowRankFactor) solveDual(b, c, y kernel.Matrix[float64]) (z kernel.Matrix[float64]) {
	k, q, kv := b.Rows, len(f.nearFeatures), f.v.Rows
	apart := kernel.RowMajor(make([]float64, q*k), q, k, k) // b_N, then x_N: the right-hand side and the solution for the near features
	if q > 0 {
		for t, j := range f.nearFeatures {
			for i := range k {
				apart.Data[t*k+i] = b.Data[i*f.d+j]
			}
		}
		if y.Rows > 0 {
			kernel.Gemm(f.team, 1, f.un, y.Trans(), apart)
		}
		kernel.Gemm(f.team, -1, f.zn, c.Trans(), apart)
		f.schur.SolveTo(f.team, apart, apart)
		kernel.Gemm(f.team, 1, apart.Trans(), f.un, c)
	}
	z = MultiplyMatrices(f.team, c, f.middleInverse)
	for i, v := range y.Data {
		z.Data[i] -= v
	}
	f.addTimesU(-1, z.Sub(0, 0, k, f.n), b)
	kernel.Gemm(f.team, -1, z.Sub(0, f.n, k, kv), f.v, b)
	inverse := f.inverseE()
	for i := range k {
		row := b.Data[i*f.d : (i+1)*f.d]
		multiplyElements(row, row, inverse)
		for t, j := range f.nearFeatures {
			row[j] = apart.Data[t*k+i]
		}
	}
	return z
}

// inverseGram implements shiftedFactor: it writes V·F⁻¹·Vᵀ to g. The last rows of f.gramUV, the W of [LowRank], already
// are the products of V with E⁻¹Uᵀ and E⁻¹Vᵀ, E being the diagonal of the factored matrix.
func (f *lowRankFactor) inverseGram(g, _ kernel.Matrix[float64]) {
	solved := copyRows(f.v)
	z := f.solveDual(solved, copyRows(f.gramUV.Sub(f.n, 0, f.v.Rows, f.gramUV.Cols)), kernel.Matrix[float64]{})
	if f.a.metric {
		f.refineSolutions(solved, z)
	}
	kernel.Gemm(f.team, 1, f.v, solved.Trans(), g)
}

// refineSolutions corrects rough solutions w of Fw = b and their z, see [LowRank] for F, S and V, and solveDual for z.
// Exact solutions satisfy z = S·Uw and z_V = Vw. For a rough solution, the two sides of these equations differ by some
// y, and the correction of w is the solution for the right-hand side Uᵀy_U + Vᵀy_V. The relative error of z is about
// 2⁻⁵³·|SW|, and each correction multiplies the error of w by that number.
func (f *lowRankFactor) refineSolutions(w, z kernel.Matrix[float64]) {
	size, k := f.n+f.v.Rows, w.Rows
	largest := 0.0
	for i := range f.n {
		largest = max(largest, f.gramUV.Data[i*size+i])
	}
	z = copyRows(z)
	for rough := largest * max(f.a.tau[f.n-1], math.Abs(f.sigma)); rough > 1e3; rough /= 1e3 {
		down := f.TimesUTransposed(w)
		y := copyRows(z)
		kernel.Gemm(f.team, -1, down, f.a.middle, y.Sub(0, 0, k, f.n))
		for i := range k {
			kernel.Axpy(f.sigma, down.Data[i*f.n:(i+1)*f.n], y.Data[i*size:][:f.n])
		}
		kernel.Gemm(f.team, -1, w, f.v.Trans(), y.Sub(0, f.n, k, f.v.Rows))
		more := kernel.RowMajor(make([]float64, k*f.d), k, f.d, f.d)
		for i, v := range f.solveDual(more, MultiplyMatrices(f.team, y, f.gramUV), y).Data {
			z.Data[i] += v
		}
		for i, v := range more.Data {
			w.Data[i] += v
		}
	}
}

// DiagonalInverse returns the diagonal of (A + τI)⁻¹, τ > 0, for D = 0. There must be no metric. It costs 2·n²·d flops.
func (a *LowRank) DiagonalInverse(tau float64) ([]float64, error) {
	if a.metric {
		return nil, errors.New("linalg: no diagonal under a metric")
	}
	f := &lowRankFactor{scaledColumns: &a.scaledColumns, a: a, sigma: -tau, e: make([]float64, a.d), v: kernel.RowMajor[float64](nil, 0, a.d, a.d)}
	if !f.computeFactor() {
		return nil, ErrNotPositiveDefinite
	}
	out := a.QuadraticForms(f.middleInverse)
	for i := range out {
		out[i] = max((1-out[i]/tau)/tau, 0)
	}
	return out, nil
}
