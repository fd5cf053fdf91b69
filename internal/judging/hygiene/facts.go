package hygiene

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Facts holds mergeable statistics of the columns of a table, in addition to their moments.
//
// A column needs 24 bytes. Each of the first maxEndColumns columns needs 72 bytes more. If there is a label, each
// column needs another 72 bytes. In addition Facts needs at most 2 MiB: 3 KiB for each of up to maxSketched columns
// that may be identifiers, and 40 bytes for each of up to maxCells sums by class and column. Labels that are texts are
// stored as codes. If there are more than maxClasses classes, or more than maxCells sums, sums by class are not stored.
type Facts struct {
	rows    int64
	columns []column
	ends    []columnEnds // extreme values of the first columns; nil until rows are added
	label   *label       // nil if there is no label

	candidates int  // number of columns with a sketch
	tooManyIDs bool // more than maxSketched columns could be identifiers; all are considered measurements

	adds        int      // number of chunks added; columns without a copy are searched after 1, 2, 4, 8, … chunks
	keys        []uint64 // keys of the rows of the current chunk
	sampledRows []int
}

type column struct {
	hash     uint64 // sum over the rows of a hash of position and value
	isUnique bool   // proved to differ from every other column
	isNotID  bool   // proved not to be an identifier
	units    unitSet
	distinct *distinctSketch // sketch of its distinct values, as long as it may be an identifier
}

// New returns the Facts of d columns without rows. If labelled is true, it also uses the targets of the chunks as the
// label. The number of threads (0 for all cores) does not change the result.
func New(d, threads int, labelled bool) *Facts {
	f := &Facts{columns: make([]column, d)}
	for j := range f.columns {
		f.columns[j].units = allUnits
	}
	if labelled {
		f.label = newLabel(d, threads)
	}
	return f
}

// FactsBytes returns an upper bound of the memory of the Facts of d columns.
func FactsBytes(d int, labelled bool) int64 {
	n := 24*int64(d) + endsBytes*int64(min(d, maxEndColumns)) + sketchBytes*int64(min(d, maxSketched))
	if labelled {
		n += 72*int64(d) + 40*min(maxCells, maxClasses*int64(d))
	}
	return n
}

// Bytes returns an upper bound of the memory of f.
func (f *Facts) Bytes() int64 { return FactsBytes(len(f.columns), f.label != nil) }

// Add adds the rows of c. It fails, with f unchanged, if c has a different number of columns.
func (f *Facts) Add(c *stream.Chunk) error {
	if c.Cols != len(f.columns) {
		return fmt.Errorf("hygiene: chunk of %d columns, want %d", c.Cols, len(f.columns))
	}
	if c.Rows == 0 {
		return nil
	}
	f.rows += int64(c.Rows)
	f.keys = f.keys[:0]
	for i := range c.Rows {
		f.keys = append(f.keys, splitmix.Mix(uint64(c.Position(i))))
	}
	if c.Sparse != nil {
		f.addSparse(c)
	} else {
		f.addHashes(c)
		f.addValues(c)
		f.addToEnds(c)
		if f.label != nil {
			f.label.addChunk(c)
		}
	}
	if f.adds++; f.adds&(f.adds-1) == 0 {
		f.markUniqueHashes()
	}
	return nil
}

// addSparse adds sparse rows. Sparse rows are examined only for copies, not for identifiers, times or leaks.
func (f *Facts) addSparse(c *stream.Chunk) {
	for j := range f.columns {
		f.columns[j].ruleOutID(f)
		f.columns[j].units = noUnits
	}
	f.label = nil
	for i := range c.Rows {
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			if col := &f.columns[c.Sparse.Index[e]]; !col.isUnique {
				col.hash += hashValue(f.keys[i], c.Sparse.Value[e])
			}
		}
	}
}

func (f *Facts) addValues(c *stream.Chunk) {
	for j := range f.columns {
		col := &f.columns[j]
		if col.units != noUnits {
			col.units = col.units.intersectUnits(possibleUnits(c.Col(j), col.units))
		}
		if !col.isNotID && !f.tooManyIDs {
			f.addDistinct(col, c.Col(j))
		}
	}
}

// Merge adds the facts of o, which does not change, to f. If it fails, f does not change either. If o has no rows,
// nothing is added. If one label consists of numbers and the other of codes, the facts about the label are dropped.
func (f *Facts) Merge(o *Facts) error {
	if len(f.columns) != len(o.columns) {
		return fmt.Errorf("hygiene: cannot merge %d columns with %d", len(f.columns), len(o.columns))
	}
	empty := f.rows == 0
	f.rows += o.rows
	f.mergeEnds(o)
	f.tooManyIDs = f.tooManyIDs || o.tooManyIDs
	for j := range f.columns {
		a, b := &f.columns[j], &o.columns[j]
		a.hash += b.hash
		a.isUnique = a.isUnique || b.isUnique
		a.units = a.units.intersectUnits(b.units)
		switch {
		case b.isNotID || a.isNotID || f.tooManyIDs:
			a.ruleOutID(f)
		case b.distinct == nil: // the column has no observed value in the rows of o
		case a.distinct == nil:
			f.candidates++
			a.distinct = b.distinct.clone()
		default:
			a.distinct.mergeSketch(b.distinct)
		}
	}
	if f.candidates > maxSketched {
		f.ruleOutAllIDs()
	}
	switch {
	case f.label == nil && o.label == nil:
	case empty && o.label != nil:
		f.label = o.label.clone()
	case f.label == nil || o.rows > 0 && (o.label == nil || o.label.codes != f.label.codes):
		f.label = nil
	case o.label != nil:
		f.label.mergeLabel(o.label)
	}
	return nil
}

// Reorder moves column order[j] of f to position j. order must be a permutation. Of more than maxEndColumns columns, a
// column that comes to one of the first positions from a later one has no extreme values.
func (f *Facts) Reorder(order []int) {
	columns, ends := make([]column, len(order)), make([]columnEnds, len(f.ends))
	for j, from := range order {
		columns[j] = f.columns[from]
		if j < len(ends) && from < len(ends) {
			ends[j] = f.ends[from]
		}
	}
	if f.columns = columns; f.ends != nil {
		f.ends = ends
	}
	if f.label != nil {
		f.label = f.label.selectColumns(order)
	}
}

// TakeLabel replaces the facts of f about the label by the facts of o. It is needed if the rows of f were read without
// the label. Column k of f is column index[k] of o. o may be nil.
func (f *Facts) TakeLabel(o *Facts, index []int) {
	if f.label = nil; o != nil && o.label != nil {
		f.label = o.label.selectColumns(index)
	}
}

func isWhole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 0x1p64 }
