package ipc

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// libraryText is row i of an array as text, by the library's own getters.
func libraryText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return formattest.NoName
	}
	scaled := func(n *big.Int, scale int32) string {
		if scale < 0 {
			return new(big.Int).Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil)).String()
		}
		d := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		return new(big.Rat).SetFrac(n, d).FloatString(int(scale))
	}
	switch a := a.(type) {
	case *array.Float16, *array.Float32, *array.Float64:
		bits := 32
		if _, ok := a.(*array.Float64); ok {
			bits = 64
		}
		if x := libraryValue(a, i); x != 0 {
			return formattest.NaiveFloat(x, bits)
		}
		return "0"
	case *array.Decimal128:
		return scaled(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return scaled(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal256Type).Scale)
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Date64:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Timestamp:
		typ := a.DataType().(*arrow.TimestampType)
		s := a.Value(i).ToTime(typ.Unit).Format("2006-01-02T15:04:05.999999999")
		if typ.TimeZone != "" {
			s += "Z"
		}
		return s
	case *array.Time32:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time32Type).Unit).Format("15:04:05.999999999")
	case *array.Time64:
		return a.Value(i).ToTime(a.DataType().(*arrow.Time64Type).Unit).Format("15:04:05.999999999")
	case *array.Duration:
		return fmt.Sprint(int64(a.Value(i)))
	case *array.Dictionary:
		return libraryText(a.Dictionary(), a.GetValueIndex(i))
	case array.ExtensionArray:
		return libraryText(a.Storage(), i)
	}
	return a.ValueStr(i)
}

// labelTypes are the Arrow types that can be labels, except the numeric ones.
func labelTypes() []arrow.DataType {
	p, f := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	return []arrow.DataType{
		f.Boolean, p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64, f.Float16, p.Float32, p.Float64,
		&arrow.Decimal128Type{Precision: 10, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: -3}, &arrow.Decimal256Type{Precision: 60, Scale: 25},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		&arrow.FixedSizeBinaryType{ByteWidth: 3}, f.Date32, f.Date64, f.Timestamp_s, f.Timestamp_ns, &arrow.TimestampType{Unit: arrow.Microsecond},
		f.Time32s, f.Time32ms, f.Time64us, f.Time64ns, f.Duration_ms,
		&arrow.DictionaryType{IndexType: p.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Uint16, ValueType: p.Int64},
		&arrow.DictionaryType{IndexType: p.Int32, ValueType: p.Float64}, newCelsius(),
	}
}

// appendLabel appends one random value of few, or null.
func appendLabel(b array.Builder, rng *rand.Rand) {
	x := int64(rng.Uint64() >> rng.IntN(2) * 40 % 101)
	if x%7 == 0 {
		b.AppendNull()
		return
	}
	word := strings.Repeat("жук", int(x)%5)
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(word)
	case *array.LargeStringBuilder:
		b.Append(word)
	case *array.BinaryBuilder:
		b.Append([]byte(word))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte{byte(x), 255, 0})
	case *array.Date32Builder:
		b.Append(arrow.Date32(x*1000 - 50_000))
	case *array.Date64Builder:
		b.Append(arrow.Date64((x*1000 - 50_000) * 86_400_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(x*123_456_789 - 1_000_000_000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(x * 850))
	case *array.Time64Builder:
		b.Append(arrow.Time64(x * 850_123_456))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(-x))
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(word); err != nil {
			panic(err)
		}
	default:
		appendRandom(b, rng, 0)
	}
}

// Every Arrow type, compressed and not, as file and as stream, whole and by ranges,
// equals the library's own reading.
func TestTextsOfEveryType(t *testing.T) {
	types := labelTypes()
	fields := make([]arrow.Field, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: true}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	var records []arrow.Record
	for _, rows := range []int{5, 0, 1, tileValues + 9} {
		cols := make([]arrow.Array, len(types))
		for i := range cols {
			b := array.NewBuilder(memory.DefaultAllocator, types[i])
			if rows == 0 { // v15 cannot write a slice of binary without rows
				cols[i] = b.NewArray()
				continue
			}
			for b.Len() < rows+7 {
				appendLabel(b, rng)
			}
			cols[i] = array.NewSlice(b.NewArray(), 3, int64(rows+3))
		}
		records = append(records, array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows)))
	}
	for name, opts := range compressions {
		check := func(isStream bool, records []arrow.Record) {
			readGroups(t, formattest.WriteArrow(t, isStream, records, opts...), isStream, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
				for l := range leaves {
					for _, from := range []int64{0, rows / 3} {
						got, err := formattest.TextRows(g, l, from, rows)
						if err != nil {
							t.Fatalf("%s, stream %v: %v", name, isStream, err)
						}
						for r, s := range got {
							if want := libraryText(records[i].Column(l), int(from)+r); s != want {
								t.Fatalf("%s, stream %v, %v, row %d: %q, want %q", name, isStream, types[l], int(from)+r, s, want)
							}
						}
					}
				}
			})
		}
		check(true, records) // with a dictionary for every batch
		for i := range records {
			check(false, records[i:i+1])
		}
	}
}
