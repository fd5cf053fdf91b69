package kernel

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// leadScreen excludes most anchors of a [Nearest] by products in few dimensions, before screening in all dimensions.
//
// The rows of P are nearly orthonormal, and span directions that contain most of the anchors' variance. For most
// anchors and rows, the remainder outside the span is small. Let ξ̄ = s·q be the bytes of a rotated row times their
// step (see [coarseScreen]), ξ = ξ̄ + δ the row itself, and η a rotated anchor. P consists of bytes too, so that w =
// Pξ̄ is exact. K = PPᵀ differs from I by at most ε < ½. With v = (2 − K)Pη, which is near K⁻¹Pη, and ζ = η − Pᵀv,
//
//	ξᵀη = wᵀv + ξ̄ᵀζ + δᵀη,   ξ̄ᵀζ ≤ β·γ + ‖ξ̄‖·‖Pη − Kv‖/√(1 − ε),
//
// with γ = ‖ζ‖ and β² = ‖ξ̄‖² − ‖w‖²/(1 + ε), a bound on the squared length of ξ̄ outside the span. w is extended by
// four coordinates β/2, and v by four coordinates γ/2. The product of the extended w and v, plus the small last term,
// is an upper bound on ξ̄ᵀη. So a product of few coordinates gives a lower bound on a distance. It is computed in
// bytes, with a known error, as in [coarseScreen]. Anchors with a low bound are then compared in all dimensions by
// coarseCode.dotProducts. The comparison of the first few anchors gives the limit that excludes most others.
//
// On standardized E-MNIST, 188 of 900 directions contain 93 % of the variance of 2,000 anchors. A search for the 6
// nearest compares 91 anchors in all dimensions. A lead saved a fifth of the time with VNNI, and a third without.
type leadScreen struct {
	codedAnchors             // the anchors' v and spare coordinates
	slack          []float32 // for each anchor, as Nearest.slack
	loss           float64   // relative error of the anchors' bytes, as coarseScreen.loss
	medianSlack    float64
	onePlusEpsilon float64 // 1 + ε

	negatedP codedAnchors // −P, each row stored like an anchor
	zeros    []float32    // dims zeros

	anchorNumbers []byte // m×stride: the anchors' numbers in all dimensions, with code.offset
	stride        int    // coarseScreen.dims rounded up to whole blocks of dotProducts
}

// leadScratch is the scratch of one worker.
type leadScratch struct {
	codedRows            // w of the rows, and spare coordinates
	rowNumbers []byte    // rows×stride: the rows' numbers in all dimensions
	loose      []float32 // rows: as nearestScratch.loose
	projected  []float32 // lanes×dims: w of the rows of a panel
	lanes      laneScales
	first      []int32 // the anchors that are compared first
	sums       [foundGroups * group]int32
}

const (
	// dotsBlock is the number of bytes that dotProducts multiplies at a time.
	dotsBlock = 64
	// coordinateStep divides the number of coordinates, so that these fill whole tiles on every instruction set.
	coordinateStep = 48
	// spareCoordinates is the number of coordinates for the remainder outside the directions.
	spareCoordinates = 4
	// maxLeadCoordinates is the largest number of coordinates.
	maxLeadCoordinates = 6 * coordinateStep
	// leadShare is the share of the anchors' variance that directions should contain. If they contain less than
	// minLeadShare, they are not used. Searches on E-MNIST with a leadShare of 0.85 to 0.95 differed by less than a tenth
	// in time (144 to 240 coordinates, and 150 to 64 anchors compared in all dimensions).
	leadShare, minLeadShare = 0.92, 0.75
	// rowsBeforeLead is the number of rows after which directions are computed. Computing them takes as long as they save
	// on 20,000 rows.
	rowsBeforeLead = 1 << 14
	// extraFirstAnchors plus the number of nearest anchors is the number of anchors that are compared first. With 2
	// instead of 6 of them, 134 instead of 91 anchors were compared in total for each row of E-MNIST.
	extraFirstAnchors = 6
	// byteComparisonCost is the cost of comparing an anchor in all dimensions, relative to screening it: the bytes
	// compared are not in the level-2 cache, and serve one row only. leadRowCost is the further cost of a row (E-MNIST).
	byteComparisonCost, leadRowCost = 5, 200
)

