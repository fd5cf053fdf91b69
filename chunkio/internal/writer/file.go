// Package writer writes Parquet files, the columns of a row group in parallel.
package writer

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
)

// File writes one Parquet file: zstd, data pages v1, statistics. Row groups are written in
// order; within one, columns are encoded in memory, several at once if the caller likes,
// and placed in order:
//
//	g := w.Group(rows)
//	for windows of columns {
//		chunks := g.Columns(n)     // the next n columns
//		… Put on each, then chunk.Finish(), from any goroutines …
//		g.Place(chunks)
//	}
//	g.End()
//	w.Finish()
//
// v15's parquet/file encodes, but its file writer is not used: it drops errors of row
// groups, and has one page writer for all columns. Errors of the underlying writer are
// returned as they are.
type File struct {
	out    io.Writer
	Offset int64 // bytes written so far
	Schema *schema.Schema
	meta   *metadata.FileMetaDataBuilder
	props  *parquet.WriterProperties
	groups int
	Rows   int64
	footer

	annotations pq.Annotations
	encoders    *encoders // nil: plain pages
}

// New begins a file with the given columns. Those of one name many readers cannot tell apart: it is for
// copies of files that have such. dict says for each leaf column whether to try a dictionary.
func New(out io.Writer, fields schema.FieldList, dict []bool) (*File, error) {
	return NewAnnotated(out, fields, dict, nil)
}

// NewAnnotated is New where some nodes have logical types that the library does not know. They have
// no bounds: what order they are in is not known either.
func NewAnnotated(out io.Writer, fields schema.FieldList, dict []bool, annotations pq.Annotations) (*File, error) {
	enc, err := newEncoders()
	if err != nil {
		return nil, err
	}
	opts := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxStatsSize(boundBytes)}
	for path := range annotations {
		opts = append(opts, parquet.WithStatsFor(strings.ReplaceAll(path, pq.AnnotationPath("", ""), "."), false))
	}
	w, err := begin(out, fields, dict, enc, opts...)
	if err == nil {
		w.annotations = annotations
	}
	return w, err
}

// NewPlain is New for a file that is read again at once, all columns of it together: without
// compression or dictionaries, in pages of about so many bytes.
func NewPlain(out io.Writer, fields schema.FieldList, page int64) (*File, error) {
	return begin(out, fields, nil, nil, parquet.WithCompression(compress.Codecs.Uncompressed), parquet.WithDataPageSize(page), parquet.WithBatchSize(max(page/64, 16)), parquet.WithStats(false))
}

func begin(out io.Writer, fields schema.FieldList, dict []bool, enc *encoders, opts ...parquet.WriterProperty) (*File, error) {
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	w := &File{out: out, encoders: enc}
	err = format.Guard(func() error {
		w.Schema = schema.NewSchema(root)
		opts = append(opts, parquet.WithDictionaryDefault(false))
		for i := range w.Schema.NumColumns() {
			if i < len(dict) && dict[i] {
				opts = append(opts, parquet.WithDictionaryFor(w.Schema.Column(i).Path(), true))
			}
		}
		w.props = parquet.NewWriterProperties(opts...)
		w.meta = metadata.NewFileMetadataBuilder(w.Schema, w.props, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w, w.write([]byte(pq.Magic))
}

func (w *File) write(p []byte) error {
	n, err := w.out.Write(p)
	w.Offset += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return err
}

// Group writes one row group.
type Group struct {
	w            *File
	meta         *metadata.RowGroupMetaDataBuilder
	rows         int64
	uncompressed int64
}

// Group begins a row group of the given number of rows, at least one.
func (w *File) Group(rows int64) *Group {
	return &Group{w: w, meta: w.meta.AppendRowGroup(), rows: rows}
}

// Columns opens the next n columns for writing.
func (g *Group) Columns(n int) (chunks []*Chunk, err error) {
	err = format.Guard(func() error {
		for range n {
			m := g.meta.NextColumnChunk()
			pages := newPageBuffer(m, g.w.encoders)
			chunks = append(chunks, &Chunk{ColumnChunkWriter: pqfile.NewColumnChunkWriter(m, pages, g.w.props), pages: pages, Rows: g.rows})
		}
		return nil
	})
	return chunks, err
}

// Place writes finished columns, in order.
func (g *Group) Place(chunks []*Chunk) error {
	for _, c := range chunks {
		if err := c.pages.place(g.w.Offset); err != nil {
			return err
		}
		if err := g.w.write(c.pages.buf); err != nil {
			return err
		}
		g.uncompressed += c.pages.uncompressed
	}
	return nil
}

// End completes the row group.
func (g *Group) End() error {
	g.meta.SetNumRows(int(g.rows))
	// The ordinal serves encryption only and has 16 bits; more row groups are legal.
	if err := g.meta.Finish(g.uncompressed, int16(g.w.groups)); err != nil {
		return err
	}
	g.w.groups++
	g.w.Rows += g.rows
	return g.w.ended()
}

// Chunk encodes one column chunk into memory.
type Chunk struct {
	pqfile.ColumnChunkWriter
	pages   *pageBuffer
	Rows    int64
	entries int   // at least, in the page that is being filled
	written int64 // bytes of the pages before it
	made    int64 // rows of pages that PutPage has written
}

// pageEntries is the most entries of a page, about: the encoder takes 4 bytes for the place of each in a
// dictionary, and ends a page by its encoded bytes alone, of which entries that are all alike have an
// eighth each: a file of 4 KB can hold millions of them.
const pageEntries = 1 << 20

// Finish encodes what is buffered, checks that every row has been written, and lets go
// of the encoder: its buffers hold up to three times the bytes of the last page.
func (c *Chunk) Finish() error {
	if got := int64(c.RowsWritten()) + c.made; got != c.Rows {
		return fmt.Errorf("%d rows were written of a row group of %d", got, c.Rows)
	}
	if err := format.Guard(c.Close); err != nil {
		return err
	}
	c.ColumnChunkWriter = nil
	return nil
}

// Optional reports whether the column takes definition levels 0 (null) and 1.
func (c *Chunk) Optional() bool { return c.Descr().MaxDefinitionLevel() > 0 }

// typedWriter is one of v15's column writers, of one physical type.
type typedWriter[T any] interface {
	WriteBatch(values []T, def, rep []int16) (written int64, err error)
	FlushCurrentPage() error
}

// Put writes a batch to c: the values present, and the levels of all.
func Put[T any](c *Chunk, values []T, def, rep []int16) error {
	w, ok := c.ColumnChunkWriter.(typedWriter[T])
	if !ok {
		return fmt.Errorf("column %q takes %v, not %T", c.Descr().Name(), c.Type(), values)
	}
	n, err := w.WriteBatch(values, def, rep)
	if err == nil && n != int64(len(values)) {
		err = fmt.Errorf("%d values were written of %d", n, len(values))
	}
	if err != nil {
		return err
	}
	if now := c.TotalCompressedBytes(); now != c.written { // the encoder has ended a page, and begun the next
		c.written, c.entries = now, 0
		return nil
	}
	if c.entries += max(len(values), len(def)); c.entries < pageEntries {
		return nil
	}
	if err := w.FlushCurrentPage(); err != nil {
		return err
	}
	c.written, c.entries = c.TotalCompressedBytes(), 0
	return nil
}
