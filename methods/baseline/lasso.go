package baseline

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
)

// lasso follows a path, i.e. the solutions, for falling λ, of
//
//	min_β ½‖u − Xβ‖² + λ‖β‖₁
//
// from λ = max|Xᵀu| down, by the homotopy of Osborne, Presnell and Turlach (A new approach to variable selection in
// least squares problems, IMA J. Numer. Anal. 20, 2000), known as LARS with the lasso modification (Efron, Hastie,
// Johnstone and Tibshirani, Least angle regression, Ann. Statist. 32, 2004). It uses X and u only through G = XᵀX and b
// = Xᵀu. While the active features A and their signs s do not change, the solution is linear in λ:
//
//	β_A = p − λw,  p = G_AA⁻¹·b_A,  w = G_AA⁻¹·s,
//	Xᵀ(u − Xβ) = q + λa,  q = b − G_{:,A}·p,  a = G_{:,A}·w.
//
// A segment of the path is a range of λ on which A and s do not change. Each is computed only from A, s and b, not from
// the previous segment, so that rounding errors do not accumulate. A feature joins A when its |q + λa| reaches λ, and
// leaves A when its coefficient reaches 0.
type lasso struct {
	d       int
	g       *gram.Matrix
	squares []float64 // d: the diagonal of G, shared by all paths
	b       []float64 // Xᵀu

	lambda        float64 // λ at the start of the current segment
	end           float64 // λ at which the path ends
	active        []int
	sign          []float64   // of the active features
	chol          [][]float64 // row i: the i+1 entries of the factor of G_AA
	p, w          []float64   // of the active features
	q, a          []float64   // of length d; memory of followPaths, valid while hasDirections is true
	hasDirections bool        // q and a are computed for the current p and w
	cannotJoin    []bool      // d: the feature is active, constant, or a combination of the active features

	events      int  // number of events since the start
	isPerturbed bool // u was changed by perturbation
	hasEnded    bool // the path is complete

	// leftFeature is the feature that left at the last event, or -1 if no feature left. At the start of the segment its
	// correlation, multiplied by its old sign, equals the λ of the path. This must not count as joining again.
	leftFeature int
	leftSign    float64
}

const (
	// dependentShare: a feature is a combination of the active features if they leave at most this share of its square
	// as a residual, as in package greedy.
	dependentShare = 1e-8
	// pathEnd is the λ at which the path of settings ends, as a share of the largest norm of a feature. The regressed vector
	// u has norm 1, so at a smaller λ the product of a feature and the residual is only rounding error.
	pathEnd = 1e-10
	// perturbation is the change of u that breaks ties, as a share of the norm of u. It is well above the rounding errors
	// that make tied values differ, and too small to affect a ranking visibly.
	perturbation = 1e-7
)

func newLasso(g *gram.Matrix, squares, b []float64) *lasso {
	l := layOutLasso(nil, len(b))
	l.g, l.squares = g, squares
	copy(l.b, b)
	l.startPath(0)
	return l
}

func layOutLasso(l *room.Layout, d int) *lasso {
	return &lasso{d: d, b: room.Slice[float64](l, d), cannotJoin: room.Slice[bool](l, d)}
}

// startPath resets l to the beginning of the path, the largest λ. If share is not 0, a combination of the features,
// with about this share of the norm of u, is added to u. So b is still a product Xᵀu, and dependences between features
// hold for b.
func (l *lasso) startPath(share float64) {
	l.lambda, l.end, l.leftFeature, l.events, l.isPerturbed = 0, 0, -1, 0, share > 0
	l.active, l.sign, l.chol = nil, nil, nil
	move := make([]float64, l.d)
	for j, square := range l.squares {
		if l.cannotJoin[j] = !(square > 0); !l.cannotJoin[j] && share > 0 {
			random := float64(splitmix.Mix(uint64(j))>>11)*0x1p-52 - 1
			move[j] = share * random / math.Sqrt(square*float64(l.d))
		}
	}
	if share > 0 {
		l.g.AddProduct(1, 1, move, l.b)
	}
	for j, v := range l.b {
		if !l.cannotJoin[j] {
			l.lambda = max(l.lambda, math.Abs(v))
			l.end = max(l.end, pathEnd*math.Sqrt(l.squares[j]))
		}
	}
	l.solveSegment()
}

