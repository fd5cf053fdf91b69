package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/ufs-stream/ufs-stream/stream"
)

// batchRows is the number of rows that are read at once.
const batchRows = 4096

// pieceOfColumn is the number of bytes of a column that are fetched at once.
const pieceOfColumn = 1 << 20

// cells are the values of a column in a batch of rows, each in the encoding of its keyColumn.
type cells struct {
	nulls []bool
	ends  []int // end of each cell in bytes
	bytes []byte
}

func (c *cells) clearCells() { c.nulls, c.ends, c.bytes = c.nulls[:0], c.ends[:0], c.bytes[:0] }

func (c *cells) addCell(null bool) {
	c.nulls, c.ends = append(c.nulls, null), append(c.ends, len(c.bytes))
}

func (c *cells) cellOfRow(row int) []byte {
	start := 0
	if row > 0 {
		start = c.ends[row-1]
	}
	return c.bytes[start:c.ends[row]]
}

// appendKey appends the cell of a row, so that different rows of cells are different bytes.
func (c *cells) appendKey(key []byte, row int) []byte {
	if c.nulls[row] {
		return append(key, 0)
	}
	return appendKeyCell(key, c.cellOfRow(row))
}

func appendKeyCell(key, cell []byte) []byte {
	key = binary.AppendUvarint(append(key, 1), uint64(len(cell)))
	return append(key, cell...)
}

// fileColumn reads a column of a Parquet file, row group by row group.
type fileColumn struct {
	cells
	encode encoder
	leaf   int
	reader file.ColumnChunkReader
	levels []int16
	values any // buffer of a batch's values, of the column's physical type
}

// readRows reads columns of a Parquet file. It calls visit for every batch of rows, with the position in the file of
// its first row and the number of rows. choose gets the file's footer and returns the columns.
func readRows(ctx context.Context, in parquet.ReaderAtSeeker, count *memoryCount, choose func(*file.Reader) ([]*fileColumn, error), visit func(first int64, n int) error) error {
	return recoverParquetPanics(func() error {
		pages := newPageMemory(count)
		defer pages.stopCounting()
		props := parquet.NewReaderProperties(pages)
		props.BufferedStreamEnabled, props.BufferSize = true, pieceOfColumn
		r, err := file.NewParquetReader(in, file.WithReadProps(props))
		if err != nil {
			return err
		}
		columns, err := choose(r)
		if err != nil {
			return err
		}
		pages.countBytes(len(columns) * pieceOfColumn)
		first := int64(0)
		for g := range r.NumRowGroups() {
			group := r.RowGroup(g)
			for _, c := range columns {
				if c.reader, err = group.Column(c.leaf); err != nil {
					return err
				}
			}
			for left := group.NumRows(); left > 0; {
				if err := ctx.Err(); err != nil {
					return err
				}
				n := int(min(left, batchRows))
				for _, c := range columns {
					if err := c.readBatch(n); err != nil {
						return fmt.Errorf("row group %d, column %q: %w", g, c.reader.Descriptor().Path(), err)
					}
				}
				if err := visit(first, n); err != nil {
					return err
				}
				first, left = first+int64(n), left-int64(n)
			}
		}
		return nil
	})
}

func newFileColumn(r *file.Reader, n schema.Node, e encoder) (*fileColumn, error) {
	leaf, ok := n.(*schema.PrimitiveNode)
	if !ok {
		return nil, fmt.Errorf("its column %q is a struct, list or map", n.Path())
	}
	at := r.MetaData().Schema.ColumnIndexByNode(leaf)
	if at < 0 || r.MetaData().Schema.Column(at).MaxRepetitionLevel() > 0 {
		return nil, fmt.Errorf("its column %q is within a list or map", n.Path())
	}
	return &fileColumn{encode: e, leaf: at, levels: make([]int16, batchRows)}, nil
}

func (c *fileColumn) readBatch(n int) error {
	c.clearCells()
	switch r := c.reader.(type) {
	case *file.BooleanColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, c.encode.appendBool)
	case *file.Int32ColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, func(b []byte, v int32) ([]byte, error) { return c.encode.appendInt(b, int64(v)) })
	case *file.Int64ColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, c.encode.appendInt)
	case *file.Int96ColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, c.encode.appendInt96)
	case *file.Float32ColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, func(b []byte, v float32) ([]byte, error) { return c.encode.appendFloat(b, float64(v)) })
	case *file.Float64ColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, c.encode.appendFloat)
	case *file.ByteArrayColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, func(b []byte, v parquet.ByteArray) ([]byte, error) { return c.encode.appendBytes(b, v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return readValues(c, n, r.ReadBatchInPage, func(b []byte, v parquet.FixedLenByteArray) ([]byte, error) { return c.encode.appendBytes(b, v) })
	}
	return fmt.Errorf("it has values of type %v", c.reader.Descriptor().PhysicalType())
}

// readValues reads n cells of column c. Texts are lent until the next page is read, so read does not cross pages.
func readValues[T any](c *fileColumn, n int, read func(int64, []T, []int16, []int16) (int64, int, error), encode func([]byte, T) ([]byte, error)) error {
	values, ok := c.values.([]T)
	if !ok {
		values = make([]T, batchRows)
		c.values = values
	}
	present := c.reader.Descriptor().MaxDefinitionLevel()
	for left := n; left > 0; {
		levels, count, err := read(int64(left), values, c.levels, nil)
		switch {
		case err != nil:
			return err
		case levels <= 0:
			if err := c.reader.Err(); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			return errors.New("it has fewer values than the row group has rows")
		}
		next := 0
		for i := range int(levels) {
			null := present > 0 && c.levels[i] < present
			if !null {
				if next >= count {
					return errors.New("it has fewer values than levels of values")
				}
				if c.bytes, err = encode(c.bytes, values[next]); err != nil {
					return err
				}
				next++
			}
			c.addCell(null)
		}
		left -= int(levels)
	}
	return nil
}

// recoverParquetPanics turns the panics of the readers of foreign files into errors.
func recoverParquetPanics(read func() error) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *stream.MemoryError:
			err = fault
		case runtime.Error:
			err = errors.New("the file is damaged or forged, or this is a fault of ufs-iceberg, please report it")
		default:
			err = fmt.Errorf("the file is damaged: %v", fault)
		}
	}()
	return read()
}
