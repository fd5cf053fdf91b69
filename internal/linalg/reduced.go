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
// 50,000 the last seven changed W by 7 to 0.3 %, nine tenths of that in 3,000 features. And W is a sum in float32, of
// which as much is known. See [reduced.prove] for why the pairs are right in spite of both.
//
// With L of W = LLᵀ all of K is in X = I + LᵀTL and Y = LᵀL: K⁻¹ = LX⁻¹Lᵀ, and K − μI has as many negative
// eigenvalues as X − μY. A reading costs 4nd flops a vector, W n²d at most, the rest some 2n³ and n²m.
type reduced struct {
	*LowRank
	l, p int

	weights []float64              // of W; nil at first
	w       kernel.Matrix[float64] // W, upper triangle
	ridge   float64                // what is added to its diagonal, as a share of the largest there
	root    Cholesky               // its Lᵀ
	x, y    kernel.Matrix[float64] // X and Y, upper triangles
	chol    Cholesky               // of X
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
	// exactRidge is enough for W to have a factor: rows depend on each other, as centred ones do.
	exactRidge = 1e-12
	// singleRidge is above what W loses in float32: sums of 256 products each, which end in another of float64 after
	// singleSum features.
	singleRidge = 4e-6
	singleSum   = 16 * lowRankBlock
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
		a.reduced = &reduced{LowRank: a, l: s.l, p: s.p, w: square(), x: square(), y: square()}
	}
	r := a.reduced
	if warm.Cols == 0 { // nothing of an earlier matrix may be in the bits of the answer
		r.weights, r.last, r.gap = nil, 0, 0
	} else {
		warm = warm.Sub(a.d, 0, a.n, warm.Cols)
	}
	if warm.Cols == 0 && least == most { // a first σ for W costs nothing
		if !r.even() || !r.factors() {
			return Eigen{}, false
		}
		z, theta, ok := r.lowest(warm)
		if !ok {
			return Eigen{}, false
		}
		if r.last, warm = theta[s.l-1], z.Trans(); !r.even() {
			return Eigen{}, false
		}
	} else if !r.weigh(false) {
		return Eigen{}, false
	}
	if !r.factors() {
		return Eigen{}, false
	}
	z, theta, ok := r.lowest(warm)
	if !ok {
		return Eigen{}, false
	}
	b, ok := r.find(s, z, theta)
	if !ok {
		return Eigen{}, false
	}
	r.last = b.theta[s.l-1]
	r.gap = b.theta[min(s.l, s.p-1)]/r.last - 1
	if !r.prove(s, b) {
		if r.weights = nil; !r.weigh(true) || !r.factors() || !r.prove(s, b) {
			return Eigen{}, false
		}
	}
	return r.found(s, b), true
}

// factors makes X, Y and their factors.
func (r *reduced) factors() bool {
	n, m := r.n, r.smooth.Rows
	top := 0.0
	for i := range n {
		top = max(top, r.w.Data[i*n+i])
	}
	copy(r.y.Data, r.w.Data)
	for i := range n {
		r.y.Data[i*n+i] += r.ridge * top
	}
	if r.root.Factor(r.team, r.y) != nil {
		return false
	}
	u := r.root.u
	clear(r.y.Data)
	uh := kernel.RowMajor(make([]float64, n*m), n, m, m)
	for k := 0; k < n; k += strip { // rows of U start at their diagonal
		h := min(strip, n-k)
		some := u.Sub(0, k, k+h, h)
		kernel.Syrk(r.team, 1, some, r.y.Sub(0, 0, k+h, k+h))
		kernel.Gemm(r.team, 1, some, r.smooth.Sub(0, k, m, h).Trans(), uh.Sub(0, 0, k+h, m))
	}
	for i, v := range r.y.Data {
		r.x.Data[i] = r.share * v
	}
	kernel.Syrk(r.team, -r.share, uh, r.x)
	for i := range n {
		r.x.Data[i*n+i]++
	}
	return r.chol.Factor(r.team, r.x) == nil
}

// strip is the number of columns by which products with a triangle skip its zeros.
const strip = 128

// inverseTimes adds alpha·X·K⁻¹ to Y, of so many rows.
func (r *reduced) inverseTimes(alpha float64, x, y kernel.Matrix[float64]) {
	half := kernel.RowMajor(make([]float64, x.Rows*r.n), x.Rows, r.n, r.n)
	r.thin(1, x, r.root.u.Trans(), half)
	r.chol.SolveTo(r.team, half.Trans(), half.Trans())
	r.thin(alpha, half, r.root.u, y)
}