// leadCost returns the cost of a row if a lead of k coordinates is used, with k = size. A unit is the cost of screening
// one of the m anchors in all d dimensions. tried is the number of anchors compared in all dimensions.
func leadCost(m, d, size int, tried float64) float64 {
	return float64(size)*(1+float64(m)/float64(d)) + byteComparisonCost*tried + leadRowCost
}

// affordableCoordinates returns the number of coordinates for which leadCost with tried = 0 is half the cost of
// screening all anchors without a lead. It returns 0 if there are too few anchors.
func affordableCoordinates(m, d int) int {
	if m <= 2*leadRowCost {
		return 0
	}
	return min((m-2*leadRowCost)*d/(2*(m+d)), maxLeadCoordinates) / coordinateStep * coordinateStep
}

func layOutLead(l *room.Layout, n *Nearest, size int) *leadScreen {
	dims := n.coarse.dims
	stride := panelCount(dims, dotsBlock) * dotsBlock
	return &leadScreen{codedAnchors: newCodedAnchors(l, n.paddedAnchors, size), slack: room.Slice[float32](l, n.paddedAnchors+readBeyond),
		negatedP: newCodedAnchors(l, size, dims), zeros: room.Slice[float32](l, size),
		anchorNumbers: room.Slice[byte](l, n.m*stride), stride: stride}
}

// leadWorkBytes bounds the memory that newLeadScreen needs in addition to the lead of the given size.
func leadWorkBytes(m, dims, size int64) int64 {
	directions := 8 * size * (2*dims + m + size)
	anchors := 8*size*(dims+3*size) + 8*leadBatch*(dims+3*size) + 5*lanes*(dims+size) + 24*m
	return max(directions, anchors) + TeamBytes(int(m), int(dims))
}

// newLeadScreen returns a lead with up to maxCoordinates coordinates. It returns nil if its directions contain less
// than the share minShare of the anchors' variance.
func (n *Nearest) newLeadScreen(maxCoordinates int, minShare float64) *leadScreen {
	c, norms := n.coarse, n.squaredLengths()
	basis := n.leadingDirections(norms, maxCoordinates, minShare)
	if basis.Rows == 0 {
		return nil
	}
	size := panelCount(basis.Rows+spareCoordinates, coordinateStep) * coordinateStep
	f := layOutLead(nil, n, size)
	p := RowMajor(make([]float64, size*c.dims), size, c.dims, c.dims)
	panel, numbers, line := alignedSlice[float32](nil, lanes*c.dims), make([]byte, lanes*c.dims), make([]byte, c.dims)
	var l laneScales
	for first := 0; first < size; first += lanes {
		clear(panel)
		var sq [lanes]float64
		for i := range min(lanes, basis.Rows-first) {
			for k, v := range basis.Data[(first+i)*basis.RowStride:][:n.d] {
				panel[k*lanes+i] = float32(v)
			}
			sq[i] = 1
		}
		c.rotateAndQuantise(panel, &sq, maxAnchorNumber, numbers, &l)
		for i := range lanes {
			f.negatedP.packAnchorFromLane(c.code, first+i, -l.step[i], numbers, i)
			copyLane(line, numbers, i)
			for k, v := range line {
				p.Data[(first+i)*c.dims+k] = float64(l.step[i]) * float64(int8(v))
			}
		}
	}
	square := func() Matrix[float64] { return RowMajor(make([]float64, size*size), size, size, size) }
	gram, power, next := square(), square(), square()
	Gemm(n.team, 1, p, p.Trans(), gram)
	Copy(power, gram)
	for k := range basis.Rows {
		power.Data[k*size+k]--
	}
	// Let E be K − I. ‖E‖⁸ is at most the trace of E⁸, which is the square of Frobenius' norm of E⁴.
	for range 2 {
		clear(next.Data)
		Gemm(n.team, 1, power, power, next)
		power, next = next, power
	}
	epsilon := math.Pow(Dot(power.Data, power.Data), 1./8) * (1 + 0x1p-20)
	if !(epsilon < 0.5) {
		return nil
	}
	f.onePlusEpsilon = 1 + epsilon
	n.encodeLeadAnchors(f, norms, p, gram, math.Sqrt(1-epsilon))
	return f
}

// leadBatch is the number of anchors whose coordinates are computed at a time.
const leadBatch = 64

