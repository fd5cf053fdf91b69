package kernel

import (
	"fmt"
	"math"
)

// Nearest finds the anchors nearest to rows: m points in d dimensions, prepared for
// any number of searches for the count nearest by squared Euclidean distance
//
//	‖x − y‖² = Σ_i (x_i − y_i)².
//
// Distances are screened in float32, as ‖y‖²/2 − xᵀy about the anchors' mean by the micro-kernel of [Gemm], for a few
// rows against all anchors at a time, so that the n×m distances stay in cache and are never stored. Every screened
// value has a bound on its error; anchors that the bounds do not exclude are compared in float64. The result thus
// equals a search by float64 distances, to the last bit and on every instruction set: ties go to the lower index, and
// NaN counts as +Inf.
//
// Many anchors in many dimensions are first screened in bytes (coarse.go), until rows show that this excludes too
// few; after many rows an even earlier screening along the anchors' leading directions may be added (lead.go). No bit
// of the result shows which.
//
// A Nearest uses its team's workers and serves one caller at a time.
type Nearest struct {
	team        *Team
	m, d, count int

	points       []float64 // m×padded, each anchor's d coordinates and zeros
	padded       int       // d rounded up to whole blocks of squares
	center       []float64 // d: the anchors' mean
	scale        float64   // power of 2 that makes the longest centred anchor about 1 long
	isUnscreened bool      // no screening: the longest anchor is too long, too short or NaN
	packed       []float32 // centred and scaled anchors, m×d in panels of nr, depth by depth; nil with coarse
	productError float64   // bound on the error of a product in float32, over ‖x‖‖y‖
	coarse       *coarse   // nil if it does not pay
	tall         int       // rows of a panel
	wide         int       // m rounded up to whole panels
	groups       int       // number of groups that cover wide; the last may be shorter
	half         []float32 // wide: ‖y‖²/2 less its possible error, +Inf beyond m
	slack        []float32 // wide: about ‖y‖; the lower bound of a row is half − xᵀy − loose·slack
	boundGap     []float64 // m: upper bound less lower bound less 2·loose·slack
	widestGap    float64   // the largest of twice

	rows    int // rows of a task
	scratch []nearestScratch
	body    func(worker int)

	// The search under way.
	x        Matrix[float64]
	index    []int32
	distance []float64
}

