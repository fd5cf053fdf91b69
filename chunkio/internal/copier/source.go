// Package copier copies columns of Parquet and Arrow IPC files to Parquet without changing a bit: values are never
// converted, so types, nulls and NaN payloads stay the same.
package copier

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	ownipc "github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/remaining"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source is an opened input file whose columns can be copied.
type Source interface {
	format.File
	// Field returns the output field of a column, which is a leaf or a whole field.
	Field(c Column) (Field, error)
	// Tasks lists the tasks that copy columns of row group g to the chunks of targets. Tasks may run concurrently.
	Tasks(ctx context.Context, g int, targets []Target) ([]Task, error)
	// Need returns an upper bound on the bytes that column c of row group g holds while it is open. Scratch returns an
	// upper bound on the additional memory for copying columns of row group g with this number of workers.
	Need(g int, c Column) int64
	Scratch(g int, columns []Column, workers int) (int64, error)
	// Input returns the input of the file. Extents returns the byte ranges read to copy columns of group g.
	Input() format.Input
	Extents(g int, columns []Column) []format.Extent
}

// Open returns a Source that owns the opened file. leafAt maps the index of a leaf in the dataset to its index in the
// file. heldBytes is the memory already in use.
func Open(opened format.File, leafAt func(leaf int) int, heldBytes int64) (Source, error) {
	switch f := opened.(type) {
	case *pq.File:
		return newParquetSource(f, leafAt), nil
	case *remaining.File:
		return newRemainingSource(f, leafAt), nil
	case *ownipc.File:
		return newIPCSource(f, leafAt, heldBytes)
	case *svm.File:
		return &textSource{f}, nil
	}
	return nil, errors.New("columns of this kind of file cannot be copied")
}

// Field describes the schema of one output column.
type Field struct {
	Node        schema.Node
	Dict        []bool             // for each leaf: whether to try a dictionary
	Annotations footer.Annotations // logical types that the node cannot represent
}

// Target is an output column of the row group that is being written.
type Target struct {
	Column
	Chunks []*writer.Chunk // for each leaf: the column chunk to which it is written
	Skip   []uint64        // bit i is set if row i of the group is not written; nil if all rows are written
}

func skipsRow(skipBits []uint64, row int) bool {
	return skipBits != nil && skipBits[row/64]>>(row%64)&1 != 0
}

// KeepRows moves the values of the rows to write to the front of values, which begin with row from, and returns them.
func (t Target) KeepRows(values []float64, from int64) []float64 {
	kept := values[:0]
	for i, x := range values {
		if !skipsRow(t.Skip, int(from)+i) {
			kept = append(kept, x)
		}
	}
	return kept
}

// Task copies a part of one row group. Column is the name used in errors.
type Task struct {
	Column string
	Run    func(ctx context.Context) error
}

// Kind is the part of the input from which an output column is copied.
type Kind int

// Kinds of sources of an output column.
const (
	FromLeaf      Kind = iota // a leaf, or one element of a leaf with lists
	FromField                 // a whole top-level field with all its leaves
	FromSparse                // one feature of sparse rows
	FromPartition             // a partition key
	Absent                    // the file lacks the column; all its rows are null
	FromNumbers               // like FromLeaf, but written as a wider number type
	FromDates                 // like FromLeaf, but the leaf shows dates as times, and these are written
)

// ReadsLeaves reports whether a column of this kind is made from leaves of the file.
func (k Kind) ReadsLeaves() bool {
	return k == FromLeaf || k == FromField || k == FromNumbers || k == FromDates
}

// Column is one top-level column of the output.
type Column struct {
	Name    string
	Kind    Kind
	Leaf    int // index of the leaf in the dataset, for FromLeaf
	Element int // index of an element in the lists of the leaf, or of a feature of sparse rows; -1 for the leaf itself
	Part    int // index of the partition key, for FromPartition
}

// OpenColumnBytes is the memory of a column while it is written, without its pages. It includes v15's writer (measured:
// 6 KiB, or 13 KiB with a dictionary), and a batch of copyBatch values and levels (up to 24 + 4 bytes each).
const OpenColumnBytes = 128 << 10

// leafSpan is the range of the leaves of a top-level field. If several fields have the same name, it extends from the
// first leaf of the first field to the last leaf of the last one.
type leafSpan struct{ from, to int }

// findSpans returns the span of every top-level field, by name. top(leaf) is the name of the leaf's field. Separate
// searches for 500,000 lists would take hours.
func findSpans(leaves int, top func(leaf int) string) map[string]leafSpan {
	spans := map[string]leafSpan{}
	for i := range leaves {
		name := top(i)
		at, known := spans[name]
		if !known {
			at.from = i
		}
		spans[name] = leafSpan{at.from, i + 1}
	}
	return spans
}

func (s leafSpan) leafIndices() []int {
	numbers := make([]int, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// FlatNode returns the schema node of a top-level column with the same type as n.
func FlatNode(n *schema.PrimitiveNode, name string, required bool) (*schema.PrimitiveNode, error) {
	return schema.NewPrimitiveNodeLogical(name, writer.Repetition(required), n.LogicalType(), n.PhysicalType(), n.TypeLength(), -1)
}

// cloneNode copies a node and all nodes below it. A node refers to its parent, so it can belong to one schema only.
func cloneNode(n schema.Node) (schema.Node, error) {
	if p, ok := n.(*schema.PrimitiveNode); ok {
		return schema.NewPrimitiveNodeLogical(p.Name(), p.RepetitionType(), p.LogicalType(), p.PhysicalType(), p.TypeLength(), p.FieldID())
	}
	group := n.(*schema.GroupNode)
	var fields schema.FieldList
	for i := range group.NumFields() {
		f, err := cloneNode(group.Field(i))
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	logical := group.LogicalType()
	if logical != nil && logical.IsNone() {
		logical = nil
	}
	return schema.NewGroupNodeLogical(group.Name(), group.RepetitionType(), fields, logical, group.FieldID())
}

func errSeveralFieldsOfName(name string) error {
	return stream.Usagef("several columns are named %s, and none can be told from the others; rename them", name)
}

func errNoTopLevelField(name string) error {
	return stream.Usagef("{also} %s: a list or struct inside a struct cannot be copied by itself; name the whole top-level column, or its flat columns", name)
}
