package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// reduced is a pencil reduced to n×n numbers. With z = Uw and
//
//	W(λ) = U(D − λρI)⁻¹Uᵀ,
//
// Aw = λMw, that is (D − λρI)w + Uᵀ(T − λI)Uw = 0, says
//
//	w = (D − λρI)⁻¹Uᵀy,  y = (λI − T)z,  N(λ)z = (W(λ)⁻¹ + T − λI)z = 0,
//
// and where D is above λρ the pencil has as many eigenvalues below a λ as N(λ). W hardly depends on λ where features
// outnumber rows by far, ρ being a thousandth and D₁ some ten. So the lowest pairs of K = W⁻¹ + T for a W of weights
// near 1/(D − λρ) are all but the wanted ones, and from z, θ of a pair
//
//	y ← y + W⁻¹u,  (K − θI)u = −g,  g = y + (T − θI)z,
//
// in the complement of what there is gains as many digits at every reading of U as the weights are near:
// one makes w of y, and z of w, and Rayleigh and Ritz's pairs of these w are the next. g tells the residual:
// ‖Uᵀg‖ ≤ ‖g‖ in the norm of M⁻¹.
//
// The weights are those of the D before but for features whose own changed by much: of 13 updates of sfufs for 500 ×
// 50,000 the last seven changed W by 7 to 0.3 %, nine tenths of that in 3,000 features. And W is a sum of rounded
// numbers, see [LowRank.addRough]. See [reduced.prove] for why the pairs are right in spite of both.
//
// With L of W = LLᵀ all of K is in X = I + LᵀTL and Y = LᵀL: K⁻¹ = LX⁻¹Lᵀ, and K − μI has as many negative
// eigenvalues as X − μY. A reading costs 4nd flops a vector, W n²d at most, the rest some 2n³ and n²m.
type reduced struct {
	*LowRank
	l, p int

	weights []float64              // of W; nil at first
	w       kernel.Matrix[float64] // W, upper triangle
	made    []float64              // the weights when it was made anew
	wrong   wrong                  // with it then
	wanted  []float64              // what features do to it where it is wanted, see remember
	root    Cholesky               // its Lᵀ
	x, y    kernel.Matrix[float64] // X and Y, upper triangles
	chol    Cholesky               // of X
	inverse kernel.Matrix[float64] // K⁻¹
	singles [3][]float32           // what that is made in
	readers chan *reader           // nil at first
	last    float64                // θ_l of the matrix before, and how far θ_{l+1} was above, as a share
	gap     float64
}

const (
	// reach is how many times λρ each of D must be.
	reach = 2
	// readings bounds those of a matrix.
	readings = 12
	// leastStale and mostStale bound the share of W's trace that may be wrong, an eighth of the gap after the last
	// value, and so much by which a weight may exceed W's: a reading leaves as much of the error, and of what is
	// proved as much is lost.
	leastStale, mostStale = 1e-3, 0.03
	// wantedShare is how many times as much counts what is wrong where W is wanted: with 1 a reading left up to two
	// thirds of the error, as a few features that all pairs are made of had changed.
	wantedShare = 8
	// exactRidge is enough for W to have a factor: rows depend on each other, as centred ones do.
	exactRidge = 1e-12
	// singleRidge is above what W loses in float32: sums of 256 products each, which end in another of float64 after
	// singleSum features.
	singleRidge = 4e-6
	singleSum   = 4 * singleBlock
)

