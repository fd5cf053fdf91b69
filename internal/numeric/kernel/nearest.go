package kernel

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// Nearest finds a given number of anchors, those nearest to each row. The anchors are m points in d dimensions,
// prepared for any number of searches. Distances are squared Euclidean distances
//
//	‖x − y‖² = Σ_i (x_i − y_i)².
//
// Anchors are first screened in float32: the micro-kernel of [Gemm] computes ‖y‖²/2 − xᵀy about the anchors' mean, for
// a few rows x and all anchors y at a time, so that these values stay in cache. Every value has a bound on its error.
// Anchors that the bounds do not exclude are compared in float64. The result is therefore equal to that of a search by
// float64 distances, to the last bit and on every instruction set. If distances are equal, the lower index comes first.
// NaN counts as +Inf.
//
// If there are many anchors and dimensions, screening uses bytes instead (coarse.go), unless bytes exclude too few
// anchors. After many rows, a screening along few directions may be added before that (lead.go). The result has the
// same bits in all cases.
//
// A Nearest uses its team's workers. Only one goroutine may call it at a time.
type Nearest struct {
	team        *Team
	m, d, count int

	points        []float64     // m×padded: the d coordinates of each anchor, and zeros
	padded        int           // d rounded up to whole blocks of squaredDistances
	center        []float64     // d: the anchors' mean
	scale         float64       // power of 2 that makes the longest centred anchor about 1 long
	isUnscreened  bool          // all anchors are compared in float64: the longest one is too long, too short or NaN
	packed        []float32     // centred and scaled anchors in panels of nr, one dimension after the other; nil with coarse
	productError  float64       // bound on the error of a float32 product xᵀy, divided by ‖x‖‖y‖
	coarse        *coarseScreen // nil if float32 is faster
	panelRows     int           // number of rows of a panel
	paddedAnchors int           // m rounded up to whole panels of anchors
	groups        int           // number of groups of anchors, see group
	halfLengths   []float32     // paddedAnchors: ‖y‖²/2 minus its possible error; +Inf from m on
	slack         []float32     // paddedAnchors: about ‖y‖; a lower bound is half − xᵀy − loose·slack
	boundGap      []float64     // for each of m anchors: upper bound − lower bound − 2·loose·slack
	widestGap     float64       // the largest boundGap

	rows    int // number of rows that a worker processes at a time
	scratch []nearestScratch
	body    func(worker int)

	// These fields belong to the current search.
	x        Matrix[float64]
	index    []int32
	distance []float64
}

// nearestScratch is the scratch memory of one worker.
type nearestScratch struct {
	panels       []float32 // rows in float32 panels, one dimension after the other; with coarse one panel of coarseScreen.dims
	norms        []float64 // rows: ‖x‖² of the rows in panels, later ‖x‖
	loose        []float32 // for each row, the factor of slack in the error bound
	half         []float32 // rows×paddedAnchors: ‖y‖²/2 − xᵀy
	lowestUppers [][upperSets]float32
	lowestLowers []float32 // rows×groups, lowest lower bound in each group, see isa.lowestBounds
	raw          []float64 // rows×padded: unchanged rows, and zeros
	codedRows              // bytes of the rows in all dimensions
	lanes        laneScales
	lead         leadScratch
	found        foundAnchors

	left, tried, seen int // counts of this worker, see coarse

	candidates []candidate
	uppers     []float64   // the lowest upper bounds so far, at most count
	nearest    []neighbour // the nearest anchors so far, at most count
}

// candidate is an anchor that screening has not excluded.
type candidate struct {
	index int32
	lower float64 // lower bound on ‖y‖²/2 − xᵀy
}

type neighbour struct {
	distance float64
	index    int32
}

func (a neighbour) isNearer(b neighbour) bool {
	return a.distance < b.distance || a.distance == b.distance && a.index < b.index
}

const (
	// nearestBytes bounds the float32 values that a worker keeps at a time, so that they fit into a level-2 cache. With
	// 0.5, 1 and 2 MiB, searches among 2,048 anchors of 896 dimensions reached 126, 137 and 141 GFLOP/s: with more memory,
	// more rows share one reading of the anchors.
	nearestBytes = 2 << 20
	// squaresBlock is the number of terms that squaredDistances sums at a time.
	squaresBlock = 8
)

// NewNearest prepares an m×d matrix of points, in any layout, for searches of the `count` points nearest to each row, 0
// < count ≤ m. It costs O(m·d) operations, and needs the memory given by [NearestBytes].
func NewNearest(t *Team, points Matrix[float64], count int) *Nearest {
	m, d := points.Rows, points.Cols
	if points.checkBounds("points"); count < 1 || count > m {
		panic(fmt.Sprintf("kernel: %d nearest of %d points", count, m))
	}
	n := layOutNearest(nil, m, d, count)
	n.team, n.body = t, n.searchRowRanges
	Copy(RowMajor(n.points, m, d, n.padded), points)
	for i := range m {
		Axpy(1/float64(m), n.points[i*n.padded:][:d], n.center)
	}
	norms := n.squaredLengths()
	if t.isa.coarse.mul != nil && !n.isUnscreened && m >= minCoarseAnchors && d >= minCoarseDims && d <= maxCoarseDims && count <= m/8 {
		n.prepareCoarse(norms)
	} else {
		n.prepareScreen(norms)
	}
	return n
}

