package chunkio

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
)

// TableColumn is one column of a small table: Values is a []string, []int64 or
// []float64, one a row. NaN and ±Inf are written as null.
type TableColumn struct {
	Name   string
	Values any
}

// WriteTable writes a table that is in memory as Parquet, one row group: for results,
// not for data.
func WriteTable(w io.Writer, rows int, columns ...TableColumn) error {
	var fields schema.FieldList
	for _, c := range columns {
		n := writer.NumberOf("double")
		switch c.Values.(type) {
		case []string:
			text := schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Required,
				schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
			fields = append(fields, text)
			continue
		case []int64:
			n = writer.NumberOf("int64")
		case []float64:
		default:
			return fmt.Errorf("column %s: values of type %T", c.Name, c.Values)
		}
		fields = append(fields, n.Node(c.Name, n.Bits > 0))
	}
	p, err := writer.New(w, fields, nil, 1)
	if err != nil {
		return err
	}
	if rows > 0 {
		if err := writeTableGroup(p, rows, columns); err != nil {
			return err
		}
	}
	return p.Finish()
}

func writeTableGroup(p *writer.File, rows int, columns []TableColumn) error {
	g := p.Group(int64(rows))
	chunks, err := g.Columns(len(columns))
	if err != nil {
		return err
	}
	for i, c := range columns {
		if err := writeAny(chunks[i], c.Values); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		if err := chunks[i].Finish(); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	if err := g.Place(chunks); err != nil {
		return err
	}
	return g.End()
}

// writeAny writes the values of one column of WriteTable.
func writeAny(c *writer.Chunk, values any) error {
	return format.Guard(func() error {
		switch v := values.(type) {
		case []string:
			bytes := make([]parquet.ByteArray, len(v))
			for i, s := range v {
				bytes[i] = parquet.ByteArray(s)
			}
			return writer.Put(c, bytes, nil, nil)
		case []int64:
			return writer.Put(c, v, nil, nil)
		case []float64:
			return writer.NumberOf("double").Encode(c, v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		}
		return fmt.Errorf("values of type %T", values)
	})
}