// reducedTo finds the pairs of a pencil by n×n numbers, or reports that it could not: where D is not beyond
// what λρ may be, or more pairs are wanted than rows allow.
func (s *Smallest) reducedTo(a *LowRank, warm kernel.Matrix[float64]) (Eigen, bool) {
	least, most := slices.Min(a.diag), slices.Max(a.diag)
	if 2*s.p > a.n || !(least > 0) {
		return Eigen{}, false
	}
	if a.reduced == nil || a.reduced.p != s.p {
		square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, a.n*a.n), a.n, a.n, a.n) }
		a.reduced = &reduced{LowRank: a, l: s.l, p: s.p, w: square(), x: square(), y: square(), inverse: square()}
	}
	r := a.reduced
	if warm.Cols == 0 { // nothing of an earlier matrix may be in the bits of the answer
		r.weights, r.last, r.gap = nil, 0, 0
	} else {
		warm = warm.Sub(a.d, 0, a.n, warm.Cols)
	}
	even := warm.Cols == 0 && least == most
	if even && !r.even() || !even && !r.weigh(false) || !r.factors() {
		return Eigen{}, false
	}
	z, theta, ok := r.lowest(warm)
	if even && ok && theta[s.l-1]*a.rho > leastStale*least { // W is scaled, which costs nothing
		if r.last = theta[s.l-1]; !r.even() || !r.factors() {
			return Eigen{}, false
		}
		z, theta, ok = r.lowest(z.Trans())
	}
	if !ok {
		return Eigen{}, false
	}
	b, ok := r.find(s, z, theta)
	if !ok {
		return Eigen{}, false
	}
	r.last = b.theta[s.l-1]
	r.gap = b.theta[min(s.l, s.p-1)]/r.last - 1
	r.remember(b)
	if !r.prove(s, b) {
		if r.weights = nil; !r.weigh(true) || !r.factors() || !r.prove(s, b) {
			return Eigen{}, false
		}
	}
	return r.found(s, b), true
}

// factors makes X, Y and their factors.
func (r *reduced) factors() bool {
	n, m, ridge := r.n, r.smooth.Rows, r.lost(r.weights)
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
	for k := 0; k < n; k += strip { // rows of U start at their diagonal
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
	r.invert()
	return true
}

// invert makes K⁻¹ = SᵀS of S = V⁻ᵀLᵀ and X = VᵀV in float32: W is known to less. A product with it takes a sixth of
// the time of products with L and solves with V, of which finding some pairs takes dozens.
func (r *reduced) invert() {
	n, v, team := r.n, r.chol.u, r.team
	var square [3]kernel.Matrix[float32]
	for i := range square {
		if r.singles[i] == nil {
			r.singles[i] = make([]float32, n*n)
		}
		square[i] = kernel.RowMajor(r.singles[i], n, n, n)
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
		inverse, solved := single(h, h), single(h, n)
		for i, x := range own.Data {
			inverse.Data[i] = float32(x)
		}
		kernel.Gemm(team, 1, inverse, below, solved)
		kernel.Copy(below, solved)
	}
	kernel.Syrk(team, 1, s.Trans(), product)
	kernel.Each(team.Threads(), n, func(i int) {
		for j := i; j < n; j++ {
			r.inverse.Data[i*n+j] = float64(product.Data[i*n+j])
		}
	})
	kernel.Mirror(team.Threads(), r.inverse)
}

func single(rows, cols int) kernel.Matrix[float32] {
	return kernel.RowMajor(make([]float32, rows*cols), rows, cols, cols)
}

// largest is the largest number on the diagonal.
func largest(x kernel.Matrix[float64]) (top float64) {
	for i := range x.Rows {
		top = max(top, x.Data[i*(x.RowStride+1)])
	}
	return top
}

// eachRow calls do for the rows of X and Y.
func (r *reduced) eachRow(do func(i int, x, y []float64)) {
	kernel.Each(r.team.Threads(), r.n, func(i int) { do(i, r.x.Data[i*r.n:(i+1)*r.n], r.y.Data[i*r.n:(i+1)*r.n]) })
}

// strip is the number of columns by which products with a triangle skip its zeros, and solveStrip that of rows which
// are solved for at a time, as many as products sum in registers: of 3,000 they took three quarters of the time of 128.
const strip, solveStrip = 128, 256

// inverseTimes adds alpha·X·K⁻¹ to Y, of so many rows.
func (r *reduced) inverseTimes(alpha float64, x, y kernel.Matrix[float64]) {
	r.thin(alpha, x, r.inverse.Trans(), y)
}

// thin adds alpha·X·C to Y, few rows at a time.
func (r *reduced) thin(alpha float64, x, c, y kernel.Matrix[float64]) { thin(r.team, alpha, x, c, y) }

func thin(team *kernel.Team, alpha float64, x, c, y kernel.Matrix[float64]) {
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(team, alpha, x.Sub(i, 0, h, x.Cols), c, y.Sub(i, 0, h, y.Cols))
	}
}

