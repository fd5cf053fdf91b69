package kernel

import (
	"fmt"
	"math"
	"slices"
)

// Nearest finds the anchors nearest to rows: m points in d dimensions, prepared for
// any number of searches for the count nearest by squared Euclidean distance
//
//	‖x − y‖² = Σ_i (x_i − y_i)².
//
// Distances are screened in float32, as ‖y‖²/2 − xᵀy about the anchors' mean by the
// micro-kernel of [Gemm], for a few rows against all anchors at a time, so that the
// n×m distances stay in cache and are never stored. Every screened value has a bound
// on its error; anchors that the bounds do not exclude are settled in float64. The
// result is thus that of float64 distances to all anchors, to the last bit and on
// every instruction set: ties go to the lower index, and NaN counts as +Inf.
//
// A Nearest uses its team's workers and serves one caller at a time.
type Nearest struct {
	team        *Team
	m, d, count int

	points []float64  // m×padded, each anchor's d coordinates and zeros
	padded int        // d rounded up to whole blocks of squares
	center []float64  // d: the anchors' mean
	scale  float64    // power of 2 that makes the longest centred anchor about 1 long
	plain  bool       // the longest is too long or short (one NaN is enough): nothing is screened
	packed []float32  // centred and scaled anchors, m×d in panels of nr, depth by depth
	wide   int        // m rounded up to whole panels
	half   []float32  // wide: (1 − h)·‖y‖²/2, +Inf beyond m
	slack  []float32  // wide: g·‖y‖
	widest [2]float64 // the largest slack, and of twice
	twice  []float64  // m: what upper and lower bound differ by beside 2·‖x‖·slack

	rows    int // rows of a task
	scratch []nearestScratch
	body    func(worker int)

	// The search under way.
	x        Matrix[float64]
	index    []int32
	distance []float64
}

// nearestScratch is one worker's.
type nearestScratch struct {
	panels  []float32 // rows×d in panels of mr, depth by depth
	norms   []float64 // rows: ‖x‖² of what is in panels, later ‖x‖
	half    []float32 // rows×wide: half ‖y‖² − xᵀy
	raw     []float64 // rows×padded: rows as they came, and zeros
	open    []candidate
	least   [16]float32 // see isa.lowest
	uppers  []float64   // the count lowest upper bounds so far
	settled []neighbour // the count nearest so far
}

// candidate is an anchor that screening has not excluded.
type candidate struct {
	index int32
	lower float64 // bound on ‖y‖²/2 − xᵀy
}

type neighbour struct {
	distance float64
	index    int32
}

const (
	// nearestBytes bounds the float32 distances that a worker holds at a time: what a
	// level-2 cache holds. 0.5, 1 and 2 MiB gave 126, 137 and 141 GFLOP/s there, for 2,048
	// anchors of 896 dimensions: the anchors pass by from memory once for as many rows.
	nearestBytes = 2 << 20
	// squaresBlock is the number of terms that squares sums at a time.
	squaresBlock = 8
)

// NewNearest prepares the m points, m×d in any layout, for searches of the count
// nearest, 0 < count ≤ m. Costs O(m·d) and holds [NearestBytes].
func NewNearest(t *Team, points Matrix[float64], count int) *Nearest {
	m, d := points.Rows, points.Cols
	if points.check("points"); count < 1 || count > m {
		panic(fmt.Sprintf("kernel: %d nearest of %d points", count, m))
	}
	u := &t.isa.f32
	n := &Nearest{team: t, m: m, d: d, count: count,
		padded: panels(d, squaresBlock) * squaresBlock, wide: panels(m, u.nr) * u.nr, center: make([]float64, d)}
	n.body = n.search
	n.points = make([]float64, m*n.padded)
	for i := range m {
		row := n.points[i*n.padded:][:d]
		for l := range row {
			row[l] = points.Data[i*points.RowStride+l*points.ColStride]
		}
		Axpy(1/float64(m), row, n.center)
	}
	n.screen(u)
	return n
}

