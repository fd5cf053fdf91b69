package hygiene

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
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
	hash     uint64          // sum over the rows of a hash of position and value
	isUnique bool            // proved to differ from every other column
	isNotID  bool            // proved not to be an identifier
	units    unitSet         // units of time in which all values may be times
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
		f.label = newLabel(nil, d, threads)
	}
	return f
}

// FactsBytes returns an upper bound of the memory of the Facts of d columns.
func FactsBytes(d int, labelled bool) int64 {
	return room.Measure(func(l *room.Layout) {
		room.Slice[column](l, d)
		newEnds(l, d)
		for range min(d, maxSketched) {
			new(distinctSketch).layOut(l)
		}
		if labelled {
			newLabel(l, d, 0)
			room.Slice[classSums](l, min(maxCells, maxClasses*d))
		}
	})
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
		f.hashChunk(c)
		f.addDenseChunk(c)
		f.addChunkToEnds(c)
		if f.label != nil {
			f.label.addChunk(c)
		}
	}
	if f.adds++; f.adds&(f.adds-1) == 0 {
		f.markColumnsWithUniqueHash()
	}
	return nil
}

// addSparse adds sparse rows. Sparse rows are examined only for copies, not for identifiers, times or leaks.
func (f *Facts) addSparse(c *stream.Chunk) {
	for j := range f.columns {
		f.columns[j].ruleOutIdentifier(f)
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

func (f *Facts) addDenseChunk(c *stream.Chunk) {
	for j := range f.columns {
		col := &f.columns[j]
		if col.units != noUnits {
			col.units = col.units.intersectUnits(possibleUnits(c.Col(j), col.units))
		}
		if !col.isNotID && !f.tooManyIDs {
			f.addToSketch(col, c.Col(j))
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
			a.ruleOutIdentifier(f)
		case b.distinct == nil: // the column has no observed value in the rows of o
		case a.distinct == nil:
			f.candidates++
			a.distinct = b.distinct.clone()
		default:
			a.distinct.mergeSketch(b.distinct)
		}
	}
	if f.candidates > maxSketched {
		f.ruleOutAllIdentifiers()
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

// Subtract removes the rows of o from f, to which they were added, as far as that is possible: it removes their values
// from the sketches of distinct values. All else is of all rows that were ever added.
func (f *Facts) Subtract(o *Facts) error {
	if len(f.columns) != len(o.columns) {
		return fmt.Errorf("hygiene: cannot subtract %d columns from %d", len(o.columns), len(f.columns))
	}
	f.rows = max(f.rows-o.rows, 0)
	for j := range f.columns {
		if a, b := f.columns[j].distinct, o.columns[j].distinct; a != nil && b != nil {
			a.subtractSketch(b)
		}
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

// Kind is the reason why a column should not be a feature.
type Kind int

// The reasons, by priority: if several apply to a column, its kind is the first.
const (
	Sparse Kind = iota // most values are missing
	Time               // whole numbers that count time
	ID                 // whole numbers that hardly repeat
	Leak               // the column nearly determines the label
	Copy               // the same values as an earlier column
)

// Suspect is a column that should probably not be a feature.
type Suspect struct {
	Column   int
	Kind     Kind
	Evidence string  // for Time the unit, for Leak a description of how it determines the label
	Original int     // for Copy: the original column
	Share    float64 // for Sparse: share of the rows without a value
}

const (
	// minRows is the least number of rows for suspecting an identifier if the values are in any order, and minRising if
	// the values rise. Ten values rise by chance once in 10! cases.
	minRows   = 100
	minRising = 10
	// nearlyUnique is the least share of distinct values among all values of an identifier.
	nearlyUnique = 0.95
	// longNumber is the least magnitude of numbers that are too long for measurements. Measurements have fewer
	// significant digits.
	longNumber = 1e6
)

// FindSuspects lists the suspicious columns among the wanted columns, by index. If wanted is nil, all columns are
// examined. p is the profile of the same rows. A column is Sparse if its share of missing values exceeds maxMissing. If
// f is nil, only the profile is used.
func (f *Facts) FindSuspects(p *gram.Profile, wanted []bool, maxMissing float64) []Suspect {
	var list []Suspect
	var original []int
	if f != nil {
		original = f.originalColumns(wanted)
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		if wanted != nil && !wanted[j] {
			continue
		}
		if c.Observed == 0 || c.Min == c.Max { // a constant column cannot be a feature in any case
			continue
		}
		s := Suspect{Column: j}
		missing := float64(c.Missing.Total())
		if rows := c.Missing.Total() + c.Observed; rows == p.Rows {
			missing /= float64(rows)
		} else { // rows with a missing value were dropped, so the share refers to all rows read
			missing /= float64(max(p.Seen, 1))
		}
		switch {
		case missing > maxMissing:
			s.Kind, s.Share = Sparse, missing
		case f != nil && f.columns[j].units.unitName() != "" && c.Observed >= minRising && !f.isRowCounter(j, c):
			s.Kind, s.Evidence = Time, f.columns[j].units.unitName()
		case f.isIdentifier(j, c):
			s.Kind = ID
		case f != nil && f.label != nil && f.label.describeLeak(j) != "":
			s.Kind, s.Evidence = Leak, f.label.describeLeak(j)
		case f != nil && original[j] != j:
			s.Kind, s.Original = Copy, original[j]
		default:
			continue
		}
		list = append(list, s)
	}
	return list
}

func (f *Facts) isIdentifier(j int, c *gram.ColumnProfile) bool {
	return c.Rising && c.Observed >= minRising || f != nil && f.columns[j].distinct.looksUnique(c)
}

// isRowCounter reports whether the values of column j number the rows, although they could be times. In this case the
// column is an identifier, and successive values differ by less than 100 on average: as times in ms they would be less
// than 100 ms apart.
func (f *Facts) isRowCounter(j int, c *gram.ColumnProfile) bool {
	return c.Min > timeUnits[0].to && c.Max-c.Min < 100*float64(c.Observed) && f.isIdentifier(j, c)
}

// looksUnique distinguishes an identifier from a measurement in whole numbers. Among n measurements in whole numbers
// with standard deviation σ, about n²/(2·√12σ) repeat a value by chance. Identifiers repeat fewer values, or are long
// numbers.
func (s *distinctSketch) looksUnique(c *gram.ColumnProfile) bool {
	if s == nil || s.seen < minRows {
		return false
	}
	n, share := float64(s.seen), s.distinctShare()
	spread := math.Sqrt(max(c.Squares/c.Weight-c.Sum*c.Sum/c.Weight/c.Weight, 0))
	chance := n * n / (2 * math.Sqrt(12) * spread)
	long := max(math.Abs(c.Min), math.Abs(c.Max)) >= longNumber
	switch {
	case share == 1:
		return long || chance >= 3
	case share < nearlyUnique:
		return false
	}
	return long && chance < 1 || chance >= 20 && (1-share)*n < chance/2
}