// nearestScratch is the scratch of one worker.
type nearestScratch struct {
	panels    []float32 // rows×d in panels, depth by depth; one panel of coarse.dims with coarse
	norms     []float64 // rows: ‖x‖² of the rows in panels, later ‖x‖
	loose     []float32 // rows: the row's factor in a bound
	half      []float32 // rows×wide: half ‖y‖² − xᵀy
	least     [][upperSets]float32
	lower     []float32 // rows×groups: for both see isa.lowest
	raw       []float64 // rows×padded: unchanged rows, and zeros
	codedRows           // in all dimensions
	lanes     laneScales
	lead      leadScratch
	found     foundAnchors

	left, tried, seen int // as in coarse

	candidates []candidate
	uppers     []float64   // the count lowest upper bounds so far
	nearest    []neighbour // the count nearest so far
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

func (a neighbour) isNearer(b neighbour) bool {
	return a.distance < b.distance || a.distance == b.distance && a.index < b.index
}

const (
	// nearestBytes bounds the float32 distances that a worker holds at a time, to fit a
	// level-2 cache. 0.5, 1 and 2 MiB gave 126, 137 and 141 GFLOP/s there, for 2,048
	// anchors of 896 dimensions: more rows share a reading of the anchors from memory.
	nearestBytes = 2 << 20
	// squaresBlock is the number of terms that squares sums at a time.
	squaresBlock = 8
)

// NewNearest prepares the m points, m×d in any layout, for searches of the count
// nearest, 0 < count ≤ m. Costs O(m·d) and holds [NearestBytes].
func NewNearest(t *Team, points Matrix[float64], count int) *Nearest {
	m, d := points.Rows, points.Cols
	if points.checkBounds("points"); count < 1 || count > m {
		panic(fmt.Sprintf("kernel: %d nearest of %d points", count, m))
	}
	n := &Nearest{team: t, m: m, d: d, count: count,
		padded: panelCount(d, squaresBlock) * squaresBlock, center: make([]float64, d)}
	n.body = n.searchTasks
	n.points = make([]float64, m*n.padded)
	Copy(RowMajor(n.points, m, d, n.padded), points)
	for i := range m {
		Axpy(1/float64(m), n.points[i*n.padded:][:d], n.center)
	}
	norms := n.squaredLengths()
	if t.isa.coarse.mul != nil && !n.isUnscreened && m >= coarsePoints && d >= coarseDims && d <= mostCoarseDims && count <= m/8 {
		n.prepareCoarse(norms)
	} else {
		n.prepareScreen(norms)
	}
	return n
}

// Rebuild is NewNearest with the scratch of n, which must not be used from then on. Rows in many dimensions against few
// points at a time allocated 17 MB of scratch anew for each part, which the collector freed too late.
func (n *Nearest) Rebuild(points Matrix[float64], count int) *Nearest {
	team, d, scratch := n.team, n.d, n.scratch
	if n.coarse != nil {
		scratch = nil // of few rows, and of another shape
	}
	*n = Nearest{} // its points are freed before the new ones are made
	next := NewNearest(team, points, count)
	if next.coarse == nil && next.d == d {
		next.scratch = scratch
	}
	return next
}

// NearestBytes bounds the memory of a Nearest of m points in d dimensions, with its scratch on the given workers.
func NearestBytes(workers, m, d int) int64 {
	const widest = 48
	wide := int64(m + widest)
	rows := min(max(min(nearestBytes/4/wide, int64(mostRows(d))), 8), maxNearestRows) + 8
	worker := 5*rows*int64(d+lanes) + 4*(rows*wide+readBeyond) + 8*rows*int64(d+squaresBlock) + (128+4*(wide/group+1))*rows + 16*wide
	return 8*int64(m)*int64(d+squaresBlock) + 4*wide*int64(d) + 24*wide + 64*int64(d) + int64(workers)*worker + leadBytes(workers, m, d, int(rows))
}

const (
	// maxNearestRows bounds the rows of a task if anchors are few.
	maxNearestRows = 256
	// unpackedBytes bounds the rows of a task if dimensions are many: a worker holds each unchanged and packed.
	unpackedBytes = 32 << 20
)

func mostRows(d int) int { return unpackedBytes / 13 / max(d, 1) }

// SearchTo writes the indices of the count anchors nearest to each row of x, nearest first, to index, and their squared
// distances to distance (both rows×count). x is rows×d; column-major is fastest. Costs 2·rows·d·m operations on bytes
// or float32, and the float64 distances of the anchors that these do not exclude.
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
	share := panelCount(panelCount(x.Rows, workers), n.tall) * n.tall
	n.rows = min(max(min(bytes/4/n.wide, mostRows(n.d))/n.tall*n.tall, n.tall), maxNearestRows, share)
	for len(n.scratch) < workers {
		n.scratch = append(n.scratch, nearestScratch{})
	}
	for w := range workers {
		n.scratch[w].reserveFor(n)
	}
	n.team.runTogether(workers, n.body)
	if n.coarse != nil {
		n.judgeScreening()
	}
	n.x, n.index, n.distance = Matrix[float64]{}, nil, nil
}