// screen packs the anchors and derives the bounds. With u = 2⁻²⁴, rounding to
// float32 changes each coordinate by a factor of 1 ± u, a chain of k multiply-adds
// its sum by k·u·Σ|x_i y_i| ≤ k·u·‖x‖‖y‖ (Cauchy-Schwarz), and adding the c chains
// of a row to ‖y‖²/2 by c·u of the largest partial result. Hence the error of
// ‖y‖²/2 − xᵀy is at most
//
//	g·‖x‖‖y‖ + h·‖y‖²/2,  g = (min(d, depth) + c + 5)·u,  h = (c + 5)·u,
//
// the 5 being 2 roundings of coordinates, that of ‖y‖²/2, that of the comparison, and one
// unit for terms of second order, which stay below it while d < 2²⁰. Where float32 is
// subnormal a rounding is absolute: d·2⁻¹²⁰ for ‖x‖ ≤ 1, and next to nothing of the
// margin of settling, which grows with ‖x‖², beyond.
func (n *Nearest) screen(u *micro[float32]) {
	norms := make([]float64, n.m)
	longest := 0.0
	for i := range norms {
		for l, y := range n.points[i*n.padded:][:n.d] {
			y -= n.center[l]
			norms[i] += y * y
		}
		longest = max(longest, norms[i]) // NaN stays
	}
	// Outside this range squares of rows that are screened (to 2⁶⁰ times as long), or of
	// small differences, leave that of float64; anchors that are all one exclude nothing.
	n.plain = !(longest >= 0x1p-900 && longest <= 0x1p800) // or NaN
	n.scale = 1
	if !n.plain {
		_, e := math.Frexp(math.Sqrt(longest))
		n.scale = math.Ldexp(1, -e)
	}
	const unit = 0x1p-24
	chains := float64(panels(n.d, depth))
	g := (float64(min(n.d, depth)) + chains + 5) * unit
	h := (chains + 5) * unit
	n.half, n.slack, n.twice = make([]float32, n.wide+readBeyond), make([]float32, n.wide+readBeyond), make([]float64, n.m)
	for i := range n.half {
		n.half[i] = float32(math.Inf(1))
	}
	for i, sq := range norms {
		sq *= n.scale * n.scale
		add := h*sq/2 + float64(n.d)*0x1p-120
		n.half[i] = float32(sq/2 - add)
		n.slack[i] = float32(g * math.Sqrt(sq) * (1 + 0x1p-20))
		n.twice[i] = 2 * add
		n.widest[0], n.widest[1] = max(n.widest[0], float64(n.slack[i])), max(n.widest[1], n.twice[i])
	}
	n.packed = aligned[float32](n.wide * n.d)
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for i := range n.m {
			to := n.packed[l*n.wide+i/u.nr*u.nr*k+i%u.nr:]
			for q, y := range n.points[i*n.padded+l:][:k] {
				to[q*u.nr] = float32((y - n.center[l+q]) * n.scale)
			}
		}
	}
}

// readBeyond is how far isa.below reads beyond its last element.
const readBeyond = 16

// NearestBytes is what a Nearest of m points in d dimensions holds, and its scratch
// on that many workers.
func NearestBytes(workers, m, d int) int64 {
	const widest = 48
	wide := int64(m + widest)
	rows := min(max(nearestBytes/4/wide, 8), maxNearestRows) + 8
	worker := 4*rows*int64(d) + 4*(rows*wide+readBeyond) + 8*rows*int64(d+squaresBlock) + 64*rows + 16*wide
	return 8*int64(m)*int64(d+squaresBlock) + 4*wide*int64(d) + 16*wide + 16*int64(d) + int64(workers)*worker
}

// maxNearestRows bounds the rows of a task where anchors are few.
const maxNearestRows = 256

// To writes the indices of the count anchors nearest to each row of x, nearest
// first, to index, and their squared distances to distance (both rows×count). x is
// rows×d; column-major is fastest. Costs 2·rows·d·m flops.
func (n *Nearest) To(index []int32, distance []float64, x Matrix[float64]) {
	x.check("x")
	if x.Cols != n.d || len(index) < x.Rows*n.count || len(distance) < x.Rows*n.count {
		panic(fmt.Sprintf("kernel: nearest of %d×%d rows to %d×%d points", x.Rows, x.Cols, n.m, n.d))
	}
	if x.Rows == 0 {
		return
	}
	n.x, n.index, n.distance = x, index, distance
	workers := min(n.team.workers, x.Rows)
	mr := n.team.isa.f32.mr
	share := panels(panels(x.Rows, workers), mr) * mr
	n.rows = min(max(nearestBytes/4/n.wide/mr*mr, mr), maxNearestRows, share)
	for len(n.scratch) < workers {
		n.scratch = append(n.scratch, nearestScratch{})
	}
	for w := range workers {
		n.scratch[w].reserve(n)
	}
	n.team.together(workers, n.body)
	n.x, n.index, n.distance = Matrix[float64]{}, nil, nil
}

