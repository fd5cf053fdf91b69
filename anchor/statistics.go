package anchor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// DefaultNeighbors is the default of K, the number of anchors on which a row has weights.
const DefaultNeighbors = 5

// Options configures Statistics. Only Neighbors changes results.
type Options struct {
	Neighbors int   // K, the number of anchors on which a row has weights; 0 means 5
	Threads   int   // goroutines; 0 means GOMAXPROCS
	Limit     int64 // bytes that Statistics may hold, see Bytes; 0 means 2 GiB
	// Later makes [Statistics.Graph] read all rows from a Gram matrix that is a factor. Before that call, rows cannot
	// be added to such statistics, and the statistics can be neither merged nor written.
	Later bool
	// NoCross is for selectors that do not need C: the Graph of statistics with Later then has no C.
	NoCross bool

	// Entries has the number of entries of each column, for a table of sparse rows. If it is set, only sparse rows are
	// accepted, and C is kept by its columns: see [Columns]. Such statistics cannot be merged. They can be read only
	// into statistics with the same Entries and anchors.
	Entries []int64

	// Busy collects the time for converting rows, for finding their nearest anchors, and for adding them; may be nil.
	Busy *stream.Busy
}

func (o Options) withDefaults() Options {
	o.Neighbors = cmp.Or(o.Neighbors, DefaultNeighbors)
	o.Limit = cmp.Or(o.Limit, defaultLimit)
	return o
}

// Statistics holds the sums that, with gram.Moments of the same rows, give the Graph of n rows. With Z the n×m weights
// of the rows on the anchors, and X the n×D points of the rows in the anchors' frame, the sums are
//
//	Δ = Zᵀ1   ZᵀX m×D   ZᵀZ m×m
//
// Each sum is added up row by row. So its bits depend only on the order of the rows, not on threads or on how the rows
// were cut into chunks. The frame's centre is fixed for the whole table.
type Statistics struct {
	Rows int64 // n

	m, k   int
	frame  frame
	digest Digest
	trust  Trust
	opt    Options

	delta   []float64  // m
	zx      []float64  // m×D row-major; nil if the rows come later
	zz      []float64  // m×m row-major, upper triangle
	rows    RowWeights // Z, if the rows come later
	columns *Columns   // ZᵀX by its columns, in place of zx; nil without Options.Entries

	weights *gram.Sketch // sketch of Z; may be nil

	anchors   *Anchors // nil if unknown: no rows can be added
	work      *scratch // empty until rows arrive
	brokenErr error    // set if a call of Add or Graph has left the sums unusable; Add then returns it
}

// scratch is the memory for a block of rows.
type scratch struct {
	team      *kernel.Team
	near      *kernel.Nearest // nil for sparse rows, for which thin is set
	thin      *thinSearch
	thinFrame *thinFrame
	rows      int
	stride    int       // distance between columns of points
	points    []float64 // D columns of `rows` values each
	index     []int32   // the rows' nearest anchors: rows×(K+1), and rows×K after weighRows
	distance  []float64 // rows×(K+1) squared distances
	weight    []float64 // rows×K
}

// NewStatistics returns empty statistics. If a is nil, they can be read, merged and turned into a Graph, but rows
// cannot be added. It fails with a *stream.UsageError unless there are more than K anchors, or with a
// *stream.MemoryError.
func NewStatistics(a *Anchors, opt Options) (*Statistics, error) {
	s := &Statistics{opt: opt.withDefaults(), anchors: a, work: new(scratch)}
	s.k = s.opt.Neighbors
	if a == nil {
		return s, nil
	}
	if err := checkAnchorCount(a.M, s.k); err != nil {
		return nil, err
	}
	s.m, s.frame, s.digest = a.M, a.frame, a.Digest
	return s, s.allocateSums()
}

// Another returns empty statistics with the anchors and options of s. They share the working memory of s, so rows must
// not be added to both at the same time.
func (s *Statistics) Another() (*Statistics, error) {
	if s.brokenErr != nil {
		return nil, s.brokenErr
	}
	o := &Statistics{m: s.m, k: s.k, frame: s.frame, digest: s.digest, trust: s.trust, opt: s.opt, anchors: s.anchors, work: s.work}
	return o, o.allocateSums()
}

// SharedBytes bounds the memory of several Statistics that share their working memory (see Another). states is their
// number. The result is states times the bound given by [Bytes], but counts the working memory and the anchors only
// once.
func SharedBytes(m, d, neighbors, threads, states int) int64 {
	if m > maxRows || d > maxColumns {
		return math.MaxInt64
	}
	threads = kernel.NewTeam(threads).Threads()
	rows := rowsPerBlock(d, threads)
	return room.Measure(func(l *room.Layout) {
		kernel.NewMatrix[float64](l, m, d) // the anchors
		for range max(states, 1) {
			(&Statistics{m: m}).layOutSums(l, d)
			l.Add(frameBytes * int64(d))
		}
		new(scratch).layOut(l, rows, d, neighbors)
		l.Add(kernel.NearestBytes(threads, m, d) + kernel.SparseBytes(threads, rows, m, neighbors) + bufferBytes)
	})
}

