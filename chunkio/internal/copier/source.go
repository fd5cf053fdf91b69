// Package copier copies columns of Parquet and Arrow IPC files to Parquet, to the bit:
// values are never converted, so types, nulls and NaN payloads stay what they are.
package copier

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	ownipc "github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/svm"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Source is an opened input file that columns can be copied from.
type Source interface {
	format.File
	// Field makes the output field of a column that is a leaf or a whole field.
	Field(c Column) (Field, error)
	// Tasks lists what must be done, in any order and at once, to write row group g of
	// such columns to their chunks.
	Tasks(ctx context.Context, g int, targets []Target) ([]Task, error)
	// Need bounds the bytes that column c of row group g holds while it is open. Scratch
	// bounds what copying from row group g takes besides, with so many workers.
	Need(g int, c Column) int64
	Scratch(g int, columns []Column, workers int) (int64, error)
	// Input is what the file is read from, and Extents the bytes of it that copying such
	// columns of row group g reads.
	Input() format.Input
	Extents(g int, columns []Column) []format.Extent
}

// Open makes a source of an opened file, which it then owns. leafAt says where a
// leaf of the dataset stands in the file, and beside how many bytes are held besides it.
func Open(opened format.File, leafAt func(leaf int) int, beside int64) (Source, error) {
	switch f := opened.(type) {
	case *pq.File:
		return newParquetSource(f, leafAt), nil
	case *ownipc.File:
		return newIPCSource(f, leafAt, beside)
	case *svm.File:
		return &textSource{f}, nil
	}
	return nil, errors.New("columns of this kind of file cannot be copied")
}

// Field is the schema of one output column.
type Field struct {
	Node        schema.Node
	Dict        []bool         // by leaf: whether a dictionary is worth trying
	Annotations pq.Annotations // logical types that the node cannot have
}

// Target is an output column of the row group that is being written.
type Target struct {
	Column
	Chunks []*writer.Chunk // by leaf
	Skip   []uint64        // bit set: the row of the group is not written; nil for none
}

// Skips reports whether a row of the group is not written.
func Skips(skip []uint64, row int) bool { return skip != nil && skip[row/64]>>(row%64)&1 != 0 }

// Task is a part of the copying of one row group; Column names it in errors.
type Task struct {
	Column string
	Run    func(ctx context.Context) error
}

// Kind says where an output column comes from.
type Kind int

// The places.
const (
	FromLeaf      Kind = iota // a leaf, or one element of a list leaf
	FromField                 // a whole top-level field with all its leaves
	FromSparse                // one feature of sparse rows
	FromPartition             // a partition key
	Absent                    // nowhere: the file lacks it, and all its rows are null
	FromNumbers               // as FromLeaf, of numbers that are written with a wider type
)

// Column is one top-level column of the output.
type Column struct {
	Name    string
	Kind    Kind
	Leaf    int // dataset leaf, of FromLeaf
	Element int // of a list leaf or of sparse rows; -1 for a leaf itself
	Part    int // of FromPartition
}

// OpenColumnBytes is what a column holds while it is written, besides its pages: v15's
// writer (measured: 6 KiB, 13 with a dictionary) and a batch of values and levels
// (copyBatch of up to 24 + 4 bytes).
const OpenColumnBytes = 128 << 10

// span is the leaves of a top-level field, which stand in a row. Of fields that share a name it is all from the
// first one's to the last one's.
type span struct{ from, to int }

// spansOf finds the leaves of every top-level field, by name. To look for them field by field would take hours
// for 500,000 lists.
func spansOf(leaves int, top func(leaf int) string) map[string]span {
	spans := map[string]span{}
	for i := range leaves {
		name := top(i)
		at, known := spans[name]
		if !known {
			at.from = i
		}
		spans[name] = span{at.from, i + 1}
	}
	return spans
}

// numbers has the numbers of its leaves.
func (s span) numbers() []int {
	numbers := make([]int, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// FlatNode is a column of n's type at the top level.
func FlatNode(n *schema.PrimitiveNode, name string, required bool) (*schema.PrimitiveNode, error) {
	return schema.NewPrimitiveNodeLogical(name, writer.Repetition(required), n.LogicalType(), n.PhysicalType(), n.TypeLength(), -1)
}

// cloneNode copies a node with all below it: a node knows its parent, so that it can
// be in one schema only.
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

// errShared is the error of a column that cannot be copied as a whole, as others have its name.
func errShared(name string) error {
	return stream.Usagef("several columns are named %s, and none can be told from the others; rename them", name)
}

// errNotWhole is the error of naming a group that can only be copied with its parent.
func errNotWhole(name string) error {
	return stream.Usagef("{also} %s: a list or struct inside a struct cannot be copied by itself; name the whole top-level column, or its flat columns", name)
}
