package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// celsius is an extension type over double.
type celsius struct{ arrow.ExtensionBase }

func newCelsius() *celsius {
	return &celsius{arrow.ExtensionBase{Storage: arrow.PrimitiveTypes.Float64}}
}
func (*celsius) ArrayType() reflect.Type                  { return reflect.TypeFor[celsiusArray]() }
func (*celsius) ExtensionName() string                    { return "celsius" }
func (*celsius) Serialize() string                        { return "" }
func (*celsius) ExtensionEquals(arrow.ExtensionType) bool { return true }
func (*celsius) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) {
	return newCelsius(), nil
}

type celsiusArray struct{ array.ExtensionArrayBase }

// numericTypes has every type that can be decoded, and the name a leaf of it has.
func numericTypes() (types []arrow.DataType, names []string) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ  arrow.DataType
		name string
	}{
		{arrow.FixedWidthTypes.Boolean, "bool"},
		{p.Int8, "int8"}, {p.Int16, "int16"}, {p.Int32, "int32"}, {p.Int64, "int64"},
		{p.Uint8, "uint8"}, {p.Uint16, "uint16"}, {p.Uint32, "uint32"}, {p.Uint64, "uint64"},
		{arrow.FixedWidthTypes.Float16, "float16"}, {p.Float32, "float"}, {p.Float64, "double"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, "decimal(10,2)"},
		{&arrow.Decimal128Type{Precision: 38, Scale: -3}, "decimal(38,-3)"},
		{&arrow.Decimal256Type{Precision: 60, Scale: 25}, "decimal(60,25)"},
		{arrow.FixedSizeListOf(3, p.Float32), "list<float>"},
		{arrow.ListOf(p.Float64), "list<double>"},
		{arrow.ListOf(arrow.FixedWidthTypes.Boolean), "list<bool>"},
		{arrow.LargeListOf(p.Int16), "list<int16>"},
		{&arrow.DictionaryType{IndexType: p.Int8, ValueType: p.Float64}, "double"},
		{&arrow.DictionaryType{IndexType: p.Uint16, ValueType: p.Int64}, "int64"},
		{arrow.RunEndEncodedOf(p.Int32, p.Float64), "double"},
		{arrow.RunEndEncodedOf(p.Int16, p.Uint8), "uint8"},
		{newCelsius(), "double"},
	} {
		types, names = append(types, c.typ), append(names, c.name)
	}
	return types, names
}

const testListWidth = 3 // of every list with one length

// appendRandom appends one random value; lists have testListWidth elements.
func appendRandom(b array.Builder, rng *rand.Rand, nulls float64) {
	if rng.Float64() < nulls {
		b.AppendNull()
		return
	}
	x := rng.Uint64()
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(x&1 == 1)
	case *array.Int8Builder:
		b.Append(int8(x))
	case *array.Int16Builder:
		b.Append(int16(x))
	case *array.Int32Builder:
		b.Append(int32(x))
	case *array.Int64Builder:
		b.Append(int64(x))
	case *array.Uint8Builder:
		b.Append(uint8(x))
	case *array.Uint16Builder:
		b.Append(uint16(x))
	case *array.Uint32Builder:
		b.Append(uint32(x))
	case *array.Uint64Builder:
		b.Append(x)
	case *array.Float16Builder:
		b.Append(float16.FromBits(uint16(x)))
	case *array.Float32Builder:
		b.Append(float32(rng.NormFloat64()))
	case *array.Float64Builder:
		b.Append(rng.NormFloat64())
	case *array.Decimal128Builder:
		b.Append(decimal128.New(int64(x)>>(rng.Uint64N(4)*20), rng.Uint64()))
		if x&2 == 0 {
			b.Append(decimal128.FromI64(int64(x) >> 40))
		}
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(new(big.Int).Mul(big.NewInt(int64(x)), new(big.Int).SetUint64(rng.Uint64()>>rng.Uint64N(64)))))
	case array.ListLikeBuilder:
		b.Append(true)
		for range testListWidth {
			appendRandom(b.ValueBuilder(), rng, nulls)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			appendRandom(b.FieldBuilder(i), rng, nulls)
		}
	case *array.Float64DictionaryBuilder:
		b.Append(float64(x % 11))
	case *array.Int64DictionaryBuilder:
		b.Append(int64(x % 300))
	case *array.RunEndEncodedBuilder:
		b.Append(1)
		appendRandom(b.ValueBuilder(), rng, nulls)
		b.ContinueRun(x % 9)
	case *array.ExtensionBuilder:
		appendRandom(b.StorageBuilder(), rng, 0)
	case *array.StringBuilder:
		b.Append(fmt.Sprint(x))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(x))
	case *array.NullBuilder:
		b.AppendNull()
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// appendRows appends random values until b has n rows.
func appendRows(b array.Builder, rng *rand.Rand, nulls float64, n int) arrow.Array {
	for b.Len() < n {
		appendRandom(b, rng, nulls)
	}
	all := b.NewArray()
	defer all.Release()
	return array.NewSlice(all, 0, int64(n))
}

