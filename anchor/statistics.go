package anchor

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/room"
	"github.com/ufs-stream/ufs-stream/stream"
)

// DefaultNeighbors is K where Options say nothing.
const DefaultNeighbors = 5

// Options tunes Statistics; only Neighbors changes results.
type Options struct {
	Neighbors int   // K, anchors that a row has weights on; 0 means 5
	Threads   int   // goroutines; 0 means GOMAXPROCS
	Limit     int64 // bytes that Statistics may hold, see Bytes; 0 means 2 GiB
	// Later leaves the rows to [Statistics.Graph], where the Gram matrix is a factor, which has them all:
	// such statistics take none before. They are neither merged nor written.
	Later bool
	// NoCross leaves C out of the Graph of such statistics, for those who do not read it.
	NoCross bool

	// Entries has the number of entries of each column of sparse rows. Then only sparse rows are taken,
	// and C is kept by its columns: see [Columns]. Such statistics are not merged, and are read back into those
	// of the same Entries and anchors alone.
	Entries []int64

	// Busy measures converting rows, the search of their anchors, and adding them to these. Nil
	// measures nothing.
	Busy *stream.Busy
}

func (o Options) withDefaults() Options {
	o.Neighbors = cmp.Or(o.Neighbors, DefaultNeighbors)
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	return o
}

// Statistics are the sums that a Graph needs of n rows and their weights Z on m anchors,
// beside gram.Moments of the same rows: with X the n×D points of the rows in the anchors'
// frame,
//
//	Δ = Zᵀ1   ZᵀX m×D   ZᵀZ m×m
//
// An entry is summed up row by row, so that its bits depend on the order of the rows
// alone: neither on threads nor on how the rows were cut into chunks. The frame's centre
// is fixed for the whole table.
type Statistics struct {
	Rows int64 // n

	m, k   int
	frame  frame
	digest Digest
	trust  Trust
	opt    Options

	delta   []float64  // m
	zx      []float64  // m×D row-major; nil where the rows are kept
	zz      []float64  // m×m row-major, upper triangle
	rows    RowWeights // Z, where the rows come later
	columns *Columns   // ZᵀX by its columns, in place of zx; nil without Options.Entries

	weights *gram.Sketch // of Z; or nil

	anchors *Anchors // nil where they are unknown: no rows can be added
	work    *scratch // empty until rows arrive
	broken  error
}

// scratch is the memory for a block of rows.
type scratch struct {
	team      *kernel.Team
	near      *kernel.Nearest // nil for sparse rows, where thin is there
	thin      *thin
	thinFrame *thinFrame
	rows      int
	stride    int       // of points
	points    []float64 // D columns of rows values
	index     []int32   // rows×(K+1), then rows×K
	distance  []float64 // rows×(K+1)
	weight    []float64 // rows×K
}

// NewStatistics returns empty statistics. With nil anchors they can be read into, merged
// and finished, but take no rows. It fails with a *stream.UsageError unless there are more
// than K anchors, or a *stream.MemoryError.
func NewStatistics(a *Anchors, opt Options) (*Statistics, error) {
	s := &Statistics{opt: opt.withDefaults(), anchors: a, work: new(scratch)}
	s.k = s.opt.Neighbors
	if a == nil {
		return s, nil
	}
	if err := enough(a.M, s.k); err != nil {
		return nil, err
	}
	s.m, s.frame, s.digest = a.M, a.frame, a.Digest
	return s, s.reserve()
}

// Another returns empty statistics of the same anchors with s's options, whose scratch is s's
// own: rows must not be added to both at the same time.
func (s *Statistics) Another() (*Statistics, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	o := &Statistics{m: s.m, k: s.k, frame: s.frame, digest: s.digest, trust: s.trust, opt: s.opt, anchors: s.anchors, work: s.work}
	return o, o.reserve()
}

// SharedBytes bounds what so many Statistics hold that share their scratch (see Another):
// [Bytes] of each less the scratch and the anchors of all but one.
func SharedBytes(m, d, neighbors, threads, states int) int64 {
	one := Bytes(m, d, neighbors, threads)
	if one == math.MaxInt64 || states < 1 {
		return one
	}
	return one + int64(states-1)*(8*int64(m)*int64(m+d+1)+frameBytes*int64(d))
}

