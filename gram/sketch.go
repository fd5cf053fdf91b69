package gram

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Sketch is a count sketch S·X of the rows of a table (Clarkson and Woodruff 2013; Charikar, Chen and Farach-Colton
// 2002). Every row of X is added with a random sign to one of a few thousand rows. (SX)ᵀ(SX) estimates XᵀX without
// bias, and the standard deviation of an entry is about ‖xᵢ‖‖xⱼ‖/√r. As with [Moments], one pass serves any scaling
// and filling.
//
// The row and the sign depend only on the seed and the global position, and the sums are exact. So sketches of parts
// add up to the sketch of the whole, to the bit, in any order.
type Sketch struct {
	d      int
	opt    SketchOptions
	groups int // number of groups of groupRows rows

	sums      []int64               // column j at 2·j·r: see exact.go
	top       []int8                // of each column
	ones      sketchColumn          // a column of ones, for removing shifts
	gaps      map[int]*sketchColumn // for each column with missing entries, the sketch of ones at these entries
	sketchRow []int                 // of each row of the chunk
	sign      []float64             // ±√w
}

// SketchOptions tunes a Sketch.
type SketchOptions struct {
	Rows    int    // r, see [SketchRows]
	Seed    uint64 // seed of rows and signs
	Threads int    // 0 means GOMAXPROCS
	Limit   int64  // largest number of bytes to hold, see [SketchBytes]; 0 means no bound
}

// sketchColumn has the exact sums of one column.
type sketchColumn struct {
	top  int8
	sums []int64
}

const (
	// groupRows consecutive rows of the table are added to consecutive rows of the sketch. So a block of the table
	// uses only a few hundred rows of the sketch, which stay in the cache.
	groupRows = 64
	// holdoutEvery: one of this many groups of rows is held out to estimate the error of the sketch, and at least one
	// group.
	holdoutEvery = 8
	// maxSketchRows bounds the rows of a sketch. Beyond it, the rows of the table themselves serve as well.
	maxSketchRows = 1 << 20
)

// SketchRows returns the actual number of rows of a Sketch for a requested number: a multiple of 64, at least 128.
func SketchRows(rows int) int {
	return max(2, (min(rows, maxSketchRows)+groupRows-1)/groupRows) * groupRows
}

// SketchBytes returns the memory of a Sketch of the given rows for d columns, of which `missing` have missing entries.
func SketchBytes(d, missing, rows int) int64 {
	return 16*int64(SketchRows(rows))*int64(d+missing+2) + int64(d)
}

// NewSketch returns an empty sketch of d columns.
func NewSketch(d int, opt SketchOptions) *Sketch {
	opt.Rows, opt.Threads = SketchRows(opt.Rows), kernel.NewTeam(opt.Threads).Threads()
	return &Sketch{d: d, opt: opt, groups: opt.Rows / groupRows, gaps: make(map[int]*sketchColumn)}
}

// Rows returns the number of rows of the sketch.
func (s *Sketch) Rows() int { return s.opt.Rows }

// SetLimit changes SketchOptions.Limit from now on.
func (s *Sketch) SetLimit(limit int64) { s.opt.Limit = limit }

// Bytes returns the memory that s holds.
func (s *Sketch) Bytes() int64 { return SketchBytes(s.d, len(s.gaps), s.opt.Rows) }

// MergedBytes returns the memory of s after merging o, if o is not nil.
func (s *Sketch) MergedBytes(o *Sketch) int64 {
	missing := len(s.gaps)
	if o != nil {
		for j := range o.gaps {
			if s.gaps[j] == nil {
				missing++
			}
		}
	}
	return SketchBytes(s.d, missing, s.opt.Rows)
}

func (s *Sketch) makeRoom(holes []int) error {
	missing := len(s.gaps)
	for _, j := range holes {
		if s.gaps[j] == nil {
			missing++
		}
	}
	if err := s.checkLimit(missing); err != nil {
		return err
	}
	if s.sums == nil {
		s.sums, s.top = make([]int64, 2*s.opt.Rows*s.d), slices.Repeat([]int8{lowestTop}, s.d)
		s.ones = s.newColumn()
	}
	for _, j := range holes {
		if s.gaps[j] == nil {
			s.gaps[j] = new(s.newColumn())
		}
	}
	return nil
}

func (s *Sketch) checkLimit(missing int) error {
	need := SketchBytes(s.d, missing, s.opt.Rows)
	if s.opt.Limit == 0 || need <= s.opt.Limit {
		return nil
	}
	description := fmt.Sprintf("a sketch of %d rows of %d features", s.opt.Rows, s.d)
	if missing > 0 {
		description += fmt.Sprintf(", %d of them with missing values,", missing)
	}
	return &stream.MemoryError{What: description, Need: need, Limit: s.opt.Limit}
}

func (s *Sketch) newColumn() sketchColumn {
	return sketchColumn{lowestTop, make([]int64, 2*s.opt.Rows)}
}

func (s *Sketch) columnSums(j int) []int64 { return s.sums[2*s.opt.Rows*j:][:2*s.opt.Rows] }

// Add adds the rows of c. It makes one addition for each entry, or for each present entry of sparse rows. So its time
// does not depend on the number of rows of the sketch.
func (s *Sketch) Add(c *stream.Chunk) error {
	if c.Cols != s.d {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if err := s.makeRoom(s.columnsWithHoles(c)); err != nil {
		return err
	}
	s.placeRows(c)
	r := s.opt.Rows
	addSigned(&s.ones.top, s.ones.sums, r, s.sketchRow, s.sign, nil, nil)
	if c.Sparse != nil {
		s.addSparse(c)
		return nil
	}
	eachColumn(s.opt.Threads, s.d, func(j int) {
		gap := s.gaps[j]
		if addSigned(&s.top[j], s.columnSums(j), r, s.sketchRow, s.sign, c.Col(j), nil) > 0 {
			addSigned(&gap.top, gap.sums, r, s.sketchRow, s.sign, nil, c.Col(j))
		}
	})
	return nil
}

// columnsWithHoles lists the columns that have a missing entry in c and had none before.
func (s *Sketch) columnsWithHoles(c *stream.Chunk) (holes []int) {
	if c.Sparse != nil {
		return slices.DeleteFunc(sparseMissingColumns(c), func(j int) bool { return s.gaps[j] != nil })
	}
	if c.Missing == nil {
		return nil
	}
	for j := range c.Cols {
		if mayHaveMissing(c, j) && s.gaps[j] == nil && slices.ContainsFunc(c.Col(j), math.IsNaN) {
			holes = append(holes, j)
		}
	}
	return holes
}

// placeRows computes the row and the sign for each row of c. Two distant rows of the table share a row of the sketch
// with probability 1/r: their groups collide with probability 64/r, and are rotated at random against each other. Rows
// of one group never collide.
func (s *Sketch) placeRows(c *stream.Chunk) {
	s.sketchRow, s.sign = s.sketchRow[:0], s.sign[:0]
	for i := range c.Rows {
		at := uint64(c.Position(i))
		group := splitmix.Hash(s.opt.Seed, at/groupRows)
		turned := (at + group>>32) % groupRows
		sign := math.Sqrt(rowWeight(c, i))
		if short := float64(float32(sign)); short > 0 && short <= math.MaxFloat32 {
			sign = short // 24 bits, so that sums of ones lose no bits when they are multiplied by means far from 0
		}
		if splitmix.Hash(s.opt.Seed, ^at)&1 != 0 {
			sign = -sign
		}
		s.sketchRow = append(s.sketchRow, int(group%uint64(s.groups))*groupRows+int(turned))
		s.sign = append(s.sign, sign)
	}
}

func (s *Sketch) addSparse(c *stream.Chunk) {
	tasks := 4 * s.opt.Threads
	each := (s.d + tasks - 1) / tasks
	r := s.opt.Rows
	kernel.Each(s.opt.Threads, tasks, func(t int) {
		first, end := int32(t*each), int32(min(s.d, (t+1)*each))
		for i := range c.Rows {
			index := c.Sparse.Index[c.Sparse.RowPtr[i]:c.Sparse.RowPtr[i+1]]
			value := c.Sparse.Value[c.Sparse.RowPtr[i]:]
			e, _ := slices.BinarySearch(index, first)
			for ; e < len(index) && index[e] < end; e++ {
				j := int(index[e])
				if addSigned(&s.top[j], s.columnSums(j), r, s.sketchRow[i:i+1], s.sign[i:i+1], value[e:e+1], nil) > 0 {
					gap := s.gaps[j]
					addSigned(&gap.top, gap.sums, r, s.sketchRow[i:i+1], s.sign[i:i+1], nil, value[e:e+1])
				}
			}
		}
	})
}

// Merge adds the rows of o, whose positions must differ from the positions of the rows of s. Both sketches must have
// the same size, seed and columns. o is unchanged, and so is s on error.
func (s *Sketch) Merge(o *Sketch) error {
	switch {
	case s.d != o.d:
		return fmt.Errorf("gram: cannot merge %d columns with %d", s.d, o.d)
	case s.opt.Rows != o.opt.Rows || s.opt.Seed != o.opt.Seed:
		return fmt.Errorf("gram: cannot merge a sketch of %d rows, seed %d, with one of %d, seed %d", s.opt.Rows, s.opt.Seed, o.opt.Rows, o.opt.Seed)
	case o.sums == nil:
		return nil
	}
	var holes []int
	for j := range o.gaps {
		holes = append(holes, j)
	}
	if err := s.makeRoom(holes); err != nil {
		return err
	}
	mergeSums(&s.ones.top, s.ones.sums, o.ones.top, o.ones.sums)
	for j, gap := range o.gaps {
		mergeSums(&s.gaps[j].top, s.gaps[j].sums, gap.top, gap.sums)
	}
	eachColumn(s.opt.Threads, s.d, func(j int) { mergeSums(&s.top[j], s.columnSums(j), o.top[j], o.columnSums(j)) })
	return nil
}

// Finish turns s, a sketch of all rows of the profile p, into an estimate of the Gram matrix of the filled and scaled
// columns. The estimate is a factor with most of the rows of s. Its columns are scaled so that the diagonal is exact,
// except for columns whose few entries fall into held-out rows. The other rows are [Gram.Held]. s is consumed: the
// factor uses half of its memory. cols are the columns of the profile. If there are no rows, or no usable column,
// Finish fails with a *stream.DataError.
func (s *Sketch) Finish(p *Profile, cols []stream.Column, opt FinishOptions) (*Gram, error) {
	if opt.Fill == FillPairwise {
		return nil, fmt.Errorf("gram: a sketch has no pairwise products")
	}
	std, err := opt.newStandardizer(p, cols)
	if err != nil {
		return nil, err
	}
	g := newGram(std, p)
	r, rank := s.opt.Rows, s.Main()
	heldCount := r - rank
	all, from := s.Room(), s.Reader()
	heldRows := make([]float64, g.D*heldCount)
	column := make([]float64, r)
	// In ascending order, column k of the factor ends before the sums of the next column begin.
	for k, j := range std.Columns {
		from.ColumnTo(column, j, std.Shift[k], std.Factor[k], std.Fill[k])
		main := column[:rank]
		norm := math.Hypot(std.Std[k], std.offset[k]) * math.Sqrt(std.Weight) * math.Abs(std.Factor[k])
		if length := math.Sqrt(kernel.Dot(main, main)); length > 0 {
			correction := min(max(norm/length, 0.5), 2)
			for i := range column {
				column[i] *= correction
			}
		}
		copy(all[k*rank:], main)
		copy(heldRows[k*heldCount:], column[rank:])
	}
	g.R, g.Rank = all[:g.D*rank:g.D*rank], rank
	g.Held = FromFactor(heldRows, g.D, heldCount)
	s.Drop()
	return g, nil
}

// Main returns the number of rows used for estimates. The rows after them are held out to judge the estimates.
func (s *Sketch) Main() int { return s.opt.Rows - SketchHeld(s.opt.Rows) }

// SketchHeld returns the number of held-out rows of a Sketch for a requested number of rows.
func SketchHeld(rows int) int { return max(1, SketchRows(rows)/groupRows/holdoutEvery) * groupRows }

// Drop frees the sums.
func (s *Sketch) Drop() { s.sums, s.gaps = nil, nil }

// Room returns the memory of the sums as 2·r·d floats. Column j has the numbers from 2·r·j on, and writing there
// destroys the sums of that column.
func (s *Sketch) Room() []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s.sums))), len(s.sums))
}

// SketchReader reads the columns of a Sketch. It is for one goroutine at a time.
type SketchReader struct {
	s         *Sketch
	ones, gap []float64
}

// Reader returns a new reader of s.
func (s *Sketch) Reader() *SketchReader {
	r := &SketchReader{s, make([]float64, s.opt.Rows), make([]float64, s.opt.Rows)}
	s.ones.floatsTo(r.ones)
	return r
}

// ColumnTo writes the sketch of (x − shift)·factor to the r numbers of dst, x being column j of the table with its
// missing entries filled. The sketch of no rows is 0.
func (r *SketchReader) ColumnTo(dst []float64, j int, shift, factor, fill float64) {
	s := r.s
	if s.sums == nil {
		clear(dst)
		return
	}
	sumsToFloats(dst, s.top[j], s.columnSums(j))
	if m := s.gaps[j]; m != nil {
		m.floatsTo(r.gap)
		kernel.Axpy(fill, r.gap, dst)
	}
	kernel.Axpy(-shift, r.ones, dst)
	for i := range dst {
		dst[i] *= factor
	}
}

func (c *sketchColumn) floatsTo(dst []float64) {
	if c.sums == nil {
		clear(dst)
		return
	}
	sumsToFloats(dst, c.top, c.sums)
}