func (s *nearestScratch) reserve(n *Nearest) {
	if len(s.norms) >= n.rows {
		return
	}
	s.panels = aligned[float32](n.rows * n.d)
	s.norms = make([]float64, n.rows)
	s.half = aligned[float32](n.rows*n.wide + readBeyond)
	s.raw = make([]float64, n.rows*n.padded)
	s.open = make([]candidate, 0, n.m)
	s.uppers = make([]float64, 0, n.count)
	s.settled = make([]neighbour, 0, n.count+1)
}

// search is what each worker of a search does: tasks of n.rows rows.
func (n *Nearest) search(worker int) {
	s, steps, tasks := &n.scratch[worker], n.team.join(), panels(n.x.Rows, n.rows)
	for task, ok := steps.task(tasks); ok; task, ok = steps.task(tasks) {
		from := task * n.rows
		rows := min(n.rows, n.x.Rows-from)
		x := n.x.Sub(from, 0, rows, n.d)
		n.narrow(s, x)
		n.screenRows(s, rows)
		for i := range rows {
			n.settle(s, i, s.raw[i*n.padded:][:n.padded])
			for k, b := range s.settled {
				n.index[(from+i)*n.count+k], n.distance[(from+i)*n.count+k] = b.index, b.distance
			}
		}
	}
}

// narrow packs rows, centred and scaled, as float32 panels, takes their norms, and
// keeps the rows as they came.
func (n *Nearest) narrow(s *nearestScratch, x Matrix[float64]) {
	mr := n.team.isa.f32.mr
	high := panels(x.Rows, mr) * mr
	if x.Rows < high {
		clear(s.panels[:high*n.d])
	}
	clear(s.norms)
	for l := 0; l < n.d; l += depth {
		block := s.panels[l*high:]
		k := min(depth, n.d-l)
		// Columns may lie pages apart: a few at a time stay in the translation buffer.
		const together = 32
		for q := 0; q < k; q += together {
			some := min(together, k-q)
			for at := 0; at < x.Rows; at += mr {
				rows := min(mr, x.Rows-at)
				n.narrowPanel(block[at*k+q*mr:][:some*mr], s.raw[at*n.padded+l+q:], s.norms[at:], x.Sub(at, l+q, rows, some), l+q)
			}
		}
	}
	for i, sq := range s.norms {
		s.norms[i] = math.Sqrt(sq)
	}
}

// narrowPanel is narrow for some rows and columns, the first of them column l.
func (n *Nearest) narrowPanel(panel []float32, raw, norms []float64, x Matrix[float64], l int) {
	p := n.team.isa
	mr, i := p.f32.mr, 0
	if p.narrow != nil && x.RowStride == 1 {
		for ; i+4 <= x.Rows; i += 4 {
			p.narrow(x.Cols, &x.Data[i], x.ColStride, &n.center[l], n.scale, &panel[i], mr,
				&raw[i*n.padded], n.padded, (*[4]float64)(norms[i:]))
		}
	}
	for ; i < x.Rows; i++ {
		for q := range x.Cols {
			v := x.Data[i*x.RowStride+q*x.ColStride]
			raw[i*n.padded+q] = v
			v = (v - n.center[l+q]) * n.scale
			norms[i] += v * v
			panel[q*mr+i] = float32(v)
		}
	}
}

// screenRows sets s.half to half the squared distances less ‖x‖²/2.
func (n *Nearest) screenRows(s *nearestScratch, rows int) {
	u := &n.team.isa.f32
	high := panels(rows, u.mr) * u.mr
	for i := range high {
		copy(s.half[i*n.wide:][:n.wide], n.half)
	}
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for j := 0; j < n.wide; j += u.nr {
			for i := 0; i < high; i += u.mr {
				u.mul(k, -1, &s.panels[l*high+i*k], &n.packed[l*n.wide+j*k], &s.half[i*n.wide+j], n.wide)
			}
		}
	}
}

