package copier

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/convert"
)

func writeArrowValues(c *writer.Chunk, a arrow.Array, indices []int, def, rep []int16) error {
	if len(rep) == 0 {
		rep = nil
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return writeArrowValues(c, a.Dictionary(), convert.Each(indices, a.GetValueIndex), def, rep)
	case *array.RunEndEncoded:
		return writeArrowValues(c, a.Values(), convert.Each(indices, a.GetPhysicalIndex), def, rep)
	case array.ExtensionArray:
		return writeArrowValues(c, a.Storage(), indices, def, rep)
	case *array.Null:
		return writer.Put(c, []int32{}, def, rep)
	case *array.Boolean:
		return putValues(c, a.Value, indices, def, rep)
	case *array.Int8:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Int16:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Int32:
		return putValues(c, a.Value, indices, def, rep)
	case *array.Int64:
		return putValues(c, a.Value, indices, def, rep)
	case *array.Uint8:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Uint16:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Uint32:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Uint64:
		return putValues(c, func(i int) int64 { return int64(a.Value(i)) }, indices, def, rep)
	case *array.Float16:
		return putValues(c, func(i int) parquet.FixedLenByteArray { return a.Value(i).ToLEBytes() }, indices, def, rep)
	case *array.Float32:
		return putValues(c, a.Value, indices, def, rep)
	case *array.Float64:
		return putValues(c, a.Value, indices, def, rep)
	case *array.FixedSizeBinary:
		return putValues(c, func(i int) parquet.FixedLenByteArray { return a.Value(i) }, indices, def, rep)
	case interface{ Value(int) string }: // text and binary: with 32-bit or 64-bit offsets, or as views
		return putValues(c, func(i int) parquet.ByteArray { return parquet.ByteArray(a.Value(i)) }, indices, def, rep)
	case interface{ Value(int) []byte }:
		return putValues(c, func(i int) parquet.ByteArray { return a.Value(i) }, indices, def, rep)
	case *array.Duration:
		return putValues(c, func(i int) int64 { return int64(a.Value(i)) }, indices, def, rep)
	case *array.Decimal128:
		return writeDecimals(c, a.DataType().(*arrow.Decimal128Type).Precision, indices, def, rep, func(i int) []byte {
			v := a.Value(i)
			return bigEndianBytesOfWords(uint64(v.HighBits()), v.LowBits())
		})
	case *array.Decimal256:
		return writeDecimals(c, a.DataType().(*arrow.Decimal256Type).Precision, indices, def, rep, func(i int) []byte {
			w := a.Value(i).Array() // words, the least significant word first
			return bigEndianBytesOfWords(w[3], w[2], w[1], w[0])
		})
	}
	return writeTimes(c, a, indices, def, rep)
}

// putValues writes value(at[0]), value(at[1]), … and the levels.
func putValues[T any](c *writer.Chunk, value func(int) T, at []int, def, rep []int16) error {
	return writer.Put(c, convert.Each(at, value), def, rep)
}

func writeTimes(c *writer.Chunk, a arrow.Array, indices []int, def, rep []int16) error {
	const dayMillis = 86_400_000
	switch a := a.(type) {
	case *array.Date32:
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) }, indices, def, rep)
	case *array.Date64:
		for _, i := range indices {
			if v := a.Value(i); v%dayMillis != 0 || v/dayMillis != arrow.Date64(int32(v/dayMillis)) {
				return fmt.Errorf("row %d: date64 value %d is no whole day that Parquet holds", i, v)
			}
		}
		return putValues(c, func(i int) int32 { return int32(a.Value(i) / dayMillis) }, indices, def, rep)
	case *array.Time32:
		scale := int32(1)
		if a.DataType().(*arrow.Time32Type).Unit == arrow.Second {
			scale = 1000
		}
		return putValues(c, func(i int) int32 { return int32(a.Value(i)) * scale }, indices, def, rep)
	case *array.Time64:
		return putValues(c, func(i int) int64 { return int64(a.Value(i)) }, indices, def, rep)
	case *array.Timestamp:
		if a.DataType().(*arrow.TimestampType).Unit != arrow.Second {
			return putValues(c, func(i int) int64 { return int64(a.Value(i)) }, indices, def, rep)
		}
		for _, i := range indices {
			if v := int64(a.Value(i)); v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
				return fmt.Errorf("row %d: timestamp %d s is beyond milliseconds of 64 bits", i, v)
			}
		}
		return putValues(c, func(i int) int64 { return int64(a.Value(i)) * 1000 }, indices, def, rep)
	}
	return fmt.Errorf("the Arrow type %v cannot be written to Parquet", a.DataType())
}

// writeDecimals writes decimals; up to 18 digits they become integers, see mapDecimal. big(i) must return the unscaled
// value i in big-endian two's complement.
func writeDecimals(c *writer.Chunk, precision int32, at []int, def, rep []int16, big func(int) []byte) error {
	if precision > 18 {
		return putValues(c, func(i int) parquet.FixedLenByteArray { return big(i) }, at, def, rep)
	}
	for _, i := range at {
		b := big(i)
		sign := byte(int8(b[len(b)-8]) >> 7)
		for _, x := range b[:len(b)-8] {
			if x != sign {
				return fmt.Errorf("row %d: a decimal of more than its %d digits", i, precision)
			}
		}
	}
	return putValues(c, func(i int) int64 {
		v := int64(0)
		b := big(i)
		for _, x := range b[len(b)-8:] {
			v = v<<8 | int64(x)
		}
		return v
	}, at, def, rep)
}

func bigEndianBytesOfWords(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		for s := 56; s >= 0; s -= 8 {
			b = append(b, byte(w>>s))
		}
	}
	return b
}
