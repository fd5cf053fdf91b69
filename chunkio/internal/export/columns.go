package export

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/text"
	"github.com/ufs-stream/ufs-stream/stream"
)

// column is a column of the output: its type, and the function that reads its values from Parquet.
type column struct {
	name     string
	typ      arrow.DataType
	optional bool
	uuid     bool // 16 bytes that are a UUID
	readInto func(pqfile.ColumnChunkReader, int, array.Builder) error
}

// extensionMetadata marks UUIDs as Arrow's canonical extension. Readers that do not support the extension read them as
// bytes.
func (c column) extensionMetadata() arrow.Metadata {
	if !c.uuid {
		return arrow.Metadata{}
	}
	return arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"arrow.uuid", ""})
}

func newOutputColumn(n schema.Node) (column, error) {
	p, ok := n.(*schema.PrimitiveNode)
	if !ok || p.RepetitionType() == parquet.Repetitions.Repeated {
		return column{}, stream.Usagef("{also} %s: whole lists, maps and structs are written as Parquet only; name their flat columns, as %[1]s[0] or %[1]s.field, or leave {format} out", n.Name())
	}
	c := column{name: p.Name(), optional: p.RepetitionType() == parquet.Repetitions.Optional}
	switch t := p.LogicalType().(type) {
	case *schema.DecimalLogicalType:
		c.setDecimalType(p.PhysicalType(), t)
	case *schema.IntLogicalType:
		c.setIntegerType(p.PhysicalType(), int(t.BitWidth()), t.IsSigned())
	case schema.DateLogicalType:
		c.typ, c.readInto = arrow.FixedWidthTypes.Date32, int32ColumnReader(func(b *array.Date32Builder, x int32) { b.Append(arrow.Date32(x)) })
	case *schema.TimeLogicalType:
		unit := arrowTimeUnit(t.TimeUnit())
		if unit == arrow.Millisecond {
			c.typ, c.readInto = &arrow.Time32Type{Unit: unit}, int32ColumnReader(func(b *array.Time32Builder, x int32) { b.Append(arrow.Time32(x)) })
		} else {
			c.typ, c.readInto = &arrow.Time64Type{Unit: unit}, int64ColumnReader(func(b *array.Time64Builder, x int64) { b.Append(arrow.Time64(x)) })
		}
	case *schema.TimestampLogicalType:
		stamp := &arrow.TimestampType{Unit: arrowTimeUnit(t.TimeUnit())}
		if t.IsAdjustedToUTC() {
			stamp.TimeZone = "UTC"
		}
		c.typ, c.readInto = stamp, int64ColumnReader(func(b *array.TimestampBuilder, x int64) { b.Append(arrow.Timestamp(x)) })
	case schema.Float16LogicalType:
		c.typ, c.readInto = arrow.FixedWidthTypes.Float16, fixedBytesColumnReader(func(b *array.Float16Builder, x []byte) {
			b.Append(float16.FromBits(binary.LittleEndian.Uint16(x)))
		})
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		c.typ, c.readInto = arrow.BinaryTypes.String, byteArrayColumnReader(func(b *array.StringBuilder, x []byte) { b.BinaryBuilder.Append(x) })
	case schema.UUIDLogicalType:
		c.uuid = true
		c.setPlainType(p)
	default:
		c.setPlainType(p)
	}
	return c, nil
}

