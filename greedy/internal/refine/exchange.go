package refine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// gainTolerance is the largest relative difference between the expected and the actual gain of an exchange. The
// actual gain uses δ and γ computed afresh, so a difference reveals drift in f, g and w_a.
const gainTolerance = 1e-6

// tryExchange replaces the feature at place a of S by feature p and returns true. If the gain differs from the expected
// gain or is not positive, or if p is exhausted, it changes nothing and returns false. For the notation, see exchanger.
//
// When a leaves, the rows of the remaining features b change as follows, with r = P_ab/P_aa:
//
//	u_b ← u_b − r u_a,  v_b ← v_b − r v_a,  P ← P − Pe_a e_aᵀP/P_aa,
//	w_b ← w_b − r w_a + (v_aᵀv_b − r‖v_a‖²)/P_aa · u_a,  E ← E + v_a u_aᵀ/P_aa.
//
// Then p joins. With its columns δ and γ of the residuals of G and H, with g = δ_p and t_b = u_b[p],
//
//	u_p = δ/g, v_p = γ/g,  u_b ← u_b − t_b u_p,  v_b ← v_b − t_b v_p,  E ← E − γδᵀ/g,
//	w_b ← w_b − t_b h/g − (γᵀv_b − t_b‖γ‖²/g)/g · δ,  h = Eᵀγ, and
//	w_p = h/g − ‖γ‖²/g² · δ.
func (x *exchanger) tryExchange(e exchangePair) bool {
	k, d, a := len(x.set), x.engine.D, e.a
	inverse := 1 / x.p[a*k+a]
	ua, va, wa, delta, gamma := x.ua, x.va, x.wa, x.delta, x.gamma
	copy(ua, x.rowOfU(a))
	copy(va, x.rowOfV(a))
	copy(wa, x.rowOfW(a))
	x.computeResidualsOfJoining(e.p, a, inverse)
	g := delta[e.p]
	if !(g > engine.ExhaustedShare*x.diag[e.p]) {
		return false
	}
	square := kernel.Dot(gamma, gamma)
	if gain := square/g - x.worth[a]; !(math.Abs(gain-e.gain) <= gainTolerance*(x.worth[a]+square/g) && gain > 0) {
		return false
	}
	whole := x.worth[a] / inverse // ‖v_a‖²
	x.dropFeatureFromScores(a, ua, wa, whole, inverse)
	// overlap becomes γᵀv_b for the rows v_b after a has left, which residualProduct needs for h.
	ratio, cross, overlap, t := x.ratio, x.cross, x.overlap, x.t
	ratio[a], cross[a], overlap[a], t[a] = 0, 0, 0, 0
	kernel.Each(x.engine.Workers, tasks.TaskCount(k, tasks.RowsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.RowsPerTask, k)
		for b := from; b < to; b++ {
			if b != a {
				ratio[b] = x.p[a*k+b] * inverse
				cross[b] = kernel.Dot(va, x.rowOfV(b)) - ratio[b]*whole
				overlap[b] = kernel.Dot(gamma, x.rowOfV(b))
				t[b] = x.u[b*d+e.p] - ratio[b]*ua[e.p]
			}
		}
	})
	own := kernel.Dot(gamma, va)
	for b, r := range ratio {
		overlap[b] -= r * own
	}
	x.residualProduct(gamma, overlap, a)
	x.addFeatureToScores(delta, square, g)
	x.addRankOneTerms(x.u, k, rankOneTerm{ratio, -1, ua}, rankOneTerm{t, -1 / g, delta})
	x.addRankOneTerms(x.w, k, rankOneTerm{ratio, -1, wa}, rankOneTerm{cross, inverse, ua}, rankOneTerm{t, -1 / g, x.h}, rankOneTerm{overlap, -1 / g, delta}, rankOneTerm{t, square / g / g, delta})
	if !x.engine.Target.IsGram {
		x.addRankOneTerms(x.v, k, rankOneTerm{ratio, -1, va}, rankOneTerm{t, -1 / g, gamma})
	}
	floats.ScaleTo(x.rowOfU(a), 1/g, delta)
	if !x.engine.Target.IsGram {
		floats.ScaleTo(x.rowOfV(a), 1/g, gamma)
	}
	floats.ScaleTo(x.rowOfW(a), 1/g, x.h)
	kernel.Axpy(-square/g/g, delta, x.rowOfW(a))
	x.updateInverse(a, ratio, t, g)
	x.set[a] = e.p
	x.engine.ColumnTo(x.gs[a*d:(a+1)*d], e.p)
	return true
}

