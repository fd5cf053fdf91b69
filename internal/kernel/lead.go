package kernel

import "math"

// lead screens anchors by their products along few directions before those in all dimensions.
//
// The rows of P are about orthonormal and span the anchors' leading directions: what they leave is small for most
// anchors y, and for most rows x. Here ξ̄ = s·q are the bytes of a turned row (see coarse), ξ̄ + δ the row itself,
// and η an anchor. P too is in bytes, so that w = Pξ̄ is exact, and K = PPᵀ differs from 1 by at most ε < ½. With
// v = (2 − K)Pη, which is near K⁻¹Pη, and ζ = η − Pᵀv,
//
//	ξᵀη = wᵀv + ξ̄ᵀζ + δᵀη,   ξ̄ᵀζ ≤ β·γ + ‖ξ̄‖·‖Pη − Kv‖/√(1 − ε),
//
// where γ = ‖ζ‖, and β² = ‖ξ̄‖² − ‖w‖²/(1 + ε) is at least what ξ̄ has beside the rows of P. w has four more
// coordinates β/2, and v four more γ/2, so that their product is an upper bound of ξ̄ᵀη but for the small last term:
// the anchors' distances have lower bounds for a product of so few coordinates. It is made in bytes as well,
// and what is lost by that is known, as in coarse. Anchors that have a low bound are then compared in
// all dimensions by dots; the first few of them give the limit for all.
//
// On standardized E-MNIST 188 of 900 directions hold 93 % of the variance of 2,000 anchors, of which 91 are compared
// in all dimensions for 6 nearest. Search takes a fifth less time with VNNI, a third without.
type lead struct {
	codedAnchors           // the anchors' v, of directions and spare dimensions
	slack        []float32 // wide, as Nearest.slack
	loss         float64   // as coarse.loss
	usual        float64   // the median of slack
	most         float64   // 1 + ε

	along codedAnchors // −P, a row of it in place of an anchor
	zeros []float32    // dims

	whole  []byte // m×stride: the anchors' numbers in all dimensions, with code.offset
	stride int    // coarse.dims rounded up to whole blocks of dots
}

// leadScratch is a worker's.
type leadScratch struct {
	codedRows           // w
	whole     []byte    // rows×stride: the rows' numbers in all dimensions
	loose     []float32 // rows: as nearestScratch.loose
	along     []float32 // lanes×dims: w of a panel
	lanes     laneScales
	first     []int32 // the anchors that are compared first
	sums      [foundGroups * group]int32
}

const (
	// dotsBlock is the number of bytes that dots multiplies at a time.
	dotsBlock = 64
	// leadStep divides the number of coordinates: whole tiles on every path.
	leadStep = 48
	// leadSpare coordinates hold what is beside the directions.
	leadSpare = 4
	// leadMost bounds the coordinates.
	leadMost = 6 * leadStep
	// leadShare is the share of the anchors' variance that directions are to hold; below leadLeast no lead is taken. From
	// 0.85 to 0.95 searching E-MNIST takes as long within a tenth: 144 to 240 coordinates, and 150 to 64 anchors compared.
	leadShare, leadLeast = 0.92, 0.75
	// leadAfter is the number of rows after which a lead is sought: finding directions costs as much as it spares on
	// 20,000 rows.
	leadAfter = 1 << 14
	// leadFirst anchors more than are sought are compared first. With 2, 134 instead of 91 are compared in all.
	leadFirst = 6
	// leadDot is what comparing an anchor by dots costs, in screened ones: its bytes come from beyond the
	// level-2 cache, and serve one row. leadRow is what a row costs beside, on E-MNIST.
	leadDot, leadRow = 5, 200
)

// leadCost is what a row costs with a lead, in anchors screened in all dimensions, where so many are compared by dots.
func leadCost(m, d, size int, tried float64) float64 {
	return float64(size)*(1+float64(m)/float64(d)) + leadDot*tried + leadRow
}

// mostLead is the number of coordinates for which that is half of screening all without a lead, before any is
// compared; 0 where there are too few.
func mostLead(m, d int) int {
	if m <= 2*leadRow {
		return 0
	}
	return min((m-2*leadRow)*d/(2*(m+d)), leadMost) / leadStep * leadStep
}

// leadBytes is what a lead holds while it is made, or later, and the scratch of so many workers with so many rows each,
// with what the team holds for products.
func leadBytes(workers, m, d, rows int) int64 {
	size := int64(mostLead(m, d))
	if size == 0 {
		return 0
	}
	wide, dims, stride := int64(m+leadStep), int64(d+4), int64(d+4+dotsBlock)
	held := int64(m)*stride + (size+12)*wide + size*(dims+8)
	directions := 8 * size * (2*dims + int64(m) + size)
	anchors := 8*size*(dims+3*size) + 8*leadBatch*(dims+3*size) + 5*lanes*(dims+size) + 24*wide
	worker := (stride+size+4)*int64(rows) + 8*int64(rows) + 4*lanes*size + 4*(int64(m)+foundGroups*group)
	return held + max(directions, anchors) + int64(workers)*worker + TeamBytes(m, d)
}

