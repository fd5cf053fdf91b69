package chunkiotest

import (
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// FakeTable is a table that a test makes up and keeps in memory. FakeFile and FakeDisk present it as input files.
type FakeTable struct {
	Leaves []format.Leaf
	Scalar map[string][]float64
	List   map[string][][]float64
	Keys   map[string][][]float64 // of maps, whose values are lists
	Text   map[string][]string    // HiveNull for a null
	Rows   int
}

// NewTable returns a table without columns.
func NewTable(rows int) *FakeTable {
	return &FakeTable{Scalar: map[string][]float64{}, List: map[string][][]float64{}, Keys: map[string][][]float64{}, Rows: rows}
}

// AddScalar adds a column of numbers.
func (t *FakeTable) AddScalar(name string, x []float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "double", Width: 1, Nulls: -1, MaybeNaN: true, Scratch: 1000})
	t.Scalar[name] = x
	return t
}

// AddList adds a column of lists. All lists have width elements; if width is 0, their lengths may differ.
func (t *FakeTable) AddList(name string, width int, x [][]float64) *FakeTable {
	l := format.Leaf{Name: name, Type: "list<double>", Width: width, List: true, Nulls: -1, MaybeNaN: true, Scratch: 1000}
	if width == 0 {
		l.Why = format.WhyVarying
	}
	t.Leaves = append(t.Leaves, l)
	t.List[name] = x
	return t
}

// AddMap adds a column of maps from numbers to numbers.
func (t *FakeTable) AddMap(name string, keys, values [][]float64) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "map", Why: "maps", Nulls: -1, MaybeNaN: true, Scratch: 1000, Entries: "double"})
	t.Keys[name], t.List[name] = keys, values
	return t
}

// AddText adds a column of type string, without values: it is not a feature.
func (t *FakeTable) AddText(name string) *FakeTable {
	t.Leaves = append(t.Leaves, format.Leaf{Name: name, Type: "string", Why: "text"})
	return t
}