func (c *column) setPlainType(p *schema.PrimitiveNode) {
	switch p.PhysicalType() {
	case parquet.Types.Boolean:
		c.typ = arrow.FixedWidthTypes.Boolean
		c.readInto = columnReaderOf[*pqfile.BooleanColumnChunkReader](func(b *array.BooleanBuilder, x bool) { b.Append(x) })
	case parquet.Types.Int32:
		c.setIntegerType(p.PhysicalType(), 32, true)
	case parquet.Types.Int64:
		c.setIntegerType(p.PhysicalType(), 64, true)
	case parquet.Types.Int96: // nanoseconds of the day and a Julian day
		c.typ = &arrow.TimestampType{Unit: arrow.Nanosecond}
		c.readInto = columnReaderOf[*pqfile.Int96ColumnChunkReader](func(b *array.TimestampBuilder, x parquet.Int96) { b.Append(int96Timestamp(x)) })
	case parquet.Types.Float:
		c.typ = arrow.PrimitiveTypes.Float32
		c.readInto = columnReaderOf[*pqfile.Float32ColumnChunkReader](func(b *array.Float32Builder, x float32) { b.Append(x) })
	case parquet.Types.Double:
		c.typ = arrow.PrimitiveTypes.Float64
		c.readInto = columnReaderOf[*pqfile.Float64ColumnChunkReader](func(b *array.Float64Builder, x float64) { b.Append(x) })
	case parquet.Types.FixedLenByteArray:
		c.typ = &arrow.FixedSizeBinaryType{ByteWidth: p.TypeLength()}
		c.readInto = fixedBytesColumnReader(func(b *array.FixedSizeBinaryBuilder, x []byte) { b.Append(x) })
	default:
		c.typ = arrow.BinaryTypes.Binary
		c.readInto = byteArrayColumnReader(func(b *array.BinaryBuilder, x []byte) { b.Append(x) })
	}
}

// int96Timestamp converts a timestamp of old writers. It panics if 64 bits cannot hold the timestamp; [format.Guard]
// turns this panic into an error.
func int96Timestamp(x parquet.Int96) arrow.Timestamp {
	const epoch, most = 2440588, 106750 // 1970-01-01, and the number of days after it that fit in 64 bits
	days := int64(int32(binary.LittleEndian.Uint32(x[8:]))) - epoch
	if days < -most || days > most {
		panic(fmt.Sprintf("a timestamp %d days from 1970 is beyond the years 1678 to 2262", days))
	}
	return arrow.Timestamp(days*86400*1e9 + int64(binary.LittleEndian.Uint64(x[:])))
}

func (c *column) setIntegerType(t parquet.Type, bits int, signed bool) {
	switch {
	case t == parquet.Types.Int64 && signed:
		c.typ, c.readInto = arrow.PrimitiveTypes.Int64, int64ColumnReader(func(b *array.Int64Builder, x int64) { b.Append(x) })
	case t == parquet.Types.Int64:
		c.typ, c.readInto = arrow.PrimitiveTypes.Uint64, int64ColumnReader(func(b *array.Uint64Builder, x int64) { b.Append(uint64(x)) })
	case bits == 8 && signed:
		c.typ, c.readInto = arrow.PrimitiveTypes.Int8, int32ColumnReader(func(b *array.Int8Builder, x int32) { b.Append(int8(x)) })
	case bits == 8:
		c.typ, c.readInto = arrow.PrimitiveTypes.Uint8, int32ColumnReader(func(b *array.Uint8Builder, x int32) { b.Append(uint8(x)) })
	case bits == 16 && signed:
		c.typ, c.readInto = arrow.PrimitiveTypes.Int16, int32ColumnReader(func(b *array.Int16Builder, x int32) { b.Append(int16(x)) })
	case bits == 16:
		c.typ, c.readInto = arrow.PrimitiveTypes.Uint16, int32ColumnReader(func(b *array.Uint16Builder, x int32) { b.Append(uint16(x)) })
	case signed:
		c.typ, c.readInto = arrow.PrimitiveTypes.Int32, int32ColumnReader(func(b *array.Int32Builder, x int32) { b.Append(x) })
	default:
		c.typ, c.readInto = arrow.PrimitiveTypes.Uint32, int32ColumnReader(func(b *array.Uint32Builder, x int32) { b.Append(uint32(x)) })
	}
}

// maxDigits128 is the number of decimal digits that fit in 128 bits.
const maxDigits128 = 38