// inverse is −K⁻¹ as a form, of which products are all there is.
type inverse struct{ *reduced }

func (f inverse) times(y, x kernel.Matrix[float64])                     { f.inverseTimes(-1, x, y) }
func (f inverse) settle(kernel.Matrix[float64])                         {}
func (f inverse) residuals(r kernel.Matrix[float64], lengths []float64) { rowLengths(r, lengths) }
func (f inverse) factor(float64, kernel.Matrix[float64]) bool           { return false }
func (f inverse) solve(kernel.Matrix[float64])                          { panic("linalg: no factor") }
func (f inverse) inner(kernel.Matrix[float64], kernel.Matrix[float64])  { panic("linalg: no factor") }

// lowest are the p lowest vectors of K, orthonormal, and their values.
func (r *reduced) lowest(warm kernel.Matrix[float64]) (z kernel.Matrix[float64], theta []float64, ok bool) {
	n, p := r.n, r.p
	z, theta = kernel.RowMajor(make([]float64, p*n), p, n, n), make([]float64, p)
	if n <= 8*p { // a search would span all
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
		s.form = inverse{r}
		if !s.krylov(warm, lowestShare) {
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

// lowestShare is the residual of K's lowest vectors, as a share of their values.
const lowestShare = 1e-6

// krylov makes the first l Ritz pairs of a form right to a share of their values, without a factor or a proof.
func (s *Smallest) krylov(warm kernel.Matrix[float64], share float64) bool {
	s.reset()
	s.begin(warm)
	for range s.opt.Steps {
		if !s.ritz() {
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
			s.restart(2 * s.p)
		}
		if s.extend(rows) == 0 {
			return false
		}
	}
	return false
}

// prove reports whether no value below θ_l is missing.
//
// A W that is no less than W(μ) makes K no greater, so that K − μI has as many negative eigenvalues at least, and (1 + η)W
// is such a one for the largest share η by which a weight of W(μ) is above W's. Where X − μY for it is positive definite
// once k pairs are lifted, no more than k values are below μ: with μ = θ_k, the Ritz values of these, where the gap after it
// is the widest. Those beyond the l-th among them must be known well enough to be no less than it.
func (r *reduced) prove(s *Smallest, b pairs) bool {
	n, k := r.n, r.l
	for i := r.l; i < r.p-1 && b.theta[i]-b.bounds[i] >= b.theta[r.l-1]-4*s.tol()*s.norm; i++ {
		if b.theta[i+1]-b.theta[i] > b.theta[k]-b.theta[k-1] {
			k = i + 1
		}
	}
	mu, eta := b.theta[k-1], 0.0
	for i, v := range r.diag {
		eta = max(eta, 1/((v-mu*r.rho)*r.weights[i])-1)
	}
	eta = (1+eta)/(1-r.wrong.turn) - 1
	r.eachRow(func(i int, x, y []float64) {
		for j, v := range y[i:] {
			x[i+j] = (1 + eta) * (x[i+j] - mu*v)
		}
		x[i] -= eta
	})
	lifted := kernel.RowMajor(make([]float64, k*n), k, n, n)
	r.thin(2*math.Sqrt(mu), b.z.Sub(0, 0, k, n), r.root.u.Trans(), lifted)
	kernel.Syrk(r.team, 1, lifted.Trans(), r.x)
	ok := r.chol.Factor(r.team, r.x) == nil
	return ok
}

// found returns the pairs as the answer.
func (r *reduced) found(s *Smallest, b pairs) Eigen {
	e := s.result(r.p)
	e.Factors, e.Residual = s.factors, slices.Max(b.bounds[:r.l])/s.norm
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
