package parquet

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// batchValues is how many values are decoded at a time: their scratch stays in the
// first-level cache.
const batchValues = 2048

// scratch is the memory of one decoding, kept between column chunks.
type scratch struct {
	codec    codec
	reading  time.Duration // spent on reading and decompressing so far, see rowGroup.run
	read     []byte        // compressed bytes
	near     []byte        // those of several column chunks
	stretch  stretch       // which ones
	page     []byte
	dict     []byte
	joined   []byte
	distinct []float64
	levels   []uint8
	reps     []uint8
	floats   []float64
	table    []float64
	// batches of physical values
	bools  []bool
	int32s []int32
	int64s []int64
	int96s []parquet.Int96
	f32s   []float32
	f64s   []float64
	fixed  []parquet.FixedLenByteArray
	bytes  []parquet.ByteArray
	// the column chunk under way
	pages   pages
	entries entries
	values  values
}

// scratchBytes bounds what decoding one column chunk holds: the compressed bytes, the
// page and the dictionary, the dictionary's values as float64 or a page of BYTE_STREAM_SPLIT
// once more; and in a MiB the state of the codec (0.4 MB for zstd), batches of values and
// what is read together, see stretchMost.
func scratchBytes(c ChunkInfo, col *column) int64 {
	copies := int64(8) // a slice header of 24 bytes for a value of at least 4
	if col.size > 0 {
		copies = 1 + int64(8+col.size-1)/int64(col.size)
	}
	return c.Size + copies*c.Uncompressed + 1<<20
}

// grow returns *buf with length n, reusing its memory.
func grow[T any](buf *[]T, n int) []T {
	*buf = format.Sized(*buf, n)
	return *buf
}

// values decodes the present values of a column chunk, page by page, to float64. Levels are
// none of its business. Dictionaries and plain numbers are decoded here, see dictionary and
// plainFloats; other values by the library, see valuePages.
type values struct {
	col     *column
	buf     *scratch
	dict    dictionary
	ready   bool // the dictionary has been converted
	indexed bool // the page under way is of indices

	numbers []byte // what is left of plain numbers
	plain   bool   // the page under way is of such

	from    valuePages                // of the library
	library func(dst []float64) error // reads from; nil before a page needs it
}

// startPage goes to the values of the next page and passes over the first skip of them.
func (v *values) startPage(p *page, skip int) error {
	if t := v.col.texts; t != nil && v.dict.size >= 0 && !v.ready { // before other texts
		if err := v.loadDictionary(); err != nil {
			return err
		}
		t.Fixed = len(t.Ends)
	}
	v.indexed = usesDictionary(p.header.Encoding)
	switch {
	case !v.indexed:
		b, count, rest := skipValues(v.col, p.header.Encoding, p.values, p.present, skip)
		if err := v.set(b, count, p.header.Encoding); err != nil {
			return err
		}
		return v.discard(rest)
	case p.present == skip: // nothing to read, and perhaps no dictionary
		return nil
	case !v.ready:
		if err := v.loadDictionary(); err != nil {
			return err
		}
	}
	return v.dict.startPage(p.values, skip)
}

// set makes count encoded values the next to be decoded.
func (v *values) set(b []byte, count int, e parquet.Encoding) (err error) {
	v.plain = e == parquet.Encodings.Plain && v.col.plainNumbers()
	if v.plain {
		v.numbers = b
		return nil
	}
	if v.library == nil {
		if v.library, err = libraryValues(v.col, &v.from, v.buf); err != nil {
			return err
		}
	}
	v.from.set(b, count, e)
	return nil
}

// loadDictionary converts the distinct values.
func (v *values) loadDictionary() error {
	v.dict.table = grow(&v.buf.distinct, v.dict.size)
	err := v.set(v.dict.plain, v.dict.size, parquet.Encodings.Plain)
	if err == nil {
		err = v.decode(v.dict.table)
	}
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	v.ready = true
	return nil
}

// read fills dst with the next values of the page.
func (v *values) read(dst []float64) error {
	if v.indexed {
		return v.dict.read(dst)
	}
	return v.decode(dst)
}

