package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// reducedPencil is a pencil reduced to n×n numbers. With z = Uw and
//
//	W(λ) = U(D − λρI)⁻¹Uᵀ,
//
// Aw = λMw, that is (D − λρI)w + Uᵀ(T − λI)Uw = 0, means
//
//	w = (D − λρI)⁻¹Uᵀy,  y = (λI − T)z,  N(λ)z = (W(λ)⁻¹ + T − λI)z = 0,
//
// If D is above λρ, the pencil has as many eigenvalues below a λ as N(λ) has negative eigenvalues. If features
// outnumber rows by far, W hardly depends on λ, because ρ is about 0.001 and D₁ about 10. So the lowest pairs of K =
// W⁻¹ + T, for a W with weights near 1/(D − λρ), are nearly the wanted pairs. From the z and θ of a pair,
//
//	y ← y + W⁻¹u,  (K − θI)u = −g,  g = y + (T − θI)z,
//
// in the complement of the z found, gives a better y. One reading of U then makes w from y and z from w, and the next
// pairs are found by the Rayleigh-Ritz method in the span of these w. Each reading gains as many digits as the weights
// have right. g bounds the residual: ‖Uᵀg‖ ≤ ‖g‖ in the norm of M⁻¹.
//
// The weights are computed from the previous D, except for features whose weight changed by much: of 13 updates of
// sfufs for 500 × 50,000 the last seven changed W by 7 to 0.3 %, nine tenths of that in 3,000 features. Moreover, W is
// a sum of rounded numbers, see [LowRank.addRough]. [reducedPencil.proveComplete] explains why the pairs are right
// nevertheless.
//
// With W = LLᵀ, X = I + LᵀTL and Y = LᵀL describe K completely: K⁻¹ = LX⁻¹Lᵀ, and K − μI has as many negative
// eigenvalues as X − μY. A reading costs 4nd flops for each vector, W at most n²d, and the rest about 2n³ + n²m.
type reducedPencil struct {
	*LowRank
	l, p int

	weights     []float64              // the weights of W; nil until W is computed
	w           kernel.Matrix[float64] // W, upper triangle
	madeWeights []float64              // the weights at the time when W was last computed from all features
	wError      sumError               // the error of W at that time
	influence   []float64              // influence of each feature on the wanted pairs, see recordInfluence
	root        Cholesky               // the factor Lᵀ of W
	x, y        kernel.Matrix[float64] // X and Y, upper triangles
	chol        Cholesky               // the factor of X
	kInverse    kernel.Matrix[float64] // K⁻¹
	singleRoom  [3][]float32           // float32 scratch for K⁻¹
	readers     chan *panelReader      // nil until needed
	lastTheta   float64                // θ_l of the previous matrix; gap is the share by which θ_{l+1} was above it
	gap         float64
}

const (
	// leastRatio·λρ is a bound that each entry of D must exceed.
	leastRatio = 2
	// mostReadings bounds the readings of U for a matrix.
	mostReadings = 12
	// leastError and mostError are the limits of the error allowed for W, which is an eighth of the gap after the last
	// value, as a share of W's trace. A weight may exceed the one in W by the same share. A reading leaves that share
	// of the error of the pairs, and the proof loses as much.
	leastError, mostError = 1e-3, 0.03
	// influenceFactor multiplies the error of W in the directions of the wanted pairs. With a factor of 1, a reading
	// left up to two thirds of the error when a few features that dominate all pairs had changed.
	influenceFactor = 8
	// exactRidge is large enough for W to have a factor if its rows are linearly dependent, as centred rows are.
	exactRidge = 1e-12
	// singleRidge is larger than the error of computing W in float32. Each entry is summed over 256 products at a
	// time, and added to a float64 sum after singleSum features.
	singleRidge = 4e-6
	singleSum   = 4 * singleBlock
)

