package kernel

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// squaredLengths returns the squared lengths of the centred anchors, and sets the scale.
func (n *Nearest) squaredLengths() []float64 {
	norms := make([]float64, n.m)
	longest := 0.0
	for i := range norms {
		for l, y := range n.points[i*n.padded:][:n.d] {
			y -= n.center[l]
			norms[i] += y * y
		}
		longest = max(longest, norms[i]) // NaN if any norm is NaN
	}
	// If longest is outside this range, squares of screened rows (up to 2⁶⁰ times as long) or of small differences
	// overflow or vanish in float64. If all anchors are equal, screening cannot exclude any.
	n.isUnscreened = !(longest >= 0x1p-900 && longest <= 0x1p800) // or NaN
	n.scale = 1
	if !n.isUnscreened {
		_, e := math.Frexp(math.Sqrt(longest))
		n.scale = math.Ldexp(1, -e)
	}
	return norms
}

// prepareScreen packs the anchors, whose squared lengths are norms, and derives the bounds. With u = 2⁻²⁴, rounding to
// float32 changes each coordinate by a factor of 1 ± u. A chain of k multiply-adds changes its sum by at most k·u·Σ|x_i
// y_i| ≤ k·u·‖x‖‖y‖ (Cauchy-Schwarz). The products of a row and an anchor form c chains of at most depth terms. Adding
// these to ‖y‖²/2 changes the result by at most c·u times the largest partial result. Hence the error of ‖y‖²/2 − xᵀy
// is at most
//
//	g·‖x‖‖y‖ + h·‖y‖²/2,  g = (min(d, depth) + c + 5)·u,  h = (c + 5)·u,
//
// The 5 counts two roundings of coordinates, one of ‖y‖²/2, one of the comparison, and one unit for all terms of second
// order, whose sum is below a unit for d < 2²⁰. The rounding of subnormal float32 numbers adds at most d·2⁻¹²⁰ for ‖x‖
// ≤ 1. For longer x it is negligible compared with settlingMargin, which grows with ‖x‖².
func (n *Nearest) prepareScreen(norms []float64) {
	u := &n.team.isa.f32
	const unit = 0x1p-24
	chains := float64(panelCount(n.d, depth))
	n.productError = (float64(min(n.d, depth)) + chains + 5) * unit
	h := (chains + 5) * unit
	n.paddedAnchors, n.panelRows = panelCount(n.m, u.nr)*u.nr, u.mr
	n.resetBounds(nil)
	for i, sq := range norms {
		sq *= n.scale * n.scale
		n.setAnchorBounds(i, sq, h*sq/2+float64(n.d)*0x1p-120, math.Sqrt(sq))
	}
	n.packed = alignedSlice[float32](nil, n.paddedAnchors*n.d)
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for i := range n.m {
			to := n.packed[l*n.paddedAnchors+i/u.nr*u.nr*k+i%u.nr:]
			for q, y := range n.points[i*n.padded+l:][:k] {
				to[q*u.nr] = float32((y - n.center[l+q]) * n.scale)
			}
		}
	}
}

// resetBounds takes the parts of the bounds that belong to anchors from l. The bounds of padding anchors are infinite.
func (n *Nearest) resetBounds(l *room.Layout) {
	n.halfLengths, n.slack = room.Slice[float32](l, n.paddedAnchors+readBeyond), room.Slice[float32](l, n.paddedAnchors+readBeyond)
	n.boundGap = room.Slice[float64](l, n.m)
	n.widestGap, n.groups = 0, panelCount(n.paddedAnchors, group)
	for i := range n.halfLengths {
		n.halfLengths[i] = float32(math.Inf(1))
	}
}

// setAnchorBounds sets the bounds of anchor j of squared length sq. add is the largest error of the computed sq/2, and
// slack becomes the anchor's slack.
func (n *Nearest) setAnchorBounds(j int, sq, add, slack float64) {
	n.halfLengths[j] = float32(sq/2 - add)
	n.slack[j] = float32(slack * (1 + 0x1p-20))
	n.boundGap[j] = 2 * add
	n.widestGap = max(n.widestGap, n.boundGap[j])
}

const (
	// group is the number of anchors of which only the lowest lower bound is kept, a multiple of the width of all tiles.
	group = 48
	// upperSets is the number of sets of anchors. For each row, screening keeps only the lowest upper bound of each set.
	upperSets = 16
)

const (
	// foundGroups is the number of groups that isa.findAnchors searches in one call.
	foundGroups = 16
	// foundPadding is the number of elements of found, after the indices, that isa.findAnchors may overwrite.
	foundPadding = 16
)

// foundAnchors holds the anchors found by isa.findAnchors. Anchor 0 is the first of the searched groups.
type foundAnchors = [foundGroups*group + foundPadding]int32

