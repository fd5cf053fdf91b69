package gram

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Sketch is a count sketch S·X of a table X (Clarkson and Woodruff 2013; Charikar, Chen and Farach-Colton 2002). Every
// row of X is added with a random sign to one of the r rows of the sketch; r is a few thousand. (SX)ᵀ(SX) estimates XᵀX
// without bias, and the standard deviation of an entry is about ‖xᵢ‖‖xⱼ‖/√r. As with [Moments], one pass suffices for
// any scaling and filling.
//
// The sketch's row and the sign depend only on the seed and the row's global position, and the sums are exact. So
// sketches of parts of a table add up to the sketch of the whole table, to the bit, in any order.
type Sketch struct {
	d      int
	opt    SketchOptions
	groups int // number of groups of groupRows rows

	sums            []int64               // 2·r sums of column j from index 2·j·r on, see exact.go
	top             []int8                // top of each column, see exact.go
	ones            sketchColumn          // the sketch of a column of ones, for subtracting shifts
	missingSketches map[int]*sketchColumn // sketches of ones at the missing entries of a column
	sketchRow       []int                 // for each row of the current chunk, its row of the sketch
	sign            []float64             // for each row of the current chunk, ±√w
}

// SketchOptions tunes a Sketch.
type SketchOptions struct {
	Rows    int    // requested number of rows r, see [SketchRows]
	Seed    uint64 // seed of the random rows and signs
	Threads int    // 0 means GOMAXPROCS
	Limit   int64  // largest number of bytes to hold, see [SketchBytes]; 0 means no bound
}

// sketchColumn contains the exact sums of one column, see exact.go.
type sketchColumn struct {
	top  int8
	sums []int64
}

const (
	// groupRows is the number of consecutive rows of the table that are added to consecutive rows of the sketch. So a
	// chunk of the table uses only a few hundred rows of the sketch, which stay in the cache.
	groupRows = 64
	// groupsPerHoldout is the ratio of all groups of rows to the groups held out to estimate the error of the sketch. At
	// least one group is held out.
	groupsPerHoldout = 8
	// maxSketchRows bounds the rows of a sketch. Instead of a larger sketch, the rows of the table can be used.
	maxSketchRows = 1 << 20
)

// SketchRows returns the number of rows of a Sketch if the given number is requested: a multiple of 64, at least 128.
func SketchRows(rows int) int {
	return max(2, (min(rows, maxSketchRows)+groupRows-1)/groupRows) * groupRows
}

// SketchBytes returns the memory of a Sketch of the given rows for d columns, of which `missing` have missing entries.
func SketchBytes(d, missing, rows int) int64 {
	s := Sketch{d: d, opt: SketchOptions{Rows: SketchRows(rows)}}
	return room.Measure(func(l *room.Layout) {
		s.layOut(l)
		for range missing {
			s.newSketchColumn(l)
		}
		s.layOutReader(l)
	})
}

func (s *Sketch) layOut(l *room.Layout) {
	s.sums, s.top, s.ones = room.Slice[int64](l, 2*s.opt.Rows*s.d), room.Slice[int8](l, s.d), s.newSketchColumn(l)
	for j := range s.top {
		s.top[j] = lowestTop
	}
}

// NewSketch returns an empty sketch of d columns.
func NewSketch(d int, opt SketchOptions) *Sketch {
	opt.Rows, opt.Threads = SketchRows(opt.Rows), kernel.NewTeam(opt.Threads).Threads()
	return &Sketch{d: d, opt: opt, groups: opt.Rows / groupRows, missingSketches: make(map[int]*sketchColumn)}
}

// Rows returns the number of rows of the sketch.
func (s *Sketch) Rows() int { return s.opt.Rows }

// SetLimit changes SketchOptions.Limit, the number of bytes that s may use, for all later calls.
func (s *Sketch) SetLimit(limit int64) { s.opt.Limit = limit }

// Bytes returns the memory that s uses.
func (s *Sketch) Bytes() int64 { return SketchBytes(s.d, len(s.missingSketches), s.opt.Rows) }

// MergedBytes returns the memory that s will use after merging o. If o is nil, it returns the present memory of s.
func (s *Sketch) MergedBytes(o *Sketch) int64 {
	missing := len(s.missingSketches)
	if o != nil {
		for j := range o.missingSketches {
			if s.missingSketches[j] == nil {
				missing++
			}
		}
	}
	return SketchBytes(s.d, missing, s.opt.Rows)
}

