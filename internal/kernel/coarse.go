package kernel

import (
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"
)

// coarse screens rows in 8-bit numbers, four of which are multiplied in the time of one float32.
//
// A point x is turned by an orthogonal matrix R that spreads single coordinates over all dimensions: random signs,
// then Hadamard matrices on the first and on the last of its dimensions. Then Rx ≈ s·q with a step s and whole
// numbers q of at most 127, for columns of any scale, and the loss is known: δ = Rx − s·q. With the same of an anchor
// y, t·p and ε = Ry − t·p,
//
//	|xᵀy − s·t·qᵀp| = |δᵀRy + s·qᵀε| ≤ ‖δ‖·‖y‖ + (‖x‖ + ‖δ‖)·‖ε‖.
//
// ‖δ‖ is about 0.0075·‖x‖. On standardized E-MNIST, in which single pixels at the border are a hundred deviations
// large, 9 of 2,000 anchors are left for 6 nearest, on unscaled images 8.7. The remaining anchors are compared in
// float64 as without bytes, so that the answer has the same bits.
//
// (Spreading by signs and Hadamard matrices: Ailon and Chazelle, SIAM J. Comput. 39, 2009.)
type coarse struct {
	code   *coarseCode
	window int      // the order of the Hadamard matrices
	signs  []uint32 // dims: a sign bit or 0

	codedAnchors         // of d dimensions, rounded up to whole quads; not packed with a lead
	loss         float64 // ρ, see prepareCoarse

	left, tried, seen int // anchors left, anchors compared in all dimensions with a lead, and rows they are counted for

	rows         int         // searched so far
	lead         *leadScreen // nil if there is none
	leadRejected bool        // a lead has been tried or judged, and is not to be taken
}

// codedAnchors are points in 8-bit numbers, for the columns of tiles.
type codedAnchors struct {
	dims   int       // whole quads
	packed []byte    // numbers and code.offset, in panels of nr, quad by quad
	factor []float32 // of each point, for coarseCode.mul
}

func newCodedAnchors(count, dims int) codedAnchors {
	return codedAnchors{dims, make([]byte, count*dims), make([]float32, count)}
}

func (a *codedAnchors) packLane(code *coarseCode, j int, factor float32, numbers []byte, i int) {
	a.factor[j] = factor
	to := a.packed[j/code.nr*code.nr*a.dims+j%code.nr*4:]
	for k := 0; k < a.dims; k += 4 {
		for q, v := range numbers[k*lanes+4*i:][:4] {
			to[k*code.nr+q] = v + code.offset
		}
	}
}

// codedRows are rows in 8-bit numbers, for the rows of tiles.
type codedRows struct {
	numbers []byte // rows×dims in panels, quad by quad
	steps   [][lanes]float32
	shifts  [][lanes]int32
}

func newCodedRows(count, dims int) codedRows {
	return codedRows{make([]byte, count*dims), make([][lanes]float32, count/lanes), make([][lanes]int32, count/lanes)}
}

func (r *codedRows) panelNumbers(p, dims int) []byte { return r.numbers[p*lanes*dims:][:lanes*dims] }

func (r *codedRows) storeScales(code *coarseCode, p int, l *laneScales) {
	r.steps[p] = l.step
	for i, sum := range l.sums {
		r.shifts[p][i] = int32(code.offset) * sum
	}
}

func (r *codedRows) mulPanel(code *coarseCode, a *codedAnchors, p, j int, half, c []float32, ldc int) {
	code.mul(a.dims/4, &r.numbers[p*lanes*a.dims], &a.packed[j*a.dims], &r.steps[p], &r.shifts[p],
		&half[j], &a.factor[j], &c[0], ldc)
}

func takeLane(to, numbers []byte, i int) {
	for k := 0; k+4 <= len(to); k += 4 {
		binary.NativeEndian.PutUint32(to[k:], binary.NativeEndian.Uint32(numbers[k*lanes+4*i:]))
	}
}

// coarseCode is the code of an instruction set. A panel has [lanes] rows, dimension by dimension.
type coarseCode struct {
	nr   int // anchors of a tile
	most int // largest magnitude of a row's numbers
	// offset is added to the anchors' numbers: 128 for a mul whose second byte is unsigned, 0 if it is signed.
	offset byte
	// mul sets the lanes×nr tile c (rows ldc apart) to half − factor·(step·(A·B − shift)): A·B is an exact sum of
	// 4·quads products of a row's number and an anchor's with its offset; half and factor belong to a column, step
	// and shift to a lane. Nil means that float32 is as fast.
	mul func(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int)
	// flip changes the sign of dimension l if signs[l] is 1<<31.
	flip func(n int, x *float32, signs *uint32)
	// mix multiplies, in a panel of n dimensions, each set of radix dimensions at distances h by by times the
	// Hadamard matrix of order radix, 2, 4 or 8.
	mix func(n, h, radix int, x *float32, by float32)
	// widest returns the largest magnitude of each lane.
	widest func(n int, x *float32, most *[lanes]float32)
	// quantise writes q = x·inverse, rounded to whole numbers, as bytes to dst, four dimensions of each lane side by
	// side, and each lane's sums of (x − step·q)², q² and q.
	quantise func(quads int, x *float32, inverse, step *[lanes]float32, dst *byte, rest, squares *[lanes]float32, sums *[lanes]int32)
	// dots sets sums[k] to the product of dotsBlock·blocks numbers of a row and of an anchor with its offset, which
	// begin at x and at y[which[k]·stride], for k below count.
	dots func(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)
}