// settle finds the nearest anchors of row i, whose coordinates are x.
func (n *Nearest) settle(s *nearestScratch, i int, x []float64) {
	s.settled = s.settled[:0]
	// Beyond this norm float32 may overflow; nothing is excluded then, or for NaN.
	const longest = 0x1p60
	if norm := s.norms[i]; !n.plain && norm < longest {
		n.exclude(s, norm*(1+0x1p-20), s.half[i*n.wide:])
	} else {
		s.open = s.open[:0]
		for j := range n.m {
			s.open = append(s.open, candidate{index: int32(j)})
		}
	}
	for k := 0; k < len(s.open); k += 2 { // the last alone is with itself
		a, b := s.open[k].index, s.open[min(k+1, len(s.open)-1)].index
		da, db := n.team.isa.squares(n.padded/squaresBlock, x, n.point(a), n.point(b))
		s.insert(da, a, n.count)
		if b != a {
			s.insert(db, b, n.count)
		}
	}
}

func (n *Nearest) point(i int32) []float64 { return n.points[int(i)*n.padded:][:n.padded] }

// insert keeps the count nearest in order; indices arrive ascending.
func (s *nearestScratch) insert(distance float64, index int32, count int) {
	if math.IsNaN(distance) {
		distance = math.Inf(1)
	}
	if len(s.settled) == count && distance >= s.settled[count-1].distance {
		return
	}
	at := len(s.settled)
	for at > 0 && s.settled[at-1].distance > distance {
		at--
	}
	s.settled = append(s.settled, neighbour{})
	copy(s.settled[at+1:], s.settled[at:])
	s.settled[at] = neighbour{distance, index}
	s.settled = s.settled[:min(len(s.settled), count)]
}

// exclude leaves in s.open, ascending, the anchors that may be among the nearest: an
// anchor is out when count others have an upper bound below its lower bound, by more
// than settling may round. With ε for the relative error of a settled distance,
// that is 2ε(‖x‖² + ‖y‖²) on the scale of half distances, and ‖y‖ ≤ 1 here.
func (n *Nearest) exclude(s *nearestScratch, norm float64, half []float32) {
	epsilon := (float64(n.padded/squaresBlock) + 8) * 0x1p-53
	margin := 2 * epsilon * (norm*norm + 1)
	limit := float32(math.MaxFloat32)
	if p := n.team.isa; p.lowest != nil && n.count <= len(s.least) {
		// The lowest lower bounds of 16 sets of anchors: count anchors have an upper bound
		// no higher than the count-th of them and the widest bounds there are. From there
		// on 8 of 2,000 anchors are looked at; without, 41.
		for i := range s.least {
			s.least[i] = math.MaxFloat32
		}
		p.lowest(&half[0], &n.slack[0], float32(norm), n.wide, &s.least)
		slices.Sort(s.least[:])
		limit = above(float64(s.least[n.count-1]) + 2*norm*n.widest[0] + n.widest[1] + margin)
	}
	s.open, s.uppers = s.open[:0], s.uppers[:0]
	for j := 0; ; j++ {
		j = n.team.isa.below(half, n.slack, float32(norm), limit, j, n.m)
		if j == n.m {
			break
		}
		lower := float64(half[j]) - norm*float64(n.slack[j])
		s.open = append(s.open, candidate{int32(j), lower})
		upper := lower + 2*norm*float64(n.slack[j]) + n.twice[j]
		if s.lowest(upper, n.count) && len(s.uppers) == n.count {
			limit = min(limit, above(s.uppers[n.count-1]+margin))
		}
	}
	s.open = slices.DeleteFunc(s.open, func(c candidate) bool { return c.lower > float64(limit) })
}

// above is the least float32 that is no less than v, where v is one.
func above(v float64) float32 {
	f := float32(min(v, math.MaxFloat32))
	if float64(f) < v {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}

// lowest keeps the count lowest upper bounds in order; it reports whether upper is one.
func (s *nearestScratch) lowest(upper float64, count int) bool {
	at := len(s.uppers)
	if at < count {
		s.uppers = append(s.uppers, upper)
	} else if at--; upper >= s.uppers[at] {
		return false
	}
	for ; at > 0 && s.uppers[at-1] > upper; at-- {
		s.uppers[at] = s.uppers[at-1]
	}
	s.uppers[at] = upper
	return true
}
