package copier

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	ownipc "github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// ipcSource copies columns of an Arrow IPC file. Package ipc has checked the file. The Arrow library reads it one
// record batch at a time, because package ipc does not read all types as values.
type ipcSource struct {
	*ownipc.File
	leafAt        func(leaf int) int
	reader        *ipc.FileReader
	leaf          []ipcLeaf    // leaves of the file, in order
	record        arrow.Record // the last batch that was read
	batch         int          // number of the batch in record
	topLevelSpans func() map[string]leafSpan
}

// ipcLeaf is a leaf column of an Arrow schema: a top-level field, or a field within structs.
type ipcLeaf struct {
	path     []int // field numbers, from the top level to the leaf
	typ      arrow.DataType
	nullable []bool // whether the enclosing structs (from the top level down) and the field may be null
}

func newIPCSource(opened *ownipc.File, leafAt func(leaf int) int, heldBytes int64) (*ipcSource, error) {
	s := &ipcSource{File: opened, leafAt: leafAt, batch: -1}
	s.topLevelSpans = sync.OnceValue(func() map[string]leafSpan {
		return findSpans(len(s.leaf), func(leaf int) string { return s.reader.Schema().Field(s.leaf[leaf].path[0]).Name })
	})
	in, err := opened.OpenForLibrary(heldBytes)
	if err != nil {
		return nil, err
	}
	err = format.Guard(func() (err error) {
		if s.reader, err = ipc.NewFileReader(io.NewSectionReader(in, 0, opened.Input().Size())); err != nil {
			return err
		}
		for i, field := range s.reader.Schema().Fields() {
			s.addLeavesOfField(field, []int{i}, nil)
		}
		if len(s.leaf) != opened.Columns() || s.reader.NumRecords() != len(opened.GroupRows()) {
			return fmt.Errorf("the library finds %d columns and %d record batches, not %d and %d",
				len(s.leaf), s.reader.NumRecords(), opened.Columns(), len(opened.GroupRows()))
		}
		return nil
	})
	return s, err
}

// HeldBytes returns the memory that the file and the library's schema hold.
func (s *ipcSource) HeldBytes() int64 { return s.File.HeldBytes() + s.LibraryBytes() }

func (s *ipcSource) addLeavesOfField(f arrow.Field, path []int, nullable []bool) {
	nullable = append(nullable[:len(nullable):len(nullable)], f.Nullable)
	if t, ok := f.Type.(*arrow.StructType); ok && t.NumFields() > 0 {
		for i, child := range t.Fields() {
			s.addLeavesOfField(child, append(path[:len(path):len(path)], i), nullable)
		}
		return
	}
	s.leaf = append(s.leaf, ipcLeaf{path, f.Type, nullable})
}

// columnLeaves returns the indices of the leaves of an output column: one leaf, or all leaves of a top-level field. If
// the field is absent, it returns none.
func (s *ipcSource) columnLeaves(c Column) (leaves []int) {
	if c.Kind != FromField {
		return []int{s.leafAt(c.Leaf)}
	}
	return s.topLevelSpans()[c.Name].leafIndices()
}

// Extents implements Source: a batch is always read as a whole.
func (s *ipcSource) Extents(g int, _ []Column) []format.Extent { return []format.Extent{s.Extent(g)} }

// Field implements Source: it returns the Parquet field of a column, with the types that represent its Arrow types.
func (s *ipcSource) Field(c Column) (Field, error) {
	leaves := s.columnLeaves(c)
	if len(leaves) == 0 {
		return Field{}, errNoTopLevelField(c.Name)
	}
	if c.Kind == FromField {
		if s.leaf[leaves[0]].path[0] != s.leaf[leaves[len(leaves)-1]].path[0] {
			return Field{}, errSeveralFieldsOfName(c.Name)
		}
		return s.fieldWithChildren(s.reader.Schema().Field(s.leaf[leaves[0]].path[0]), leaves)
	}
	l := s.leaf[leaves[0]]
	typ, required := l.typ, !slices.Contains(l.nullable, true)
	if c.Element >= 0 {
		elem, isList := listElementField(typ)
		if !isList {
			return Field{}, fmt.Errorf("%v is no list", typ)
		}
		typ, required = elem.Type, false
	}
	m, err := s.arrowMappingOfLeaf(leaves[0], typ)
	if err != nil {
		return Field{}, err
	}
	node, err := m.newNode(c.Name, required)
	return Field{Node: node, Dict: []bool{m.dict}}, err
}