const (
	// lanes is the number of rows that are turned together, and of a tile.
	lanes = 8
	// Below these dimensions, or with fewer anchors, turning costs more than narrow numbers save; beyond the last,
	// sums would not fit an int32.
	coarseDims, coarsePoints, mostCoarseDims = 64, 128, 1 << 15
	// anchorMost is the largest magnitude of an anchor's numbers: with 128 they fit an unsigned byte.
	anchorMost = 127
	// coarseBytes bounds the float32 distances that a worker holds at a time. 256 KiB to 2 MiB are equally fast with
	// a level-2 cache of 2 MiB; with one of 1 MiB (Zen 4), 1 MiB makes E-MNIST's search a tenth slower.
	coarseBytes = 1 << 19
	// leastLength is the length below which a point's numbers are all 0: float32 would be subnormal.
	leastLength = 0x1p-40
	// coarseShare is the share of the anchors that a row may leave, without the nearest, and still be faster than in
	// float32: an anchor compared in float64 comes from beyond the level-2 cache and costs as much as 24 screened
	// ones, and bytes save 0.6 of a screened one.
	coarseShare = 0.6 / 24
	// coarseTrial is the number of rows before judgeScreening decides.
	coarseTrial = 64
)

// prepareCoarse prepares screening in bytes; norms are the squared lengths of the anchors.
//
// With u = 2⁻²⁴, turning in float32 is off by η·‖x‖: a unit for each of the log₂(window) sums and two for the factor,
// in each of two windows, and one for rounding x. An anchor's ρ is ‖ε‖/‖y‖; with the usual ρ, and slack ‖y‖, or more
// for an anchor that loses more, the bound above is (‖δ‖(1 + ρ) + ‖x‖ρ)·slack.
func (n *Nearest) prepareCoarse(norms []float64) {
	const unit = 0x1p-24
	c := &coarse{code: &n.team.isa.coarse}
	nr := c.code.nr
	n.wide, n.tall = panelCount(n.m, nr)*nr, lanes
	n.resetBounds()
	c.codedAnchors = newCodedAnchors(n.wide, panelCount(n.d, 4)*4)
	c.window = 1 << (mathbits.Len(uint(c.dims)) - 1)
	c.signs = make([]uint32, c.dims)
	random := bitSource(1)
	for l := range c.signs {
		c.signs[l] = uint32(random.nextBit()) << 31
	}
	losses := make([]float64, n.m)
	panel, numbers := alignedSlice[float32](lanes*c.dims), make([]byte, lanes*c.dims)
	var l laneScales
	n.coarse = c
	for first := 0; first < n.m; first += lanes {
		n.turnAnchors(first, norms, panel, numbers, &l)
		for i := range min(lanes, n.m-first) {
			j := first + i
			c.packLane(c.code, j, l.step[i], numbers, i)
			if sq := norms[j] * n.scale * n.scale; sq > 0 {
				losses[j] = l.lost[i] / math.Sqrt(sq)
			}
		}
	}
	c.loss = usualLoss(losses)
	for j, sq := range norms {
		sq *= n.scale * n.scale
		add := 4*unit*sq + float64(n.d)*0x1p-120
		n.setBound(j, sq, add, math.Sqrt(sq)*max(1, losses[j]/c.loss))
	}
}

// usualLoss returns a loss, as a share of a point's length, that most points stay below.
func usualLoss(losses []float64) float64 { return max(1.25*median(losses), 0x1p-24) }