// findAnchors searches n anchors, in up to foundGroups groups. It writes to found, in ascending order, each index j for
// which c[j] − room·slack[j] > limit is false. It skips groups whose lowest bound, in lowers, is above the limit. It
// returns the number of indices. It may read readBeyond elements after n.
func (p *isa) findAnchors(n int, c, slack, lowers []float32, room, limit float32, found *foundAnchors) int {
	if p.findWithin != nil {
		return p.findWithin(n, &c[0], &slack[0], &lowers[0], room, limit, found)
	}
	count := 0
	for from := 0; from < n; from += group {
		if lowers[from/group] > limit {
			continue
		}
		end := min(from+group, n)
		for j := p.firstNotAbove(c, slack, room, limit, from, end); j < end; j = p.firstNotAbove(c, slack, room, limit, j+1, end) {
			found[count] = int32(j)
			count++
		}
	}
	return count
}

// noUppers are the initial upper bounds, before any anchor is seen.
var noUppers = func() (none [upperSets]float32) {
	for i := range none {
		none[i] = math.MaxFloat32
	}
	return none
}()

// readBeyond is the number of elements that isa.firstNotAbove may read after its last element.
const readBeyond = 16

// narrowRows centres and scales rows, and packs them as float32 panels of at most k dimensions each, with k = deep. It
// also computes their squared norms, which are 0 for the padding rows of a panel, and copies the original rows to raw.
func (n *Nearest) narrowRows(packed []float32, raw, norms []float64, x Matrix[float64], deep int) {
	mr := n.panelRows
	high := panelCount(x.Rows, mr) * mr
	if x.Rows < high {
		clear(packed[:high*n.d])
	}
	norms = norms[:high]
	clear(norms)
	for l := 0; l < n.d; l += deep {
		block, k := packed[l*high:], min(deep, n.d-l)
		// Columns may be on different pages of memory. Few are read at a time, so that their addresses stay in a buffer.
		const together = 32
		for q := 0; q < k; q += together {
			width := min(together, k-q)
			for at := 0; at < x.Rows; at += mr {
				rows := min(mr, x.Rows-at)
				n.packPanel(block[at*k+q*mr:][:width*mr], raw[at*n.padded+l+q:], norms[at:], x.Sub(at, l+q, rows, width), l+q)
			}
		}
	}
	for i, sq := range norms {
		norms[i] = math.Sqrt(sq)
	}
}