func layOutNearest(l *room.Layout, m, d, count int) *Nearest {
	padded := panelCount(d, squaresBlock) * squaresBlock
	return &Nearest{m: m, d: d, count: count, padded: padded, points: room.Slice[float64](l, m*padded), center: room.Slice[float64](l, d)}
}

// Rebuild prepares points like NewNearest, but reuses the scratch memory of n, which must not be used afterwards.
// Without it, searches with many dimensions and few points allocated 17 MB each, which was freed too late.
func (n *Nearest) Rebuild(points Matrix[float64], count int) *Nearest {
	team, d, scratch := n.team, n.d, n.scratch
	if n.coarse != nil {
		scratch = nil // the scratch is too small, or has another shape
	}
	*n = Nearest{} // free the old points before new ones are allocated
	next := NewNearest(team, points, count)
	if next.coarse == nil && next.d == d {
		next.scratch = scratch
	}
	return next
}

// NearestBytes bounds the memory of a Nearest of m points in d dimensions, with scratch for the given workers, on any
// instruction set, for searches of at most 256 points. Screening in float32, or in bytes with a lead, needs the most.
func NearestBytes(workers, m, d int) int64 {
	const widest, highest, mostCount = 48, 8, 256 // anchors and rows of a panel, and points sought
	return room.Measure(func(l *room.Layout) {
		n := layOutNearest(l, m, d, min(m, mostCount))
		n.paddedAnchors = m + widest
		n.rows = min(max(min(nearestBytes/4/n.paddedAnchors, maxTaskRows(d)), highest), maxNearestRows) + highest
		n.resetBounds(l)
		l.Add(8 * int64(m)) // squared lengths
		room.Slice[nearestScratch](l, workers)
		l.Phase(func() {
			alignedSlice[float32](l, n.paddedAnchors*d)
			reserveScratch(l, n, workers)
		})
		if size := affordableCoordinates(m, d); size > 0 {
			n.coarse = layOutCoarse(l, n)
			n.coarse.lead = layOutLead(l, n, size)
			reserveScratch(l, n, workers)
			l.Add(leadWorkBytes(int64(m), int64(n.coarse.dims), int64(size)))
		}
	})
}

const (
	// maxNearestRows bounds the number of rows that a worker processes at a time if there are few anchors.
	maxNearestRows = 256
	// unpackedBytes bounds the memory for the rows that a worker processes at a time if there are many dimensions. A
	// worker stores each row twice, unchanged and packed.
	unpackedBytes = 32 << 20
)

func maxTaskRows(d int) int { return unpackedBytes / 13 / max(d, 1) }

// SearchTo writes the indices of the anchors nearest to each row of x, nearest first, to index, and their squared
// distances to distance. Both are rows×count, with the count given to [NewNearest]. x is rows×d; column-major is
// fastest. SearchTo costs 2·rows·d·m operations on bytes or float32. It also computes the float64 distances of anchors
// that screening does not exclude.
func (n *Nearest) SearchTo(index []int32, distance []float64, x Matrix[float64]) {
	x.checkBounds("x")
	if x.Cols != n.d || len(index) < x.Rows*n.count || len(distance) < x.Rows*n.count {
		panic(fmt.Sprintf("kernel: nearest of %d×%d rows to %d×%d points", x.Rows, x.Cols, n.m, n.d))
	}
	if x.Rows == 0 {
		return
	}
	n.x, n.index, n.distance = x, index, distance
	workers, bytes := min(n.team.workers, x.Rows), nearestBytes
	if n.coarse != nil {
		bytes = coarseBytes
	}
	share := panelCount(panelCount(x.Rows, workers), n.panelRows) * n.panelRows
	n.rows = min(max(min(bytes/4/n.paddedAnchors, maxTaskRows(n.d))/n.panelRows*n.panelRows, n.panelRows), maxNearestRows, share)
	reserveScratch(nil, n, workers)
	n.team.runTogether(workers, n.body)
	if n.coarse != nil {
		n.judgeScreening()
	}
	n.x, n.index, n.distance = Matrix[float64]{}, nil, nil
}

func reserveScratch(l *room.Layout, n *Nearest, workers int) {
	for len(n.scratch) < workers {
		n.scratch = append(n.scratch, nearestScratch{})
	}
	for w := range workers {
		n.scratch[w].reserveMemory(l, n)
	}
}

