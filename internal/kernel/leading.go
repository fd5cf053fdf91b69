package kernel

import (
	"math"
	"slices"
)

// leading excludes anchors by the leading directions of them all, before anything of d
// dimensions is multiplied. Let Q be p×d with ‖Qv‖ ≤ ‖v‖ for every v, about p orthonormal
// directions, and T = (I − QᵀQ)^(1/2), so that ‖v‖² = ‖Qv‖² + ‖Tv‖². Then
//
//	‖x − y‖² = ‖Q(x − y)‖² + ‖T(x − y)‖² ≥ ‖Qx − Qy‖² + (‖Tx‖ − ‖Ty‖)²,
//
// the squared distance of X = (Qx, ‖Tx‖) and Y = (Qy, ‖Ty‖), points of p+1 dimensions as long as x
// and y. So the lower bound is the screening of [Nearest] in p+1 dimensions; what it leaves is
// compared in float64 as ever, and the answer has the same bits.
//
// There is no upper bound in it: the distances of some anchors with low lower bounds take its place.
//
// A row of MNIST among 2,000 anchors takes 12 µs instead of 28: 4.6 for the products with 144 directions and in them,
// 3.7 for the distances of 16 anchors, 1.7 for narrowing. One of COIL20's among 720 takes 6.8 instead of 13.9,
// of USPS's among 2,000 5.7 instead of 9.7; on Isolet and BASEHOCK too many anchors are left, and it stays as it was,
// as on E-MNIST's standardized pixels: of 2,000 anchors 144 directions leave 59, which take as long as all do.
type leading struct {
	p      int
	wide   int       // p rounded up to whole panels
	axes   []float32 // Qᵀ, d×p in panels of nr, depth by depth
	packed []float32 // m×(p+1) in panels of nr
	half   []float32 // as in Nearest, for the lower bound
	slack  []float32
	rest   float64 // ‖Tx‖² may be this share of ‖x‖² more than what is computed
}

const (
	// Below these dimensions, or with fewer anchors, there is nothing to gain.
	leadDims, leadPoints = 128, 256
	// mostAxes bounds p, so that p+1 terms are one chain.
	mostAxes = 144
	// axesFrom is the number of anchors that the directions are taken from and judged by, at most, and
	// axesRounds the number of rounds of subspace iteration: bounds need no more than directions about
	// right.
	axesFrom, axesRounds = 512, 3
	// leadSample is the number of rows on which p is chosen, and leastSample the least.
	leadSample, leastSample = 48, 16
	// What work costs beside products in float32, a term: products in float64, Dot and Axpy on one
	// worker, and plain Go.
	gemmCost, dotCost, plainCost = 3, 8, 30
	// squaresCost is that of a term of squares: the anchors that are compared come from beyond the
	// level-2 cache.
	squaresCost = 24
	// leadShare is how many times as much as finding directions costs must have been spent on searches
	// before it is tried: where it is for nothing, a fifth is lost.
	leadShare = 4
)

// Lead lets later searches be led by directions of the anchors, once so many rows have come
// that finding these may be worth while. It then holds [LeadBytes] beside [NearestBytes].
func (n *Nearest) Lead() {
	n.undecided = !n.plain && n.m >= leadPoints && n.d >= leadDims && n.count <= n.m/8
}

// LeadBytes bounds what a Nearest of m points in d dimensions holds after Lead on so many workers,
// with what finding the directions takes for a while.
func LeadBytes(workers, m, d int) int64 {
	if m < leadPoints || d < leadDims {
		return 0
	}
	const p, widest = mostAxes, 48
	points, dims := int64(m), int64(d)
	rows := min(max(nearestBytes/4/(points+widest), 8), maxNearestRows) + 8
	held := 4*dims*(p+widest) + 4*(points+widest)*(p+1) + 16*(points+widest)
	found := 8*(points*(p+1)+2*p*dims+axesFrom*(dims+2*p+1)+leadSample*(p+2)) + 16*int64(workers)*dims + TeamBytes(max(axesFrom, p), max(d, p))
	return held + found + int64(workers)*4*rows*(2*p+1+widest)
}

// leadBy packs p of the directions v, and the anchors' coordinates y in them, and derives the bounds.
// With u = 2⁻²⁴ and g of [Nearest.screen] for d, a coordinate of a row is off by g·‖x‖ at most,
// being at most ‖x‖ long in any direction, and all of them by e = √p·g·‖x‖; those of an anchor, which come from
// float64, by 2u·‖y‖. ‖Tx‖² is what they leave of ‖x‖², computed too low by 2e‖x‖² and terms of second
// order, which we add: both rests are then no less than they are, and so is their product, and the
// bound no higher. What is left is the product of p+1 terms in float32, as in screen.
func (n *Nearest) leadBy(p int, v, y, lengths []float64) *leading {
	const unit = 0x1p-24
	u := &n.team.isa.f32
	held := len(v) / n.d
	chains := float64(panels(n.d, depth))
	e := math.Sqrt(float64(p)) * (float64(min(n.d, depth)) + chains + 5) * unit
	double := float64(n.d+8) * 0x1p-51 // sums of squares in float64
	g := (e+2*unit)*1.02 + float64(p+8)*unit*1.03
	const h = 8 * unit
	a := &leading{p: p, wide: panels(p, u.nr) * u.nr, rest: 2.1*e + double}
	a.axes = aligned[float32](a.wide * n.d)
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for j := range p {
			to := a.axes[l*a.wide+j/u.nr*u.nr*k+j%u.nr:]
			for q, x := range v[j*n.d+l:][:k] {
				to[q*u.nr] = float32(x)
			}
		}
	}
	a.half, a.slack = make([]float32, n.wide+readBeyond), make([]float32, n.wide+readBeyond)
	for i := range a.half {
		a.half[i] = float32(math.Inf(1))
	}
	a.packed = aligned[float32](n.wide * (p + 1))
	for i := range n.m {
		to := a.packed[i/u.nr*u.nr*(p+1)+i%u.nr:]
		in := 0.0
		for q, x := range y[i*held:][:p] {
			rounded := float32(x)
			to[q*u.nr] = rounded
			in += float64(rounded) * float64(rounded)
		}
		sq := lengths[i]
		to[p*u.nr] = above(math.Sqrt(max(0, sq-in+(5*unit+double)*sq)))
		add := h*sq + float64(n.d)*float64(p+1)*0x1p-118 // subnormal numbers, as in screen
		a.half[i] = float32(sq/2 - add)
		a.slack[i] = above(g * math.Sqrt(sq) * (1 + 0x1p-20))
	}
	return a
}