// reducedTo finds the pairs of a pencil with n×n matrices. It returns false if D is too small compared with λρ, if
// there are too few rows for the number of pairs, or if it does not succeed.
func (s *Smallest) reducedTo(a *LowRank, warm kernel.Matrix[float64]) (Eigen, bool) {
	least, most := slices.Min(a.diag), slices.Max(a.diag)
	if 2*s.p > a.n || !(least > 0) {
		return Eigen{}, false
	}
	if a.reduction == nil || a.reduction.p != s.p {
		square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n) }
		a.reduction = &reducedPencil{LowRank: a, l: s.l, p: s.p, w: square(), x: square(), y: square(), kInverse: square()}
	}
	r := a.reduction
	if warm.Cols == 0 { // the answer's bits must not depend on an earlier matrix
		r.weights, r.lastTheta, r.gap = nil, 0, 0
	} else {
		warm = warm.Sub(a.d, 0, a.n, warm.Cols)
	}
	even := warm.Cols == 0 && least == most
	if even && !r.weighEvenly() || !even && !r.makeWeights(false) || !r.makeFactors() {
		return Eigen{}, false
	}
	z, theta, ok := r.lowestVectors(warm)
	if even && ok && theta[s.l-1]*a.rho > leastError*least { // now scale W for that λ, which is cheap
		if r.lastTheta = theta[s.l-1]; !r.weighEvenly() || !r.makeFactors() {
			return Eigen{}, false
		}
		z, theta, ok = r.lowestVectors(z.Trans())
	}
	if !ok {
		return Eigen{}, false
	}
	b, ok := r.pencilPairs(s, z, theta)
	if !ok {
		return Eigen{}, false
	}
	r.lastTheta = b.theta[s.l-1]
	r.gap = b.theta[min(s.l, s.p-1)]/r.lastTheta - 1
	r.recordInfluence(b)
	if !r.proveComplete(s, b) {
		if r.weights = nil; !r.makeWeights(true) || !r.makeFactors() || !r.proveComplete(s, b) {
			return Eigen{}, false
		}
	}
	return r.eigenFromPairs(s, b), true
}

// makeFactors computes X, Y, their factors and K⁻¹ from W.
func (r *reducedPencil) makeFactors() bool {
	n, m, ridge := r.n, r.smooth.Rows, r.ridgeFor(r.weights)
	copyUpper(r.team.Threads(), r.y, r.w)
	for i := range n {
		r.y.Data[i*n+i] += ridge
	}
	if r.root.Factor(r.team, r.y) != nil {
		return false
	}
	u := r.root.u
	r.eachRow(func(_ int, _, y []float64) { clear(y) })
	uh := kernel.RowMajor(make([]float64, n*m), n, m, m)
	for k := 0; k < n; k += strip { // the rows of U start at the diagonal
		h := min(strip, n-k)
		some := u.Sub(0, k, k+h, h)
		kernel.Syrk(r.team, 1, some, r.y.Sub(0, 0, k+h, k+h))
		kernel.Gemm(r.team, 1, some, r.smooth.Sub(0, k, m, h).Trans(), uh.Sub(0, 0, k+h, m))
	}
	r.eachRow(func(i int, x, y []float64) {
		for j, v := range y[i:] {
			x[i+j] = r.share * v
		}
		x[i]++
	})
	kernel.Syrk(r.team, -r.share, uh, r.x)
	if r.chol.Factor(r.team, r.x) != nil {
		return false
	}
	r.makeInverse()
	return true
}

