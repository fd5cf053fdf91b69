package hygiene

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Facts holds statistics of the columns of a table that can be merged and that moments do not provide.
//
// A column needs 24 bytes. Each of the first mostEndColumns columns needs 72 more, and each column 72 more if there is
// a label. In addition Facts needs at most 2 MiB: 3 KiB for each of mostSketched columns that may be identifiers, and
// 40 bytes for each of mostCells sums by class. Labels that are texts are stored as codes. If there are more than
// mostClasses classes, or more than mostCells sums, sums by class are not stored.
type Facts struct {
	rows    int64
	columns []column
	ends    []columnEnds // ends of the first columns; nil before the first rows
	label   *label       // nil if there is no label

	candidates int  // number of columns with a sketch
	tooManyIDs bool // there were more than mostSketched candidates, which are therefore measurements and not identifiers

	adds        int      // number of chunks added; copies are ruled out after 1, 2, 4, 8, … chunks
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

// New returns facts of d columns without rows. If labelled is true, they also use the targets of the chunks. The number
// of threads, 0 for all cores, does not change the result.
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

// FactsBytes bounds the memory of facts of d columns.
func FactsBytes(d int, labelled bool) int64 {
	n := 24*int64(d) + endsBytes*int64(min(d, mostEndColumns)) + sketchBytes*int64(min(d, mostSketched))
	if labelled {
		n += 72*int64(d) + 40*min(mostCells, mostClasses*int64(d))
	}
	return n
}

// Bytes bounds the memory of f.
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
		f.addEnds(c)
		if f.label != nil {
			f.label.addChunk(c)
		}
	}
	if f.adds++; f.adds&(f.adds-1) == 0 {
		f.markUniqueHashes()
	}
	return nil
}

// addSparse adds sparse rows. In these only copies are searched for, not identifiers, times or leaks.
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
			col.units = col.units.intersect(possibleUnits(c.Col(j), col.units))
		}
		if !col.isNotID && !f.tooManyIDs {
			f.addDistinct(col, c.Col(j))
		}
	}
}

// Merge adds the facts of o, which is unchanged. If it fails, f is unchanged too. Facts without rows have no effect. If
// one label consists of numbers and the other of codes, the facts about the label are dropped.
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
		a.units = a.units.intersect(b.units)
		switch {
		case b.isNotID || a.isNotID || f.tooManyIDs:
			a.ruleOutID(f)
		case b.distinct == nil: // there is no observed value
		case a.distinct == nil:
			f.candidates++
			a.distinct = b.distinct.clone()
		default:
			a.distinct.mergeSketch(b.distinct)
		}
	}
	if f.candidates > mostSketched {
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

// TakeLabel replaces the facts of f about the label by those in o, because the rows of f were read without the label.
// Column k of f is column index[k] of o, which may be nil.
func (f *Facts) TakeLabel(o *Facts, index []int) {
	if f.label = nil; o != nil && o.label != nil {
		f.label = o.label.selectColumns(index)
	}
}

func isWhole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 0x1p64 }