// thin adds alpha·X·C to Y, few rows at a time.
func (r *reduced) thin(alpha float64, x, c, y kernel.Matrix[float64]) {
	for i := 0; i < x.Rows; i += thinRows {
		h := min(thinRows, x.Rows-i)
		kernel.Gemm(r.team, alpha, x.Sub(i, 0, h, x.Cols), c, y.Sub(i, 0, h, y.Cols))
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

// find goes from K's lowest vectors to the pencil's.
func (r *reduced) find(s *Smallest, z kernel.Matrix[float64], theta []float64) (b pairs, ok bool) {
	y := r.rightOf(z, theta)
	least := slices.Min(r.diag)
	for range readings {
		if !(least > reach*theta[r.p-1]*r.rho) {
			return b, false
		}
		if b, ok = r.read(y, theta); !ok {
			return b, false
		}
		theta = b.theta
		limit := max(turned*(theta[min(r.l, r.p-1)]-theta[r.l-1]), s.tol()*max(r.top, theta[r.l-1]))
		if slices.Max(b.bounds[:r.l]) <= limit {
			return b, true
		}
		if y, ok = r.correction(b); !ok {
			return b, false
		}
		r.root.SolveTo(r.team, y.Trans(), y.Trans())
		kernel.Axpy(1, b.y.Data, y.Data)
	}
	return b, false
}

// turned is the residual of the pairs as a share of the gap after them: by so much their vectors are turned.
const turned = 1e-7

// rightOf is y = (θ − T)z of rows z.
func (r *reduced) rightOf(z kernel.Matrix[float64], theta []float64) kernel.Matrix[float64] {
	y := kernel.RowMajor(make([]float64, len(z.Data)), z.Rows, r.n, r.n)
	r.thin(-1, z, r.middle, y)
	for i, v := range theta {
		kernel.Axpy(v, z.Data[i*r.n:(i+1)*r.n], y.Data[i*r.n:(i+1)*r.n])
	}
	return y
}

// pairs are Ritz pairs of the pencil.
type pairs struct {
	theta  []float64
	w      kernel.Matrix[float64] // p×d, wᵀMw = 1
	z, y   kernel.Matrix[float64] // p×n
	g      kernel.Matrix[float64] // p×n
	bounds []float64              // of the residuals, in the norm of M⁻¹
}

// read makes w = (D − θρ)⁻¹Uᵀy and z = Uw in one reading of U, and their Ritz pairs.
func (r *reduced) read(y kernel.Matrix[float64], theta []float64) (b pairs, ok bool) {
	n, d, p := r.n, r.d, y.Rows
	w, z := kernel.RowMajor(make([]float64, p*d), p, d, d), kernel.RowMajor(make([]float64, p*n), p, n, n)
	block := max(1<<19/n, 1)
	r.panels(func(first int, all kernel.Matrix[float64]) {
		for from := 0; from < all.Rows; from += block {
			h := min(block, all.Rows-from)
			u, some := all.Sub(from, 0, h, n), w.Sub(0, first+from, p, h)
			r.thin(r.scale, y, u.Trans(), some)
			for i, v := range theta {
				row, diag := some.Data[i*d:][:h], r.diag[first+from:]
				for j := range row {
					row[j] /= diag[j] - v*r.rho
				}
			}
			r.thin(r.scale, some, u, z)
		}
	})
	square := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, p*p), p, p, p) }
	zt := kernel.RowMajor(make([]float64, p*n), p, n, n)
	r.thin(1, z, r.middle, zt)
	ww, metric, full := square(), square(), square()
	r.grams(w, ww, full)
	for i, v := range ww.Data {
		metric.Data[i] = r.rho * v
	}
	kernel.Gemm(r.team, 1, z, z.Trans(), metric)
	kernel.Gemm(r.team, 1, zt, z.Trans(), full)
	var c Cholesky
	if c.Factor(r.team, metric) != nil {
		return b, false
	}
	c.HalfSolveTo(r.team, full, full)
	c.HalfSolveTo(r.team, full.Trans(), full.Trans())
	b.theta = make([]float64, p)
	if !symmetricEigen(1, full.Data, p, b.theta) {
		return b, false
	}
	c.BackSolveTo(r.team, full, full) // the pairs in the w
	b.w, b.z = r.small(full.Trans(), w), r.small(full.Trans(), z)
	b.y = r.small(full.Trans(), y)
	b.g = copyRows(b.y)
	kernel.Gemm(r.team, 1, full.Trans(), zt, b.g)
	b.bounds = make([]float64, p)
	rest, times := make([]float64, p), make([]float64, p)
	for i, v := range b.theta {
		g := b.g.Data[i*n : (i+1)*n]
		kernel.Axpy(-v, b.z.Data[i*n:(i+1)*n], g)
		for j := range rest {
			rest[j] = full.Data[j*p+i] * (theta[j] - v)
		}
		clear(times)
		kernel.Gemv(1, p, p, ww.Data, p, rest, times)
		b.bounds[i] = norm2(g) + math.Sqrt(r.rho*max(kernel.Dot(rest, times), 0))
	}
	return b, true
}