// layOutSums takes the memory of Δ, ZᵀZ and, unless d is 0, ZᵀX of d features from l.
func (s *Statistics) layOutSums(l *room.Layout, d int) {
	s.delta, s.zz = room.Slice[float64](l, s.m), room.Slice[float64](l, s.m*s.m)
	if d > 0 {
		s.zx = room.Slice[float64](l, s.m*d)
	}
}

// layOut takes the memory for a block of rows with k neighbours each from l. d is the number of features of dense rows,
// and 0 for sparse rows.
func (w *scratch) layOut(l *room.Layout, rows, d, k int) {
	w.rows, w.stride = rows, rows+blockPad
	w.points = room.Slice[float64](l, w.stride*d)
	w.index, w.distance, w.weight = room.Slice[int32](l, rows*(k+1)), room.Slice[float64](l, rows*(k+1)), room.Slice[float64](l, rows*k)
}

func (s *Statistics) allocateSums() error {
	d := len(s.frame.columns)
	if need := s.neededBytes(); need > s.opt.Limit {
		return &stream.MemoryError{What: fmt.Sprintf("the graph of %d anchors and %d features", s.m, d),
			Need: need, Limit: s.opt.Limit}
	}
	switch {
	case s.opt.Entries != nil:
		counts := make([]int64, d)
		for k, j := range s.frame.columns {
			counts[k] = s.opt.Entries[j]
			if s.frame.center[k] != 0 {
				counts[k] = math.MaxInt64 // every row has a coordinate that is not 0
			}
		}
		s.columns = newColumns(s.m, s.k, counts)
		if need := s.columns.Bytes() + s.neededBytes(); need > s.opt.Limit {
			return &stream.MemoryError{What: fmt.Sprintf("the graph of %d anchors and %d features", s.m, d), Need: need, Limit: s.opt.Limit}
		}
		d = 0
	case s.opt.Later:
		d = 0
	}
	s.layOutSums(nil, d)
	return nil
}

func (s *Statistics) neededBytes() int64 {
	d := len(s.frame.columns)
	switch {
	case s.opt.Entries != nil:
		return ThinBytes(s.m, d, s.k, s.opt.Threads, int64(len(s.anchors.Thin.Index)), 0)
	case s.opt.Later:
		return LaterBytes(s.m, d, s.m, s.k)
	}
	return Bytes(s.m, d, s.k, s.opt.Threads)
}

// Bytes bounds the memory of Statistics of m anchors and d features on the given number of threads (0 means
// GOMAXPROCS), including the anchors themselves:
//
//	8·m² + 3·8·m·d + 4·m·d + working memory for a few hundred rows per worker
func Bytes(m, d, neighbors, threads int) int64 { return SharedBytes(m, d, neighbors, threads, 1) }

// ThinBytes bounds the memory of Statistics that keep C by its columns (see Options.Entries), including the m thin
// anchors. coordinates is the number of their nonzero coordinates, and entries is the number of entries of all rows.
func ThinBytes(m, d, neighbors, threads int, coordinates, entries int64) int64 {
	if m > maxRows || d > maxColumns {
		return math.MaxInt64
	}
	threads = kernel.NewTeam(threads).Threads()
	block := int64(maxCoordinates + d)
	return thinSumsBytes(m, neighbors) + ColumnsBytes(m, d, neighbors, entries) + 12*coordinates +
		thinSearchBytes(m, d, int(coordinates), neighbors+1, threads) + 12*(block+block/2) + frameBytes*int64(d) + bufferBytes
}

func thinSumsBytes(m, neighbors int) int64 {
	return room.Measure(func(l *room.Layout) {
		(&Statistics{m: m}).layOutSums(l, 0)
		new(scratch).layOut(l, maxBlockRows, 0, neighbors)
	})
}

const (
	// blockBytes is the intended memory of one worker's share of a block of rows. In a larger block, more rows share one
	// reading of the sums to which they are added (see kernel.SparseGemm), but the block may exceed a cache. We measured
	// 790 features and 2,000 anchors on two workers. With 256, 512 and 1,024 rows per worker, adding took 0.30, 0.25 and
	// 0.20 of the time of the search.
	blockBytes                 = 8 << 20
	minBlockRows, maxBlockRows = 16, 1024
	// blockPad is added to the stride of a block, so that its columns do not fall on the same lines of the cache.
	blockPad = 8
	// frameBytes bounds the memory of a column apart from matrices: for the frame, which is held twice while a file is
	// read, and for the frameMapper.
	frameBytes = 128
)