// reserve makes the matrices.
func (s *Statistics) reserve() error {
	d := len(s.frame.columns)
	if need := s.bytes(); need > s.opt.Limit {
		return &stream.MemoryError{What: fmt.Sprintf("the graph of %d anchors and %d features", s.m, d),
			Need: need, Limit: s.opt.Limit}
	}
	s.delta = make([]float64, s.m)
	switch {
	case s.opt.Entries != nil:
		own := make([]int64, d)
		for k, j := range s.frame.columns {
			own[k] = s.opt.Entries[j]
			if s.frame.center[k] != 0 {
				own[k] = math.MaxInt64 // every row has a coordinate
			}
		}
		s.columns = newColumns(s.m, s.k, own)
		if need := s.columns.Bytes() + s.bytes(); need > s.opt.Limit {
			return &stream.MemoryError{What: fmt.Sprintf("the graph of %d anchors and %d features", s.m, d), Need: need, Limit: s.opt.Limit}
		}
	case !s.opt.Later:
		s.zx = room.Make[float64](s.m * d)
	}
	s.zz = make([]float64, s.m*s.m)
	return nil
}

func (s *Statistics) bytes() int64 {
	d := len(s.frame.columns)
	switch {
	case s.opt.Entries != nil:
		return ThinBytes(s.m, d, s.k, s.opt.Threads, int64(len(s.anchors.Thin.Index)), 0)
	case s.opt.Later:
		return LaterBytes(s.m, d, s.m, s.k)
	}
	return Bytes(s.m, d, s.k, s.opt.Threads)
}

// Bytes bounds what Statistics of m anchors and d features hold on so many threads (0 means
// GOMAXPROCS), with the anchors themselves:
//
//	8·m² + 3·8·m·d + 4·m·d + the scratch of some hundred rows a worker
func Bytes(m, d, neighbors, threads int) int64 {
	if m > maxRows || d > maxColumns {
		return math.MaxInt64
	}
	threads = kernel.NewTeam(threads).Threads()
	rows := blockRows(d, threads)
	block := int64(rows+pad)*8*int64(d) + int64(rows)*int64(24*neighbors+16)
	return 8*int64(m)*int64(m+2*d+1) + kernel.NearestBytes(threads, m, d) + block +
		kernel.SparseBytes(threads, rows, m, neighbors) + frameBytes*int64(d) + buffers
}

// ThinBytes bounds what Statistics of m thin anchors with so many coordinates in all hold that keep C by
// its columns (see Options.Entries), for rows of so many entries in all, with the anchors themselves.
func ThinBytes(m, d, neighbors, threads int, coordinates, entries int64) int64 {
	if m > maxRows || d > maxColumns {
		return math.MaxInt64
	}
	threads = kernel.NewTeam(threads).Threads()
	block := int64(mostCoordinates + d)
	return 8*int64(m)*int64(m+1) + ColumnsBytes(m, d, neighbors, entries) + 12*coordinates +
		thinBytes(m, d, int(coordinates), neighbors+1, threads) + 12*(block+block/2) +
		mostBlockRows*int64(24*neighbors+16) + frameBytes*int64(d) + buffers
}

const (
	// The more rows a block has, the more of them share a reading of the sums that they are added to (see
	// kernel.SparseGemm), and fewer of them fit a cache. With 790 features and 2,000 anchors on two workers adding
	// took 0.30 of the time of the search with 256 rows a worker, 0.25 with 512 and 0.20 with 1,024.
	blockBytes               = 8 << 20
	leastRows, mostBlockRows = 16, 1024
	// pad keeps the columns of a block from falling on the same lines of the cache.
	pad = 8
	// frameBytes bounds what a column costs beside matrices: the frame twice while a file
	// is read, and the runs of columns.
	frameBytes = 128
)

// blockRows is the number of rows in work at a time.
func blockRows(d, threads int) int {
	return threads * min(max(blockBytes/8/max(d, 1), leastRows), mostBlockRows)
}

// Add adds the rows of c: 2·rows·m·D operations on bytes or in float32 to find the nearest anchors
// (see kernel.Nearest), and 2·rows·K·D in
// float64. Sparse rows among thin anchors (see thin) cost their entries times the anchors that share
// them; others are made dense, a block at a time. It fails, with
// s unchanged, for other columns or row weights (a *stream.UsageError). Rows that the
// profile of the anchors has not seen may have distances that overflow: Add then fails,
// and so does every later call.
func (s *Statistics) Add(c *stream.Chunk) error {
	if s.broken != nil {
		return s.broken
	}
	switch {
	case s.opt.Later:
		return fmt.Errorf("anchor: these statistics take their rows from a factor")
	case s.anchors == nil:
		return fmt.Errorf("anchor: statistics without their anchors take no rows")
	case c.Cols != s.anchors.place.columns:
		return fmt.Errorf("anchor: chunk of %d columns, want %d", c.Cols, s.anchors.place.columns)
	case s.opt.Entries != nil && c.Sparse == nil:
		return fmt.Errorf("anchor: statistics of entries take no dense rows")
	case c.Weight != nil:
		return stream.Usagef("{weight}: the anchor graph has no row weights; leave it out, or choose {method} greedy")
	}
	if s.work.team == nil && c.Rows > 0 {
		*s.work = s.newScratch(c.Sparse != nil)
	}
	if c.Sparse != nil && s.work.thin != nil {
		for from := 0; from < c.Rows; {
			rows, err := s.addThin(c, from)
			if s.broken = err; err != nil {
				return err
			}
			from += rows
		}
		s.Rows += int64(c.Rows)
		return nil
	}
	if s.work.near == nil && c.Rows > 0 { // dense rows after sparse ones
		*s.work = s.newScratch(false)
	}
	for from := 0; from < c.Rows; from += s.work.rows {
		if s.broken = s.addBlock(c, from, min(s.work.rows, c.Rows-from)); s.broken != nil {
			return s.broken
		}
	}
	s.Rows += int64(c.Rows)
	return nil
}

