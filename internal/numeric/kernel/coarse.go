package kernel

import (
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// coarseScreen screens rows in 8-bit numbers, see [Nearest]. Four of these are multiplied in the time of one float32.
//
// A point x is rotated by an orthogonal matrix R that spreads each coordinate over all dimensions. R consists of random
// signs, a Hadamard matrix on the first dimensions, and one on the last dimensions. Then Rx ≈ s·q with a step s and
// integers q of at most 127, for columns of any scale. The error δ = Rx − s·q is known. For an anchor y likewise Ry ≈
// t·p with the error ε = Ry − t·p, and
//
//	|xᵀy − s·t·qᵀp| = |δᵀRy + s·qᵀε| ≤ ‖δ‖·‖y‖ + (‖x‖ + ‖δ‖)·‖ε‖.
//
// ‖δ‖ is about 0.0075·‖x‖. In searches for the 6 nearest of 2,000 anchors, bytes left 9 anchors for a row on
// standardized E-MNIST, in which single pixels at the border are a hundred standard deviations large, and 8.7 on
// unscaled images. These are then compared in float64, so that the result has the same bits as without screening.
//
// (Spreading by signs and Hadamard matrices: Ailon and Chazelle, SIAM J. Comput. 39, 2009.)
type coarseScreen struct {
	code   *coarseCode
	window int      // the order of the Hadamard matrices
	signs  []uint32 // for each dimension, a sign bit or 0

	codedAnchors         // the anchors in d dimensions, rounded up to a multiple of 4; not packed with a lead
	loss         float64 // ρ, see prepareCoarse

	left, tried, seen int // numbers of anchors not excluded, of anchors that a lead compared in all dimensions, and of rows

	rows         int         // number of rows searched so far
	lead         *leadScreen // nil if there is none
	leadRejected bool        // do not try a lead: it was too slow, or it could not be made
}

// codedAnchors contains points in 8-bit numbers, packed as the columns of tiles. A quad is 4 consecutive dimensions.
type codedAnchors struct {
	dims   int       // a multiple of 4
	packed []byte    // numbers plus code.offset, in panels of nr anchors, quad by quad
	factor []float32 // for each point, see coarseCode.mul
}

func newCodedAnchors(l *room.Layout, count, dims int) codedAnchors {
	return codedAnchors{dims, room.Slice[byte](l, count*dims), room.Slice[float32](l, count)}
}

func (a *codedAnchors) packAnchorFromLane(code *coarseCode, j int, factor float32, numbers []byte, i int) {
	a.factor[j] = factor
	to := a.packed[j/code.nr*code.nr*a.dims+j%code.nr*4:]
	for k := 0; k < a.dims; k += 4 {
		for q, v := range numbers[k*lanes+4*i:][:4] {
			to[k*code.nr+q] = v + code.offset
		}
	}
}

// codedRows contains rows in 8-bit numbers, packed as the rows of tiles.
type codedRows struct {
	numbers []byte           // rows×dims in panels, quad by quad
	steps   [][lanes]float32 // for each panel, see coarseCode.mul
	shifts  [][lanes]int32   // for each panel, see coarseCode.mul
}

func (r *codedRows) reserveRows(l *room.Layout, count, dims int) {
	reserveSlice(l, &r.numbers, count*dims)
	reserveSlice(l, &r.steps, count/lanes)
	reserveSlice(l, &r.shifts, count/lanes)
}

func (r *codedRows) panelNumbers(p, dims int) []byte { return r.numbers[p*lanes*dims:][:lanes*dims] }

func (r *codedRows) storeScales(code *coarseCode, panel int, scales *laneScales) {
	r.steps[panel] = scales.step
	for i, sum := range scales.sums {
		r.shifts[panel][i] = int32(code.offset) * sum
	}
}

func (r *codedRows) multiplyPanel(code *coarseCode, a *codedAnchors, p, j int, half, c []float32, ldc int) {
	code.mul(a.dims/4, &r.numbers[p*lanes*a.dims], &a.packed[j*a.dims], &r.steps[p], &r.shifts[p],
		&half[j], &a.factor[j], &c[0], ldc)
}

func copyLane(panelNumbers, numbers []byte, lane int) {
	for k := 0; k+4 <= len(panelNumbers); k += 4 {
		binary.NativeEndian.PutUint32(panelNumbers[k:], binary.NativeEndian.Uint32(numbers[k*lanes+4*lane:]))
	}
}

// coarseCode contains an instruction set's functions for bytes. A panel contains [lanes] rows, one dimension after
// another.
type coarseCode struct {
	nr        int // number of anchors in a tile
	maxNumber int // largest magnitude of a row's numbers
	// offset is added to the anchors' numbers: 128 if the second factor of mul is unsigned, 0 if it is signed.
	offset byte
	// mul sets the lanes×nr tile c (rows ldc apart) to half − factor·(step·(A·B − shift)). A·B is an exact sum of 4·quads
	// products of a row's number and an anchor's number plus offset. half and factor have an element for each anchor, step
	// and shift for each row. Nil means that float32 is as fast.
	mul func(quads int, a, b *byte, step *[lanes]float32, shift *[lanes]int32, half, factor, c *float32, ldc int)
	// flipSigns changes the sign of dimension l of a panel of n dimensions if signs[l] is 1<<31.
	flipSigns func(n int, x *float32, signs *uint32)
	// mixDimensions multiplies each set of `radix` dimensions, h apart, of a panel of n dimensions by the Hadamard matrix
	// of order radix (2, 4 or 8), and by the factor `by`.
	mixDimensions func(n, h, radix int, x *float32, by float32)
	// largestMagnitudes writes the largest magnitude in each lane (i.e. row) of a panel of n dimensions to largest.
	largestMagnitudes func(n int, x *float32, largest *[lanes]float32)
	// quantise writes q = x·inverse, rounded to integers, to dst as bytes. Four dimensions of a lane are consecutive
	// bytes. It writes each lane's sums of (x − step·q)², q² and q to rest, squares and sums.
	quantise func(quads int, x *float32, inverse, step *[lanes]float32, dst *byte, rest, squares *[lanes]float32, sums *[lanes]int32)
	// dotProducts sets sums[k], for k below count, to the scalar product of a row's numbers, at x, and the numbers plus
	// offset of an anchor, at y[which[k]·stride]. Both have dotsBlock·blocks numbers.
	dotProducts func(blocks int, x, y *byte, stride int, which *int32, count int, sums *int32)
}

const (
	// lanes is the number of rows in a panel, which are rotated together, and the number of rows of a tile.
	lanes = 8
	// With fewer than minCoarseDims dimensions or minCoarseAnchors anchors, rotation costs more time than bytes save. With
	// more than maxCoarseDims dimensions, sums would not fit into an int32.
	minCoarseDims, minCoarseAnchors, maxCoarseDims = 64, 128, 1 << 15
	// maxAnchorNumber is the largest magnitude of an anchor's numbers. After adding 128 they fit into an unsigned byte.
	maxAnchorNumber = 127
	// coarseBytes bounds the float32 values that a worker keeps at a time. With a level-2 cache of 2 MiB, 256 KiB to 2 MiB
	// are equally fast. With one of 1 MiB (Zen 4), a bound of 1 MiB makes searches on E-MNIST a tenth slower.
	coarseBytes = 1 << 19
	// minCodedLength is the length below which all numbers of a point are set to 0, because float32 would be subnormal.
	minCodedLength = 0x1p-40
	// maxKeptShare is the largest share of farther anchors that bytes may fail to exclude and still be faster than
	// float32. Bytes save 0.6 of the cost of screening an anchor. An anchor compared in float64 costs as much as screening
	// 24 anchors, because it is not in the level-2 cache.
	maxKeptShare = 0.6 / 24
	// rowsBeforeJudging is the number of rows after which judgeScreening first decides.
	rowsBeforeJudging = 64
)

// prepareCoarse prepares screening in bytes. norms are the squared lengths of the anchors.
//
// Rotation in float32 has an error of at most η·‖x‖. With u = 2⁻²⁴, each of the two Hadamard matrices contributes to η
// a unit u for each of log₂(window) sums, and two units for the factor. Rounding x contributes one more unit. See
// [coarseScreen] for x, y, δ and ε. ρ bounds ‖ε‖/‖y‖ for most anchors y. Let slack be ‖y‖, or more for anchors whose
// ‖ε‖/‖y‖ exceeds ρ. Then the bound of [coarseScreen] is (‖δ‖(1 + ρ) + ‖x‖ρ)·slack.
func (n *Nearest) prepareCoarse(norms []float64) {
	const unit = 0x1p-24
	nr := n.team.isa.coarse.nr
	n.paddedAnchors, n.panelRows = panelCount(n.m, nr)*nr, lanes
	n.resetBounds(nil)
	c := layOutCoarse(nil, n)
	c.code, c.window = &n.team.isa.coarse, 1<<(mathbits.Len(uint(c.dims))-1)
	random := bitSource(1)
	for l := range c.signs {
		c.signs[l] = uint32(random.nextBit()) << 31
	}
	losses := make([]float64, n.m)
	panel, numbers := alignedSlice[float32](nil, lanes*c.dims), make([]byte, lanes*c.dims)
	var l laneScales
	n.coarse = c
	for first := 0; first < n.m; first += lanes {
		n.encodeAnchors(first, norms, panel, numbers, &l)
		for i := range min(lanes, n.m-first) {
			j := first + i
			c.packAnchorFromLane(c.code, j, l.step[i], numbers, i)
			if sq := norms[j] * n.scale * n.scale; sq > 0 {
				losses[j] = l.lost[i] / math.Sqrt(sq)
			}
		}
	}
	c.loss = usualLoss(losses)
	for j, sq := range norms {
		sq *= n.scale * n.scale
		add := 4*unit*sq + float64(n.d)*0x1p-120
		n.setAnchorBounds(j, sq, add, math.Sqrt(sq)*max(1, losses[j]/c.loss))
	}
}

func layOutCoarse(l *room.Layout, n *Nearest) *coarseScreen {
	dims := panelCount(n.d, 4) * 4
	return &coarseScreen{codedAnchors: newCodedAnchors(l, n.paddedAnchors, dims), signs: room.Slice[uint32](l, dims)}
}

// usualLoss returns a bound that most of the losses do not exceed. A loss is an error as a share of a point's length.
func usualLoss(losses []float64) float64 { return max(1.25*medianValue(losses), 0x1p-24) }

func medianValue[T Float](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// bitSource generates reproducible random bits by Knuth's MMIX generator.
type bitSource uint64

func (b *bitSource) nextBit() uint64 {
	*b = *b*6364136223846793005 + 1442695040888963407
	return uint64(*b >> 63)
}

func (n *Nearest) encodeAnchors(firstAnchor int, norms []float64, panel []float32, numbers []byte, scales *laneScales) {
	clear(panel)
	var sq [lanes]float64
	for i := range min(lanes, n.m-firstAnchor) {
		for k, y := range n.paddedPoint(int32(firstAnchor + i))[:n.d] {
			panel[k*lanes+i] = float32((y - n.center[k]) * n.scale)
		}
		sq[i] = norms[firstAnchor+i] * n.scale * n.scale
	}
	n.coarse.rotateAndQuantise(panel, &sq, maxAnchorNumber, numbers, scales)
}

// laneScales describes how the points of a panel, one in each lane, were rounded to multiples of a step.
type laneScales struct {
	inverse, step, rest, squares [lanes]float32
	sums                         [lanes]int32
	lost                         [lanes]float64 // upper bounds on ‖δ‖, see coarseScreen
}

func (c *coarseScreen) rotateAndQuantise(panel []float32, squares *[lanes]float64, maxNumber int, numbers []byte, scales *laneScales) {
	c.code.flipSigns(c.dims, &panel[0], &c.signs[0])
	c.mixDimensions(panel[:c.window*lanes])
	if c.dims > c.window {
		c.mixDimensions(panel[(c.dims-c.window)*lanes:])
	}
	c.quantisePanel(c.dims, panel, squares, maxNumber, numbers, scales)
	for i := range scales.lost {
		if scales.step[i] > 0 {
			scales.lost[i] += c.rotationError() * math.Sqrt(squares[i])
		}
	}
}

// rotationError returns η, a bound on the rounding error of rotating a point of length 1 in float32.
func (c *coarseScreen) rotationError() float64 {
	return float64(2*mathbits.Len(uint(c.window))+2) * 0x1p-24
}

func (c *coarseScreen) quantisePanel(dims int, panel []float32, squares *[lanes]float64, maxNumber int, numbers []byte, scales *laneScales) {
	c.code.largestMagnitudes(dims, &panel[0], &scales.step)
	for i, top := range scales.step {
		scales.inverse[i], scales.step[i] = 0, 0
		if squares[i] >= minCodedLength*minCodedLength && top > 0 { // false for NaN
			scales.step[i] = top / float32(maxNumber)
			scales.inverse[i] = float32(maxNumber) / top
		}
	}
	c.code.quantise(dims/4, &panel[0], &scales.inverse, &scales.step, &numbers[0], &scales.rest, &scales.squares, &scales.sums)
	const unit = 0x1p-24
	for i, rest := range scales.rest {
		length := math.Sqrt(squares[i])
		scales.lost[i] = math.Sqrt(float64(rest)*(1+float64(dims+8)*unit)) + 4*unit*length
		if scales.step[i] == 0 {
			scales.lost[i] = length
		}
	}
}

func (c *coarseScreen) mixDimensions(panel []float32) {
	n := len(panel) / lanes
	factor := float32(1 / math.Sqrt(float64(n)))
	for h := 1; h < n; {
		radix := min(8, n/h)
		if h*radix < n {
			c.code.mixDimensions(n, h, radix, &panel[0], 1)
		} else {
			c.code.mixDimensions(n, h, radix, &panel[0], factor)
		}
		h *= radix
	}
}

// screenRowsInBytes sets s.half to half of the squared distance of each row x to each anchor, minus ‖x‖²/2, and s.loose
// to the factor of slack in the error bound: the factor in prepareCoarse plus 10·u·‖x‖, u being 2⁻²⁴, for the rounding
// of mul and of comparisons.
func (n *Nearest) screenRowsInBytes(s *nearestScratch, x Matrix[float64]) {
	c, l := n.coarse, &s.lanes
	high := panelCount(x.Rows, lanes)
	for p := range high {
		// The same panel is used for all rows, so that it stays in cache.
		panel, at := s.panels[:lanes*c.dims], p*lanes
		n.narrowRows(panel, s.raw[at*n.padded:], s.norms[at:], x.Sub(at, 0, min(lanes, x.Rows-at), n.d), n.d)
		clear(panel[n.d*lanes:])
		var sq [lanes]float64
		for i := range lanes {
			sq[i] = s.norms[p*lanes+i] * s.norms[p*lanes+i]
		}
		c.rotateAndQuantise(panel, &sq, c.code.maxNumber, s.panelNumbers(p, c.dims), l)
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
	for j := 0; j < n.paddedAnchors; j += c.code.nr {
		for p := range high {
			rows.multiplyPanel(c.code, anchors, p, j, n.halfLengths, s.half[p*lanes*n.paddedAnchors+j:], n.paddedAnchors)
		}
		n.updateLowestBounds(s, high*lanes, j+c.code.nr, slack, loose)
	}
}

// judgeScreening makes further rows use float32 if bytes exclude too few anchors. After rowsBeforeLead rows it also
// decides whether to use a lead.
func (n *Nearest) judgeScreening() {
	c := n.coarse
	for i := range n.scratch {
		s := &n.scratch[i]
		c.left, c.tried, c.seen = c.left+s.left, c.tried+s.tried, c.seen+s.seen
		s.left, s.tried, s.seen = 0, 0, 0
	}
	if c.seen < rowsBeforeJudging {
		return
	}
	left, tried := float64(c.left)/float64(c.seen), float64(c.tried)/float64(c.seen)
	if over := left - float64(n.count); over > maxKeptShare*float64(n.m) {
		n.coarse, n.scratch = nil, nil
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
	case !c.leadRejected && c.rows >= rowsBeforeLead:
		if c.lead = n.newLeadScreen(affordableCoordinates(n.m, n.d), minLeadShare); c.lead != nil {
			c.packed = nil
		}
		c.leadRejected = c.lead == nil
	}
}