// takeLead seeks directions for up to so many coordinates. Nil means that they hold less than that share of the variance.
func (n *Nearest) takeLead(most int, least float64) *lead {
	c, norms := n.coarse, n.lengths()
	basis := n.directions(norms, most, least)
	if basis.Rows == 0 {
		return nil
	}
	size := panels(basis.Rows+leadSpare, leadStep) * leadStep
	f := &lead{codedAnchors: newCodedAnchors(n.wide, size), along: newCodedAnchors(size, c.dims), zeros: make([]float32, size),
		stride: panels(c.dims, dotsBlock) * dotsBlock}
	p := RowMajor(make([]float64, size*c.dims), size, c.dims, c.dims)
	panel, numbers, line := aligned[float32](lanes*c.dims), make([]byte, lanes*c.dims), make([]byte, c.dims)
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
		c.quantise(panel, &sq, anchorMost, numbers, &l)
		for i := range lanes {
			f.along.pack(c.code, first+i, -l.step[i], numbers, i)
			takeLane(line, numbers, i)
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
	// ‖E‖⁸ is at most the trace of E⁸, ‖E⁴‖² by Frobenius.
	for range 2 {
		clear(next.Data)
		Gemm(n.team, 1, power, power, next)
		power, next = next, power
	}
	epsilon := math.Pow(Dot(power.Data, power.Data), 1./8) * (1 + 0x1p-20)
	if !(epsilon < 0.5) {
		return nil
	}
	f.most = 1 + epsilon
	n.follow(f, norms, p, gram, math.Sqrt(1-epsilon))
	return f
}

// leadBatch is the number of anchors whose coordinates are taken at a time.
const leadBatch = 64

// follow prepares the anchors, of squared lengths norms, for directions p, in rows, whose products with each other are
// gram, of eigenvalues not below the square of least.
func (n *Nearest) follow(f *lead, norms []float64, p, gram Matrix[float64], least float64) {
	c, size := n.coarse, f.dims
	f.slack, f.whole = make([]float32, n.wide+readBeyond), make([]byte, n.m*f.stride)
	losses, lengths := make([]float64, n.m), make([]float64, n.m)
	turned := RowMajor(make([]float64, leadBatch*c.dims), leadBatch, c.dims, c.dims)
	batch := func() Matrix[float64] { return RowMajor(make([]float64, leadBatch*size), leadBatch, size, size) }
	u, v, r := batch(), batch(), batch()
	panel, numbers := aligned[float32](lanes*c.dims), make([]byte, lanes*c.dims)
	codes, code := aligned[float32](lanes*size), make([]byte, lanes*size)
	var l laneScales
	for from := 0; from < n.m; from += leadBatch {
		in := min(leadBatch, n.m-from)
		for first := from; first < from+in; first += lanes {
			n.turnAnchors(first, norms, panel, numbers, &l)
			for i := range min(lanes, n.m-first) {
				to := f.whole[(first+i)*f.stride:][:c.dims]
				takeLane(to, numbers, i)
				at := turned.Data[(first-from+i)*c.dims:][:c.dims]
				for k := range at {
					at[k] = float64(panel[k*lanes+i])
					to[k] += c.code.offset
				}
			}
		}
		// v = 2u − Ku, and r = u − Kv.
		clear(u.Data)
		Gemm(n.team, 1, turned, p.Trans(), u)
		for k, w := range u.Data {
			v.Data[k], r.Data[k] = 2*w, w
		}
		Gemm(n.team, -1, u, gram, v)
		Gemm(n.team, -1, v, gram, r)
		for first := from; first < from+in; first += lanes {
			clear(codes)
			var sq, beside [lanes]float64
			for i := range min(lanes, n.m-first) {
				j := first + i
				row := turned.Data[(j-from)*c.dims:][:c.dims]
				at := (j - from) * size
				uj, vj, rj := u.Data[at:][:size], v.Data[at:][:size], r.Data[at:][:size]
				length := math.Sqrt(norms[j]) * n.scale
				own := Dot(row, row)
				left := math.Sqrt(max(0, own-Dot(uj, vj)-Dot(vj, rj))+1e-12*own) + c.turning()*length
				beside[i] = (math.Sqrt(Dot(rj, rj)) + 2*c.turning()*length) / least
				for k, w := range vj {
					codes[k*lanes+i] = float32(w)
				}
				sq[i] = Dot(vj, vj) + spare(codes, size, i, left)
				lengths[j] = max(length, math.Sqrt(sq[i]))
			}
			c.number(size, codes, &sq, anchorMost, code, &l)
			for i := range min(lanes, n.m-first) {
				j := first + i
				f.pack(c.code, j, l.step[i], code, i)
				if lengths[j] > 0 {
					losses[j] = (l.lost[i] + beside[i]) / lengths[j]
				}
			}
		}
	}
	f.loss = usualLoss(losses)
	for j, length := range lengths {
		f.slack[j] = float32(length * max(1, losses[j]/f.loss) * (1 + 0x1p-20))
	}
	f.usual = float64(median(f.slack[:n.m]))
}

// spare writes left to the spare coordinates of lane i, such that the product of two such is that of what is left; it returns
// their squares.
func spare(panel []float32, size, i int, left float64) float64 {
	part := above(left / math.Sqrt(leadSpare) * (1 + 0x1p-22))
	for k := size - leadSpare; k < size; k++ {
		panel[k*lanes+i] = part
	}
	return leadSpare * float64(part) * float64(part)
}

func (s *leadScratch) reserve(n *Nearest, f *lead) {
	if len(s.whole) >= n.rows*f.stride {
		return
	}
	*s = leadScratch{codedRows: newCodedRows(n.rows, f.dims), whole: make([]byte, n.rows*f.stride), loose: make([]float32, n.rows),
		along: aligned[float32](lanes * f.dims), first: make([]int32, 0, n.m)}
}

// project makes w of panel p, whose numbers and scales s has, and the bounds of its rows.
func (n *Nearest) project(s *nearestScratch, p int) {
	c, f, at := n.coarse, n.coarse.lead, p*lanes
	turned, l := &s.lanes, &s.lead.lanes
	for j := 0; j < f.dims; j += c.code.nr {
		s.mul(c.code, &f.along, p, j, f.zeros, s.lead.along[j:], f.dims)
	}
	panel, numbers := s.panels[:lanes*f.dims], s.panel(p, c.dims)
	var sq, lengths [lanes]float64
	for i := range lanes {
		takeLane(s.lead.whole[(at+i)*f.stride:][:c.dims], numbers, i)
		var w [4]float64
		row := s.lead.along[i*f.dims:][:f.dims]
		for k := 0; k+4 <= len(row); k += 4 {
			four, to := row[k:k+4], panel[k*lanes+i:][:3*lanes+1]
			a, b, c, d := four[0], four[1], four[2], four[3]
			to[0], to[lanes], to[2*lanes], to[3*lanes] = a, b, c, d
			w[0] += float64(a) * float64(a)
			w[1] += float64(b) * float64(b)
			w[2] += float64(c) * float64(c)
			w[3] += float64(d) * float64(d)
		}
		length, along := c.length(turned.step[i], turned.squares[i]), w[0]+w[1]+w[2]+w[3]
		lengths[i] = math.Sqrt(length)
		sq[i] = along + spare(panel, f.dims, i, math.Sqrt(max(0, length-along*(1-0x1p-20)/f.most)))
	}
	c.number(f.dims, panel, &sq, c.code.most, s.lead.panel(p, f.dims), l)
	s.lead.scale(c.code, p, l)
	for i := range lanes {
		lost := turned.lost[i] + l.lost[i]
		longest := max(math.Sqrt(sq[i]), lengths[i]) + lost
		s.lead.loose[at+i] = float32((lost + longest*(f.loss+20*0x1p-24)) * (1 + 0x1p-20))
	}
}

// length bounds the square of a row's length by the sum of the squares of its numbers.
func (c *coarse) length(step, squares float32) float64 {
	return float64(step) * float64(step) * float64(squares) * (1 + float64(c.dims+8)*0x1p-24)
}

// excludeLed is exclude where there is a lead.
func (n *Nearest) excludeLed(s *nearestScratch, i int) {
	f, loose := n.coarse.lead, s.lead.loose[i]
	margin, limit := n.margin(s.norms[i]), math.MaxFloat64
	s.candidates, s.uppers, s.lead.first = s.candidates[:0], s.uppers[:0], s.lead.first[:0]
	start := lowestOf(&s.least[i], min(n.count+leadFirst, upperSets)) - float32(2*f.usual)*loose
	for g := 0; g < n.groups; g += foundGroups {
		found := n.lowBounds(s, i, g, f.slack, loose, start)
		s.lead.first = append(s.lead.first, found...)
		limit = n.compareBytes(s, i, found, limit, margin)
	}
	first := s.lead.first
	for g := 0; g < n.groups; g += foundGroups {
		found := n.lowBounds(s, i, g, f.slack, loose, above(limit))
		others := found[:0]
		for _, j := range found {
			for len(first) > 0 && first[0] < j {
				first = first[1:]
			}
			if len(first) == 0 || first[0] != j {
				others = append(others, j)
			}
		}
		limit = n.compareBytes(s, i, others, limit, margin)
	}
	s.sort(limit)
}

// compareBytes makes candidates of the anchors which that may be among the nearest of row i, by their numbers in all
// dimensions, and returns the limit of their bounds.
func (n *Nearest) compareBytes(s *nearestScratch, i int, which []int32, limit, margin float64) float64 {
	if len(which) == 0 {
		return limit
	}
	c, f, loose := n.coarse, n.coarse.lead, float64(s.loose[i])
	s.tried += len(which)
	c.code.dots(f.stride/dotsBlock, &s.lead.whole[i*f.stride], &f.whole[0], f.stride, &which[0], len(which), &s.lead.sums[0])
	step, shift := s.steps[i/lanes][i%lanes], s.shifts[i/lanes][i%lanes]
	for k, j := range which {
		half := n.half[j] - float32(c.factor[j]*float32(step*float32(s.lead.sums[k]-shift)))
		limit = n.consider(s, j, half, loose, limit, margin)
	}
	return limit
}