func (n *Nearest) packPanel(panel []float32, raw, norms []float64, x Matrix[float64], l int) {
	p := n.team.isa
	mr, i := n.panelRows, 0
	if p.narrowRows != nil && x.RowStride == 1 {
		for ; i+4 <= x.Rows; i += 4 {
			p.narrowRows(x.Cols, &x.Data[i], x.ColStride, &n.center[l], n.scale, &panel[i], mr,
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

func (n *Nearest) screenRowsInFloat32(s *nearestScratch, x Matrix[float64]) {
	u := &n.team.isa.f32
	high := panelCount(x.Rows, u.mr) * u.mr
	n.narrowRows(s.panels, s.raw, s.norms, x, depth)
	for i := range high {
		s.loose[i] = float32(n.productError * s.norms[i] * (1 + 0x1p-20))
		copy(s.half[i*n.paddedAnchors:][:n.paddedAnchors], n.halfLengths)
	}
	for l := 0; l < n.d; l += depth {
		k := min(depth, n.d-l)
		for j := 0; j < n.paddedAnchors; j += u.nr {
			for i := 0; i < high; i += u.mr {
				u.mul(k, -1, &s.panels[l*high+i*k], &n.packed[l*n.paddedAnchors+j*k], &s.half[i*n.paddedAnchors+j], n.paddedAnchors)
			}
			if l+k == n.d {
				n.updateLowestBounds(s, high, j+u.nr, n.slack, s.loose)
			}
		}
	}
}

// updateLowestBounds computes the lowest bounds of the rows over a group of anchors. It does nothing unless anchor end,
// exclusive, completes the group or all anchors. The tiles of the group are in cache then.
func (n *Nearest) updateLowestBounds(s *nearestScratch, rows, end int, slack, loose []float32) {
	if end%group != 0 && end != n.paddedAnchors {
		return
	}
	g := (end - 1) / group
	from := g * group
	n.team.isa.lowestBounds(rows, &s.half[from], n.paddedAnchors, &slack[from], end-from, &loose[0], &s.lowestUppers[0], &s.lowestLowers[g], n.groups)
}

// excludeAnchors sets s.candidates to the anchors that may be among the n.count nearest to row i, ordered by their
// lower bounds. It excludes an anchor if n.count other anchors have an upper bound that is below the anchor's lower
// bound by more than the margin.
func (n *Nearest) excludeAnchors(s *nearestScratch, i int) {
	loose, half, margin := float64(s.loose[i]), s.half[i*n.paddedAnchors:], n.settlingMargin(s.norms[i])
	limit := math.MaxFloat64
	if n.count <= upperSets {
		// The anchors are divided into sets, and the lowest upper bound of each set is known. So at least count anchors have an
		// upper bound of at most the count-th lowest of these. With this initial limit, 14 of 2,000 anchors become candidates if screened in bytes, and 8 if screened in float32.
		limit = float64(nthLowest(&s.lowestUppers[i], n.count)) + n.widestGap + margin
	}
	s.candidates, s.uppers = s.candidates[:0], s.uppers[:0]
	for g := 0; g < n.groups; g += foundGroups {
		for _, j := range n.anchorsBelowLimit(s, i, g, n.slack, s.loose[i], roundUpToFloat32(limit)) {
			limit = n.considerAnchor(s, j, half[j], loose, limit, margin)
		}
	}
	s.sortCandidates(limit)
}

// anchorsBelowLimit returns the anchors whose lower bounds for row i are not above the limit. It searches the
// foundGroups groups from group g on, or the remaining ones. The next call overwrites the result.
func (n *Nearest) anchorsBelowLimit(s *nearestScratch, i, g int, slack []float32, loose, limit float32) []int32 {
	from := g * group
	found := s.found[:n.team.isa.findAnchors(min(foundGroups*group, n.paddedAnchors-from), s.half[i*n.paddedAnchors+from:], slack[from:],
		s.lowestLowers[i*n.groups+g:], loose, limit, &s.found)]
	for k := range found {
		found[k] += int32(from)
	}
	return found
}

// settlingMargin bounds the rounding of halves of float64 distances from a row of the given length. For anchors with
// ‖y‖ ≤ 1 it is 2ε(‖x‖² + 1), ε being the relative error of a distance.
func (n *Nearest) settlingMargin(norm float64) float64 {
	norm *= 1 + 0x1p-20
	epsilon := (float64(n.padded/squaresBlock) + 8) * 0x1p-53
	return 2 * epsilon * (norm*norm + 1)
}

// considerAnchor makes anchor j a candidate unless its lower bound is above the limit, and returns the new limit.
func (n *Nearest) considerAnchor(s *nearestScratch, j int32, half float32, loose, limit, margin float64) float64 {
	room := loose * float64(n.slack[j])
	lower := float64(half) - room
	if lower > limit {
		return limit
	}
	s.candidates = append(s.candidates, candidate{j, lower})
	if upper := lower + 2*room + n.boundGap[j]; s.insertUpperBound(upper, n.count) && len(s.uppers) == n.count {
		limit = min(limit, s.uppers[n.count-1]+margin)
	}
	return limit
}

// sortCandidates drops the candidates above the limit, and sorts the remaining ones by their lower bounds. Distances of
// the first candidates can then exclude later candidates.
func (s *nearestScratch) sortCandidates(limit float64) {
	// Inserting one candidate moves at most all earlier candidates, so insertion is fast for few.
	const few = 32
	sorted := s.candidates[:0]
	for _, c := range s.candidates {
		if c.lower > limit {
			continue
		}
		at := len(sorted)
		sorted = append(sorted, c)
		if at < few {
			for ; at > 0 && sorted[at-1].lower > c.lower; at-- {
				sorted[at] = sorted[at-1]
			}
			sorted[at] = c
		}
	}
	if len(sorted) > few {
		slices.SortFunc(sorted, func(a, b candidate) int { return cmp.Compare(a.lower, b.lower) })
	}
	s.candidates = sorted
}

// nthLowest returns the count-th lowest of all values. No value may be NaN. It has no branch that the processor could
// mispredict; sorting would take five times as long.
func nthLowest(all *[upperSets]float32, count int) float32 {
	var low [upperSets]int32 // the lowest values so far, as int32 with the order of the numbers
	for i := range low {
		low[i] = math.MaxInt32
	}
	for _, v := range all {
		bits := int32(math.Float32bits(v))
		bits ^= bits >> 31 & math.MaxInt32
		for i := range low[:count] {
			low[i], bits = min(low[i], bits), max(low[i], bits)
		}
	}
	bits := low[count-1]
	return math.Float32frombits(uint32(bits ^ bits>>31&math.MaxInt32))
}

func roundUpToFloat32(v float64) float32 {
	f := float32(min(v, math.MaxFloat32))
	if float64(f) < v {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}

// insertUpperBound inserts upper into the ordered list of the `count` lowest upper bounds. The result is false if the
// list is full and upper is not below its highest bound.
func (s *nearestScratch) insertUpperBound(upper float64, count int) bool {
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
