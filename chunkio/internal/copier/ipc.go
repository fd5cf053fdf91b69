package copier

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	ownipc "github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// ipcSource copies columns of an Arrow IPC file. The file has been checked by package ipc;
// the library then reads it a record batch at a time, which text and dates need.
type ipcSource struct {
	*ownipc.File
	leafAt func(leaf int) int
	reader *ipc.FileReader
	leaf   []ipcLeaf    // in the order of the file's leaves
	record arrow.Record // the batch read last
	batch  int          // its number
}

// ipcLeaf is a leaf column of an Arrow schema: a top-level field or a field of structs.
type ipcLeaf struct {
	path     []int // field numbers from the top level down
	typ      arrow.DataType
	nullable bool // the field, or a struct around it
}

func newIPCSource(opened *ownipc.File, leafAt func(leaf int) int) (*ipcSource, error) {
	s := &ipcSource{File: opened, leafAt: leafAt, batch: -1}
	err := format.Guard(func() (err error) {
		if s.reader, err = ipc.NewFileReader(io.NewSectionReader(opened.Input(), 0, opened.Input().Size())); err != nil {
			return err
		}
		for i, field := range s.reader.Schema().Fields() {
			s.addLeaves(field, []int{i}, false)
		}
		if len(s.leaf) != len(opened.Leaves()) || s.reader.NumRecords() != len(opened.GroupRows()) {
			return fmt.Errorf("the library finds %d columns and %d record batches, not %d and %d",
				len(s.leaf), s.reader.NumRecords(), len(opened.Leaves()), len(opened.GroupRows()))
		}
		return nil
	})
	return s, err
}

// addLeaves flattens a field as package ipc does.
func (s *ipcSource) addLeaves(f arrow.Field, path []int, nullable bool) {
	nullable = nullable || f.Nullable
	if t, ok := f.Type.(*arrow.StructType); ok && t.NumFields() > 0 {
		for i, child := range t.Fields() {
			s.addLeaves(child, append(path[:len(path):len(path)], i), nullable)
		}
		return
	}
	s.leaf = append(s.leaf, ipcLeaf{path, f.Type, nullable})
}

// leafOf is the leaf that an output column comes from; false where there is none.
func (s *ipcSource) leafOf(c Column) (ipcLeaf, bool) {
	if c.Kind != FromField {
		return s.leaf[s.leafAt(c.Leaf)], true
	}
	for _, l := range s.leaf {
		if len(l.path) == 1 && s.reader.Schema().Field(l.path[0]).Name == c.Name {
			return l, true
		}
	}
	return ipcLeaf{}, false
}

// Extents implements Source: a batch is read whole.
func (s *ipcSource) Extents(g int, _ []Column) []format.Extent { return []format.Extent{s.Extent(g)} }

// Field implements Source.
func (s *ipcSource) Field(c Column) (Field, error) {
	l, ok := s.leafOf(c)
	if !ok {
		return Field{}, errNotWhole(c.Name)
	}
	name, typ, required := c.Name, l.typ, !l.nullable
	elem, isList := elementOf(typ)
	switch {
	case c.Element >= 0 && !isList:
		return Field{}, fmt.Errorf("%v is no list", typ)
	case c.Element >= 0:
		typ, required = elem.Type, false
	case c.Kind == FromField && isList: // other nested types are an error of mapArrow
		name, typ, required = "element", elem.Type, !elem.Nullable
	}
	m, err := mapArrow(typ)
	if err != nil {
		return Field{}, err
	}
	node, err := m.node(name, required)
	if err != nil || c.Kind != FromField {
		return Field{node, []bool{m.dict}}, err
	}
	list, err := schema.ListOfWithName(c.Name, node, writer.Repetition(!l.nullable), -1)
	return Field{list, []bool{m.dict}}, err
}

// elementOf is the element field of a list type.
func elementOf(t arrow.DataType) (arrow.Field, bool) {
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

// Need implements Source: what a column of the widest common type holds, pages
// grown by doubling.
func (s *ipcSource) Need(g int, _ Column) int64 {
	const bytesPerRow = 24
	return OpenColumnBytes + bytesPerRow*s.GroupRows()[g]
}

// Scratch implements Source: the library holds a record batch as a whole.
func (s *ipcSource) Scratch(g int, _ []Column, _ int) (int64, error) { return s.BatchBytes(g) }

// Tasks implements Source: one task an output column.
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
			return format.Guard(func() error { return s.copy(ctx, c) })
		}})
	}
	return tasks, nil
}

// copy writes one output column of the record batch.
func (s *ipcSource) copy(ctx context.Context, c Target) error {
	l, _ := s.leafOf(c.Column) // Field has found it
	v := viewOf(s.record, l.path, c.Skip)
	switch {
	case c.Kind == FromField:
		return v.writeLists(ctx, c.Chunks[0])
	case c.Element >= 0:
		return v.writeElement(ctx, c.Chunks[0], c.Element)
	}
	return v.writeFlat(ctx, c.Chunks[0])
}
