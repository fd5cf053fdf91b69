package writing

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/convert"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TableColumn is one column of a small table: Values is a []string, []int64, []time.Time (in microseconds), []float64
// or []stream.Position, with one value for each row. NaN, ±Inf and unknown positions are written as null.
type TableColumn struct {
	Name   string
	Values any
}

// WriteTable implements chunkio.WriteTable: it writes a table from memory to w, as Parquet with one row group.
func WriteTable(w io.Writer, rows int, columns ...TableColumn) error {
	t, err := NewTable(w, columns)
	if err != nil {
		return err
	}
	if rows > 0 {
		if err := t.WriteRows(rows, columns); err != nil {
			return err
		}
	}
	return t.Finish()
}

// Table writes a table to a Parquet file, one row group after the other.
type Table struct {
	*writer.File
}

// NewTable begins a file with these columns. Their values are not written; only the types of the slices matter.
func NewTable(w io.Writer, columns []TableColumn) (*Table, error) {
	fields, err := TableFields(columns)
	if err != nil {
		return nil, err
	}
	f, err := beginTable(w, fields, nil)
	return &Table{f}, err
}

// TableFields returns the Parquet fields of columns.
func TableFields(columns []TableColumn) (fields schema.FieldList, err error) {
	for _, c := range columns {
		var node schema.Node
		switch c.Values.(type) {
		case []string:
			node = schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required,
				schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
		case []int64:
			node = writer.NumberOf("int64").Node(c.Name, true)
		case []time.Time:
			node = schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required,
				schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, -1, -1))
		case []float64:
			node = writer.NumberOf("double").Node(c.Name, false)
		case []stream.Position:
			node = writer.NumberOf("int64").Node(c.Name, false)
		default:
			return nil, fmt.Errorf("column %s: values of type %T", c.Name, c.Values)
		}
		fields = append(fields, node)
	}
	return fields, nil
}

// IsNullNumber reports whether a number of a table is written as null.
func IsNullNumber(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func (c TableColumn) writeTo(chunk *writer.Chunk) error {
	switch v := c.Values.(type) {
	case []string:
		bytes := convert.Each(v, func(s string) parquet.ByteArray { return parquet.ByteArray(s) })
		return writer.Put(chunk, bytes, nil, nil)
	case []int64:
		return writer.Put(chunk, v, nil, nil)
	case []time.Time:
		return writer.Put(chunk, convert.Each(v, time.Time.UnixMicro), nil, nil)
	case []float64:
		return writer.NumberOf("double").Encode(chunk, v, IsNullNumber)
	case []stream.Position:
		places := make([]float64, len(v)) // whole numbers far below 2^53; -1 if unknown
		for i, p := range v {
			at, _ := p.Index()
			places[i] = float64(at)
		}
		return writer.NumberOf("int64").Encode(chunk, places, func(x float64) bool { return x < 0 })
	}
	return fmt.Errorf("values of type %T", c.Values)
}

// WriteRows writes a row group. The columns must have the names and types with which the table began, and at least one
// row.
func (t *Table) WriteRows(rows int, columns []TableColumn) error {
	g := t.Group(int64(rows))
	for len(columns) > 0 {
		window := columns[:min(encodeWindow, len(columns))]
		columns = columns[len(window):]
		chunks, err := g.Columns(len(window))
		if err != nil {
			return err
		}
		for i, c := range chunks {
			err := format.Guard(func() error { return window[i].writeTo(c) })
			if err == nil {
				err = c.Finish()
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", window[i].Name, err)
			}
		}
		if err := g.Place(chunks); err != nil {
			return err
		}
	}
	return g.End()
}