func (s *Sketch) allocateForMissing(columns []int) error {
	missing := len(s.missingSketches)
	for _, j := range columns {
		if s.missingSketches[j] == nil {
			missing++
		}
	}
	if err := s.checkLimit(missing); err != nil {
		return err
	}
	if s.sums == nil {
		s.layOut(nil)
	}
	for _, j := range columns {
		if s.missingSketches[j] == nil {
			s.missingSketches[j] = new(s.newSketchColumn(nil))
		}
	}
	return nil
}

func (s *Sketch) checkLimit(missingColumnCount int) error {
	need := SketchBytes(s.d, missingColumnCount, s.opt.Rows)
	if s.opt.Limit == 0 || need <= s.opt.Limit {
		return nil
	}
	description := fmt.Sprintf("a sketch of %d rows of %d features", s.opt.Rows, s.d)
	if missingColumnCount > 0 {
		description += fmt.Sprintf(", %d of them with missing values,", missingColumnCount)
	}
	return &stream.MemoryError{What: description, Need: need, Limit: s.opt.Limit}
}

func (s *Sketch) newSketchColumn(l *room.Layout) sketchColumn {
	return sketchColumn{lowestTop, room.Slice[int64](l, 2*s.opt.Rows)}
}

func (s *Sketch) columnSums(j int) []int64 { return s.sums[2*s.opt.Rows*j:][:2*s.opt.Rows] }

// Add adds the rows of c. It makes one addition for each entry, or for each present entry of sparse rows. So its time
// does not depend on the number of rows of the sketch.
func (s *Sketch) Add(c *stream.Chunk) error {
	if c.Cols != s.d {
		return fmt.Errorf("gram: chunk of %d columns, want %d", c.Cols, s.d)
	}
	if err := s.allocateForMissing(s.newMissingColumns(c)); err != nil {
		return err
	}
	s.assignSketchRows(c)
	r := s.opt.Rows
	addSignedValues(&s.ones.top, s.ones.sums, r, s.sketchRow, s.sign, nil, nil)
	if c.Sparse != nil {
		s.addSparseRows(c)
		return nil
	}
	eachColumn(s.opt.Threads, s.d, func(j int) {
		gap := s.missingSketches[j]
		if addSignedValues(&s.top[j], s.columnSums(j), r, s.sketchRow, s.sign, c.Col(j), nil) > 0 {
			addSignedValues(&gap.top, gap.sums, r, s.sketchRow, s.sign, nil, c.Col(j))
		}
	})
	return nil
}

// newMissingColumns lists the columns that have missing entries in c, but had none before.
func (s *Sketch) newMissingColumns(c *stream.Chunk) (columns []int) {
	if c.Sparse != nil {
		return slices.DeleteFunc(sparseMissingColumns(c), func(j int) bool { return s.missingSketches[j] != nil })
	}
	if c.Missing == nil {
		return nil
	}
	for j := range c.Cols {
		if mayHaveMissing(c, j) && s.missingSketches[j] == nil && slices.ContainsFunc(c.Col(j), math.IsNaN) {
			columns = append(columns, j)
		}
	}
	return columns
}

// assignSketchRows computes the sketch's row and the sign for each row of c. A group of 64 consecutive rows of the table
// goes to one of the r/64 groups of the sketch's r rows, and is rotated there by a random number of rows. So two rows of
// different groups share a row of the sketch with probability 1/r, and rows of the same group never do.
func (s *Sketch) assignSketchRows(c *stream.Chunk) {
	s.sketchRow, s.sign = s.sketchRow[:0], s.sign[:0]
	for i := range c.Rows {
		at := uint64(c.Position(i))
		group := splitmix.Hash(s.opt.Seed, at/groupRows)
		turned := (at + group>>32) % groupRows
		sign := math.Sqrt(rowWeight(c, i))
		if short := float64(float32(sign)); short > 0 && short <= math.MaxFloat32 {
			sign = short // only 24 bits, so that sums of ones times a mean far from 0 lose no bits
		}
		if splitmix.Hash(s.opt.Seed, ^at)&1 != 0 {
			sign = -sign
		}
		s.sketchRow = append(s.sketchRow, int(group%uint64(s.groups))*groupRows+int(turned))
		s.sign = append(s.sign, sign)
	}
}