func rowsPerBlock(features, threads int) int {
	return threads * min(max(blockBytes/8/max(features, 1), minBlockRows), maxBlockRows)
}

// Add adds the rows of c. To find the nearest anchors it makes 2·rows·m·D operations on bytes or in float32 (see
// kernel.Nearest), and 2·rows·K·D in float64. For sparse rows among thin anchors (see thinSearch), the cost of an entry
// is the number of anchors that share its feature. Other sparse rows are made dense, a block at a time. Add fails, with
// s unchanged, if c has other columns, or has row weights (a *stream.UsageError). Distances may overflow for a row that
// is not in the profile of the anchors. Add then fails, and so does every later call.
func (s *Statistics) Add(c *stream.Chunk) error {
	if s.brokenErr != nil {
		return s.brokenErr
	}
	switch {
	case s.opt.Later:
		return fmt.Errorf("anchor: these statistics take their rows from a factor")
	case s.anchors == nil:
		return fmt.Errorf("anchor: statistics without their anchors take no rows")
	case c.Cols != s.anchors.mapper.columns:
		return fmt.Errorf("anchor: chunk of %d columns, want %d", c.Cols, s.anchors.mapper.columns)
	case s.opt.Entries != nil && c.Sparse == nil:
		return fmt.Errorf("anchor: statistics of entries take no dense rows")
	case c.Weight != nil:
		return stream.Usagef("{weight}: the anchor graph has no row weights; leave it out, or choose {method greedy}")
	}
	if s.work.team == nil && c.Rows > 0 {
		*s.work = s.newScratch(c.Sparse != nil)
	}
	if c.Sparse != nil && s.work.thin != nil {
		for from := 0; from < c.Rows; {
			rows, err := s.addThinBlock(c, from)
			if s.brokenErr = err; err != nil {
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
		if s.brokenErr = s.addBlock(c, from, min(s.work.rows, c.Rows-from)); s.brokenErr != nil {
			return s.brokenErr
		}
	}
	s.Rows += int64(c.Rows)
	return nil
}

// newScratch returns scratch for dense rows, or for sparse rows if the anchors are thin.
func (s *Statistics) newScratch(sparse bool) scratch {
	team := kernel.NewTeam(s.opt.Threads)
	d, rows := len(s.frame.columns), rowsPerBlock(len(s.frame.columns), team.Threads())
	if sparse {
		var y kernel.Compressed
		ok := s.anchors.isThin()
		if ok {
			y = compressedRows(s.anchors.Thin, d)
		} else {
			y, ok = compressedPoints(s.anchors.Points, s.m, d)
		}
		if ok { // 12 bytes for each coordinate, in lists that may be half empty
			w := s.newThinScratch(team, y, min(rows*d/3, maxCoordinates))
			w.thinFrame = newThinFrame(&s.anchors.frame, &s.anchors.mapper)
			return w
		}
	}
	w := scratch{team: team, near: kernel.NewNearest(team, kernel.RowMajor(s.anchors.Points, s.m, d, d), s.k+1)}
	w.layOut(nil, rows, d, s.k)
	return w
}

// newThinScratch returns scratch for sparse rows among the anchors y. coordinates is the largest number of nonzero
// coordinates in a block of rows.
func (s *Statistics) newThinScratch(team *kernel.Team, y kernel.Compressed, coordinates int) scratch {
	w := scratch{team: team, thin: newThinSearch(y, s.k+1, team.Threads(), coordinates)}
	w.layOut(nil, maxBlockRows, 0, s.k)
	return w
}

func (s *Statistics) addBlock(c *stream.Chunk, from, rows int) error {
	w := s.work
	placing := s.anchors.mapper.mapRows(w.team.Threads(), w.points, w.stride, c, from, rows)
	s.opt.Busy.Add(stream.PartConvert, placing)
	if i := s.addPoints(rows); i >= 0 {
		return errOverflow(c, from+i)
	}
	return s.addWeightsToSketch(c, from, rows)
}

// addPoints adds the rows in s.work.points. It returns the first row whose distances overflow, or -1.
func (s *Statistics) addPoints(rows int) int {
	w, d := s.work, len(s.frame.columns)
	x := kernel.ColMajor(w.points, rows, d, w.stride)
	before := w.team.BusyTime()
	w.near.SearchTo(w.index, w.distance, x)
	searchEnd := w.team.BusyTime()
	s.opt.Busy.Add(stream.PartSearch, searchEnd-before)
	start := time.Now()
	if i := w.weighRows(rows, s.k); i >= 0 {
		return i
	}
	ownTime := time.Since(start) // the caller's own work without the team
	z := kernel.Sparse{Rows: rows, Cols: s.m, Count: s.k, Index: w.index, Value: w.weight}
	kernel.Each(min(2, w.team.Threads()), 2, func(i int) { // one worker adds Δ and ZᵀZ while the others begin with ZᵀX
		if i == 0 {
			start := time.Now()
			s.addSumsOfWeights(z)
			ownTime += time.Since(start)
			return
		}
		kernel.SparseGemm(w.team, z, x, kernel.RowMajor(s.zx, s.m, d, d))
	})
	s.opt.Busy.Add(stream.PartScatter, ownTime+w.team.BusyTime()-searchEnd)
	return -1
}

func (s *Statistics) addSumsOfWeights(weights kernel.Sparse) {
	for e := 0; e < weights.Rows*weights.Count; e += weights.Count {
		index, value := weights.Index[e:e+weights.Count], weights.Value[e:e+weights.Count]
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

// Discount multiplies the weight of every row by γ in (0, 1], in O(m² + m·D) for m anchors of D columns. It scales all
// sums, but not Rows. The graph is then the graph of weighted rows. See [Graph] for its Z, Δ and B. With V the diagonal
// matrix of the weights, Δ = diag(ZᵀV1) and B = V^(1/2)ZΔ^(−1/2). If γ is not in (0, 1] it fails, with s unchanged.
func (s *Statistics) Discount(gamma float64) error {
	if s.brokenErr != nil {
		return s.brokenErr
	}
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("anchor: a discount of %v: want more than 0 and up to 1", gamma)
	}
	for _, sums := range [][]float64{s.delta, s.zx, s.zz} {
		for i := range sums {
			sums[i] *= gamma
		}
	}
	return nil
}

// Merge adds the statistics of o to s in O(m² + m·D) for m anchors of D columns. Up to rounding, the result equals one
// pass over the rows of both. o is unchanged. On error s is unchanged. The error is a *stream.UsageError if the
// anchors, the number of neighbours, or scaling and filling differ.
func (s *Statistics) Merge(o *Statistics) error {
	if err := errors.Join(s.brokenErr, o.brokenErr); err != nil {
		return err
	}
	const remedy = "scan all parts with the same options and one profile ({profile}) of all of them"
	if s.k != o.k {
		return stream.Usagef("cannot merge graphs of %d and %d neighbours: %s", s.k, o.k, remedy)
	}
	if why := s.frame.describeDifference(&o.frame); why != "" {
		return stream.Usagef("cannot merge graphs of other scaling (%s): %s", why, remedy)
	}
	if s.m != o.m || s.digest != o.digest {
		return stream.Usagef("cannot merge graphs of other anchors (%d and %d): %s", s.m, o.m, remedy)
	}
	s.Rows += o.Rows
	if s.trust == (Trust{}) { // if both have a trust it is equal, because it depends on the anchors alone
		s.trust = o.trust
	}
	kernel.Axpy(1, o.delta, s.delta)
	kernel.Axpy(1, o.zx, s.zx)
	kernel.Axpy(1, o.zz, s.zz)
	return nil
}

// SetTrust stores the trust in the graph's anchors. WriteTo and ReadFrom include it.
func (s *Statistics) SetTrust(t Trust) { s.trust = t }

// Trust returns the value given to SetTrust.
func (s *Statistics) Trust() Trust { return s.trust }

// SketchWeights makes s also add the weights Z of every further row to the sketch z, which has m columns. In z the
// weights have the position of the row.
func (s *Statistics) SketchWeights(z *gram.Sketch) { s.weights = z }

// addWeightsToSketch adds the current weights of the given rows of c to the sketch of the weights.
func (s *Statistics) addWeightsToSketch(c *stream.Chunk, from, rows int) error {
	if s.weights == nil {
		return nil
	}
	w := s.work
	list := &stream.CSR{RowPtr: make([]int, 0, rows+1), Index: make([]int32, 0, rows*s.k), Value: make([]float64, 0, rows*s.k)}
	positions := make([]int64, rows)
	for i := range rows {
		list.RowPtr = append(list.RowPtr, i*s.k)
		positions[i] = c.Position(from + i)
		for e := i * s.k; e < (i+1)*s.k; e++ { // sort the row's few weights by anchor, by insertion
			list.Index, list.Value = append(list.Index, w.index[e]), append(list.Value, w.weight[e])
			for q := e; q > i*s.k && list.Index[q] < list.Index[q-1]; q-- {
				list.Index[q], list.Index[q-1] = list.Index[q-1], list.Index[q]
				list.Value[q], list.Value[q-1] = list.Value[q-1], list.Value[q]
			}
		}
	}
	list.RowPtr = append(list.RowPtr, rows*s.k)
	return s.weights.Add(&stream.Chunk{Start: c.Start, Block: rows, Rows: rows, Cols: s.m, Positions: positions, Sparse: list})
}
