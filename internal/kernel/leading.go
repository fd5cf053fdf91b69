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

// leadRowsNeeded is the number of rows to search before directions are looked for.
func (n *Nearest) leadRowsNeeded() int {
	from, p, d := float64(min(n.m, axesFrom)), float64(n.mostAxes()), float64(n.d)
	cost := gemmCost*axesRounds*2*from*p*d + dotCost*(axesRounds+1)*2*p*p*d + dotCost*from*p*d + plainCost*leadSample*from*p
	return int(leadShare * cost / (float64(n.m) * d))
}

func (n *Nearest) mostAxes() int { return min(mostAxes, n.d/2, n.m/4) }

// consider looks for leading directions and keeps them where they make a search cheaper, by
// what they exclude for some of the rows of the search before, whose distances are known. With
// too few of these it waits for another search.
func (n *Nearest) consider() {
	rows := n.sampleRows()
	if len(rows) < leastSample {
		return
	}
	n.undecided = false
	v := n.directions(n.mostAxes())
	if p := n.cheapest(v, rows); p > 0 {
		v = v[:p*n.d]
		y, lengths := n.coordinates(v, n.m)
		n.lead = n.leadBy(p, v, y, lengths)
	}
}

// sampleRows are some rows of the search before that are neither too long to screen nor NaN.
func (n *Nearest) sampleRows() (rows []int) {
	x := make([]float64, n.d)
	for k := range min(leadSample, n.x.Rows) {
		i := k * n.x.Rows / min(leadSample, n.x.Rows)
		n.centre(x, n.x.Sub(i, 0, 1, n.d))
		if Dot(x, x) < 1<<60 && n.reachOf(i) < 1<<60 {
			rows = append(rows, i)
		}
	}
	return rows
}

// reachOf is the squared distance of row i to the last of its nearest anchors, scaled.
func (n *Nearest) reachOf(i int) float64 { return n.distance[(i+1)*n.count-1] * n.scale * n.scale }

// coordinates are those of count anchors, of all at even steps, in the directions v, and the squares
// of their lengths.
func (n *Nearest) coordinates(v []float64, count int) (y, lengths []float64) {
	p := len(v) / n.d
	y, lengths = make([]float64, count*p), make([]float64, count)
	part := panels(count, n.team.workers)
	Each(n.team.workers, n.team.workers, func(w int) {
		centred := make([]float64, n.d)
		for i := w * part; i < min((w+1)*part, count); i++ {
			n.centre(centred, RowMajor(n.points[i*n.m/count*n.padded:], 1, n.d, n.d))
			lengths[i] = Dot(centred, centred)
			project(y[i*p:][:p], v, centred)
		}
	})
	return y, lengths
}

// centre writes a point, centred and scaled.
func (n *Nearest) centre(to []float64, point Matrix[float64]) {
	for l := range to {
		to[l] = (point.Data[l*point.ColStride] - n.center[l]) * n.scale
	}
}

// project writes the products of x with the rows of v.
func project(to, v, x []float64) {
	for k := range to {
		to[k] = Dot(v[k*len(x):][:len(x)], x)
	}
}

// directions returns up to p leading directions of the anchors, one a row, leading ones first, by
// subspace iteration on some anchors from some of them. As float32 numbers, which they are, they are
// a contraction.
func (n *Nearest) directions(p int) []float64 {
	from := min(n.m, axesFrom)
	p = min(p, from)
	a := make([]float64, from*n.d)
	for i := range from {
		n.centre(a[i*n.d:][:n.d], RowMajor(n.points[i*n.m/from*n.padded:], 1, n.d, n.d))
	}
	some, v, b := RowMajor(a, from, n.d, n.d), make([]float64, p*n.d), make([]float64, from*p)
	for k := range p {
		copy(v[k*n.d:][:n.d], a[k*from/p*n.d:][:n.d])
	}
	for range axesRounds {
		if p = orthonormal(v, p, n.d); p == 0 {
			return nil
		}
		v = v[:p*n.d]
		axes, along := RowMajor(v, p, n.d, n.d), RowMajor(b, from, p, p)
		clear(b)
		Gemm(n.team, 1, some, axes.Trans(), along)
		clear(v)
		Gemm(n.team, 1, along.Trans(), some, axes)
	}
	v = v[:orthonormal(v, p, n.d)*n.d]
	for i, x := range v {
		v[i] = float64(float32(x * (1 - 0x1p-12)))
	}
	// ‖QQᵀ‖ is at most its largest sum of absolute values in a row (Gershgorin).
	for i := 0; i < len(v); i += n.d {
		sum := 0.0
		for j := 0; j < len(v); j += n.d {
			sum += math.Abs(Dot(v[i:][:n.d], v[j:][:n.d]))
		}
		if !(sum <= 1-0x1p-20) {
			return nil
		}
	}
	return v
}

// orthonormal makes the p rows of v, of length d, orthonormal one after the other, leaves out those
// that depend on others before them, and returns how many are left, in front.
func orthonormal(v []float64, p, d int) (left int) {
	for k := range p {
		x := v[left*d:][:d]
		copy(x, v[k*d:][:d])
		before := Dot(x, x)
		for range 2 { // what the first time leaves, of size rounding, goes the second time
			for j := range left {
				y := v[j*d:][:d]
				Axpy(-Dot(x, y), y, x)
			}
		}
		after := Dot(x, x)
		if !(after > 1e-20*before) || !(after > 0x1p-900) {
			continue
		}
		root := 1 / math.Sqrt(after)
		for l := range x {
			x[l] *= root
		}
		left++
	}
	return left
}

// cheapest returns the number of the directions v with which a search costs least, 0 for none, by
// how many of some anchors they leave for some rows of the search before.
func (n *Nearest) cheapest(v []float64, rows []int) int {
	held := len(v) / n.d
	some := min(n.m, axesFrom)
	y, lengths := n.coordinates(v, some)
	step := n.team.isa.f32.nr
	steps := panels(held, step)
	left := make([][]int, len(rows)) // anchors left for a row, by the number of steps
	part := panels(len(rows), n.team.workers)
	Each(n.team.workers, n.team.workers, func(w int) {
		x, z := make([]float64, n.d), make([]float64, held)
		for k := w * part; k < min((w+1)*part, len(rows)); k++ {
			left[k] = make([]int, steps)
			n.centre(x, n.x.Sub(rows[k], 0, 1, n.d))
			project(z, v, x)
			length, reach := Dot(x, x), n.reachOf(rows[k])
			for j := range some {
				other := y[j*held:][:held]
				apart, restX, restY := 0.0, length, lengths[j]
				for s := range steps {
					for l := s * step; l < min((s+1)*step, held); l++ {
						apart += (z[l] - other[l]) * (z[l] - other[l])
						restX -= z[l] * z[l]
						restY -= other[l] * other[l]
					}
					rest := math.Sqrt(max(restX, 0)) - math.Sqrt(max(restY, 0))
					if apart+rest*rest <= reach {
						left[k][s]++
					}
				}
			}
		}
	})
	d, m := float64(n.d), float64(n.m)
	// Directions that hardly pay are not worth their memory.
	least, p := 0.75*(m*d+1.5*float64(n.count)*squaresCost*d), 0
	for s := range steps {
		stay := 0.0
		for _, l := range left {
			stay += float64(l[s])
		}
		stay *= m / float64(some) / float64(len(rows))
		axes := min((s+1)*step, held)
		if cost := d*float64(axes) + m*float64(axes+1) + (stay+float64(n.count))*squaresCost*d; cost < least {
			least, p = cost, axes
		}
	}
	return p
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