// encodeLeadAnchors computes the bytes of the anchors for the directions in the rows of p. norms are the anchors'
// squared lengths. gram is p·pᵀ. Its eigenvalues must be at least minSingular², i.e. no singular value of p is below
// minSingular.
func (n *Nearest) encodeLeadAnchors(f *leadScreen, norms []float64, p, gram Matrix[float64], minSingular float64) {
	c, size := n.coarse, f.dims
	losses, lengths := make([]float64, n.m), make([]float64, n.m)
	turned := RowMajor(make([]float64, leadBatch*c.dims), leadBatch, c.dims, c.dims)
	batch := func() Matrix[float64] { return RowMajor(make([]float64, leadBatch*size), leadBatch, size, size) }
	u, v, r := batch(), batch(), batch()
	panel, numbers := alignedSlice[float32](nil, lanes*c.dims), make([]byte, lanes*c.dims)
	codes, code := alignedSlice[float32](nil, lanes*size), make([]byte, lanes*size)
	var l laneScales
	for from := 0; from < n.m; from += leadBatch {
		in := min(leadBatch, n.m-from)
		for first := from; first < from+in; first += lanes {
			n.encodeAnchors(first, norms, panel, numbers, &l)
			for i := range min(lanes, n.m-first) {
				to := f.anchorNumbers[(first+i)*f.stride:][:c.dims]
				copyLane(to, numbers, i)
				at := turned.Data[(first-from+i)*c.dims:][:c.dims]
				for k := range at {
					at[k] = float64(panel[k*lanes+i])
					to[k] += c.code.offset
				}
			}
		}
		// See [leadScreen] for P, η and K. Here u = Pη, v = 2u − Ku, and r = u − Kv.
		clear(u.Data)
		Gemm(n.team, 1, turned, p.Trans(), u)
		for k, w := range u.Data {
			v.Data[k], r.Data[k] = 2*w, w
		}
		Gemm(n.team, -1, u, gram, v)
		Gemm(n.team, -1, v, gram, r)
		for first := from; first < from+in; first += lanes {
			clear(codes)
			var sq, outside [lanes]float64
			for i := range min(lanes, n.m-first) {
				j := first + i
				row := turned.Data[(j-from)*c.dims:][:c.dims]
				at := (j - from) * size
				uj, vj, rj := u.Data[at:][:size], v.Data[at:][:size], r.Data[at:][:size]
				length := math.Sqrt(norms[j]) * n.scale
				own := Dot(row, row)
				left := math.Sqrt(max(0, own-Dot(uj, vj)-Dot(vj, rj))+1e-12*own) + c.rotationError()*length
				outside[i] = (math.Sqrt(Dot(rj, rj)) + 2*c.rotationError()*length) / minSingular
				for k, w := range vj {
					codes[k*lanes+i] = float32(w)
				}
				sq[i] = Dot(vj, vj) + writeSpareCoordinates(codes, size, i, left)
				lengths[j] = max(length, math.Sqrt(sq[i]))
			}
			c.quantisePanel(size, codes, &sq, maxAnchorNumber, code, &l)
			for i := range min(lanes, n.m-first) {
				j := first + i
				f.packAnchorFromLane(c.code, j, l.step[i], code, i)
				if lengths[j] > 0 {
					losses[j] = (l.lost[i] + outside[i]) / lengths[j]
				}
			}
		}
	}
	f.loss = usualLoss(losses)
	for j, length := range lengths {
		f.slack[j] = float32(length * max(1, losses[j]/f.loss) * (1 + 0x1p-20))
	}
	f.medianSlack = float64(medianValue(f.slack[:n.m]))
}

// writeSpareCoordinates writes the length of a point's part outside the directions to the spare coordinates of lane i.
// The scalar product of the spare coordinates of two lanes is at least the product of the lengths. It returns the sum
// of the squares of the spare coordinates.
func writeSpareCoordinates(panel []float32, size, i int, length float64) float64 {
	part := roundUpToFloat32(length / math.Sqrt(spareCoordinates) * (1 + 0x1p-22))
	for k := size - spareCoordinates; k < size; k++ {
		panel[k*lanes+i] = part
	}
	return spareCoordinates * float64(part) * float64(part)
}

func (s *leadScratch) reserveMemory(l *room.Layout, n *Nearest, f *leadScreen) {
	s.reserveRows(l, n.rows, f.dims)
	reserveSlice(l, &s.rowNumbers, n.rows*f.stride)
	reserveSlice(l, &s.loose, n.rows)
	reserveSlice(l, &s.projected, lanes*f.dims)
	reserveSlice(l, &s.first, n.m)
}