// makeInverse computes K⁻¹ = SᵀS with S = V⁻ᵀLᵀ and X = VᵀV. It uses float32, whose rounding is smaller than the error
// of W. A product with K⁻¹ takes a sixth of the time of products with L and solves with V, and dozens of products are
// needed to find some pairs.
func (r *reducedPencil) makeInverse() {
	n, v, team := r.n, r.chol.u, r.team
	var square [3]kernel.Matrix[float32]
	for i := range square {
		if r.singleRoom[i] == nil {
			r.singleRoom[i] = make([]float32, n*n)
		}
		square[i] = kernel.RowMajor(r.singleRoom[i], n, n, n)
	}
	s, right, product := square[0], square[1], square[2]
	kernel.Each(team.Threads(), n, func(i int) {
		clear(s.Data[i*n : (i+1)*n])
		clear(product.Data[i*n : (i+1)*n])
		for j := i; j < n; j++ {
			s.Data[i*n+j], right.Data[i*n+j] = float32(r.root.u.Data[i*n+j]), float32(v.Data[i*n+j])
		}
	})
	for k := 0; k < n; k += solveStrip {
		h := min(solveStrip, n-k)
		below := s.Sub(k, 0, h, n)
		kernel.Gemm(team, -1, right.Sub(0, k, k, h).Trans(), s.Sub(0, 0, k, n), below)
		own := kernel.RowMajor(make([]float64, h*h), h, h, h)
		for i := range h {
			own.Data[i*h+i] = 1
		}
		solveTrans(team, v.Sub(k, k, h, h), false, own)
		inverse, solved := newSingle(h, h), newSingle(h, n)
		for i, x := range own.Data {
			inverse.Data[i] = float32(x)
		}
		kernel.Gemm(team, 1, inverse, below, solved)
		kernel.Copy(below, solved)
	}
	kernel.Syrk(team, 1, s.Trans(), product)
	kernel.Each(team.Threads(), n, func(i int) {
		for j := i; j < n; j++ {
			r.kInverse.Data[i*n+j] = float64(product.Data[i*n+j])
		}
	})
	kernel.MirrorUpper(team.Threads(), r.kInverse)
}

func newSingle(rows, cols int) kernel.Matrix[float32] {
	return kernel.RowMajor(make([]float32, rows*cols), rows, cols, cols)
}

func maxDiagonal(x kernel.Matrix[float64]) (top float64) {
	for i := range x.Rows {
		top = max(top, x.Data[i*(x.RowStride+1)])
	}
	return top
}

func (r *reducedPencil) eachRow(visit func(i int, x, y []float64)) {
	kernel.Each(r.team.Threads(), r.n, func(i int) { visit(i, r.x.Data[i*r.n:(i+1)*r.n], r.y.Data[i*r.n:(i+1)*r.n]) })
}

// strip is the number of columns of a triangle multiplied at a time, so that most of its zeros are skipped. solveStrip
// rows are solved for at a time, as many as products sum in registers: with 3,000 rows, solving 256 rows at a time took
// three quarters of the time of 128 rows.
const strip, solveStrip = 128, 256

func (r *reducedPencil) inverseTimes(alpha float64, x, y kernel.Matrix[float64]) {
	r.addThinProduct(alpha, x, r.kInverse.Trans(), y)
}

func (r *reducedPencil) addThinProduct(alpha float64, x, c, y kernel.Matrix[float64]) {
	addThin(r.team, alpha, x, c, y)
}

func addThin(team *kernel.Team, alpha float64, x, c, y kernel.Matrix[float64]) {
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(team, alpha, x.Sub(i, 0, h, x.Cols), c, y.Sub(i, 0, h, y.Cols))
	}
}

// negatedInverse is −K⁻¹ as a matrixForm that supports only products.
type negatedInverse struct{ pencil *reducedPencil }

func (f negatedInverse) addProduct(y, x kernel.Matrix[float64]) { f.pencil.inverseTimes(-1, x, y) }
func (f negatedInverse) completeVectors(kernel.Matrix[float64]) {}
func (f negatedInverse) measureResiduals(r kernel.Matrix[float64], lengths []float64) {
	rowLengths(r, lengths)
}
func (f negatedInverse) factorShifted(float64, kernel.Matrix[float64]) bool { return false }
func (f negatedInverse) solveRows(kernel.Matrix[float64])                   { panic("linalg: no factor") }
func (f negatedInverse) inverseGram(kernel.Matrix[float64], kernel.Matrix[float64]) {
	panic("linalg: no factor")
}