// maxTerms is the largest number of terms that tryExchange adds to a matrix.
const maxTerms = 5

// rankOneTerm is a matrix to be added to another: its row b is factor·coefficient[b]·vector.
type rankOneTerm struct {
	coefficient []float64
	factor      float64
	vector      []float64
}

func (x *exchanger) addRankOneTerms(rows []float64, rowCount int, terms ...rankOneTerm) {
	n, length := len(terms), len(terms[0].vector)
	x.leftFactor, x.rightFactor = x.leftFactor[:0], x.rightFactor[:0]
	for _, t := range terms {
		x.rightFactor = append(x.rightFactor, t.vector...)
	}
	for b := range rowCount {
		for _, t := range terms {
			x.leftFactor = append(x.leftFactor, t.factor*t.coefficient[b])
		}
	}
	kernel.Gemm(x.engine.Team, 1, kernel.RowMajor(x.leftFactor, rowCount, n, n), kernel.RowMajor(x.rightFactor, n, length, length), kernel.RowMajor(rows, rowCount, length, length))
}

func (x *exchanger) computeResidualsOfJoining(joining, leavingPlace int, inverse float64) {
	x.engine.ColumnTo(x.delta, joining)
	x.subtractProjection(x.delta, x.rowOfU, joining)
	kernel.Axpy(x.ua[joining]*inverse, x.ua, x.delta)
	for b, i := range x.set {
		if b != leavingPlace {
			x.delta[i] = 0
		}
	}
	if x.engine.Target.IsGram {
		return
	}
	x.engine.TargetColumnTo(x.gamma, joining)
	x.subtractProjection(x.gamma, x.rowOfV, joining)
	kernel.Axpy(x.ua[joining]*inverse, x.va, x.gamma)
}

// subtractProjection subtracts from y the sum of row(b)·G_bp over the features b of S.
func (x *exchanger) subtractProjection(y []float64, row func(int) []float64, p int) {
	kernel.Each(x.engine.Workers, tasks.TaskCount(len(y), tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, len(y))
		for b := range x.set {
			kernel.Axpy(-x.gs[b*x.engine.D+p], row(b)[from:to], y[from:to])
		}
	})
}

func (x *exchanger) dropFeatureFromScores(place int, u, w []float64, square, inverse float64) {
	for j, own := range u {
		part := own * inverse
		x.f[j] += part * (2*w[j] + square*part)
		x.g[j] += own * part
	}
	for b, i := range x.set {
		if b != place {
			x.f[i], x.g[i] = 0, 0
		}
	}
}

// residualProduct writes h = Eᵀγ = Hᵀγ − Σ G₍:,b₎ v_bᵀγ to x.h, summed over the features b ≠ a of S.
func (x *exchanger) residualProduct(gamma, overlap []float64, a int) {
	x.engine.TargetProductTo(x.h, gamma)
	kernel.Each(x.engine.Workers, tasks.TaskCount(x.engine.D, tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, x.engine.D)
		for b := range x.set {
			if b != a {
				kernel.Axpy(-overlap[b], x.gs[b*x.engine.D+from:b*x.engine.D+to], x.h[from:to])
			}
		}
	})
	for b, i := range x.set {
		if b != a {
			x.h[i] = 0
		}
	}
}

func (x *exchanger) addFeatureToScores(delta []float64, square, g float64) {
	for j, v := range delta {
		x.f[j] = max(x.f[j]-(2*x.h[j]-square/g*v)*v/g, 0)
		x.g[j] = max(x.g[j]-v*v/g, 0)
	}
}

func (x *exchanger) updateInverse(place int, ratio, t []float64, g float64) {
	k := len(x.set)
	own := slices.Clone(x.p[place*k : (place+1)*k])
	for b := range k {
		if b == place {
			continue
		}
		row := x.p[b*k : (b+1)*k]
		for c := range row {
			row[c] += t[b]*t[c]/g - ratio[b]*own[c]
		}
		row[place] = -t[b] / g
		x.p[place*k+b] = -t[b] / g
	}
	x.p[place*k+place] = 1 / g
}
