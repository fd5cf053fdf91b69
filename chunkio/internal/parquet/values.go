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
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
)

// batchValues is the number of values decoded at a time: such a batch stays in the first-level cache.
const batchValues = 2048

// scratch is the memory used while decoding column chunks one after the other.
type scratch struct {
	codec        codec
	reading      time.Duration // time of reading and decompressing so far, see rowGroup.guardDecoding
	compressed   []byte        // compressed bytes of the window
	stretchBytes []byte        // compressed bytes of the stretch
	stretch      stretch       // adjacent chunks that were read together
	page         []byte        // current data page
	dict         []byte        // dictionary page
	joined       []byte        // for joinSplitBytes and expandSharedPrefixes
	distinct     []float64     // dictionary.table
	levels       []uint8       // definition levels of a batch
	reps         []uint8       // repetition levels of a batch
	floats       []float64     // memory for values that are decoded but not needed
	table        []float64     // values of a batch of lists
	// batches of physical values
	bools      []bool
	int32s     []int32
	int64s     []int64
	int96s     []parquet.Int96
	f32s       []float32
	f64s       []float64
	fixedBytes []parquet.FixedLenByteArray
	bytes      []parquet.ByteArray
	// the current column chunk
	pages   pageWalker
	entries entryReader
	values  valueDecoder
}

// scratchBytes returns an upper bound on the memory needed to decode one column chunk: the compressed bytes, the page,
// the dictionary, and either the values of the dictionary as float64 or a second copy of a BYTE_STREAM_SPLIT page. One
// MiB is added for the state of the codec (0.4 MB for zstd), batches of values and a stretch, see maxStretch.
func scratchBytes(c footer.ChunkInfo, col *column) int64 {
	copies := int64(8) // a value of at least 4 bytes may need a slice header of 24 bytes
	if col.size > 0 {
		copies = 1 + int64(8+col.size-1)/int64(col.size)
	}
	return c.Size + copies*c.Uncompressed + 1<<20
}

func resizeBuffer[T any](buf *[]T, length int) []T {
	*buf = format.Resize(*buf, length)
	return *buf
}

// valueDecoder decodes the values of a column chunk that are not null, page by page, to float64. The entryReader
// decodes the levels. This package decodes dictionaries and plain numbers itself, see dictionary and convertPlain. The
// library decodes all other values, see valuePageReader.
type valueDecoder struct {
	col         *column
	buf         *scratch
	dict        dictionary
	dictReady   bool // the dictionary has been converted
	usesIndices bool // the current page holds indices

	numbers []byte // unread plain numbers
	isPlain bool   // the current page holds plain numbers

	libraryPages valuePageReader           // the pages for library
	library      func(dst []float64) error // calls the library's decoder; nil until a page needs it
}

func (v *valueDecoder) startPage(p *page, skip int) error {
	if t := v.col.texts; t != nil && v.dict.size >= 0 && !v.dictReady { // the texts of the dictionary precede all other texts
		if err := v.loadDictionary(); err != nil {
			return err
		}
		t.Fixed = len(t.Ends)
	}
	v.usesIndices = isDictionaryEncoding(p.header.Encoding)
	switch {
	case !v.usesIndices:
		b, count, rest := skipValues(v.col, p.header.Encoding, p.values, p.present, skip)
		if err := v.setEncodedValues(b, count, p.header.Encoding); err != nil {
			return err
		}
		return v.discardValues(rest)
	case p.present == skip: // all values are skipped, and there may be no dictionary
		return nil
	case !v.dictReady:
		if err := v.loadDictionary(); err != nil {
			return err
		}
	}
	return v.dict.startPage(p.values, skip)
}

func (v *valueDecoder) setEncodedValues(encoded []byte, count int, encoding parquet.Encoding) (err error) {
	v.isPlain = encoding == parquet.Encodings.Plain && isDecodedFromPlainNumbers(v.col)
	if v.isPlain {
		v.numbers = encoded
		return nil
	}
	if v.library == nil {
		if v.library, err = newLibraryDecoder(v.col, &v.libraryPages, v.buf); err != nil {
			return err
		}
	}
	v.libraryPages.values, v.libraryPages.count, v.libraryPages.encoding = encoded, count, encoding
	return nil
}

