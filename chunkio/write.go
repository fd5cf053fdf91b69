package chunkio

import (
	"context"
	"io"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writing"
	"github.com/ufs-stream/ufs-stream/stream"
)

type (
	// TableColumn is one column of a small table: Values is a []string, []int64, []time.Time (in microseconds),
	// []float64 or []stream.Position, with one value for each row.
	TableColumn = writing.TableColumn
	// WriteOptions controls the form of the file that WriteParquet writes.
	WriteOptions = writing.WriteOptions
	// TableFile writes a table from memory, some rows at a time, to a file or object of any [Form].
	TableFile = copying.TableFile
)

// FormParquet is the Form of Parquet files.
const FormParquet = copying.FormParquet

// CreateTable begins a table at path, which appears when it is committed. The columns' values are []string, []int64 or
// []float64; only their types matter. The caller closes the table.
func CreateTable(ctx context.Context, path string, form Form, columns ...TableColumn) (*TableFile, error) {
	return copying.CreateTable(ctx, path, form, columns)
}

// NPYHeader returns the beginning of a NumPy file with an array of float64 in rows, which follow as 8-byte little-endian
// numbers.
func NPYHeader(rows, columns int) []byte { return writing.NPYHeader(rows, columns) }

// WriteTable writes a table from memory to w, as Parquet with one row group. rows is the number of values in each
// column. It is meant for small tables of results.
func WriteTable(w io.Writer, rows int, columns ...TableColumn) error {
	return writing.WriteTable(w, rows, columns...)
}

// WriteParquet writes all rows of src to the file or object at path, which appears only once it is complete. It has
// zstd compression, data pages v1, statistics, and one column for each feature. Sparse chunks are written dense, unless
// WriteOptions.Sparse is set. Weights are not written. One row group is in memory at a time, as float64.
func WriteParquet(ctx context.Context, path string, src stream.Source, opt WriteOptions) error {
	return writing.WriteParquet(ctx, path, src, opt)
}