// grams writes wwᵀ and wDwᵀ of rows w, a task a pair of them: these are few, and long.
func (r *reduced) grams(w, plain, heavy kernel.Matrix[float64]) {
	p, d := w.Rows, w.Cols
	kernel.Each(r.team.Threads(), p, func(i int) {
		row, times := w.Data[i*d:(i+1)*d], make([]float64, d)
		weigh(times, row, r.diag)
		for j := range p {
			other := w.Data[j*d : (j+1)*d]
			plain.Data[i*p+j], heavy.Data[i*p+j] = kernel.Dot(row, other), kernel.Dot(times, other)
		}
	})
	symmetrize(plain)
	symmetrize(heavy)
}

// symmetrize takes the mean of a square matrix and its transpose.
func symmetrize(x kernel.Matrix[float64]) {
	for i := range x.Rows {
		for j := range i {
			mean := (x.Data[i*x.RowStride+j] + x.Data[j*x.RowStride+i]) / 2
			x.Data[i*x.RowStride+j], x.Data[j*x.RowStride+i] = mean, mean
		}
	}
}

// correction is u of every pair: (K − θI)u = −g in the complement of their z, where conjugate gradients solve
// (I − θK⁻¹)u = −K⁻¹g. g is in it already, as that of a Ritz pair.
func (r *reduced) correction(b pairs) (kernel.Matrix[float64], bool) {
	n, p, g := r.n, r.p, b.g
	rows := func() kernel.Matrix[float64] { return kernel.RowMajor(make([]float64, p*n), p, n, n) }
	apart, products := rows(), kernel.RowMajor(make([]float64, p*p), p, p, p)
	kernel.Syrk(r.team, 1, b.z, products)
	var c Cholesky
	if c.Factor(r.team, products) != nil {
		return apart, false
	}
	c.HalfSolveTo(r.team, apart, b.z) // orthonormal
	project := func(x kernel.Matrix[float64]) {
		kernel.Gemm(r.team, -1, r.small(x, apart.Trans()), apart, x)
	}
	u, left := rows(), rows()
	r.inverseTimes(-1, g, left)
	project(left)
	along := copyRows(left)
	square, first := make([]float64, p), make([]float64, p)
	for i := range p {
		row := left.Data[i*n : (i+1)*n]
		square[i] = kernel.Dot(row, row)
		first[i] = square[i]
	}
	for range steps {
		times := copyRows(along)
		minus := rows()
		r.inverseTimes(1, along, minus)
		for i, v := range b.theta {
			v = min(v, b.theta[r.l-1]) // of guards nothing says that the complement is above their own
			kernel.Axpy(-v, minus.Data[i*n:(i+1)*n], times.Data[i*n:(i+1)*n])
		}
		project(times)
		busy := false
		for i := range p {
			if !(square[i] > solved*solved*first[i]) {
				continue
			}
			a, ta, x := along.Data[i*n:(i+1)*n], times.Data[i*n:(i+1)*n], left.Data[i*n:(i+1)*n]
			curve := kernel.Dot(a, ta)
			if !(curve > 0) {
				square[i] = 0
				continue
			}
			step := square[i] / curve
			kernel.Axpy(step, a, u.Data[i*n:(i+1)*n])
			kernel.Axpy(-step, ta, x)
			next := kernel.Dot(x, x)
			for j := range a {
				a[j] = x[j] + next/square[i]*a[j]
			}
			square[i] = next
			busy = busy || i < r.l && next > solved*solved*first[i]
		}
		if !busy {
			break
		}
	}
	return u, true
}

const (
	steps  = 40   // of conjugate gradients
	solved = 1e-3 // of what is left to them
)

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
	for i, v := range r.y.Data {
		r.x.Data[i] = (1 + eta) * (r.x.Data[i] - mu*v)
	}
	for i := range n {
		r.x.Data[i*n+i] -= eta
	}
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