// followPaths follows several lasso paths (solutions for falling λ) for the same G. Each path ends when a (k+1)-th
// feature would join, or at its own end. If several features join at the same λ, the lowest column joins first. A
// combination of the active features never joins while they are active, so that of equal columns only the lowest has a
// coefficient. A segment costs 4·d·k flops for d features, or 4·r·d if G is a factor of r rows, and a path has O(k)
// segments. Each feature that leaves the active set costs up to k³/3 flops more. Each path needs 2d numbers.
//
// All paths advance by one segment at a time, so that a factor is read once for eight of them. For 500 rows of 50,000
// features and k = 100, computing the products of all paths together took 2 s of processor time, and computing columns
// of G separately for each path took 11 s.
func followPaths(g *gram.Matrix, threads, k int, paths []*lasso) {
	live := slices.Clone(paths)
	var directions directionBuffers
	for len(live) > 0 {
		directions.computeDirections(g, threads, live)
		kernel.Each(threads, len(live), func(i int) { live[i].advanceSegment(k) })
		live = slices.DeleteFunc(live, func(l *lasso) bool { return l.hasDirections })
	}
}

// directionBuffers is memory for q and a of all paths (qa), and for their products with a factor (z).
type directionBuffers struct{ qa, z []float64 }

func layOutDirections(l *room.Layout, paths, d, rank int) directionBuffers {
	return directionBuffers{qa: room.Slice[float64](l, 2*paths*d), z: room.Slice[float64](l, 2*paths*rank)}
}

func (s *directionBuffers) computeDirections(g *gram.Matrix, threads int, paths []*lasso) {
	if s.qa == nil {
		*s = layOutDirections(nil, len(paths), g.D, g.Rank)
	}
	clear(s.qa)
	for i, l := range paths {
		l.q, l.a, l.hasDirections = s.qa[2*i*g.D:][:g.D], s.qa[(2*i+1)*g.D:][:g.D], true
	}
	if g.IsFactor() {
		z := s.z[:2*len(paths)*g.Rank]
		clear(z)
		kernel.Each(threads, len(paths), func(i int) {
			for t, j := range paths[i].active {
				kernel.Axpy(paths[i].p[t], g.Feature(nil, j), z[2*i*g.Rank:][:g.Rank])
				kernel.Axpy(paths[i].w[t], g.Feature(nil, j), z[(2*i+1)*g.Rank:][:g.Rank])
			}
		})
		g.AddUps(threads, 2*len(paths), z, s.qa[:2*len(paths)*g.D])
	}
	kernel.Each(threads, len(paths), func(i int) {
		l := paths[i]
		if !g.IsFactor() {
			for t, j := range l.active {
				row := g.Row(1, nil, j)
				kernel.Axpy(l.p[t], row, l.q)
				kernel.Axpy(l.w[t], row, l.a)
			}
		}
		for j, v := range l.b {
			l.q[j] = v - l.q[j]
		}
	})
}

// advanceSegment moves l to the end of its segment. It clears hasDirections unless the path has ended.
//
// If several features tie, events can undo each other in an endless cycle. A path with too many events is restarted
// with u changed by perturbation. In a test of a million small problems with many ties, each path then ended. If the
// restarted path has too many events again, it stops without hasEnded, and its coefficients are still a solution.
func (l *lasso) advanceSegment(k int) {
	for l.hasDirections {
		l.events++
		if l.hasEnded = !l.stepToEvent(k); l.hasEnded {
			return
		}
		if l.events < 100*(k+10) { // a path without cycles needs at most 2·(k + 10) events
			continue
		}
		if l.isPerturbed {
			l.hasDirections = true
			return
		}
		l.startPath(perturbation)
	}
}

func (l *lasso) expandCoefficients() []float64 {
	beta := make([]float64, l.d)
	for i, j := range l.active {
		// A coefficient has the sign l.sign[i]. If the feature has just joined, the coefficient is 0 up to rounding, and
		// rounding may have given it the other sign.
		beta[j] = l.sign[i] * max(l.sign[i]*(l.p[i]-l.lambda*l.w[i]), 0)
	}
	return beta
}