// projectPanel computes w, and a row's part of the bounds, for panel p of the rows whose bytes and scales are in s.
func (n *Nearest) projectPanel(s *nearestScratch, p int) {
	c, f, at := n.coarse, n.coarse.lead, p*lanes
	turned, l := &s.lanes, &s.lead.lanes
	for j := 0; j < f.dims; j += c.code.nr {
		s.multiplyPanel(c.code, &f.negatedP, p, j, f.zeros, s.lead.projected[j:], f.dims)
	}
	panel, numbers := s.panels[:lanes*f.dims], s.panelNumbers(p, c.dims)
	var sq, lengths [lanes]float64
	for i := range lanes {
		copyLane(s.lead.rowNumbers[(at+i)*f.stride:][:c.dims], numbers, i)
		var w [4]float64
		row := s.lead.projected[i*f.dims:][:f.dims]
		for k := 0; k+4 <= len(row); k += 4 {
			four, to := row[k:k+4], panel[k*lanes+i:][:3*lanes+1]
			a, b, c, d := four[0], four[1], four[2], four[3]
			to[0], to[lanes], to[2*lanes], to[3*lanes] = a, b, c, d
			w[0] += float64(a) * float64(a)
			w[1] += float64(b) * float64(b)
			w[2] += float64(c) * float64(c)
			w[3] += float64(d) * float64(d)
		}
		length, along := c.squaredLengthBound(turned.step[i], turned.squares[i]), w[0]+w[1]+w[2]+w[3]
		lengths[i] = math.Sqrt(length)
		sq[i] = along + writeSpareCoordinates(panel, f.dims, i, math.Sqrt(max(0, length-along*(1-0x1p-20)/f.onePlusEpsilon)))
	}
	c.quantisePanel(f.dims, panel, &sq, c.code.maxNumber, s.lead.panelNumbers(p, f.dims), l)
	s.lead.storeScales(c.code, p, l)
	for i := range lanes {
		lost := turned.lost[i] + l.lost[i]
		longest := max(math.Sqrt(sq[i]), lengths[i]) + lost
		s.lead.loose[at+i] = float32((lost + longest*(f.loss+20*0x1p-24)) * (1 + 0x1p-20))
	}
}

func (c *coarseScreen) squaredLengthBound(step, squares float32) float64 {
	return float64(step) * float64(step) * float64(squares) * (1 + float64(c.dims+8)*0x1p-24)
}

func (n *Nearest) excludeAnchorsWithLead(s *nearestScratch, row int) {
	f, loose := n.coarse.lead, s.lead.loose[row]
	margin, limit := n.settlingMargin(s.norms[row]), math.MaxFloat64
	s.candidates, s.uppers, s.lead.first = s.candidates[:0], s.uppers[:0], s.lead.first[:0]
	start := nthLowest(&s.lowestUppers[row], min(n.count+extraFirstAnchors, upperSets)) - float32(2*f.medianSlack)*loose
	for g := 0; g < n.groups; g += foundGroups {
		found := n.anchorsBelowLimit(s, row, g, f.slack, loose, start)
		s.lead.first = append(s.lead.first, found...)
		limit = n.compareBytes(s, row, found, limit, margin)
	}
	first := s.lead.first
	for g := 0; g < n.groups; g += foundGroups {
		found := n.anchorsBelowLimit(s, row, g, f.slack, loose, roundUpToFloat32(limit))
		others := found[:0]
		for _, j := range found {
			for len(first) > 0 && first[0] < j {
				first = first[1:]
			}
			if len(first) == 0 || first[0] != j {
				others = append(others, j)
			}
		}
		limit = n.compareBytes(s, row, others, limit, margin)
	}
	s.sortCandidates(limit)
}

// compareBytes compares row i with the listed anchors by their bytes in all dimensions. Anchors that are not excluded
// become candidates. It returns the new limit for lower bounds.
func (n *Nearest) compareBytes(s *nearestScratch, i int, which []int32, limit, margin float64) float64 {
	if len(which) == 0 {
		return limit
	}
	c, f, loose := n.coarse, n.coarse.lead, float64(s.loose[i])
	s.tried += len(which)
	c.code.dotProducts(f.stride/dotsBlock, &s.lead.rowNumbers[i*f.stride], &f.anchorNumbers[0], f.stride, &which[0], len(which), &s.lead.sums[0])
	step, shift := s.steps[i/lanes][i%lanes], s.shifts[i/lanes][i%lanes]
	for k, j := range which {
		half := n.halfLengths[j] - float32(c.factor[j]*float32(step*float32(s.lead.sums[k]-shift)))
		limit = n.considerAnchor(s, j, half, loose, limit, margin)
	}
	return limit
}