// newScratch is for dense rows, and for sparse ones where the anchors are thin.
func (s *Statistics) newScratch(sparse bool) scratch {
	team := kernel.NewTeam(s.opt.Threads)
	d, rows := len(s.frame.columns), blockRows(len(s.frame.columns), team.Threads())
	if sparse {
		var y kernel.Compressed
		ok := s.anchors.thin()
		if ok {
			y = compressed(s.anchors.Thin, d)
		} else {
			y, ok = compressedPoints(s.anchors.Points, s.m, d)
		}
		if ok { // a coordinate takes 12 bytes of lists that grow by halves
			w := s.thinScratch(team, y, min(rows*d/3, mostCoordinates))
			w.thinFrame = newThinFrame(&s.anchors.frame, &s.anchors.place)
			return w
		}
	}
	w := scratch{
		team: team, rows: rows, stride: rows + pad,
		near:     kernel.NewNearest(team, kernel.RowMajor(s.anchors.Points, s.m, d, d), s.k+1),
		index:    make([]int32, rows*(s.k+1)),
		distance: make([]float64, rows*(s.k+1)),
		weight:   make([]float64, rows*s.k),
	}
	w.points = make([]float64, w.stride*d)
	return w
}

// thinScratch is for sparse rows among the rows of y, with most coordinates in a block.
func (s *Statistics) thinScratch(team *kernel.Team, y kernel.Compressed, most int) scratch {
	return scratch{team: team, thin: newThin(y, s.k+1, team.Threads(), most), index: make([]int32, mostBlockRows*(s.k+1)),
		distance: make([]float64, mostBlockRows*(s.k+1)), weight: make([]float64, mostBlockRows*s.k)}
}

func (s *Statistics) addBlock(c *stream.Chunk, from, rows int) error {
	w := s.work
	placing := s.anchors.place.transform(w.team.Threads(), w.points, w.stride, c, from, rows)
	s.opt.Busy.Add(stream.PartConvert, placing)
	if i := s.addPoints(rows); i >= 0 {
		return overflows(c, from+i)
	}
	return s.sketchRows(c, from, rows)
}

// addPoints adds the rows that are in work, in the frame. It returns the first whose distances
// overflow, or -1.
func (s *Statistics) addPoints(rows int) int {
	w, d := s.work, len(s.frame.columns)
	x := kernel.ColMajor(w.points, rows, d, w.stride)
	before := w.team.Busy()
	w.near.To(w.index, w.distance, x)
	found := w.team.Busy()
	s.opt.Busy.Add(stream.PartSearch, found-before)
	start := time.Now()
	if i := w.weigh(rows, s.k); i >= 0 {
		return i
	}
	alone := time.Since(start) // what the caller does without the team
	z := kernel.Sparse{Rows: rows, Cols: s.m, Count: s.k, Index: w.index, Value: w.weight}
	kernel.Each(min(2, w.team.Threads()), 2, func(i int) { // one worker does the pairs while the others begin with the rows
		if i == 0 {
			start := time.Now()
			s.addPairs(z)
			alone += time.Since(start)
			return
		}
		kernel.SparseGemm(w.team, z, x, kernel.RowMajor(s.zx, s.m, d, d))
	})
	s.opt.Busy.Add(stream.PartScatter, alone+w.team.Busy()-found)
	return -1
}

// addPairs adds Zᵀ1 and the upper triangle of ZᵀZ.
func (s *Statistics) addPairs(z kernel.Sparse) {
	for e := 0; e < z.Rows*z.Count; e += z.Count {
		index, value := z.Index[e:e+z.Count], z.Value[e:e+z.Count]
		for a, i := range index {
			v := value[a]
			s.delta[i] += v
			row := s.zz[int(i)*s.m:][:s.m]
			for b, j := range index {
				if j >= i {
					row[j] += float64(v * value[b])
				}
			}
		}
	}
}