// fieldWithChildren builds the output field for a whole top-level field. The field may contain structs and lists, but
// not lists of structs or of lists.
func (s *ipcSource) fieldWithChildren(f arrow.Field, leaves []int) (Field, error) {
	optional := writer.Repetition(!f.Nullable)
	if t, ok := f.Type.(*arrow.StructType); ok && t.NumFields() > 0 {
		var fields schema.FieldList
		var dict []bool
		for _, child := range t.Fields() {
			sub, err := s.fieldWithChildren(child, leaves[len(dict):])
			if err != nil {
				return Field{}, err
			}
			fields, dict = append(fields, sub.Node), append(dict, sub.Dict...)
		}
		group, err := schema.NewGroupNode(f.Name, optional, fields, -1)
		return Field{Node: group, Dict: dict}, err
	}
	name, typ, required := f.Name, f.Type, !f.Nullable
	elem, isList := listElementField(f.Type)
	if isList { // mapArrowType returns an error for other nested types
		name, typ, required = "element", elem.Type, !elem.Nullable
	}
	m, err := s.arrowMappingOfLeaf(leaves[0], typ)
	if err != nil {
		return Field{}, err
	}
	node, err := m.newNode(name, required)
	if err != nil || !isList {
		return Field{Node: node, Dict: []bool{m.dict}}, err
	}
	list, err := schema.ListOfWithName(f.Name, node, optional, -1)
	return Field{Node: list, Dict: []bool{m.dict}}, err
}

func (s *ipcSource) arrowMappingOfLeaf(leaf int, typ arrow.DataType) (arrowMapping, error) {
	m, err := mapArrowType(typ)
	if precision, scale, small := s.SmallDecimal(leaf); small && err == nil {
		physical := m.physical
		m, err = mapDecimal(int32(precision), int32(scale), -1)
		m.physical = physical
	}
	return m, err
}

func listElementField(t arrow.DataType) (arrow.Field, bool) {
	switch t := t.(type) {
	case *arrow.ListType:
		return t.ElemField(), true
	case *arrow.LargeListType:
		return t.ElemField(), true
	case *arrow.FixedSizeListType:
		return t.ElemField(), true
	}
	return arrow.Field{}, false
}

// Need implements Source. It assumes a column of the widest common type, whose pages grow by doubling.
func (s *ipcSource) Need(g int, c Column) int64 {
	const bytesPerRow = 24
	return int64(len(s.columnLeaves(c))) * (OpenColumnBytes + bytesPerRow*s.GroupRows()[g])
}

// Scratch implements Source. The library always holds a whole record batch.
func (s *ipcSource) Scratch(g int, _ []Column, _ int) (int64, error) { return s.BatchBytes(g) }

// Tasks implements Source: it returns a task for each target, which copies the column from batch g.
func (s *ipcSource) Tasks(_ context.Context, g int, targets []Target) ([]Task, error) {
	if s.batch != g {
		err := format.Guard(func() (err error) {
			if s.record != nil {
				s.record.Release()
				s.record, s.batch = nil, -1
			}
			if s.record, err = s.reader.RecordAt(g); err == nil && s.record.NumRows() != s.GroupRows()[g] {
				err = fmt.Errorf("the record batch has %d rows, not %d", s.record.NumRows(), s.GroupRows()[g])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		s.batch = g
	}
	var tasks []Task
	for _, c := range targets {
		tasks = append(tasks, Task{c.Name, func(ctx context.Context) error {
			return format.Guard(func() error { return s.copyColumn(ctx, c) })
		}})
	}
	return tasks, nil
}

func (s *ipcSource) copyColumn(ctx context.Context, c Target) error {
	for i, leaf := range s.columnLeaves(c.Column) {
		l, chunk := s.leaf[leaf], c.Chunks[i]
		v := newArrowView(s.record, l.path, c.Skip)
		var err error
		switch _, isList := listElementField(l.typ); {
		case c.Kind == FromField && isList:
			err = v.writeListColumn(ctx, chunk, l.nullable)
		case c.Kind == FromField:
			err = v.writeNestedColumn(ctx, chunk, l.nullable)
		case c.Element >= 0:
			err = v.writeElement(ctx, chunk, c.Element)
		default:
			err = v.writeFlatColumn(ctx, chunk)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