func (s *Sketch) addSparseRows(c *stream.Chunk) {
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
				if addSignedValues(&s.top[j], s.columnSums(j), r, s.sketchRow[i:i+1], s.sign[i:i+1], value[e:e+1], nil) > 0 {
					gap := s.missingSketches[j]
					addSignedValues(&gap.top, gap.sums, r, s.sketchRow[i:i+1], s.sign[i:i+1], nil, value[e:e+1])
				}
			}
		}
	})
}

// Merge adds the rows of o, whose positions must differ from the positions of the rows of s. Both sketches must have
// the same size, seed and columns. o is unchanged. On error s is unchanged too.
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
	for j := range o.missingSketches {
		holes = append(holes, j)
	}
	if err := s.allocateForMissing(holes); err != nil {
		return err
	}
	addExactSums(&s.ones.top, s.ones.sums, o.ones.top, o.ones.sums)
	for j, gap := range o.missingSketches {
		addExactSums(&s.missingSketches[j].top, s.missingSketches[j].sums, gap.top, gap.sums)
	}
	eachColumn(s.opt.Threads, s.d, func(j int) { addExactSums(&s.top[j], s.columnSums(j), o.top[j], o.columnSums(j)) })
	return nil
}

// Finish turns s, a sketch of all rows of the profile p, into an estimate of the Gram matrix of the filled and scaled
// columns. The estimate is a factor that consists of s without its held-out rows, which become [Gram.Held]. Its columns
// are scaled so that the diagonal is exact, except for columns whose few entries are all in held-out rows. s must not
// be used afterwards, because the factor uses half of its memory. cols must be the columns of the profile. If there are
// no rows, or no usable column, Finish fails with a *stream.DataError.
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
	// In ascending order, column k of the factor ends before the sums of the next listed column begin.
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

// Main returns the number of rows of s used for estimates. The rows after these are held out to rate the estimates.
func (s *Sketch) Main() int { return s.opt.Rows - SketchHeld(s.opt.Rows) }

// SketchHeld returns the number of held-out rows of a Sketch if the given number of rows is requested.
func SketchHeld(rows int) int { return max(1, SketchRows(rows)/groupRows/groupsPerHoldout) * groupRows }

// Drop frees the memory of the sums of s, which must not be used afterwards.
func (s *Sketch) Drop() { s.sums, s.missingSketches = nil, nil }

// Room returns the memory of the sums as 2·r·d floats, for other use. Writing to the 2·r numbers from index 2·r·j on
// destroys the sums of column j.
func (s *Sketch) Room() []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s.sums))), len(s.sums))
}

// SketchReader reads the columns of a Sketch. Only one goroutine may use it at a time.
type SketchReader struct {
	s         *Sketch
	ones, gap []float64
}

// Reader returns a new reader of s.
func (s *Sketch) Reader() *SketchReader {
	r := s.layOutReader(nil)
	s.ones.writeFloats(r.ones)
	return r
}

func (s *Sketch) layOutReader(l *room.Layout) *SketchReader {
	return &SketchReader{s, room.Slice[float64](l, s.opt.Rows), room.Slice[float64](l, s.opt.Rows)}
}

// ColumnTo writes the sketch of (x − shift)·factor to the r numbers of dst. x is column j of the table with its missing
// entries replaced by fill. If the sketch has no rows, the result is 0.
func (r *SketchReader) ColumnTo(dst []float64, j int, shift, factor, fill float64) {
	s := r.s
	if s.sums == nil {
		clear(dst)
		return
	}
	exactSumsToFloats(dst, s.top[j], s.columnSums(j))
	if m := s.missingSketches[j]; m != nil {
		m.writeFloats(r.gap)
		kernel.Axpy(fill, r.gap, dst)
	}
	kernel.Axpy(-shift, r.ones, dst)
	for i := range dst {
		dst[i] *= factor
	}
}

func (c *sketchColumn) writeFloats(dst []float64) {
	if c.sums == nil {
		clear(dst)
		return
	}
	exactSumsToFloats(dst, c.top, c.sums)
}