func (s *nearestScratch) reserveFor(n *Nearest) {
	if c := n.coarse; c != nil && len(s.numbers) < n.rows*c.dims {
		s.panels, s.codedRows = alignedSlice[float32](lanes*c.dims), newCodedRows(n.rows, c.dims)
	}
	if n.coarse != nil && n.coarse.lead != nil {
		s.lead.reserveFor(n, n.coarse.lead)
	}
	if n.coarse == nil && len(s.panels) < n.rows*n.d {
		s.panels = alignedSlice[float32](n.rows * n.d)
	}
	if len(s.half) < n.rows*n.wide+readBeyond {
		s.half = alignedSlice[float32](n.rows*n.wide + readBeyond)
	}
	if len(s.lower) < n.rows*n.groups {
		s.lower = make([]float32, n.rows*n.groups)
	}
	if len(s.norms) >= n.rows {
		return
	}
	s.norms, s.loose, s.least = make([]float64, n.rows), make([]float32, n.rows), make([][upperSets]float32, n.rows)
	s.raw = make([]float64, n.rows*n.padded)
	s.candidates = make([]candidate, 0, n.m)
	s.uppers = make([]float64, 0, n.count)
	s.nearest = make([]neighbour, 0, n.count+1)
}

func (n *Nearest) searchTasks(worker int) {
	s, steps, tasks := &n.scratch[worker], n.team.joinSteps(), panelCount(n.x.Rows, n.rows)
	for task, ok := steps.nextTask(tasks); ok; task, ok = steps.nextTask(tasks) {
		from := task * n.rows
		rows := min(n.rows, n.x.Rows-from)
		x := n.x.Sub(from, 0, rows, n.d)
		for i := range s.least {
			s.least[i] = noUppers
		}
		if n.coarse != nil {
			n.coarseRows(s, x)
		} else {
			n.screenRows(s, x)
		}
		for i := range rows {
			n.findNearest(s, i, s.raw[i*n.padded:][:n.padded])
			for k, b := range s.nearest {
				n.index[(from+i)*n.count+k], n.distance[(from+i)*n.count+k] = b.index, b.distance
			}
		}
	}
}

func (n *Nearest) findNearest(s *nearestScratch, i int, x []float64) {
	s.nearest = s.nearest[:0]
	// Beyond this norm float32 may overflow; nothing is excluded then, or for NaN.
	const longest = 0x1p60
	if norm := s.norms[i]; n.isUnscreened || !(norm < longest) {
		s.candidates = s.candidates[:0]
		for j := range n.m {
			s.candidates = append(s.candidates, candidate{int32(j), math.Inf(-1)})
		}
	} else {
		if n.coarse != nil && n.coarse.lead != nil {
			n.excludeWithLead(s, i)
		} else {
			n.excludeAnchors(s, i)
		}
		s.left, s.seen = s.left+len(s.candidates), s.seen+1
	}
	limit, last := math.Inf(1), len(s.candidates)-1
	for k := 0; k <= last && !(s.candidates[k].lower > limit); k += 2 {
		n.compareTwo(s, x, k, min(k+1, last), min(k+2, last), min(k+3, last))
		if len(s.nearest) == n.count {
			limit = n.candidateLimit(s, s.norms[i])
		}
	}
}

// compareTwo inserts two candidates, or one if i = j, and prefetches the next two.
func (n *Nearest) compareTwo(s *nearestScratch, x []float64, i, j, nextI, nextJ int) {
	c := s.candidates
	a, b := c[i].index, c[j].index
	da, db := n.team.isa.squares(n.padded/squaresBlock, x, n.paddedPoint(a), n.paddedPoint(b), n.paddedPoint(c[nextI].index), n.paddedPoint(c[nextJ].index))
	s.insertNeighbour(da, a, n.count)
	if j != i {
		s.insertNeighbour(db, b, n.count)
	}
}

// candidateLimit returns a bound such that an anchor whose lower bound is above it is farther than the last of the
// nearest so far, by more than the rounding of the distances (see settlingMargin) and of the row's length.
func (n *Nearest) candidateLimit(s *nearestScratch, norm float64) float64 {
	epsilon := (float64(n.padded/squaresBlock)+8)*0x1p-53 + float64(n.d+8)*0x1p-52
	return (s.nearest[n.count-1].distance*n.scale*n.scale-norm*norm)/2 + 2*epsilon*(norm*norm+1)
}

func (n *Nearest) paddedPoint(i int32) []float64 { return n.points[int(i)*n.padded:][:n.padded] }

// insertNeighbour keeps the count nearest in order, equal ones by index.
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
