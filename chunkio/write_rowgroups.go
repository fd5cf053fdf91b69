package chunkio

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
	"github.com/klauspost/compress/zstd"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// parquetWriter writes one Parquet file: zstd, data pages v1, statistics. Row groups
// are written in order; within one, columns are encoded in memory, several at once if
// the caller likes, and placed in order:
//
//	g := w.group(rows)
//	for windows of columns {
//		chunks := g.columns(n)     // the next n columns
//		… WriteBatch on each, then chunk.finish(), from any goroutines …
//		g.place(chunks)
//	}
//	g.end()
//	w.finish()
//
// The encoders are those of v15's parquet/file. Its file writer is not used: it drops
// errors of row groups, and has one page writer for all columns. Errors of the
// underlying writer are returned as they are.
type parquetWriter struct {
	out    io.Writer
	offset int64 // bytes written so far
	schema *schema.Schema
	meta   *metadata.FileMetaDataBuilder
	props  *parquet.WriterProperties
	zstd   *zstd.Encoder
	groups int
	rows   int64
}

// newParquetWriter begins a file with the schema root. dict tells for each leaf column
// whether to try a dictionary. workers is the number of columns encoded at once.
func newParquetWriter(out io.Writer, root *schema.GroupNode, dict []bool, workers int) (*parquetWriter, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(max(workers, 1)))
	if err != nil {
		return nil, err
	}
	w := &parquetWriter{out: out, zstd: enc}
	err = format.Guard(func() error {
		w.schema = schema.NewSchema(root)
		opts := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false)}
		for i := range w.schema.NumColumns() {
			if i < len(dict) && dict[i] {
				opts = append(opts, parquet.WithDictionaryFor(w.schema.Column(i).Path(), true))
			}
		}
		w.props = parquet.NewWriterProperties(opts...)
		w.meta = metadata.NewFileMetadataBuilder(w.schema, w.props, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, w.write([]byte(pq.Magic))
}

func (w *parquetWriter) write(p []byte) error {
	n, err := w.out.Write(p)
	w.offset += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// finish writes the footer. The file is complete then, but not flushed.
func (w *parquetWriter) finish() error {
	return format.Guard(func() error {
		m, err := w.meta.Finish()
		if err != nil {
			return err
		}
		start := w.offset
		if _, err := m.WriteTo(writerFunc(func(p []byte) (int, error) { return len(p), w.write(p) }), nil); err != nil {
			return err
		}
		tail := binary.LittleEndian.AppendUint32(nil, uint32(w.offset-start))
		return w.write(append(tail, pq.Magic...))
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// groupWriter writes one row group.
type groupWriter struct {
	w            *parquetWriter
	meta         *metadata.RowGroupMetaDataBuilder
	rows         int64
	uncompressed int64
}

// group begins a row group of the given number of rows, at least one.
func (w *parquetWriter) group(rows int64) *groupWriter {
	return &groupWriter{w: w, meta: w.meta.AppendRowGroup(), rows: rows}
}

// columns opens the next n columns for writing.
func (g *groupWriter) columns(n int) (chunks []*chunkWriter, err error) {
	err = format.Guard(func() error {
		for range n {
			m := g.meta.NextColumnChunk()
			pages := newPageBuffer(m, g.w.zstd)
			chunks = append(chunks, &chunkWriter{pqfile.NewColumnChunkWriter(m, pages, g.w.props), pages, g.rows})
		}
		return nil
	})
	return chunks, err
}

// place writes finished columns, in order.
func (g *groupWriter) place(chunks []*chunkWriter) error {
	for _, c := range chunks {
		if err := c.pages.place(g.w.offset); err != nil {
			return err
		}
		if err := g.w.write(c.pages.buf); err != nil {
			return err
		}
		g.uncompressed += c.pages.uncompressed
	}
	return nil
}

// end completes the row group.
func (g *groupWriter) end() error {
	g.meta.SetNumRows(int(g.rows))
	// The ordinal serves encryption only and has 16 bits; more row groups are legal.
	if err := g.meta.Finish(g.uncompressed, int16(g.w.groups)); err != nil {
		return err
	}
	g.w.groups++
	g.w.rows += g.rows
	return nil
}

// chunkWriter encodes one column chunk into memory.
type chunkWriter struct {
	pqfile.ColumnChunkWriter
	pages *pageBuffer
	rows  int64
}

// finish encodes what is buffered, checks that every row has been written, and lets go
// of the encoder: its buffers hold up to three times the bytes of the last page.
func (c *chunkWriter) finish() error {
	if got := int64(c.RowsWritten()); got != c.rows {
		return fmt.Errorf("%d rows were written of a row group of %d", got, c.rows)
	}
	if err := format.Guard(c.Close); err != nil {
		return err
	}
	c.ColumnChunkWriter = nil
	return nil
}

// optional reports whether the column takes definition levels 0 (null) and 1.
func (c *chunkWriter) optional() bool { return c.Descr().MaxDefinitionLevel() > 0 }

// typedWriter is one of v15's column writers, of one physical type.
type typedWriter[T any] interface {
	WriteBatch(values []T, def, rep []int16) (written int64, err error)
}

// writeValues writes a batch to c: the values present, and the levels of all.
func writeValues[T any](c *chunkWriter, values []T, def, rep []int16) error {
	w, ok := c.ColumnChunkWriter.(typedWriter[T])
	if !ok {
		return fmt.Errorf("column %q takes %v, not %T", c.Descr().Name(), c.Type(), values)
	}
	n, err := w.WriteBatch(values, def, rep)
	if err == nil && n != int64(len(values)) {
		err = fmt.Errorf("%d values were written of %d", n, len(values))
	}
	return err
}
