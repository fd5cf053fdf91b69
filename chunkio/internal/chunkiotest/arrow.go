package chunkiotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
)

// ArrowCase is a test of one Arrow type: the Parquet type that it must become, a function that appends a value chosen
// by i to a builder, and the text that formattest.Dump must show for this value.
type ArrowCase struct {
	Name     string
	Typ      arrow.DataType
	Physical parquet.Type
	Logical  schema.LogicalType
	Add      func(b array.Builder, i int)
	Text     func(i int) string
}

// ArrowCases returns a test case for every Arrow type that can be converted to Parquet.
func ArrowCases() []ArrowCase {
	none := schema.NoLogicalType{}
	number := func(i int) string { return fmt.Sprint(i) }
	quoted := func(i int) string { return fmt.Sprintf("%q", fmt.Sprintf("v%d", i)) }
	ints := func(name string, typ arrow.DataType, bits int8, signed bool, add func(array.Builder, int)) ArrowCase {
		physical := parquet.Types.Int32
		if bits == 64 {
			physical = parquet.Types.Int64
		}
		return ArrowCase{name, typ, physical, schema.NewIntLogicalType(bits, signed), add, number}
	}
	return []ArrowCase{
		{"bool", arrow.FixedWidthTypes.Boolean, parquet.Types.Boolean, none,
			func(b array.Builder, i int) { b.(*array.BooleanBuilder).Append(i%2 == 0) }, func(i int) string { return fmt.Sprint(i%2 == 0) }},
		ints("i8", arrow.PrimitiveTypes.Int8, 8, true, func(b array.Builder, i int) { b.(*array.Int8Builder).Append(int8(i)) }),
		ints("i16", arrow.PrimitiveTypes.Int16, 16, true, func(b array.Builder, i int) { b.(*array.Int16Builder).Append(int16(i)) }),
		ints("i32", arrow.PrimitiveTypes.Int32, 32, true, func(b array.Builder, i int) { b.(*array.Int32Builder).Append(int32(i)) }),
		ints("i64", arrow.PrimitiveTypes.Int64, 64, true, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i)) }),
		ints("u8", arrow.PrimitiveTypes.Uint8, 8, false, func(b array.Builder, i int) { b.(*array.Uint8Builder).Append(uint8(i)) }),
		ints("u16", arrow.PrimitiveTypes.Uint16, 16, false, func(b array.Builder, i int) { b.(*array.Uint16Builder).Append(uint16(i)) }),
		{"u32", arrow.PrimitiveTypes.Uint32, parquet.Types.Int32, schema.NewIntLogicalType(32, false),
			func(b array.Builder, i int) { b.(*array.Uint32Builder).Append(^uint32(i)) }, func(i int) string { return fmt.Sprint(int32(^uint32(i))) }},
		{"u64", arrow.PrimitiveTypes.Uint64, parquet.Types.Int64, schema.NewIntLogicalType(64, false),
			func(b array.Builder, i int) { b.(*array.Uint64Builder).Append(^uint64(i)) }, func(i int) string { return fmt.Sprint(int64(^uint64(i))) }},
		{"half", arrow.FixedWidthTypes.Float16, parquet.Types.FixedLenByteArray, schema.Float16LogicalType{},
			func(b array.Builder, i int) { b.(*array.Float16Builder).Append(float16.FromBits(uint16(0x7C00 + i))) },
			func(i int) string { return fmt.Sprintf("%02x7c", i) }},
		{"decimal", &arrow.Decimal128Type{Precision: 10, Scale: 2}, parquet.Types.Int64, schema.NewDecimalLogicalType(10, 2),
			func(b array.Builder, i int) { b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(-i))) }, func(i int) string { return fmt.Sprint(-i) }},
		{"decimal30", &arrow.Decimal128Type{Precision: 30, Scale: 5}, parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(30, 5),
			func(b array.Builder, i int) { b.(*array.Decimal128Builder).Append(decimal128.New(int64(-1-i), 7)) },
			func(i int) string { return fmt.Sprintf("%016x%016x", uint64(int64(-1-i)), 7) }},
		{"decimal50", &arrow.Decimal256Type{Precision: 50, Scale: 5}, parquet.Types.FixedLenByteArray, schema.NewDecimalLogicalType(50, 5),
			func(b array.Builder, i int) { b.(*array.Decimal256Builder).Append(decimal256.New(1, 2, 3, uint64(i))) },
			func(i int) string { return fmt.Sprintf("%016x%016x%016x%016x", 1, 2, 3, i) }},
		{"text", arrow.BinaryTypes.String, parquet.Types.ByteArray, schema.StringLogicalType{},
			func(b array.Builder, i int) { b.(*array.StringBuilder).Append(fmt.Sprintf("v%d", i)) }, quoted},
		{"large", arrow.BinaryTypes.LargeString, parquet.Types.ByteArray, schema.StringLogicalType{},
			func(b array.Builder, i int) { b.(*array.LargeStringBuilder).Append(fmt.Sprintf("v%d", i)) }, quoted},
		{"binary", arrow.BinaryTypes.Binary, parquet.Types.ByteArray, none,
			func(b array.Builder, i int) { b.(*array.BinaryBuilder).Append([]byte(fmt.Sprintf("v%d", i))) }, quoted},
		{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}, parquet.Types.FixedLenByteArray, none,
			func(b array.Builder, i int) { b.(*array.FixedSizeBinaryBuilder).Append([]byte{1, 2, byte(i)}) }, func(i int) string { return fmt.Sprintf("0102%02x", i) }},
		{"date", arrow.FixedWidthTypes.Date32, parquet.Types.Int32, schema.DateLogicalType{},
			func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(i)) }, number},
		{"date64", arrow.FixedWidthTypes.Date64, parquet.Types.Int32, schema.DateLogicalType{},
			func(b array.Builder, i int) { b.(*array.Date64Builder).Append(arrow.Date64(i * 86_400_000)) }, number},
		{"time", arrow.FixedWidthTypes.Time32s, parquet.Types.Int32, schema.NewTimeLogicalType(false, schema.TimeUnitMillis),
			func(b array.Builder, i int) { b.(*array.Time32Builder).Append(arrow.Time32(i)) }, func(i int) string { return fmt.Sprint(1000 * i) }},
		{"time64", arrow.FixedWidthTypes.Time64ns, parquet.Types.Int64, schema.NewTimeLogicalType(false, schema.TimeUnitNanos),
			func(b array.Builder, i int) { b.(*array.Time64Builder).Append(arrow.Time64(i)) }, number},
		{"ts", &arrow.TimestampType{Unit: arrow.Microsecond}, parquet.Types.Int64, schema.NewTimestampLogicalType(false, schema.TimeUnitMicros),
			func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)) }, number},
		{"tsz", &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Berlin"}, parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMillis),
			func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)) }, func(i int) string { return fmt.Sprint(1000 * i) }},
		{"dict", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, parquet.Types.ByteArray, schema.StringLogicalType{},
			func(b array.Builder, i int) {
				if err := b.(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprintf("v%d", i%3)); err != nil {
					panic(err)
				}
			}, func(i int) string { return quoted(i % 3) }},
	}
}

