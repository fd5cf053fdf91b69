package linalg

import (
	"errors"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

func (a *LowRank) factorShifted(sigma float64, v kernel.Matrix[float64]) bool {
	a.sigma, a.v = sigma, a.rightHandSides(v)
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
	if negative > size { // E has more negative entries than the rows of U and V can make positive
		return false
	}
	for share := nearShare; ; share /= 10 {
		a.nearFeatures = a.nearFeatures[:0]
		for i, e := range a.e {
			if e <= share*largest {
				a.nearFeatures = append(a.nearFeatures, i)
			}
		}
		if len(a.nearFeatures) <= max(maxNearFeatures, negative) {
			break
		}
		if share < 1e-15 {
			share = 0
		}
	}
	if !a.invertMiddle(sigma, k) {
		return false
	}
	if len(a.nearFeatures) == 0 {
		return true
	}
	q := len(a.nearFeatures)
	a.un = kernel.RowMajor(make([]float64, q*size), q, size, size)
	room := make([]float64, a.n)
	for i, j := range a.nearFeatures {
		row := a.un.Data[i*size:]
		for t, x := range a.u.Some(room, j, 1) {
			row[t] = a.scale * x
		}
		for t := range k {
			row[a.n+t] = a.v.Data[t*a.d+j]
		}
	}
	a.zn = a.newProduct(a.un, a.middleInverse)
	complement := a.newProduct(a.zn, a.un.Trans())
	for i, j := range a.nearFeatures {
		complement.Data[i*q+i] += a.e[j]
	}
	return a.schur.Factor(a.team, complement) == nil
}

// invertMiddle computes the matrix Z for the shift sigma and k rows of V, see [LowRank] for Z, V and F. It reports
// whether F without the rows and columns of a.nearFeatures is positive definite.
func (a *LowRank) invertMiddle(sigma float64, k int) bool {
	size := a.n + k
	if !a.metric {
		sigma = 0
	}
	if !a.decomposeMiddle() {
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
		for j, v := range a.middleVectors.Data[i*a.n : (i+1)*a.n] {
			h.Data[r*size+j] = root * v
		}
	}
	for r := range k {
		h.Data[(len(plus)+r)*size+a.n+r] = 1
	}
	a.gramUV = a.weightedGram(k)
	w := a.gramUV
	inner := a.newProduct(a.newProduct(h, w), h.Trans())
	for i := range inner.Rows {
		inner.Data[i*inner.Cols+i]++
	}
	var c Cholesky
	if c.Factor(a.team, inner) != nil {
		return false
	}
	c.HalfSolveTo(a.team, h, h)
	a.middleInverse = kernel.RowMajor(make([]float64, size*size), size, size, size)
	kernel.Syrk(a.team, 1, h.Trans(), a.middleInverse)
	kernel.MirrorUpper(a.team.Threads(), a.middleInverse)
	if len(minus) == 0 {
		return true
	}
	y := kernel.RowMajor(make([]float64, len(minus)*size), len(minus), size, size) // Yᵀ
	for r, i := range minus {
		copy(y.Data[r*size:], a.middleVectors.Data[i*a.n:(i+1)*a.n])
	}
	yw := a.newProduct(y, w)
	x := copyRows(y)
	kernel.Gemm(a.team, -1, yw, a.middleInverse, x)
	inner = a.newProduct(x, yw.Trans()) // Yᵀ(I − WZ₊)WY
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
	kernel.Gemm(a.team, -1, x.Trans(), x, a.middleInverse)
	return true
}

// weightedGram returns the W of [LowRank] for U and the k rows of V, summed over all features that are not in
// a.nearFeatures.
func (a *LowRank) weightedGram(k int) kernel.Matrix[float64] {
	size := a.n + k
	w := kernel.RowMajor(make([]float64, size*size), size, size, size)
	weights := a.inverseE()
	a.addOuterProducts(w.Sub(0, 0, a.n, a.n), weights)
	if k > 0 {
		scaled := copyRows(a.v)
		for t := range k {
			row := scaled.Data[t*a.d : (t+1)*a.d]
			for j := range row {
				row[j] *= weights[j]
			}
		}
		a.eachPanel(func(from int, u kernel.Matrix[float64]) {
			kernel.Gemm(a.team, a.scale, u.Trans(), scaled.Sub(0, from, k, u.Rows).Trans(), w.Sub(0, a.n, a.n, k))
		})
		kernel.Gemm(a.team, 1, scaled, a.v.Trans(), w.Sub(a.n, a.n, k, k))
	}
	kernel.MirrorUpper(a.team.Threads(), w)
	return w
}

// addOuterProducts adds the upper triangle of Σ w·uuᵀ to c, for weights w ≥ 0 of the features.
func (a *LowRank) addOuterProducts(c kernel.Matrix[float64], weights []float64) {
	rows := make([]float64, lowRankBlock*a.n)
	a.eachPanel(func(first int, u kernel.Matrix[float64]) {
		for from := 0; from < u.Rows; from += lowRankBlock {
			h := min(lowRankBlock, u.Rows-from)
			block := kernel.RowMajor(rows, h, a.n, a.n)
			kernel.Each(a.team.Threads(), h, func(i int) {
				factor := a.scale * math.Sqrt(weights[first+from+i])
				out := rows[i*a.n : (i+1)*a.n]
				for t, x := range u.Data[(from+i)*a.n:][:a.n] {
					out[t] = factor * x
				}
			})
			kernel.Syrk(a.team, 1, block.Trans(), c)
		}
	})
}

// solveRows implements matrixForm. It multiplies once by Uᵀ and once by U, see [LowRank], and refines the solutions of
// a pencil.
func (a *LowRank) solveRows(x kernel.Matrix[float64]) {
	b := a.rightHandSides(x)
	c := kernel.RowMajor(make([]float64, x.Rows*(a.n+a.v.Rows)), x.Rows, a.n+a.v.Rows, a.n+a.v.Rows)
	scaled := a.dividedByE(b)
	a.addTimesUTransposed(1, scaled, c.Sub(0, 0, x.Rows, a.n))
	kernel.Gemm(a.team, 1, scaled, a.v.Trans(), c.Sub(0, a.n, x.Rows, a.v.Rows))
	z := a.solveDual(b, c, kernel.Matrix[float64]{})
	if a.metric {
		a.refineSolutions(b, z)
		scaleRows(b, math.Sqrt(a.rho))
	}
	for i := range x.Rows {
		copy(x.Data[i*x.RowStride:], b.Data[i*a.d:(i+1)*a.d])
	}
	a.completeVectors(x)
}

func (a *LowRank) dividedByE(b kernel.Matrix[float64]) kernel.Matrix[float64] {
	b = copyRows(b)
	inverse := a.inverseE()
	for i := range b.Rows {
		row := b.Data[i*a.d : (i+1)*a.d]
		multiplyElements(row, row, inverse)
	}
	return b
}

func (a *LowRank) inverseE() []float64 {
	inverse := make([]float64, a.d)
	for i, e := range a.e {
		inverse[i] = 1 / e
	}
	for _, j := range a.nearFeatures {
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
func (a *LowRank) solveDual(b, c, y kernel.Matrix[float64]) (z kernel.Matrix[float64]) {
	k, q, kv := b.Rows, len(a.nearFeatures), a.v.Rows
	apart := kernel.RowMajor(make([]float64, q*k), q, k, k) // b_N, then x_N: the right-hand side and the solution for the near features
	if q > 0 {
		for t, j := range a.nearFeatures {
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
	z = a.newProduct(c, a.middleInverse)
	for i, v := range y.Data {
		z.Data[i] -= v
	}
	a.addTimesU(-1, z.Sub(0, 0, k, a.n), b)
	kernel.Gemm(a.team, -1, z.Sub(0, a.n, k, kv), a.v, b)
	inverse := a.inverseE()
	for i := range k {
		row := b.Data[i*a.d : (i+1)*a.d]
		multiplyElements(row, row, inverse)
		for t, j := range a.nearFeatures {
			row[j] = apart.Data[t*k+i]
		}
	}
	return z
}

// inverseGram implements matrixForm. The last rows of a.gramUV, the W of [LowRank], already are the products of V with
// E⁻¹Uᵀ and E⁻¹Vᵀ, E being the diagonal of the factored matrix.
func (a *LowRank) inverseGram(g, _ kernel.Matrix[float64]) {
	solved := copyRows(a.v)
	z := a.solveDual(solved, copyRows(a.gramUV.Sub(a.n, 0, a.v.Rows, a.gramUV.Cols)), kernel.Matrix[float64]{})
	if a.metric {
		a.refineSolutions(solved, z)
	}
	kernel.Gemm(a.team, 1, a.v, solved.Trans(), g)
}

// DiagonalInverse returns the diagonal of (A + τI)⁻¹, τ > 0. The diagonal D of A must be 0, and there must be no
// metric. It costs 2·n²·d flops.
func (a *LowRank) DiagonalInverse(tau float64) ([]float64, error) {
	if a.metric {
		return nil, errors.New("linalg: no diagonal under a metric")
	}
	diag := a.diag
	defer func() { a.diag = diag }()
	a.SetDiagonal(nil)
	if !a.factorShifted(-tau, kernel.RowMajor[float64](nil, 0, a.d, a.d)) {
		return nil, ErrNotPositiveDefinite
	}
	out := a.QuadraticForms(a.middleInverse)
	for i := range out {
		out[i] = (1 - out[i]/tau) / tau
	}
	return out, nil
}
