package chunkio

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	ownipc "github.com/ufs-stream/ufs-stream/chunkio/internal/ipc"
)

// ipcSource copies columns of an Arrow IPC file. The file has been checked by ipcFile;
// the library then reads it a record batch at a time, which text and dates need.
type ipcSource struct {
	*ownipc.File
	file   *file
	reader *ipc.FileReader
	leaf   []ipcLeaf    // in the order of the file's leaves
	record arrow.Record // the batch read last
	at     int          // its number
}

// ipcLeaf is a leaf column of an Arrow schema: a top-level field or a field of structs.
type ipcLeaf struct {
	path     []int // field numbers from the top level down
	typ      arrow.DataType
	nullable bool // the field, or a struct around it
}

func newIPCSource(opened *ownipc.File, f *file) (*ipcSource, error) {
	s := &ipcSource{File: opened, file: f, at: -1}
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

// addLeaves flattens a field as ipcSchema.addColumns does.
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

// field implements copySource.
func (s *ipcSource) field(c outColumn) (outField, error) {
	if c.kind == fromField {
		for _, l := range s.leaf {
			f := s.reader.Schema().Field(l.path[0])
			if len(l.path) != 1 || f.Name != c.name {
				continue
			}
			elem, ok := elementOf(l.typ)
			if !ok {
				elem.Type = l.typ // for the error: only nested types come here
			}
			m, err := mapArrow(elem.Type)
			if err != nil {
				return outField{}, err
			}
			node, err := m.node("element", !elem.Nullable)
			if err != nil {
				return outField{}, err
			}
			list, err := schema.ListOfWithName(c.name, node, repetition(!l.nullable), -1)
			return outField{list, []bool{m.dict}}, err
		}
		return outField{}, errNotWhole(c.name)
	}
	l := s.leaf[s.file.at(c.leaf)]
	typ, required := l.typ, !l.nullable
	if c.element >= 0 {
		elem, ok := elementOf(typ)
		if !ok {
			return outField{}, fmt.Errorf("%v is no list", typ)
		}
		typ, required = elem.Type, false
	}
	m, err := mapArrow(typ)
	if err != nil {
		return outField{}, err
	}
	node, err := m.node(c.name, required)
	return outField{node, []bool{m.dict}}, err
}

func repetition(required bool) parquet.Repetition {
	if required {
		return parquet.Repetitions.Required
	}
	return parquet.Repetitions.Optional
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

// need implements copySource: what a column of the widest common type holds, pages
// grown by doubling.
func (s *ipcSource) need(g int, _ outColumn) int64 {
	const bytesPerRow = 24
	return openColumnBytes + bytesPerRow*s.GroupRows()[g]
}

// scratch implements copySource: the library holds a record batch as a whole.
func (s *ipcSource) scratch(g int, _ []outColumn, _ int) (int64, error) { return s.BatchBytes(g) }

// tasks implements copySource: one task an output column.
func (s *ipcSource) tasks(_ context.Context, g int, open []openColumn) ([]copyTask, error) {
	if s.at != g {
		err := format.Guard(func() (err error) {
			if s.record != nil {
				s.record.Release()
				s.record, s.at = nil, -1
			}
			if s.record, err = s.reader.RecordAt(g); err == nil && s.record.NumRows() != s.GroupRows()[g] {
				err = fmt.Errorf("the record batch has %d rows, not %d", s.record.NumRows(), s.GroupRows()[g])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		s.at = g
	}
	var tasks []copyTask
	for _, c := range open {
		tasks = append(tasks, copyTask{c.name, func(ctx context.Context) error {
			return format.Guard(func() error { return s.copy(ctx, c) })
		}})
	}
	return tasks, nil
}

// copy writes one output column of the record batch.
func (s *ipcSource) copy(ctx context.Context, c openColumn) error {
	var l ipcLeaf
	if c.kind == fromField {
		for _, l = range s.leaf {
			if len(l.path) == 1 && s.reader.Schema().Field(l.path[0]).Name == c.name {
				break
			}
		}
	} else {
		l = s.leaf[s.file.at(c.leaf)]
	}
	v := viewOf(s.record, l.path)
	switch {
	case c.kind == fromField:
		return v.writeLists(ctx, c.chunks[0])
	case c.element >= 0:
		return v.writeElement(ctx, c.chunks[0], c.element)
	}
	return v.writeFlat(ctx, c.chunks[0])
}