func (c *column) setDecimalType(physical parquet.Type, t *schema.DecimalLogicalType) {
	precision, scale := t.Precision(), t.Scale()
	if precision > maxDigits128 {
		c.typ = &arrow.Decimal256Type{Precision: precision, Scale: scale}
		add := func(b *array.Decimal256Builder, x []byte) { b.Append(decimal256.FromBigInt(text.BigInt(x))) }
		if c.readInto = fixedBytesColumnReader(add); physical == parquet.Types.ByteArray {
			c.readInto = byteArrayColumnReader(add)
		}
		return
	}
	c.typ = &arrow.Decimal128Type{Precision: precision, Scale: scale}
	add := func(b *array.Decimal128Builder, x *big.Int) { b.Append(decimal128.FromBigInt(x)) }
	ofBytes := func(b *array.Decimal128Builder, x []byte) { add(b, text.BigInt(x)) }
	switch physical {
	case parquet.Types.Int32:
		c.readInto = int32ColumnReader(func(b *array.Decimal128Builder, x int32) { add(b, big.NewInt(int64(x))) })
	case parquet.Types.Int64:
		c.readInto = int64ColumnReader(func(b *array.Decimal128Builder, x int64) { add(b, big.NewInt(x)) })
	case parquet.Types.ByteArray:
		c.readInto = byteArrayColumnReader(ofBytes)
	default:
		c.readInto = fixedBytesColumnReader(ofBytes)
	}
}

func arrowTimeUnit(u schema.TimeUnitType) arrow.TimeUnit {
	switch u {
	case schema.TimeUnitMillis:
		return arrow.Millisecond
	case schema.TimeUnitMicros:
		return arrow.Microsecond
	}
	return arrow.Nanosecond
}

// batchReader is implemented by v15's column readers; each of them reads one physical type T.
type batchReader[T any] interface {
	pqfile.ColumnChunkReader
	ReadBatch(batchSize int64, values []T, def, rep []int16) (total int64, read int, err error)
}

// columnReaderOf returns a function that reads the next entries of a column into a builder. Its second argument is
// their number.
func columnReaderOf[R batchReader[T], B array.Builder, T any](add func(B, T)) func(pqfile.ColumnChunkReader, int, array.Builder) error {
	return func(reader pqfile.ColumnChunkReader, n int, to array.Builder) error {
		r, okR := reader.(R)
		b, okB := to.(B)
		if !okR || !okB {
			return fmt.Errorf("values of %T for %T", reader, to)
		}
		const batch = 1024
		dst := make([]T, min(n, batch))
		var def []int16
		most := r.Descriptor().MaxDefinitionLevel()
		if most > 0 {
			def = make([]int16, len(dst))
		}
		b.Reserve(n)
		for n > 0 {
			got, read, err := r.ReadBatch(int64(min(n, batch)), dst, def, nil)
			if err == nil {
				err = r.Err()
			}
			switch {
			case err != nil:
				return err
			case got == 0:
				return fmt.Errorf("%d values are missing", n)
			}
			next := 0
			for i := range int(got) {
				if most > 0 && def[i] < most {
					b.AppendNull()
					continue
				}
				add(b, dst[next])
				next++
			}
			if next != read {
				return fmt.Errorf("%d values for %d levels", read, next)
			}
			n -= int(got)
		}
		return nil
	}
}

func int32ColumnReader[B array.Builder](appendTo func(B, int32)) func(pqfile.ColumnChunkReader, int, array.Builder) error {
	return columnReaderOf[*pqfile.Int32ColumnChunkReader](appendTo)
}

func int64ColumnReader[B array.Builder](appendTo func(B, int64)) func(pqfile.ColumnChunkReader, int, array.Builder) error {
	return columnReaderOf[*pqfile.Int64ColumnChunkReader](appendTo)
}

func fixedBytesColumnReader[B array.Builder](appendTo func(B, []byte)) func(pqfile.ColumnChunkReader, int, array.Builder) error {
	return columnReaderOf[*pqfile.FixedLenByteArrayColumnChunkReader](func(b B, x parquet.FixedLenByteArray) { appendTo(b, x) })
}

func byteArrayColumnReader[B array.Builder](appendTo func(B, []byte)) func(pqfile.ColumnChunkReader, int, array.Builder) error {
	return columnReaderOf[*pqfile.ByteArrayColumnChunkReader](func(b B, x parquet.ByteArray) { appendTo(b, x) })
}