// stepToEvent moves to the next event on the path, and reports whether the path continues.
func (l *lasso) stepToEvent(k int) bool {
	join, feature := l.nextJoinEvent()
	leave, place := l.nextLeaveEvent()
	if max(join, leave) <= l.end {
		l.lambda = min(l.lambda, l.end)
		return false
	}
	l.lambda = max(join, leave)
	if leave >= join {
		l.removeFeature(place)
		return true
	}
	l.cannotJoin[feature] = true
	if !l.extendFactor(feature, dependentShare) {
		return true
	}
	if len(l.active) == k {
		return false
	}
	l.active = append(l.active, feature)
	l.sign = append(l.sign, math.Copysign(1, l.q[feature]+join*l.a[feature]))
	l.leftFeature = -1
	l.solveSegment()
	return true
}

// nextJoinEvent returns the next event on the path at which a feature joins: the largest λ up to l.lambda at which
// |xᵀ(u − Xβ)| of an inactive feature x equals λ, and this feature (see lasso). Of several such features it returns the
// lowest, and if there is none, -1.
func (l *lasso) nextJoinEvent() (lambda float64, feature int) {
	feature = -1
	for j, q := range l.q {
		if l.cannotJoin[j] {
			continue
		}
		for _, s := range [2]float64{1, -1} {
			if j == l.leftFeature && s == l.leftSign {
				continue
			}
			// See lasso for λ, q and a. λ − s(q + λa) is at least 0 here, and falls with λ if the slope is positive.
			slope := 1 - s*l.a[j]
			if !(slope > 0) || !(s*q > 0) {
				continue
			}
			if at := min(s*q/slope, l.lambda); at > lambda*(1+tieTolerance) {
				lambda, feature = at, j
			}
		}
	}
	return lambda, feature
}

// nextLeaveEvent returns the next λ at which the coefficient of an active feature reaches 0, and the index of this
// feature among the active features, or -1 if there is no such feature.
func (l *lasso) nextLeaveEvent() (lambda float64, place int) {
	place = -1
	for i, s := range l.sign {
		// See lasso for λ, p and w. s·β = s(p − λw) is at least 0 here, and falls with λ if s·w is negative.
		if s*l.w[i] < 0 && s*l.p[i] < 0 {
			if at := min(l.p[i]/l.w[i], l.lambda); at > lambda {
				lambda, place = at, i
			}
		}
	}
	return lambda, place
}

// removeFeature removes the active feature with index i. Features that were combinations of the active features may
// then be independent of them.
func (l *lasso) removeFeature(i int) {
	l.leftFeature, l.leftSign = l.active[i], l.sign[i]
	l.active = slices.Delete(l.active, i, i+1)
	l.sign = slices.Delete(l.sign, i, i+1)
	l.chol = l.chol[:i]
	for j := range l.cannotJoin {
		l.cannotJoin[j] = !(l.squares[j] > 0)
	}
	for at, j := range l.active {
		l.cannotJoin[j] = true
		// The remaining active features, a subset of independent features, are independent up to rounding.
		if at >= i && !l.extendFactor(j, 0) {
			panic("baseline: a subset of independent features is dependent")
		}
	}
	l.solveSegment()
}

// extendFactor appends feature j to the Cholesky factor of the active features, and returns true. If the residual of j
// after a regression on these features is at most the given share of its sum of squares, it returns false instead.
func (l *lasso) extendFactor(j int, share float64) bool {
	n := len(l.chol)
	row := make([]float64, n+1)
	for i, r := range l.chol {
		row[i] = (l.g.At(l.active[i], j) - kernel.Dot(r[:i], row[:i])) / r[i]
	}
	left := l.squares[j] - kernel.Dot(row[:n], row[:n])
	if !(left > share*l.squares[j]) {
		return false
	}
	row[n] = math.Sqrt(left)
	l.chol = append(l.chol, row)
	return true
}

func (l *lasso) solveSegment() {
	n := len(l.active)
	l.hasDirections = false
	l.p, l.w = make([]float64, n), slices.Clone(l.sign)
	for i, j := range l.active {
		l.p[i] = l.b[j]
	}
	for _, x := range [][]float64{l.p, l.w} {
		for i, r := range l.chol {
			x[i] = (x[i] - kernel.Dot(r[:i], x[:i])) / r[i]
		}
		for i := n - 1; i >= 0; i-- {
			x[i] /= l.chol[i][i]
			kernel.Axpy(-x[i], l.chol[i][:i], x[:i])
		}
	}
}
