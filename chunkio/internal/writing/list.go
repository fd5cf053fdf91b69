package writing

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// listWriter writes a table whose only column holds each row as a list. It collects the rows of a row group.
type listWriter struct {
	w         *writer.File
	opt       WriteOptions
	d         int // number of features, the length of each list
	typ       writer.Number
	positions []int64
	values    []float64
}

func writeRowsAsLists(ctx context.Context, out io.Writer, src stream.Source, opt WriteOptions) (rows int64, leaves int, err error) {
	l := &listWriter{opt: opt, d: len(src.Columns()), typ: writer.NumberOf(opt.Type)}
	required := parquet.Repetitions.Required
	list, err := schema.ListOfWithName(opt.List, l.typ.Node("element", opt.Required), required, -1)
	if err != nil {
		return 0, 0, err
	}
	fields := schema.FieldList{list}
	if opt.Label != nil {
		fields = append(fields, writer.NumberOf("int32").Node(opt.LabelName, true))
	}
	if l.w, err = beginTable(out, fields, []bool{l.typ.Bits > 0, true}); err != nil {
		return 0, 0, err
	}
	l.values = make([]float64, 0, l.d*opt.RowGroupRows)
	if err := writeChunks(ctx, src, l.addChunk); err != nil {
		return 0, 0, err
	}
	if err := l.writeRowGroup(); err != nil {
		return 0, 0, err
	}
	return l.w.Rows, len(fields), l.w.Finish()
}

func (l *listWriter) addChunk(c *stream.Chunk) error {
	if c.Cols != l.d || c.Sparse != nil {
		return stream.Usagef("lists are written of dense rows of one width")
	}
	for i := range c.Rows {
		for j := range c.Cols {
			l.values = append(l.values, c.Data[j*c.Stride+i])
		}
		l.positions = append(l.positions, c.Position(i))
		if len(l.positions) == l.opt.RowGroupRows {
			if err := l.writeRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeRowGroup writes the collected rows as one row group. It encodes one row at a time, so that only one row's
// definition and repetition levels are in memory.
func (l *listWriter) writeRowGroup() error {
	rows := len(l.positions)
	if rows == 0 {
		return nil
	}
	g := l.w.Group(int64(rows))
	chunks, err := g.Columns(l.w.Schema.NumColumns())
	if err != nil {
		return err
	}
	rep := slices.Repeat([]int16{1}, l.d)
	rep[0] = 0
	for i, p := range l.positions {
		row := l.values[i*l.d:][:l.d]
		var bad *writer.ValueError
		if err := l.typ.EncodeLists(chunks[0], row, rep, math.IsNaN); errors.As(err, &bad) {
			return &stream.DataError{RowGroup: -1, Column: l.opt.List, Row: p, Err: err, Remedy: stream.Textf("write this column as double and OPTIONAL")}
		} else if err != nil {
			return err
		}
	}
	if l.opt.Label != nil {
		if err := l.opt.writeLabels(chunks[1], l.positions); err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := c.Finish(); err != nil {
			return err
		}
	}
	if err := g.Place(chunks); err != nil {
		return err
	}
	l.positions, l.values = l.positions[:0], l.values[:0]
	return g.End()
}