func (s *nearestScratch) reserveMemory(l *room.Layout, n *Nearest) {
	if c := n.coarse; c == nil {
		reserveSlice(l, &s.panels, n.rows*n.d)
	} else {
		reserveSlice(l, &s.panels, lanes*c.dims)
		s.reserveRows(l, n.rows, c.dims)
		if c.lead != nil {
			s.lead.reserveMemory(l, n, c.lead)
		}
	}
	reserveSlice(l, &s.half, n.rows*n.paddedAnchors+readBeyond)
	reserveSlice(l, &s.lowestLowers, n.rows*n.groups)
	reserveSlice(l, &s.lowestUppers, n.rows)
	reserveSlice(l, &s.norms, n.rows)
	reserveSlice(l, &s.loose, n.rows)
	reserveSlice(l, &s.raw, n.rows*n.padded)
	reserveSlice(l, &s.candidates, n.m)
	reserveSlice(l, &s.uppers, n.count)
	reserveSlice(l, &s.nearest, n.count+1)
}

func (n *Nearest) searchRowRanges(worker int) {
	s, steps, tasks := &n.scratch[worker], n.team.joinSteps(), panelCount(n.x.Rows, n.rows)
	for task, ok := steps.nextTask(tasks); ok; task, ok = steps.nextTask(tasks) {
		from := task * n.rows
		rows := min(n.rows, n.x.Rows-from)
		x := n.x.Sub(from, 0, rows, n.d)
		for i := range s.lowestUppers {
			s.lowestUppers[i] = noUppers
		}
		if n.coarse != nil {
			n.screenRowsInBytes(s, x)
		} else {
			n.screenRowsInFloat32(s, x)
		}
		for i := range rows {
			n.findNearest(s, i, s.raw[i*n.padded:][:n.padded])
			for k, b := range s.nearest {
				n.index[(from+i)*n.count+k], n.distance[(from+i)*n.count+k] = b.index, b.distance
			}
		}
	}
}

func (n *Nearest) findNearest(s *nearestScratch, row int, x []float64) {
	s.nearest = s.nearest[:0]
	// Above this norm float32 may overflow. For such a row, and for NaN, no anchor is excluded.
	const longest = 0x1p60
	if norm := s.norms[row]; n.isUnscreened || !(norm < longest) {
		s.candidates = s.candidates[:0]
		for j := range n.m {
			s.candidates = append(s.candidates, candidate{int32(j), math.Inf(-1)})
		}
	} else {
		if n.coarse != nil && n.coarse.lead != nil {
			n.excludeAnchorsWithLead(s, row)
		} else {
			n.excludeAnchors(s, row)
		}
		s.left, s.seen = s.left+len(s.candidates), s.seen+1
	}
	limit, last := math.Inf(1), len(s.candidates)-1
	for k := 0; k <= last && !(s.candidates[k].lower > limit); k += 2 {
		n.compareTwoCandidates(s, x, k, min(k+1, last), min(k+2, last), min(k+3, last))
		if len(s.nearest) == n.count {
			limit = n.candidateLimit(s, s.norms[row])
		}
	}
}

// compareTwoCandidates inserts candidates i and j by their distances, and prefetches candidates nextI and nextJ.
func (n *Nearest) compareTwoCandidates(s *nearestScratch, x []float64, i, j, nextI, nextJ int) {
	c := s.candidates
	a, b := c[i].index, c[j].index
	da, db := n.team.isa.squaredDistances(n.padded/squaresBlock, x, n.paddedPoint(a), n.paddedPoint(b), n.paddedPoint(c[nextI].index), n.paddedPoint(c[nextJ].index))
	s.insertNeighbour(da, a, n.count)
	if j != i {
		s.insertNeighbour(db, b, n.count)
	}
}

// candidateLimit returns a limit for lower bounds. An anchor with a lower bound above the limit is farther away than
// the last of the nearest so far. It allows for the rounding of distances (see settlingMargin) and of the row's length.
func (n *Nearest) candidateLimit(s *nearestScratch, norm float64) float64 {
	epsilon := (float64(n.padded/squaresBlock)+8)*0x1p-53 + float64(n.d+8)*0x1p-52
	return (s.nearest[n.count-1].distance*n.scale*n.scale-norm*norm)/2 + 2*epsilon*(norm*norm+1)
}

func (n *Nearest) paddedPoint(i int32) []float64 { return n.points[int(i)*n.padded:][:n.padded] }

// insertNeighbour inserts an anchor into the ordered list of the `count` nearest anchors. Equal distances are ordered
// by index.
func (s *nearestScratch) insertNeighbour(distance float64, index int32, count int) {
	if math.IsNaN(distance) {
		distance = math.Inf(1)
	}
	b := neighbour{distance, index}
	at := len(s.nearest)
	for at > 0 && b.isNearer(s.nearest[at-1]) {
		at--
	}
	if at == count {
		return
	}
	s.nearest = append(s.nearest, neighbour{})
	copy(s.nearest[at+1:], s.nearest[at:])
	s.nearest[at] = b
	s.nearest = s.nearest[:min(len(s.nearest), count)]
}
