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
	var fields schema.FieldList
	writes := make([]func(*writer.Chunk) error, len(columns))
	for i, c := range columns {
		var node schema.Node
		switch v := c.Values.(type) {
		case []string:
			node = schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required,
				schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
			writes[i] = func(chunk *writer.Chunk) error {
				bytes := convert.Each(v, func(s string) parquet.ByteArray { return parquet.ByteArray(s) })
				return writer.Put(chunk, bytes, nil, nil)
			}
		case []int64:
			node = writer.NumberOf("int64").Node(c.Name, true)
			writes[i] = func(chunk *writer.Chunk) error { return writer.Put(chunk, v, nil, nil) }
		case []time.Time:
			node = schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required,
				schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, -1, -1))
			writes[i] = func(chunk *writer.Chunk) error {
				micros := convert.Each(v, time.Time.UnixMicro)
				return writer.Put(chunk, micros, nil, nil)
			}
		case []float64:
			double := writer.NumberOf("double")
			node = double.Node(c.Name, false)
			writes[i] = func(chunk *writer.Chunk) error {
				return double.Encode(chunk, v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
			}
		case []stream.Position:
			whole := writer.NumberOf("int64")
			node = whole.Node(c.Name, false)
			writes[i] = func(chunk *writer.Chunk) error {
				places := make([]float64, len(v)) // whole numbers far below 2^53; -1 if unknown
				for i, p := range v {
					at, _ := p.Index()
					places[i] = float64(at)
				}
				return whole.Encode(chunk, places, func(x float64) bool { return x < 0 })
			}
		default:
			return fmt.Errorf("column %s: values of type %T", c.Name, c.Values)
		}
		fields = append(fields, node)
	}
	p, err := beginTable(w, fields, nil)
	if err != nil {
		return err
	}
	if rows > 0 {
		if err := writeTableGroup(p, rows, columns, writes); err != nil {
			return err
		}
	}
	return p.Finish()
}

func writeTableGroup(file *writer.File, rows int, columns []TableColumn, writeColumn []func(*writer.Chunk) error) error {
	g := file.Group(int64(rows))
	chunks, err := g.Columns(len(columns))
	if err != nil {
		return err
	}
	for i, c := range chunks {
		err := format.Guard(func() error { return writeColumn[i](c) })
		if err == nil {
			err = c.Finish()
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", columns[i].Name, err)
		}
	}
	if err := g.Place(chunks); err != nil {
		return err
	}
	return g.End()
}
