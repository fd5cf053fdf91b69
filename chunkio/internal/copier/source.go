// Package copier copies columns of Parquet and Arrow IPC files to Parquet, to the bit: values are never converted, so
// types, nulls and NaN payloads stay the same.
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
	// Tasks lists the tasks that write row group g of such columns to their chunks; they may run in any order and
	// concurrently.
	Tasks(ctx context.Context, g int, targets []Target) ([]Task, error)
	// Need bounds the bytes that column c of row group g holds while it is open. Scratch bounds the additional memory
	// of copying from row group g with this number of workers.
	Need(g int, c Column) int64
	Scratch(g int, columns []Column, workers int) (int64, error)
	// Input is the input of the file, and Extents its byte ranges that are read to copy such columns of row group g.
	Input() format.Input
	Extents(g int, columns []Column) []format.Extent
}

// Open makes a source of an opened file, which it then owns. leafAt maps a leaf of the dataset to its index in the
// file, and heldBytes is the memory already in use.
func Open(opened format.File, leafAt func(leaf int) int, heldBytes int64) (Source, error) {
	switch f := opened.(type) {
	case *pq.File:
		return newParquetSource(f, leafAt), nil
	case *ownipc.File:
		return newIPCSource(f, leafAt, heldBytes)
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

// SkipsRow reports whether a row of the group is not written.
func SkipsRow(skip []uint64, row int) bool { return skip != nil && skip[row/64]>>(row%64)&1 != 0 }

// Task is a part of the copying of one row group; Column names it in errors.
type Task struct {
	Column string
	Run    func(ctx context.Context) error
}

// Kind is the origin of an output column.
type Kind int

// The origins.
const (
	FromLeaf      Kind = iota // a leaf, or one element of a list leaf
	FromField                 // a whole top-level field with all its leaves
	FromSparse                // one feature of sparse rows
	FromPartition             // a partition key
	Absent                    // none: the file lacks it, and all its rows are null
	FromNumbers               // as FromLeaf, for numbers that are written with a wider type
)

// Column is one top-level column of the output.
type Column struct {
	Name    string
	Kind    Kind
	Leaf    int // dataset leaf, of FromLeaf
	Element int // of a list leaf or of sparse rows; -1 for a leaf itself
	Part    int // of FromPartition
}

// OpenColumnBytes is the memory of a column while it is written, without its pages: v15's writer (measured: 6 KiB, 13
// with a dictionary) and a batch of values and levels (copyBatch of up to 24 + 4 bytes).
const OpenColumnBytes = 128 << 10

// span is the range of a top-level field's leaves. If fields share a name, it extends from the first one's to the
// last one's leaves.
type span struct{ from, to int }

// findSpans finds the leaves of every top-level field, by name. Looking for them field by field would take hours for
// 500,000 lists.
func findSpans(leaves int, top func(leaf int) string) map[string]span {
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

func (s span) leafNumbers() []int {
	numbers := make([]int, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// FlatNode makes a top-level column of n's type.
func FlatNode(n *schema.PrimitiveNode, name string, required bool) (*schema.PrimitiveNode, error) {
	return schema.NewPrimitiveNodeLogical(name, writer.Repetition(required), n.LogicalType(), n.PhysicalType(), n.TypeLength(), -1)
}

// cloneNode copies a node with all nodes below it: a node knows its parent, so it can be in one schema only.
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

// errAmbiguousName refuses a column that cannot be copied as a whole, because others have its name.
func errAmbiguousName(name string) error {
	return stream.Usagef("several columns are named %s, and none can be told from the others; rename them", name)
}

// errNotTopLevel refuses a group that can only be copied with its parent.
func errNotTopLevel(name string) error {
	return stream.Usagef("{also} %s: a list or struct inside a struct cannot be copied by itself; name the whole top-level column, or its flat columns", name)
}
