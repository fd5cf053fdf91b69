package hygiene

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/splitmix"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Facts are the mergeable facts about the columns of a table that moments do not tell.
//
// A column takes 24 bytes, each of the first mostEnds 72 more, and with a label 72 more. Beside these, facts take at most 2 MiB: 3 KiB for
// each of mostSketched columns that look like identifiers, and 40 bytes for each of mostCells sums by class. Of a
// label of texts their codes are held, and of more than mostClasses, or mostCells with all columns, nothing.
type Facts struct {
	rows    int64
	columns []column
	ends    []ends // of the first columns; nil before there are rows
	label   *label // nil where no label is read

	candidates int  // columns with a sketch
	crowded    bool // there were more than mostSketched: measurements, not identifiers

	adds int      // chunks added, to look for copies more and more seldom
	keys []uint64 // of the rows of a chunk
	// looked are those of its rows that ends look at.
	looked []int
}

// column is what is known of one column.
type column struct {
	hash  uint64 // sum over the rows of a hash of position and value
	alone bool   // it was proved to differ from every other column
	plain bool   // it was proved to be no identifier
	clock clock
	kept  *sketch // of its distinct values, while it may be an identifier
}

// New returns facts of no rows of d columns, with a label where chunks have targets. threads, 0 for all
// cores, change nothing.
func New(d, threads int, labelled bool) *Facts {
	f := &Facts{columns: make([]column, d)}
	for j := range f.columns {
		f.columns[j].clock = anyClock
	}
	if labelled {
		f.label = newLabel(d, threads)
	}
	return f
}

// Bytes is what facts of d columns take at most, with a label's.
func Bytes(d int, labelled bool) int64 {
	n := 24*int64(d) + endsBytes*int64(min(d, mostEnds)) + sketchBytes*int64(min(d, mostSketched))
	if labelled {
		n += 72*int64(d) + 40*min(mostCells, mostClasses*int64(d))
	}
	return n
}

// Bytes is what f takes at most.
func (f *Facts) Bytes() int64 { return Bytes(len(f.columns), f.label != nil) }

// Add adds the rows of c. It fails, with f unchanged, if c has other columns.
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
			f.label.add(c)
		}
	}
	if f.adds++; f.adds&(f.adds-1) == 0 {
		f.settleCopies()
	}
	return nil
}

// addSparse adds sparse rows, whose identifiers and leaks are not looked for.
func (f *Facts) addSparse(c *stream.Chunk) {
	for j := range f.columns {
		f.columns[j].notID(f)
		f.columns[j].clock = noClock
	}
	f.label = nil
	for i := range c.Rows {
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			if col := &f.columns[c.Sparse.Index[e]]; !col.alone {
				col.hash += hashOf(f.keys[i], c.Sparse.Value[e])
			}
		}
	}
}

// addValues looks at the values of the columns that may be identifiers or times.
func (f *Facts) addValues(c *stream.Chunk) {
	for j := range f.columns {
		col := &f.columns[j]
		if col.clock != noClock {
			col.clock = col.clock.and(clockOf(c.Col(j), col.clock))
		}
		if !col.plain && !f.crowded {
			f.look(col, c.Col(j))
		}
	}
}

// Merge adds the facts of o, which is unchanged, and so is f on error. Empty facts are neutral. Where one
// label is numbers and the other codes, nothing is known of it.
func (f *Facts) Merge(o *Facts) error {
	if len(f.columns) != len(o.columns) {
		return fmt.Errorf("hygiene: cannot merge %d columns with %d", len(f.columns), len(o.columns))
	}
	empty := f.rows == 0
	f.rows += o.rows
	f.mergeEnds(o)
	f.crowded = f.crowded || o.crowded
	for j := range f.columns {
		a, b := &f.columns[j], &o.columns[j]
		a.hash += b.hash
		a.alone = a.alone || b.alone
		a.clock = a.clock.and(b.clock)
		switch {
		case b.plain || a.plain || f.crowded:
			a.notID(f)
		case b.kept == nil: // of no observed value
		case a.kept == nil:
			f.candidates++
			a.kept = b.kept.clone()
		default:
			a.kept.merge(b.kept)
		}
	}
	if f.candidates > mostSketched {
		f.crowd()
	}
	switch {
	case f.label == nil && o.label == nil:
	case empty && o.label != nil:
		f.label = o.label.clone()
	case f.label == nil || o.rows > 0 && (o.label == nil || o.label.codes != f.label.codes):
		f.label = nil
	case o.label != nil:
		f.label.merge(o.label)
	}
	return nil
}

// TakeLabel gives f, of some rows whose label was not read, what o knows of the label from all of them.
// Column k of f is column index[k] of o, which may be nil.
func (f *Facts) TakeLabel(o *Facts, index []int) {
	if f.label = nil; o != nil && o.label != nil {
		f.label = o.label.only(index)
	}
}

func whole(x float64) bool { return x == math.Trunc(x) && math.Abs(x) < 0x1p64 }
