// Package export converts a flat Parquet file, which package writer has written, to an Arrow IPC file or to CSV: record
// batch by record batch, with all columns open at once and little of each in memory.
package export

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// Sink writes the rows of record batches to a file of some format. Close completes the file.
type Sink interface {
	Write(arrow.Record) error
	Close() error
}

// Table describes the output: the columns of the files to be exported, which have the same schema.
type Table struct {
	Schema  *arrow.Schema
	columns []column
}

// New returns the Table for Parquet columns: it determines their Arrow types. No field may be a list or struct.
func New(fields schema.FieldList) (*Table, error) {
	t := new(Table)
	var list []arrow.Field
	for _, f := range fields {
		c, err := newOutputColumn(f)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, c)
		list = append(list, arrow.Field{Name: f.Name(), Type: c.typ, Nullable: c.optional, Metadata: c.extensionMetadata()})
	}
	t.Schema = arrow.NewSchema(list, nil)
	return t, nil
}

const (
	// batchCells is the number of cells of a record batch, for any memory limit, unless its number of rows would be
	// outside the limits leastHeight and greatestHeight.
	batchCells                  = 1 << 20
	leastHeight, greatestHeight = 256, 65536
	// smallPage and largePage limit the size of the pages in a file that is to be exported.
	smallPage, largePage = 4 << 10, 256 << 10
	// openBytes is the memory of a column's reader without its pages. openPages is the number of its pages: one page is
	// read ahead, and two are decoded.
	openBytes, openPages = 8 << 10, 3
)

func (t *Table) rowsPerBatch() int {
	return min(max(batchCells/max(len(t.columns), 1), leastHeight), greatestHeight)
}

// PageSize returns the page size that a file of this number of columns should have so that it can be read with limit
// bytes of memory: the pages that are open at the same time take a quarter of the limit, if this is enough for pages of
// smallPage bytes.
func PageSize(columns int, limit int64) int64 {
	return min(max(limit/4/openPages/int64(max(columns, 1)), smallPage), largePage)
}

// memoryExceptPages returns an upper bound on the memory needed to read group g of f, without its pages. Most of it is
// the memory of a batch. A batch is about as large as its rows in the file, but its arrays have grown by doubling.
func (t *Table) memoryExceptPages(f *pq.File, g int) int64 {
	total := f.HeldBytes() + int64(len(t.columns))*openBytes
	for i := range t.columns {
		rows := max(f.GroupRows()[g], 1)
		total += 3 * f.Chunk(g, i).Uncompressed / rows * min(int64(t.rowsPerBatch()), rows)
	}
	return total
}

// MemoryTooSmall reports that the memory limit is too small, and the memory that is sufficient.
type MemoryTooSmall struct{ Need int64 }

func (e *MemoryTooSmall) Error() string { return fmt.Sprintf("needs %d bytes", e.Need) }

// CopyRows writes all rows of f, whose pages have at most the given size, to the sink. It uses at most limit bytes of
// memory. The output depends neither on the page size nor on the limit.
func (t *Table) CopyRows(ctx context.Context, f *pq.File, page, limit int64, to Sink) error {
	for g, rows := range f.GroupRows() {
		otherBytes, pages := t.memoryExceptPages(f, g), int64(len(t.columns))*openPages
		if otherBytes+pages*page > limit {
			return &MemoryTooSmall{max(otherBytes+pages*smallPage, otherBytes*4/3+1)}
		}
		if err := t.copyGroup(ctx, f, g, rows, int(page), to); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) copyGroup(ctx context.Context, f *pq.File, g int, rows int64, ahead int, to Sink) error {
	readers := make([]pqfile.ColumnChunkReader, len(t.columns))
	for i := range readers {
		r, done, err := f.LeanReader(g, i, ahead)
		if err != nil {
			return err
		}
		defer done()
		readers[i] = r
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, t.Schema)
	defer b.Release()
	for left := rows; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(left, int64(t.rowsPerBatch()))
		for i := range t.columns {
			if err := format.Guard(func() error { return t.columns[i].readInto(readers[i], int(n), b.Field(i)) }); err != nil {
				return fmt.Errorf("column %q: %w", t.columns[i].name, err)
			}
		}
		record := b.NewRecord()
		err := to.Write(record)
		record.Release()
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// countingWriter is a WriteSeeker for the library, which uses Seek once to get the position.
type countingWriter struct {
	io.Writer
	at int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.at += int64(n)
	return n, err
}

func (c *countingWriter) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seek to %d from %d", offset, whence)
	}
	return c.at, nil
}