func (v *valueDecoder) loadDictionary() error {
	v.dict.table = resizeBuffer(&v.buf.distinct, v.dict.size)
	err := v.setEncodedValues(v.dict.plain, v.dict.size, parquet.Encodings.Plain)
	if err == nil {
		err = v.decodeValues(v.dict.table)
	}
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	v.dictReady = true
	return nil
}

func (v *valueDecoder) readValues(dst []float64) error {
	if v.usesIndices {
		return v.dict.readValues(dst)
	}
	return v.decodeValues(dst)
}

// decodeValues fills dst with the next values, which are not dictionary indices.
func (v *valueDecoder) decodeValues(dst []float64) error {
	if !v.isPlain {
		return v.library(dst)
	}
	n := len(dst) * v.col.size
	if n > len(v.numbers) {
		return errors.New("page ends before its last value")
	}
	convertPlain(v.col, dst, v.numbers[:n])
	v.numbers = v.numbers[n:]
	return nil
}

func (v *valueDecoder) discardValues(count int) error {
	for count > 0 {
		dst := resizeBuffer(&v.buf.floats, min(count, batchValues))
		if err := v.decodeValues(dst); err != nil {
			return err
		}
		if t := v.col.texts; t != nil {
			t.Truncate(len(t.Ends) - len(dst))
		}
		count -= len(dst)
	}
	return nil
}

func newLibraryDecoder(col *column, from *valuePageReader, buf *scratch) (read func([]float64) error, err error) {
	required := schema.NewColumn(col.desc.SchemaNode().(*schema.PrimitiveNode), 0, 0)
	reader := pqfile.NewColumnReader(required, from, memory.DefaultAllocator, &sync.Pool{
		New: func() any { return memory.NewResizableBuffer(memory.DefaultAllocator) },
	})
	if col.texts != nil {
		read = newTextReader(reader, col, buf)
	} else if col.kind != notNumber {
		switch r := reader.(type) {
		case *pqfile.BooleanColumnChunkReader:
			read = newConvertingReader(r, &buf.bools, convertBools)
		case *pqfile.Int32ColumnChunkReader:
			read = newConvertingReader(r, &buf.int32s, newInt32Converter(col))
		case *pqfile.Int64ColumnChunkReader:
			read = newConvertingReader(r, &buf.int64s, newInt64Converter(col))
		case *pqfile.FixedLenByteArrayColumnChunkReader:
			read = newConvertingReader(r, &buf.fixedBytes, newFixedBytesConverter(col))
		case *pqfile.ByteArrayColumnChunkReader:
			read = newConvertingReader(r, &buf.bytes, func(dst []float64, src []parquet.ByteArray) error {
				return convertDecimals(dst, src, col.scale)
			})
		}
	}
	if read == nil {
		return nil, fmt.Errorf("values of type %s are no numbers", col.physical)
	}
	return read, nil
}

// skipValues skips the first skip values of b, which encodes count values. It cuts off as many of them as is possible
// without decoding. The returned bytes encode the remaining values, whose number is left. The caller must decode them
// and discard the first ones, whose number is toDiscard.
func skipValues(col *column, e parquet.Encoding, b []byte, count, skip int) (_ []byte, left, toDiscard int) {
	switch {
	case col.hasChainedPages():
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

func readFullBatch[T any](r TypedReader[T], dst []T) error {
	_, n, err := r.ReadBatch(int64(len(dst)), dst, nil, nil)
	if err == nil {
		err = r.Err()
	}
	if err == nil && n != len(dst) {
		err = errors.New("page ends before its last value")
	}
	return err
}

func newConvertingReader[T any](r TypedReader[T], buf *[]T, convert func(dst []float64, src []T) error) func([]float64) error {
	batch := resizeBuffer(buf, batchValues)
	return func(dst []float64) error {
		for len(dst) > 0 {
			n := min(len(dst), len(batch))
			if err := readFullBatch(r, batch[:n]); err != nil {
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

// TypedReader is implemented by v15's column readers; each of them reads one physical type T.
type TypedReader[T any] interface {
	HasNext() bool
	Err() error
	ReadBatch(n int64, values []T, def, rep []int16) (levels int64, read int, err error)
}