// libraryValue is row i of an array by the library's own getters: the naive twin.
func libraryValue(a arrow.Array, i int) float64 {
	if a.IsNull(i) {
		return format.Null
	}
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return 1
		}
		return 0
	case *array.Float16:
		return formattest.NaiveHalf(a.Value(i).Uint16())
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Decimal128:
		return formattest.NaiveDecimal(a.Value(i).BigInt(), int(a.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Decimal256:
		return formattest.NaiveDecimal(a.Value(i).BigInt(), int(a.DataType().(*arrow.Decimal256Type).Scale))
	case *array.Dictionary:
		return libraryValue(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return libraryValue(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return libraryValue(a.Storage(), i)
	}
	x, err := strconv.ParseFloat(a.ValueStr(i), 64) // an integer
	if err != nil {
		panic(fmt.Sprintf("%T: %v", a, err))
	}
	return x
}

// libraryRow is row i of a column of scalars or lists.
func libraryRow(a arrow.Array, i, width int) []float64 {
	list, ok := a.(array.ListLike)
	if !ok {
		return []float64{libraryValue(a, i)}
	}
	row := make([]float64, width)
	start, _ := list.ValueOffsets(i)
	for e := range row {
		row[e] = format.Null
		if !a.IsNull(i) {
			row[e] = libraryValue(list.ListValues(), int(start)+e)
		}
	}
	return row
}

// eachGroup opens a file or a stream and calls f for every batch of it.
func eachGroup(in format.Input, isStream bool, limit int64, f func(leaves []format.Leaf, i int, g format.Group, rows int64) error) error {
	ctx := context.Background()
	if !isStream {
		file, err := Open(in, limit)
		if err != nil {
			return err
		}
		for i, rows := range file.GroupRows() {
			g, err := file.Open(ctx, i, nil)
			if err == nil {
				err = f(file.Leaves(), i, g, rows)
			}
			if err != nil {
				return err
			}
			g.Close()
		}
		return file.Close()
	}
	s, err := NewStream(io.NewSectionReader(in, 0, in.Size()), limit, limit, true)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		g, rows, err := s.Next(ctx, nil)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(s.Leaves(), i, g, rows)
		}
		if err != nil {
			return err
		}
		g.Close()
	}
}

// readGroups is eachGroup with enough memory, and ends the test at an error.
func readGroups(t testing.TB, b []byte, isStream bool, f func(leaves []format.Leaf, i int, g format.Group, rows int64)) {
	t.Helper()
	err := eachGroup(formattest.NewMemory(b), isStream, 1<<30, func(leaves []format.Leaf, i int, g format.Group, rows int64) error {
		f(leaves, i, g, rows)
		return nil
	})
	formattest.Must(t, err)
}

// decodeRows decodes rows [from, to) of leaf l, all elements.
func decodeRows(g format.Group, l format.Leaf, at int, from, to int64) ([][]float64, error) {
	dst := make([][]float64, l.Width)
	for e := range dst {
		dst[e] = make([]float64, to-from)
	}
	return dst, g.Decode(context.Background(), at, from, to, dst)
}

var compressions = map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}}

// mustDecode is decodeRows, and ends the test at an error.
func mustDecode(t testing.TB, g format.Group, l format.Leaf, at int, from, to int64) [][]float64 {
	t.Helper()
	dst, err := decodeRows(g, l, at, from, to)
	if err != nil {
		t.Fatalf("leaf %d (%s): %v", at, l.Type, err)
	}
	return dst
}

// sameRows reports whether two readings have the same bits.
func sameRows(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(a, b []float64) bool { return slices.EqualFunc(a, b, formattest.SameBits) })
}

// randomRecord has a nullable column c0, c1, … of random values for each type.
func randomRecord(rng *rand.Rand, nulls float64, rows int, types ...arrow.DataType) arrow.Record {
	fields := make([]arrow.Field, len(types))
	cols := make([]arrow.Array, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: true}
		cols[i] = appendRows(array.NewBuilder(memory.DefaultAllocator, typ), rng, nulls, rows)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
}
