package parquet

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
)

// The memory for a column chunk as text is at most textCopies times its scratch memory. The worst case is an integer of
// 4 bytes, which becomes up to 20 digits and two positions in lists.
const textCopies = 4

// DecodeTexts implements format.Group. It decodes like Decode, but formats the values as texts in a text.List and
// passes their indices in that list to emit. Each text of a dictionary is formatted only once.
func (g *rowGroup) DecodeTexts(ctx context.Context, l int, from, to int64, emit func([]int32, *text.List) error) error {
	lf, col := &g.file.leaves[l], g.file.columns[l]
	if why := cmp.Or(lf.NoClass, g.file.whyUndecodable(g.number, &col)); why != "" {
		return g.file.placeErrorInColumn(errors.New(why), g.number, lf.Name)
	}
	return g.withDecodeBuffers(lf, from, to, func(buf *scratch) error {
		t := new(text.List)
		encodings := g.file.footer.Groups[g.number].Chunks[col.index].Encodings // 0 if the footer lists none
		col.texts, col.independentPages = t, encodings != 0 && !encodings.Has(parquet.Encodings.DeltaByteArray)
		e := g.startEntryReader(&col, buf)
		if err := g.seekEntryReader(e, l, from, to); err != nil {
			return err
		}
		numbers, ids := make([]float64, batchValues), make([]int32, batchValues)
		for row := from; row < to; {
			n := int(min(batchValues, to-row))
			t.Truncate(t.Fixed)
			if err := e.readEntries(ctx, numbers[:n]); err != nil {
				return err
			}
			for i, x := range numbers[:n] {
				if ids[i] = -1; !format.IsNull(x) {
					ids[i] = int32(x)
				}
			}
			if err := emit(ids[:n], t); err != nil {
				return err
			}
			row += int64(n)
		}
		return nil
	})
}

func whyNoClass(p *schema.PrimitiveNode, whyNoFeature string) string {
	switch p.LogicalType().(type) {
	case schema.IntervalLogicalType, schema.NullLogicalType, schema.UnknownLogicalType, *schema.DecimalLogicalType:
		return whyNoFeature // for decimals: the scale is not supported
	}
	return ""
}

// newTextReader returns a function that appends the next values as texts to col.texts and writes their indices to its
// argument.
func newTextReader(reader pqfile.ColumnChunkReader, col *column, buf *scratch) func([]float64) error {
	t := col.texts
	switch r := reader.(type) {
	case *pqfile.BooleanColumnChunkReader:
		return newConvertingReader(r, &buf.bools, newTextAppender(t, strconv.AppendBool))
	case *pqfile.Int32ColumnChunkReader:
		write := integerFormatter(col)
		return newConvertingReader(r, &buf.int32s, newTextAppender(t, func(b []byte, x int32) []byte { return write(b, int64(x)) }))
	case *pqfile.Int64ColumnChunkReader:
		return newConvertingReader(r, &buf.int64s, newTextAppender(t, integerFormatter(col)))
	case *pqfile.Int96ColumnChunkReader:
		return newConvertingReader(r, &buf.int96s, newTextAppender(t, appendInt96Text))
	case *pqfile.Float32ColumnChunkReader:
		return newConvertingReader(r, &buf.f32s, newTextAppender(t, func(b []byte, x float32) []byte { return text.AppendFloat(b, float64(x), 32) }))
	case *pqfile.Float64ColumnChunkReader:
		return newConvertingReader(r, &buf.f64s, newTextAppender(t, func(b []byte, x float64) []byte { return text.AppendFloat(b, x, 64) }))
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		write := bytesFormatter(col)
		return newConvertingReader(r, &buf.fixedBytes, newTextAppender(t, func(b []byte, x parquet.FixedLenByteArray) []byte { return write(b, x) }))
	case *pqfile.ByteArrayColumnChunkReader:
		write := bytesFormatter(col)
		return newConvertingReader(r, &buf.bytes, newTextAppender(t, func(b []byte, x parquet.ByteArray) []byte { return write(b, x) }))
	}
	return nil
}

func newTextAppender[T any](t *text.List, write func([]byte, T) []byte) func([]float64, []T) error {
	return func(dst []float64, src []T) error {
		for i, x := range src {
			t.Text = write(t.Text, x)
			dst[i] = float64(t.EndValue())
		}
		return nil
	}
}

func integerFormatter(col *column) func([]byte, int64) []byte {
	switch t := col.desc.LogicalType().(type) {
	case schema.DateLogicalType:
		if col.showsTimes {
			return func(b []byte, days int64) []byte { return text.AppendTime(b, 86400*days, 1, false) }
		}
		return text.AppendDate
	case *schema.TimestampLogicalType:
		perSecond, utc := unitsPerSecond(t.TimeUnit()), t.IsAdjustedToUTC()
		return func(b []byte, x int64) []byte { return text.AppendTime(b, x, perSecond, utc) }
	case *schema.TimeLogicalType:
		perSecond := unitsPerSecond(t.TimeUnit())
		return func(b []byte, x int64) []byte { return text.AppendClock(b, x, perSecond) }
	}
	switch col.kind {
	case asUint8:
		return func(b []byte, x int64) []byte { return strconv.AppendUint(b, uint64(uint8(x)), 10) }
	case asUint16:
		return func(b []byte, x int64) []byte { return strconv.AppendUint(b, uint64(uint16(x)), 10) }
	case asUint32:
		return func(b []byte, x int64) []byte { return strconv.AppendUint(b, uint64(uint32(x)), 10) }
	case asUint64:
		return func(b []byte, x int64) []byte { return strconv.AppendUint(b, uint64(x), 10) }
	case asDecimal:
		return func(b []byte, x int64) []byte { return text.AppendDecimal(b, big.NewInt(x), col.scale) }
	}
	return func(b []byte, x int64) []byte { return strconv.AppendInt(b, x, 10) }
}

func unitsPerSecond(u schema.TimeUnitType) int64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1e3
	case schema.TimeUnitMicros:
		return 1e6
	}
	return 1e9
}

// bytesFormatter returns the function that formats a byte array of the column as text: decimals and UUIDs in their
// usual notation, all other bytes unchanged.
func bytesFormatter(col *column) func([]byte, []byte) []byte {
	switch col.kind {
	case asDecimal:
		return func(b, x []byte) []byte { return text.AppendDecimal(b, text.BigInt(x), col.scale) }
	case asHalf:
		return func(b, x []byte) []byte {
			return text.AppendFloat(b, format.HalfFloat(binary.LittleEndian.Uint16(x)), 32)
		}
	}
	if _, ok := col.desc.LogicalType().(schema.UUIDLogicalType); ok {
		return text.AppendUUID
	}
	return func(b, x []byte) []byte { return append(b, x...) }
}

// appendInt96Text formats a timestamp of old writers, which consists of the nanoseconds of the day and a Julian day.
func appendInt96Text(b []byte, x parquet.Int96) []byte {
	const epoch = 2440588 // 1970-01-01
	nanos, day := int64(binary.LittleEndian.Uint64(x[:])), int64(int32(binary.LittleEndian.Uint32(x[8:])))
	const dayNanos = 86400 * 1e9
	if day -= epoch; nanos < 0 || nanos >= dayNanos || day < text.FirstSecond/86400 || day > text.LastSecond/86400 {
		return append(strconv.AppendInt(append(strconv.AppendInt(b, day, 10), 'd'), nanos, 10), "ns"...)
	}
	b = append(text.AppendDate(b, day), 'T')
	return text.AppendClock(b, nanos, 1e9)
}
