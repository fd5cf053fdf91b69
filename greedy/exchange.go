package greedy

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// agreeing is how close what an exchange wins must come to what was foreseen: δ and γ of the
// feature that joins are computed afresh, and tell of drift in f, g and W.
const agreeing = 1e-6

// make exchanges a feature, or leaves all as it is where it wins less than foreseen.
//
// Without a, the rows of the others are b ≠ a, with r = P_ab/P_aa,
//
//	u_b ← u_b − r u_a,  v_b ← v_b − r v_a,  P ← P − Pe_a e_aᵀP/P_aa,
//	w_b ← w_b − r w_a + (v_aᵀv_b − r‖v_a‖²)/P_aa · u_a,  E ← E + v_a u_aᵀ/P_aa.
//
// Then p joins, with δ and γ its columns of the residuals of G and H, g = δ_p, t_b = u_b[p]:
//
//	u_p = δ/g, v_p = γ/g,  u_b ← u_b − t_b u_p,  v_b ← v_b − t_b v_p,  E ← E − γδᵀ/g,
//	w_b ← w_b − t_b h/g − (γᵀv_b − t_b‖γ‖²/g)/g · δ,  h = Eᵀγ, and
//	w_p = h/g − ‖γ‖²/g² · δ.
func (x *exchanger) make(e trade) bool {
	k, d, a := len(x.set), x.d, e.a
	inverse := 1 / x.p[a*k+a]
	ua, wa, va := slices.Clone(x.rowU(a)), slices.Clone(x.rowW(a)), slices.Clone(x.rowV(a))
	delta, gamma := x.joining(e.p, a, ua, va, inverse)
	g := delta[e.p]
	if !(g > exhaustedShare*x.diag[e.p]) {
		return false
	}
	square := kernel.Dot(gamma, gamma)
	if gain := square/g - x.worth[a]; !(math.Abs(gain-e.gain) <= agreeing*(x.worth[a]+square/g) && gain > 0) {
		return false
	}
	whole := x.worth[a] / inverse // ‖v_a‖²
	x.dropped(a, ua, wa, whole, inverse)
	// V without a, and the products of it with γ, of which h takes the part in the chosen.
	ratio, cross, overlap, t := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	kernel.Each(x.workers, tasks(k, rowsPerTask), func(task int) {
		from, to := span(task, rowsPerTask, k)
		for b := from; b < to; b++ {
			if b != a {
				ratio[b] = x.p[a*k+b] * inverse
				cross[b] = kernel.Dot(va, x.rowV(b)) - ratio[b]*whole
				overlap[b] = kernel.Dot(gamma, x.rowV(b))
				t[b] = x.u[b*d+e.p] - ratio[b]*ua[e.p]
			}
		}
	})
	own := kernel.Dot(gamma, va)
	for b, r := range ratio {
		overlap[b] -= r * own
	}
	x.residualProduct(gamma, overlap, a)
	x.joined(delta, square, g)
	x.shift(x.u, k, term{ratio, -1, ua}, term{t, -1 / g, delta})
	x.shift(x.w, k, term{ratio, -1, wa}, term{cross, inverse, ua}, term{t, -1 / g, x.h}, term{overlap, -1 / g, delta}, term{t, square / g / g, delta})
	if !x.target.same {
		x.shift(x.v, k, term{ratio, -1, va}, term{t, -1 / g, gamma})
	}
	floats.ScaleTo(x.rowU(a), 1/g, delta)
	if !x.target.same {
		floats.ScaleTo(x.rowV(a), 1/g, gamma)
	}
	floats.ScaleTo(x.rowW(a), 1/g, x.h)
	kernel.Axpy(-square/g/g, delta, x.rowW(a))
	x.invert(a, ratio, t, g)
	x.set[a] = e.p
	x.columnTo(x.gs[a*d:(a+1)*d], e.p)
	return true
}

// term is a vector that rows are shifted by, each by as much as its coefficient times factor.
type term struct {
	coefficient []float64
	factor      float64
	vector      []float64
}

// shift adds the terms to the k rows of y, in one product.
func (x *exchanger) shift(y []float64, k int, terms ...term) {
	n, length := len(terms), len(terms[0].vector)
	x.left, x.right = x.left[:0], x.right[:0]
	for _, t := range terms {
		x.right = append(x.right, t.vector...)
	}
	for b := range k {
		for _, t := range terms {
			x.left = append(x.left, t.factor*t.coefficient[b])
		}
	}
	kernel.Gemm(x.team, 1, kernel.RowMajor(x.left, k, n, n), kernel.RowMajor(x.right, n, length, length), kernel.RowMajor(y, k, length, length))
}

// joining is δ and γ of feature p, once the one at place a has left, from G and H afresh.
func (x *exchanger) joining(p, a int, ua, va []float64, inverse float64) (delta, gamma []float64) {
	delta = make([]float64, x.d)
	x.columnTo(delta, p)
	x.takeOut(delta, x.rowU, p)
	kernel.Axpy(ua[p]*inverse, ua, delta)
	for b, i := range x.set {
		if b != a {
			delta[i] = 0
		}
	}
	if x.target.same {
		return delta, delta
	}
	gamma = x.targetColumn(p)
	x.takeOut(gamma, x.rowV, p)
	kernel.Axpy(ua[p]*inverse, va, gamma)
	return delta, gamma
}

// takeOut subtracts Σ row_b G_bp from y.
func (x *exchanger) takeOut(y []float64, row func(int) []float64, p int) {
	kernel.Each(x.workers, tasks(len(y), colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, len(y))
		for b := range x.set {
			kernel.Axpy(-x.gs[b*x.d+p], row(b)[from:to], y[from:to])
		}
	})
}

// dropped brings f and g to the set without the feature at place a.
func (x *exchanger) dropped(a int, u, w []float64, square, inverse float64) {
	for j, own := range u {
		part := own * inverse
		x.f[j] += part * (2*w[j] + square*part)
		x.g[j] += own * part
	}
	for b, i := range x.set {
		if b != a {
			x.f[i], x.g[i] = 0, 0
		}
	}
}

// residualProduct writes h = Eᵀγ = Hᵀγ − Σ G₍:,b₎ v_bᵀγ over b ≠ a.
func (x *exchanger) residualProduct(gamma, overlap []float64, a int) {
	x.timesTarget(x.h, gamma)
	kernel.Each(x.workers, tasks(x.d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, x.d)
		for b := range x.set {
			if b != a {
				kernel.Axpy(-overlap[b], x.gs[b*x.d+from:b*x.d+to], x.h[from:to])
			}
		}
	})
	for b, i := range x.set {
		if b != a {
			x.h[i] = 0
		}
	}
}

// joined brings f and g to the set with the feature of δ: Theorem 2.
func (x *exchanger) joined(delta []float64, square, g float64) {
	for j, v := range delta {
		x.f[j] = max(x.f[j]-(2*x.h[j]-square/g*v)*v/g, 0)
		x.g[j] = max(x.g[j]-v*v/g, 0)
	}
}

// invert brings P to the set in which place a has another feature.
func (x *exchanger) invert(a int, ratio, t []float64, g float64) {
	k := len(x.set)
	own := slices.Clone(x.p[a*k : (a+1)*k])
	for b := range k {
		if b == a {
			continue
		}
		row := x.p[b*k : (b+1)*k]
		for c := range row {
			row[c] += t[b]*t[c]/g - ratio[b]*own[c]
		}
		row[a] = -t[b] / g
		x.p[a*k+b] = -t[b] / g
	}
	x.p[a*k+a] = 1 / g
}
