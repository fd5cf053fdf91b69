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
	pq "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// File writes one Parquet file: compressed with zstd, with data pages v1 and statistics. Row groups are written in
// order. The columns of a row group are encoded in memory, in parallel if the caller wishes, and then written in order:
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
// The package parquet/file of Arrow v15 encodes the values. Its file writer is not used, because it drops errors of row
// groups, and has only one page writer for all columns. Errors of the underlying writer are returned unchanged.
type File struct {
	out    io.Writer
	Offset int64 // bytes written so far
	Schema *schema.Schema
	meta   *metadata.FileMetaDataBuilder
	props  *parquet.WriterProperties
	plain  *parquet.WriterProperties // the same without dictionaries
	groups int
	Rows   int64
	footer

	annotations pq.Annotations
	encoders    *encoders // nil: pages are not compressed
}

// New begins a file with the given columns. Several columns may have the same name, so that files with such columns can
// be copied, although many readers cannot distinguish them. dict states for each leaf column whether to try a
// dictionary.
func New(out io.Writer, fields schema.FieldList, dict []bool) (*File, error) {
	return NewAnnotated(out, fields, dict, nil)
}

// NewAnnotated does the same as New for columns with logical types that the Arrow library does not know. These types
// are in annotations. Bounds are not written for these columns, because the order of their values is unknown too.
func NewAnnotated(out io.Writer, fields schema.FieldList, dict []bool, annotations pq.Annotations) (*File, error) {
	enc, err := newEncoders(false)
	if err != nil {
		return nil, err
	}
	opts := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithMaxStatsSize(boundBytes)}
	for path := range annotations {
		opts = append(opts, parquet.WithStatsFor(strings.ReplaceAll(path, pq.AnnotationPath("", ""), "."), false))
	}
	w, err := newFile(out, fields, dict, enc, opts...)
	if err == nil {
		w.annotations = annotations
	}
	return w, err
}

// NewPlain does the same as New for a file that is soon read again, with all columns at the same time. Its pages are
// not compressed, do not use dictionaries, and have about `page` bytes each.
func NewPlain(out io.Writer, fields schema.FieldList, page int64) (*File, error) {
	return newFile(out, fields, nil, nil, parquet.WithCompression(compress.Codecs.Uncompressed), parquet.WithDataPageSize(page), parquet.WithBatchSize(max(page/64, 16)), parquet.WithStats(false))
}

func newFile(out io.Writer, fields schema.FieldList, useDictionary []bool, enc *encoders, opts ...parquet.WriterProperty) (*File, error) {
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	w := &File{out: out, encoders: enc}
	err = format.Guard(func() error {
		w.Schema = schema.NewSchema(root)
		opts = append(opts, parquet.WithDictionaryDefault(false))
		w.plain = parquet.NewWriterProperties(opts...)
		for i := range w.Schema.NumColumns() {
			if i < len(useDictionary) && useDictionary[i] {
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
	return w, w.writeBytes([]byte(pq.Magic))
}

func (w *File) writeBytes(p []byte) error {
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
			chunks = append(chunks, &Chunk{ColumnChunkWriter: pqfile.NewColumnChunkWriter(m, pages, g.w.props), pages: pages, Rows: g.rows, plain: g.w.plain})
		}
		return nil
	})
	return chunks, err
}

// Place writes finished column chunks to the file, in order.
func (g *Group) Place(chunks []*Chunk) error {
	for _, c := range chunks {
		if err := c.pages.finishMetadata(g.w.Offset); err != nil {
			return err
		}
		if err := g.w.writeBytes(c.pages.buf); err != nil {
			return err
		}
		g.uncompressed += c.pages.uncompressed
	}
	return nil
}

// End completes the row group.
func (g *Group) End() error {
	g.meta.SetNumRows(int(g.rows))
	// The ordinal of a row group is only used for encryption. It has 16 bits, although a file may have more row groups.
	if err := g.meta.Finish(g.uncompressed, int16(g.w.groups)); err != nil {
		return err
	}
	g.w.groups++
	g.w.Rows += g.rows
	return g.w.endGroup()
}

// Chunk encodes one column chunk into memory.
type Chunk struct {
	pqfile.ColumnChunkWriter
	pages         *pageBuffer
	Rows          int64
	plain         *parquet.WriterProperties
	pageEntries   int   // minimum number of entries in the current page
	finishedBytes int64 // bytes of the pages before the current page
	putPageRows   int64 // number of rows in pages that PutPage has written
}

// maxPageEntries limits the entries of a page, approximately. The encoder itself ends a page only by the number of its
// encoded bytes, although it needs 4 bytes of memory for the dictionary index of each entry. Encoded, equal entries
// take only an eighth of a byte each: a file of 4 KB can contain millions of them.
const maxPageEntries = 1 << 20

// Finish encodes the buffered values, checks that every row has been written, and drops the encoder, because its
// buffers take up to three times the bytes of the last page.
func (c *Chunk) Finish() error {
	if got := int64(c.RowsWritten()) + c.putPageRows; got != c.Rows {
		return fmt.Errorf("%d rows were written of a row group of %d", got, c.Rows)
	}
	if err := format.Guard(c.Close); err != nil {
		return err
	}
	c.ColumnChunkWriter = nil
	return nil
}

// DropDictionary makes the chunk use no dictionary. No value may have been written.
func (c *Chunk) DropDictionary() {
	c.ColumnChunkWriter = pqfile.NewColumnChunkWriter(c.pages.meta, c.pages, c.plain)
}

// Optional reports whether the column has definition levels 0 (null) and 1.
func (c *Chunk) Optional() bool { return c.Descr().MaxDefinitionLevel() > 0 }

// typedWriter is implemented by the column writers of Arrow v15, each of which writes one physical type T.
type typedWriter[T any] interface {
	WriteBatch(values []T, def, rep []int16) (written int64, err error)
	FlushCurrentPage() error
}

// Put writes a batch to c: the present values, and the levels of all entries.
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
	if now := c.TotalCompressedBytes(); now != c.finishedBytes { // the encoder has ended a page and begun the next one
		c.finishedBytes, c.pageEntries = now, 0
		return nil
	}
	if c.pageEntries += max(len(values), len(def)); c.pageEntries < maxPageEntries {
		return nil
	}
	if err := w.FlushCurrentPage(); err != nil {
		return err
	}
	c.finishedBytes, c.pageEntries = c.TotalCompressedBytes(), 0
	return nil
}