// leadingDirections returns at most maxCount − spareCoordinates orthonormal directions that contain leadShare of the
// anchors' variance. Each contains about the same part of it. If they contain less than the share minShare of the
// variance, the result is an empty matrix. Block power iteration is exact enough, because the bounds hold for any
// directions. norms are the anchors' squared lengths.
func (n *Nearest) leadingDirections(norms []float64, maxCount int, minShare float64) Matrix[float64] {
	none := Matrix[float64]{}
	if maxCount -= spareCoordinates; maxCount <= 0 {
		return none
	}
	m, d := n.m, n.d
	points := RowMajor(n.points, m, d, n.padded)
	z := RowMajor(make([]float64, maxCount*d), maxCount, d, d)
	y := RowMajor(make([]float64, m*maxCount), m, maxCount, maxCount)
	random := bitSource(1)
	signs := func(to []float64) {
		for i := range to {
			to[i] = 2*float64(random.nextBit()) - 1
		}
	}
	off := make([]float64, maxCount)
	var count int
	along := func() { // Y = (points − center)·Zᵀ
		clear(y.Data)
		Gemm(n.team, 1, points, z.Trans(), y)
		for k := range off {
			off[k] = Dot(n.center, z.Data[k*d:][:d])
		}
		for i := range m {
			Axpy(-1, off, y.Data[i*maxCount:][:maxCount])
		}
	}
	signs(z.Data)
	for range 2 {
		along()
		clear(off)
		for i := range m {
			Axpy(1, y.Data[i*maxCount:][:maxCount], off)
		}
		clear(z.Data)
		Gemm(n.team, 1, y.Trans(), points, z)
		for k, sum := range off {
			Axpy(-sum, n.center, z.Data[k*d:][:d])
		}
		count = n.orthonormalizeRows(z)
		clear(z.Data[count*d:])
	}
	along()
	total, captured := 0.0, 0.0
	for _, sq := range norms {
		total += sq
	}
	for k := range count {
		for i := range m {
			captured += y.Data[i*maxCount+k] * y.Data[i*maxCount+k]
		}
		if captured >= leadShare*total && (k+1+spareCoordinates)%coordinateStep == 0 {
			count = k + 1
			break
		}
	}
	if !(captured >= minShare*total) { // also if it is NaN
		return none
	}
	// The first directions contain most of the variance. Mixing them makes coordinates similar in size, as bytes need.
	mixed := RowMajor(make([]float64, count*d), count, d, d)
	rotation := RowMajor(make([]float64, count*count), count, count, count)
	signs(rotation.Data)
	Gemm(n.team, 1, rotation, z.Sub(0, 0, count, d), mixed)
	return mixed.Sub(0, 0, n.orthonormalizeRows(mixed), d)
}

// orthonormalizeRows makes the rows of z orthonormal by the Gram-Schmidt process, one block of rows at a time. It drops
// rows that depend linearly on others, and returns the number of rows left.
func (n *Nearest) orthonormalizeRows(z Matrix[float64]) int {
	const block = 32
	// dependent is the share of a row's length below which its remainder after projection counts as rounding.
	const dependent = 1e-8
	row := func(k int) []float64 { return z.Data[k*z.RowStride:][:z.Cols] }
	lengths := make([]float64, z.Rows)
	for k := range lengths {
		lengths[k] = math.Sqrt(Dot(row(k), row(k)))
	}
	count := 0
	for from := 0; from < z.Rows; from += block {
		rows, before := min(block, z.Rows-from), count
		if count > 0 {
			part, others := z.Sub(from, 0, rows, z.Cols), z.Sub(0, 0, count, z.Cols)
			on := RowMajor(make([]float64, rows*count), rows, count, count)
			Gemm(n.team, 1, part, others.Trans(), on)
			Gemm(n.team, -1, on, others, part)
		}
		for k := from; k < from+rows; k++ {
			for j := before; j < count; j++ {
				Axpy(-Dot(row(j), row(k)), row(j), row(k))
			}
			if length := math.Sqrt(Dot(row(k), row(k))); length > dependent*lengths[k] {
				for l, v := range row(k) {
					row(count)[l] = v / length
				}
				count++
			}
		}
	}
	return count
}
