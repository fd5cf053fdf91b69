package writing

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Names of the two list columns of sparse rows: Options.Sparse is "indices,values".
const (
	SparseIndices = "indices"

	SparseValues = "values"
)

// sparseGroupRows is the height of the row groups of sparse rows. They are short because the encoder of list levels in
// v15 of Arrow for Go allocates a slightly larger buffer for every row of a row group. In row groups of 512 rows,
// 15,000 rows of 100 entries are written in a second, in row groups of 28,000 rows only 650. The footer is still small,
// because there are only three columns.
const sparseGroupRows = 512

// sparseType returns the type of the values: the option's, or float if it represents all features' types, else double.
func (o WriteOptions) sparseType(columns []stream.Column) (writer.Number, error) {
	switch o.Type {
	case "":
		short := []string{"bool", "int8", "int16", "uint8", "uint16", "float"}
		for _, c := range columns {
			if !slices.Contains(short, writer.NumberOf(c.Type).Name) {
				return writer.NumberOf("double"), nil
			}
		}
		return writer.NumberOf("float"), nil
	case "float", "double":
		return writer.NumberOf(o.Type), nil
	}
	return writer.Number{}, stream.Usagef("sparse rows are written as float or double, not %s", o.Type)
}

// sparseWriter collects the entries of a row group.
type sparseWriter struct {
	w         *writer.File
	opt       WriteOptions
	columns   []stream.Column
	typ       writer.Number
	positions []int64
	counts    []int // number of entries of each row
	index     []int32
	value     []float64
}

func writeSparseLists(ctx context.Context, out io.Writer, src stream.Source, opt WriteOptions) (rows int64, leaves int, err error) {
	s := &sparseWriter{opt: opt, columns: src.Columns()}
	if s.typ, err = opt.sparseType(s.columns); err != nil {
		return 0, 0, err
	}
	required := parquet.Repetitions.Required
	element := s.typ.Node("element", opt.Required)
	indices, err := schema.ListOfWithName(SparseIndices, schema.NewInt32Node("element", required, -1), required, -1)
	if err != nil {
		return 0, 0, err
	}
	values, err := schema.ListOfWithName(SparseValues, element, required, -1)
	if err != nil {
		return 0, 0, err
	}
	fields := schema.FieldList{indices, values}
	switch {
	case opt.Label != nil:
		fields = append(fields, writer.NumberOf("int32").Node(opt.LabelName, true))
	case opt.labelValue != nil:
		fields = append(fields, writer.NumberOf("double").Node(opt.LabelName, false))
	}
	// Values get a dictionary even if they are floats, because they are often counts, which repeat. If values do not
	// repeat, the encoder soon gives up the dictionary.
	if s.w, err = beginTable(out, fields, []bool{true, true, true}); err != nil {
		return 0, 0, err
	}
	if err := writeChunks(ctx, src, s.addChunk); err != nil {
		return 0, 0, err
	}
	if err := s.writeRowGroup(); err != nil {
		return 0, 0, err
	}
	return s.w.Rows, len(fields), s.w.Finish()
}

// addChunk adds the entries of a chunk that are not zero. NaN is not zero.
func (s *sparseWriter) addChunk(c *stream.Chunk) error {
	if c.Cols != len(s.columns) {
		return fmt.Errorf("a chunk has %d columns, not %d", c.Cols, len(s.columns))
	}
	for i := range c.Rows {
		begin := len(s.index)
		if c.Sparse != nil {
			for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
				s.addEntry(c.Sparse.Index[e], c.Sparse.Value[e])
			}
		} else {
			for j := range c.Cols {
				s.addEntry(int32(j), c.Data[j*c.Stride+i])
			}
		}
		s.positions = append(s.positions, c.Position(i))
		s.counts = append(s.counts, len(s.index)-begin)
		if len(s.positions) == s.opt.RowGroupRows {
			if err := s.writeRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sparseWriter) addEntry(index int32, value float64) {
	if value != 0 {
		s.index, s.value = append(s.index, index), append(s.value, value)
	}
}

func (s *sparseWriter) writeRowGroup() error {
	rows := len(s.positions)
	if rows == 0 {
		return nil
	}
	g := s.w.Group(int64(rows))
	chunks, err := g.Columns(s.w.Schema.NumColumns())
	if err != nil {
		return err
	}
	// The definition level is 0 for a row without entries. It is 1 for an entry, or 2 if entries may be null.
	def, rep := make([]int16, 0, len(s.index)+rows), make([]int16, 0, len(s.index)+rows)
	for _, n := range s.counts {
		def, rep = append(def, int16(min(n, 1))), append(rep, 0)
		for range n - 1 {
			def, rep = append(def, 1), append(rep, 1)
		}
	}
	var work errgroup.Group
	work.SetLimit(s.opt.Threads)
	for i, write := range []func(c *writer.Chunk) error{
		func(c *writer.Chunk) error {
			return format.Guard(func() error { return writer.Put(c, s.index, def, rep) })
		},
		func(c *writer.Chunk) error { return s.writeValues(c, slices.Clone(def), rep) },
		func(c *writer.Chunk) error { return s.opt.writeLabels(c, s.positions) },
	}[:len(chunks)] {
		work.Go(func() error {
			if err := write(chunks[i]); err != nil {
				return err
			}
			return chunks[i].Finish()
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	if err := g.Place(chunks); err != nil {
		return err
	}
	s.positions, s.counts, s.index, s.value = s.positions[:0], s.counts[:0], s.index[:0], s.value[:0]
	return g.End()
}

// writeValues writes the values, NaN as null, and sets def to the definition levels of the values.
func (s *sparseWriter) writeValues(c *writer.Chunk, def, rep []int16) error {
	at := 0
	present := s.value[:0:0]
	for i, d := range def {
		if d == 0 {
			continue
		}
		x := s.value[at]
		if bad := math.IsNaN(x) && s.opt.Required || !math.IsNaN(x) && !s.typ.HoldsValue(x); bad {
			return s.errValue(at, x)
		}
		if !s.opt.Required && !math.IsNaN(x) {
			def[i] = 2
		}
		if !math.IsNaN(x) {
			present = append(present, x)
		}
		at++
	}
	return format.Guard(func() error {
		if s.typ.Physical == parquet.Types.Double {
			return writer.Put(c, present, def, rep)
		}
		short := make([]float32, len(present))
		for i, x := range present {
			short[i] = float32(x)
		}
		return writer.Put(c, short, def, rep)
	})
}

// errValue returns the error of the entry at index at, whose value cannot be written.
func (s *sparseWriter) errValue(at int, value float64) error {
	row, end := 0, 0
	for row = range s.counts {
		if end += s.counts[row]; at < end {
			break
		}
	}
	return &stream.DataError{
		RowGroup: -1, Column: s.columns[s.index[at]].Name, Row: s.positions[row],
		Err: &writer.ValueError{Row: row, Value: value, Type: s.typ.Name}, Remedy: stream.Textf("write this column as double and OPTIONAL"),
	}
}