func (r *reducedPencil) lowestVectors(warm kernel.Matrix[float64]) (z kernel.Matrix[float64], theta []float64, ok bool) {
	n, p := r.n, r.p
	z, theta = kernel.RowMajor(make([]float64, p*n), p, n, n), make([]float64, p)
	if n <= 8*p { // a search would span the whole space
		unit, all := kernel.RowMajor(make([]float64, n*n), n, n, n), kernel.RowMajor(make([]float64, n*n), n, n, n)
		for i := range n {
			unit.Data[i*n+i] = 1
		}
		r.inverseTimes(-1, unit, all)
		values := make([]float64, n)
		if !symmetricEigen(r.team.Threads(), all.Data, n, values) {
			return z, theta, false
		}
		copy(theta, values)
		kernel.Copy(z, all.Sub(0, 0, n, p).Trans())
	} else {
		s := NewSmallest(r.team, n, p, EigenOptions{Guard: 2})
		s.form = negatedInverse{r}
		if !s.runKrylov(warm, lowestShare) {
			return z, theta, false
		}
		copy(theta, s.theta)
		copy(z.Data, s.x)
	}
	for i, v := range theta {
		theta[i] = -1 / v
	}
	return z, theta, true
}

// lowestShare is the largest allowed residual of K's lowest vectors, as a share of their values.
const lowestShare = 1e-6

// runKrylov iterates until the residuals of the first l Ritz pairs of a form are at most share times their values. It
// uses neither a factor nor a proof.
func (s *Smallest) runKrylov(warm kernel.Matrix[float64], share float64) bool {
	s.resetSpace()
	s.startSpace(warm)
	for range s.opt.Steps {
		if !s.solveRitz() {
			return false
		}
		rows := 0
		for i := range s.l {
			if s.rnorm[i] > share*math.Abs(s.theta[i]) {
				copy(s.w[rows*s.n:][:s.n], s.r[i*s.n:])
				rows++
			}
		}
		if rows == 0 {
			return true
		}
		if s.m+rows > basisRows(s.n, s.p) {
			s.shrinkSpace(2 * s.p)
		}
		if s.extendSpace(rows) == 0 {
			return false
		}
	}
	return false
}

// proveComplete reports whether the pairs found include all eigenvalues below θ_l.
//
// If W is at least W(μ), K is at most as large as with W(μ), so that K − μI has at least as many negative eigenvalues.
// (1 + η)W is at least W(μ) if η is the largest share by which a weight of W(μ) exceeds the one in W. If its X − μY is
// positive definite after k pairs are lifted, at most k values are below μ = θ_k. k is the number of Ritz values before
// the widest gap. The bounds of the Ritz values after the l-th must show that their eigenvalues are at least θ_l.
func (r *reducedPencil) proveComplete(s *Smallest, b pencilRitz) bool {
	n, k := r.n, r.l
	for i := r.l; i < r.p-1 && b.theta[i]-b.bounds[i] >= b.theta[r.l-1]-4*s.tolerance()*s.norm; i++ {
		if b.theta[i+1]-b.theta[i] > b.theta[k]-b.theta[k-1] {
			k = i + 1
		}
	}
	mu, eta := b.theta[k-1], 0.0
	for i, v := range r.diag {
		eta = max(eta, 1/((v-mu*r.rho)*r.weights[i])-1)
	}
	eta = (1+eta)/(1-r.wError.relative) - 1
	r.eachRow(func(i int, x, y []float64) {
		for j, v := range y[i:] {
			x[i+j] = (1 + eta) * (x[i+j] - mu*v)
		}
		x[i] -= eta
	})
	lifted := kernel.RowMajor(make([]float64, k*n), k, n, n)
	r.addThinProduct(2*math.Sqrt(mu), b.z.Sub(0, 0, k, n), r.root.u.Trans(), lifted)
	kernel.Syrk(r.team, 1, lifted.Trans(), r.x)
	ok := r.chol.Factor(r.team, r.x) == nil
	return ok
}

func (r *reducedPencil) eigenFromPairs(s *Smallest, b pencilRitz) Eigen {
	e := s.newEigen(r.p)
	e.Factors, e.Residual = s.factorTries, slices.Max(b.bounds[:r.l])/s.norm
	copy(e.Values, b.theta)
	root := math.Sqrt(r.rho)
	for i := range r.p {
		for j, v := range b.w.Data[i*r.d : (i+1)*r.d] {
			e.Basis.Data[j*r.p+i] = root * v
		}
		for j, v := range b.z.Data[i*r.n : (i+1)*r.n] {
			e.Basis.Data[(r.d+j)*r.p+i] = v
		}
	}
	return e
}