// leadRows sets s.half to the lower bounds of half the squared distances less ‖x‖²/2.
func (n *Nearest) leadRows(s *nearestScratch, rows int) {
	a, u := n.lead, &n.team.isa.f32
	high := panels(rows, u.mr) * u.mr
	clear(s.coords[:high*a.wide])
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for j := 0; j < a.wide; j += u.nr {
			for i := 0; i < high; i += u.mr {
				u.mul(k, 1, &s.panels[l*high+i*k], &a.axes[l*a.wide+j*k], &s.coords[i*a.wide+j], a.wide)
			}
		}
	}
	for i := range high {
		panel := s.points[i/u.mr*u.mr*(a.p+1)+i%u.mr:]
		in := 0.0
		for q, x := range s.coords[i*a.wide:][:a.p] {
			panel[q*u.mr] = x
			in += float64(x) * float64(x)
		}
		sq := 0.0
		if i < rows {
			sq = s.norms[i] * s.norms[i]
		}
		panel[a.p*u.mr] = above(math.Sqrt(max(0, sq-in+a.rest*sq)))
		copy(s.half[i*n.wide:][:n.wide], a.half)
	}
	for j := 0; j < n.wide; j += u.nr {
		for i := 0; i < high; i += u.mr {
			u.mul(a.p+1, -1, &s.points[i*(a.p+1)], &a.packed[j*(a.p+1)], &s.half[i*n.wide+j], n.wide)
		}
	}
}

// settleLed finds the nearest anchors of row i, whose coordinates are x, by lower bounds: first
// of some anchors that have low ones, then of all that these do not exclude.
func (n *Nearest) settleLed(s *nearestScratch, i int, x []float64) {
	a, below := n.lead, n.team.isa.below
	half, norm := s.half[i*n.wide:], float32(s.norms[i]*(1+0x1p-20))
	s.candidates = s.candidates[:0]
	limit := n.lowBound(s, half, norm)
	for j := below(half, a.slack, norm, limit, 0, n.m); j < n.m; j = below(half, a.slack, norm, limit, j+1, n.m) {
		s.candidates = append(s.candidates, candidate{index: int32(j)})
	}
	n.compare(s, x)
	limit = n.reach(s, s.norms[i])
	pair, first := s.pair[:0], 0
	for j := below(half, a.slack, norm, limit, 0, n.m); j < n.m; j = below(half, a.slack, norm, limit, j+1, n.m) {
		for first < len(s.candidates) && int(s.candidates[first].index) < j {
			first++
		}
		if first < len(s.candidates) && int(s.candidates[first].index) == j {
			continue // is settled
		}
		if pair = append(pair, int32(j)); len(pair) == 2 {
			n.compareTwo(s, x, pair[0], pair[1])
			pair, limit = pair[:0], n.reach(s, s.norms[i])
		}
	}
	if len(pair) == 1 {
		n.compareTwo(s, x, pair[0], pair[0])
	}
}

// lowBound returns a bound that about count anchors and some more have lower bounds below, or all.
func (n *Nearest) lowBound(s *nearestScratch, half []float32, norm float32) float32 {
	if p := n.team.isa; p.lowest != nil && n.count <= len(s.least) {
		for i := range s.least {
			s.least[i] = math.MaxFloat32
		}
		p.lowest(&half[0], &n.lead.slack[0], norm, n.wide, &s.least)
		slices.Sort(s.least[:])
		return s.least[n.count-1]
	}
	s.uppers = s.uppers[:0]
	for j := range n.m {
		s.lowest(float64(half[j]-float32(norm*n.lead.slack[j])), n.count)
	}
	return above(s.uppers[n.count-1])
}

// reach is a bound such that an anchor whose lower bound is above it is farther away than the
// last of the settled, by more than settling may round (see exclude) and than the row's length is off.
func (n *Nearest) reach(s *nearestScratch, norm float64) float32 {
	if len(s.settled) < n.count {
		return math.MaxFloat32
	}
	epsilon := (float64(n.padded/squaresBlock)+8)*0x1p-53 + float64(n.d+8)*0x1p-52
	return above((s.settled[n.count-1].distance*n.scale*n.scale-norm*norm)/2 + 2*epsilon*(norm*norm+1))
}