// ArrowBytes encodes the scalar columns of a table as an Arrow file or stream, in batches of `batch` rows.
func ArrowBytes(t *testing.T, tab *FakeTable, batch int, asFile bool) []byte {
	t.Helper()
	var fields []arrow.Field
	for _, l := range tab.Leaves {
		if x := tab.Scalar[l.Name]; x != nil {
			fields = append(fields, arrow.Field{Name: l.Name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
		}
	}
	schema := arrow.NewSchema(fields, nil)
	var records []arrow.Record
	for from := 0; from < tab.Rows; from += batch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for j, f := range fields {
			column := b.Field(j).(*array.Float64Builder)
			for _, v := range tab.Scalar[f.Name][from:min(from+batch, tab.Rows)] {
				if format.IsNull(v) {
					column.AppendNull()
				} else {
					column.Append(v)
				}
			}
		}
		records = append(records, b.NewRecord())
	}
	return formattest.WriteArrow(t, !asFile, records, ipc.WithSchema(schema))
}

// LogicalField returns the field of a SchemaElement that gives it the logical type with number id, in Thrift's compact
// protocol. The bytes `of` are the encoded parameters of the type.
func LogicalField(id byte, of ...byte) []byte {
	return slices.Concat([]byte{12, 10 << 1, 12, id << 1}, of, []byte{0, 0})
}

// TypesOf returns a text that lists the columns of a file with their types, and the reasons why they are not features.
func TypesOf(t *testing.T, path string) string {
	t.Helper()
	ds, err := dataset.OpenInputs(t.Context(), []string{path}, settings.Options{})
	formattest.Must(t, err)
	var words []string
	for f := range ds.Fields() {
		words = append(words, strings.TrimSpace(f.Name+" "+f.Type+" "+f.Why))
	}
	return strings.Join(words, ", ")
}