// decode fills dst with the next values that are no indices.
func (v *values) decode(dst []float64) error {
	if !v.plain {
		return v.library(dst)
	}
	n := len(dst) * v.col.size
	if n > len(v.numbers) {
		return errors.New("page ends before its last value")
	}
	plainFloats(v.col, dst, v.numbers[:n])
	v.numbers = v.numbers[n:]
	return nil
}

// discard decodes n values for nothing.
func (v *values) discard(n int) error {
	for n > 0 {
		dst := grow(&v.buf.floats, min(n, batchValues))
		if err := v.decode(dst); err != nil {
			return err
		}
		if t := v.col.texts; t != nil {
			t.Cut(len(t.Ends) - len(dst))
		}
		n -= len(dst)
	}
	return nil
}

// libraryValues makes a reader of the library's, of the values that from has.
func libraryValues(col *column, from *valuePages, buf *scratch) (read func([]float64) error, err error) {
	required := schema.NewColumn(col.desc.SchemaNode().(*schema.PrimitiveNode), 0, 0)
	reader := pqfile.NewColumnReader(required, from, memory.DefaultAllocator, &sync.Pool{
		New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) },
	})
	if col.texts != nil {
		read = textValues(reader, col, buf)
	} else if col.kind != notNumber {
		switch r := reader.(type) {
		case *pqfile.BooleanColumnChunkReader:
			read = pull(r, &buf.bools, boolFloats)
		case *pqfile.Int32ColumnChunkReader:
			read = pull(r, &buf.int32s, int32Floats(col))
		case *pqfile.Int64ColumnChunkReader:
			read = pull(r, &buf.int64s, int64Floats(col))
		case *pqfile.FixedLenByteArrayColumnChunkReader:
			read = pull(r, &buf.fixed, fixedFloats(col))
		case *pqfile.ByteArrayColumnChunkReader:
			read = pull(r, &buf.bytes, func(dst []float64, src []parquet.ByteArray) error {
				return decimals(dst, src, col.scale)
			})
		}
	}
	if read == nil {
		return nil, fmt.Errorf("values of type %s are no numbers", col.physical)
	}
	return read, nil
}

// skipValues cuts the first skip of count encoded values off, as far as that can be
// done without decoding; rest of them remain to be read and dropped.
func skipValues(col *column, e parquet.Encoding, b []byte, count, skip int) (_ []byte, left, rest int) {
	switch {
	case col.chained():
		return b, count, skip
	case skip == 0 || skip == count:
		return b, count - skip, 0
	case e == parquet.Encodings.Plain && col.size > 0:
		return b[skip*col.size:], count - skip, 0
	case e == parquet.Encodings.Plain && col.physical == parquet.Types.Boolean:
		whole := skip / 8 * 8
		return b[whole/8:], count - whole, skip - whole
	}
	return b, count, skip
}

// readBatch fills dst.
func readBatch[T any](r TypedReader[T], dst []T) error {
	_, n, err := r.ReadBatch(int64(len(dst)), dst, nil, nil)
	if err == nil {
		err = r.Err()
	}
	if err == nil && n != len(dst) {
		err = errors.New("page ends before its last value")
	}
	return err
}

// pull makes a reader of float64 from a reader of T and a conversion.
func pull[T any](r TypedReader[T], buf *[]T, convert func(dst []float64, src []T) error) func([]float64) error {
	batch := grow(buf, batchValues)
	return func(dst []float64) error {
		for len(dst) > 0 {
			n := min(len(dst), len(batch))
			if err := readBatch(r, batch[:n]); err != nil {
				return err
			}
			if err := convert(dst[:n], batch[:n]); err != nil {
				return err
			}
			dst = dst[n:]
		}
		return nil
	}
}

// TypedReader is one of v15's column readers, of one physical type.
type TypedReader[T any] interface {
	HasNext() bool
	Err() error
	ReadBatch(n int64, values []T, def, rep []int16) (levels int64, read int, err error)
}
