package chunkio

import (
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// batchValues is how many values are decoded at a time: their scratch stays in the
// first-level cache.
const batchValues = 2048

// scratch is the memory of one decoding, kept between column chunks.
type scratch struct {
	codec  codec
	read   []byte // compressed bytes
	page   []byte
	dict   []byte
	levels []uint8
	reps   []uint8
	floats []float64
	table  []float64
	// batches of physical values
	bools  []bool
	int32s []int32
	int64s []int64
	f32s   []float32
	fixed  []parquet.FixedLenByteArray
	bytes  []parquet.ByteArray
}

// scratchBytes bounds what decoding one column chunk holds: the compressed bytes, the
// page and the dictionary, the library's copy of the dictionary and its tables, and
// the state of the codec (0.4 MB for zstd).
func scratchBytes(c chunkInfo, col *column) int64 {
	copies := int64(2)
	if col.size == 0 { // a slice header of 24 bytes for a value of at least 4
		copies = 8
	}
	return c.size + copies*c.uncompressed + 1<<20
}

// grow returns *buf with length n, reusing its memory.
func grow[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	*buf = (*buf)[:n]
	return *buf
}

// values decodes the present values of a column chunk, page by page, to float64.
// Levels are none of its business.
type values struct {
	from valuePages
	col  *column
	read func(dst []float64) error
	drop []float64
}

func newValues(col *column, dict []byte, dictSize int, buf *scratch) (*values, error) {
	v := &values{col: col, drop: grow(&buf.floats, batchValues)}
	v.from.dict, v.from.dictSize = dict, dictSize
	required := schema.NewColumn(col.desc.SchemaNode().(*schema.PrimitiveNode), 0, 0)
	reader := pqfile.NewColumnReader(required, &v.from, memory.DefaultAllocator, &sync.Pool{
		New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) },
	})
	switch r := reader.(type) {
	case *pqfile.BooleanColumnChunkReader:
		v.read = pull(r, &buf.bools, boolFloats)
	case *pqfile.Int32ColumnChunkReader:
		v.read = pull(r, &buf.int32s, int32Floats(col))
	case *pqfile.Int64ColumnChunkReader:
		v.read = pull(r, &buf.int64s, int64Floats(col))
	case *pqfile.Float32ColumnChunkReader:
		v.read = pull(r, &buf.f32s, cast[float32, float32])
	case *pqfile.Float64ColumnChunkReader:
		v.read = func(dst []float64) error { return readBatch(r, dst) }
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		v.read = pull(r, &buf.fixed, fixedFloats(col))
	case *pqfile.ByteArrayColumnChunkReader:
		v.read = pull(r, &buf.bytes, func(dst []float64, src []parquet.ByteArray) error {
			return decimals(dst, src, col.scale)
		})
	}
	if v.read == nil || col.kind == notNumber {
		return nil, fmt.Errorf("values of type %s are no numbers", col.physical)
	}
	return v, nil
}

// turn goes to the values of the next page and passes over the first skip of them.
func (v *values) turn(p *page, skip int) error {
	b, count, rest := skipValues(v.col, p.header.encoding, p.values, p.present, skip)
	v.from.values, v.from.count, v.from.encoding = b, count, p.header.encoding
	for rest > 0 {
		n := min(rest, len(v.drop))
		if err := v.read(v.drop[:n]); err != nil {
			return err
		}
		rest -= n
	}
	return nil
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
	case e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict:
		// Runs start at whole bytes: begin with the run that holds the first value wanted,
		// behind a copy of the byte that gives their width.
		h := hybrid{b: b[1:], width: int(b[0])}
		for rest = skip; ; {
			start := len(b) - len(h.b)
			if h.run() != nil || h.left > rest {
				b[start-1] = b[0]
				return b[start-1:], count - skip + rest, rest
			}
			rest -= h.left
			h.left = 0
		}
	}
	return b, count, skip
}

// readBatch fills dst.
func readBatch[T any](r typedReader[T], dst []T) error {
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
func pull[T any](r typedReader[T], buf *[]T, convert func(dst []float64, src []T) error) func([]float64) error {
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