func median[T Float](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// bitSource makes reproducible random bits: Knuth's MMIX generator.
type bitSource uint64

func (b *bitSource) nextBit() uint64 {
	*b = *b*6364136223846793005 + 1442695040888963407
	return uint64(*b >> 63)
}

func (n *Nearest) turnAnchors(first int, norms []float64, panel []float32, numbers []byte, l *laneScales) {
	clear(panel)
	var sq [lanes]float64
	for i := range min(lanes, n.m-first) {
		for k, y := range n.paddedPoint(int32(first + i))[:n.d] {
			panel[k*lanes+i] = float32((y - n.center[k]) * n.scale)
		}
		sq[i] = norms[first+i] * n.scale * n.scale
	}
	n.coarse.turnAndQuantise(panel, &sq, anchorMost, numbers, l)
}

type laneScales struct {
	inverse, step, rest, squares [lanes]float32
	sums                         [lanes]int32
	lost                         [lanes]float64 // ‖δ‖ at most
}

func (c *coarse) turnAndQuantise(panel []float32, sq *[lanes]float64, most int, numbers []byte, l *laneScales) {
	c.code.flip(c.dims, &panel[0], &c.signs[0])
	c.mixDimensions(panel[:c.window*lanes])
	if c.dims > c.window {
		c.mixDimensions(panel[(c.dims-c.window)*lanes:])
	}
	c.quantisePanel(c.dims, panel, sq, most, numbers, l)
	for i := range l.lost {
		if l.step[i] > 0 {
			l.lost[i] += c.turningError() * math.Sqrt(sq[i])
		}
	}
}

// turningError bounds the error of a turned point of length 1.
func (c *coarse) turningError() float64 { return float64(2*mathbits.Len(uint(c.window))+2) * 0x1p-24 }

func (c *coarse) quantisePanel(dims int, panel []float32, sq *[lanes]float64, most int, numbers []byte, l *laneScales) {
	c.code.widest(dims, &panel[0], &l.step)
	for i, top := range l.step {
		l.inverse[i], l.step[i] = 0, 0
		if sq[i] >= leastLength*leastLength && top > 0 { // and not NaN
			l.step[i] = top / float32(most)
			l.inverse[i] = float32(most) / top
		}
	}
	c.code.quantise(dims/4, &panel[0], &l.inverse, &l.step, &numbers[0], &l.rest, &l.squares, &l.sums)
	const unit = 0x1p-24
	for i, rest := range l.rest {
		length := math.Sqrt(sq[i])
		l.lost[i] = math.Sqrt(float64(rest)*(1+float64(dims+8)*unit)) + 4*unit*length
		if l.step[i] == 0 {
			l.lost[i] = length
		}
	}
}

func (c *coarse) mixDimensions(panel []float32) {
	n := len(panel) / lanes
	factor := float32(1 / math.Sqrt(float64(n)))
	for h := 1; h < n; {
		radix := min(8, n/h)
		if h*radix < n {
			c.code.mix(n, h, radix, &panel[0], 1)
		} else {
			c.code.mix(n, h, radix, &panel[0], factor)
		}
		h *= radix
	}
}

// coarseRows sets s.half to half the squared distances less ‖x‖²/2, and s.loose to the factor of slack: the bound of
// prepareCoarse, and 10 units of ‖x‖ for the roundings of mul and of comparing.
func (n *Nearest) coarseRows(s *nearestScratch, x Matrix[float64]) {
	c, l := n.coarse, &s.lanes
	high := panelCount(x.Rows, lanes)
	for p := range high {
		// One panel serves all rows, so that it stays in cache.
		panel, at := s.panels[:lanes*c.dims], p*lanes
		n.narrowRows(panel, s.raw[at*n.padded:], s.norms[at:], x.Sub(at, 0, min(lanes, x.Rows-at), n.d), n.d)
		clear(panel[n.d*lanes:])
		var sq [lanes]float64
		for i := range lanes {
			sq[i] = s.norms[p*lanes+i] * s.norms[p*lanes+i]
		}
		c.turnAndQuantise(panel, &sq, c.code.most, s.panelNumbers(p, c.dims), l)
		s.storeScales(c.code, p, l)
		for i, norm := range s.norms[p*lanes:][:lanes] {
			s.loose[p*lanes+i] = float32((l.lost[i]*(1+c.loss) + norm*(c.loss+10*0x1p-24)) * (1 + 0x1p-20))
		}
		if c.lead != nil {
			n.projectPanel(s, p)
		}
	}
	rows, anchors, slack, loose := &s.codedRows, &c.codedAnchors, n.slack, s.loose
	if f := c.lead; f != nil {
		rows, anchors, slack, loose = &s.lead.codedRows, &f.codedAnchors, f.slack, s.lead.loose
	}
	for j := 0; j < n.wide; j += c.code.nr {
		for p := range high {
			rows.mulPanel(c.code, anchors, p, j, n.half, s.half[p*lanes*n.wide+j:], n.wide)
		}
		n.takeLowestBounds(s, high*lanes, j+c.code.nr, slack, loose)
	}
}

// judgeScreening returns to float32 for good if bytes leave too many anchors, and takes a lead after some rows.
func (n *Nearest) judgeScreening() {
	c := n.coarse
	for i := range n.scratch {
		s := &n.scratch[i]
		c.left, c.tried, c.seen = c.left+s.left, c.tried+s.tried, c.seen+s.seen
		s.left, s.tried, s.seen = 0, 0, 0
	}
	if c.seen < coarseTrial {
		return
	}
	left, tried := float64(c.left)/float64(c.seen), float64(c.tried)/float64(c.seen)
	if over := left - float64(n.count); over > coarseShare*float64(n.m) {
		n.coarse = nil
		n.prepareScreen(n.squaredLengths())
		return
	}
	c.rows += c.seen
	c.left, c.tried, c.seen = 0, 0, 0
	switch {
	case c.lead != nil:
		if leadCost(n.m, n.d, c.lead.dims, tried) > float64(n.m) {
			n.prepareCoarse(n.squaredLengths())
			n.coarse.leadRejected = true
		}
	case !c.leadRejected && c.rows >= leadAfter:
		if c.lead = n.takeLead(mostLead(n.m, n.d), leadLeast); c.lead != nil {
			c.packed = nil
		}
		c.leadRejected = c.lead == nil
	}
}
