package ipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
	s, err := NewStream(io.NewSectionReader(in, 0, in.Size()), limit, true)
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

// Every type, nullable and not, in batches of edge sizes and as slices, compressed and
// not, as file and as stream, whole and by any range of rows, equals the library's own reading.
func TestRoundTrip(t *testing.T) {
	types, _ := numericTypes()
	for name, opts := range compressions {
		for _, nulls := range []float64{0, 0.3} {
			rng := rand.New(rand.NewPCG(1, 2))
			var records []arrow.Record
			for _, rows := range []int{5, 0, 1, 8, tileValues + 9, 100} {
				records = append(records, randomRecord(rng, nulls, rows+7, types...).NewSlice(3, int64(rows+3)))
			}
			// A dictionary may be replaced in streams only, and v15 writes one for each batch.
			t.Run(fmt.Sprintf("%s/nulls=%v/stream", name, nulls), func(t *testing.T) {
				check(t, formattest.Arrow(t, true, records, opts...), true, records, rng)
			})
			t.Run(fmt.Sprintf("%s/nulls=%v/file", name, nulls), func(t *testing.T) {
				for i := range records {
					check(t, formattest.Arrow(t, false, records[i:i+1], opts...), false, records[i:i+1], rng)
				}
			})
		}
	}
}

func check(t *testing.T, b []byte, stream bool, records []arrow.Record, rng *rand.Rand) {
	t.Helper()
	types, names := numericTypes()
	empty := !slices.ContainsFunc(records, func(r arrow.Record) bool { return r.NumRows() > 0 })
	batches := 0
	readGroups(t, b, stream, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
		batches++
		rec := records[i]
		if rows != rec.NumRows() || len(leaves) != len(types) {
			t.Fatalf("batch %d: %d rows, %d leaves", i, rows, len(leaves))
		}
		for l, leaf := range leaves {
			col := rec.Column(l)
			list := leaf.Type[:4] == "list"
			if leaf.Name != rec.ColumnName(l) || leaf.Type != names[l] || leaf.List != list {
				t.Errorf("leaf %d is %+v, want type %s", l, leaf, names[l])
			}
			if list && (empty || rows > 0 && leaf.Width == 0 && allNull(col)) {
				continue
			}
			if !stream && leaf.Nulls >= 0 && !list {
				n := int64(0)
				for r := range int(rows) {
					if format.IsNull(libraryValue(col, r)) {
						n++
					}
				}
				if n != leaf.Nulls {
					t.Errorf("%s: %d nulls promised, %d there", leaf.Type, leaf.Nulls, n)
				}
			}
			dst := mustDecode(t, g, leaf, l, 0, rows)
			for r := range int(rows) {
				for e, want := range libraryRow(col, r, leaf.Width) {
					if !formattest.SameBits(dst[e][r], want) {
						t.Fatalf("leaf %d (%v), batch %d, row %d[%d]: %v (%x), want %v", l, types[l], i, r, e, dst[e][r], math.Float64bits(dst[e][r]), want)
					}
				}
			}
			for range 4 {
				from := rng.Int64N(rows + 1)
				to := from + rng.Int64N(rows-from+1)
				for e, part := range mustDecode(t, g, leaf, l, from, to) {
					if !slices.EqualFunc(part, dst[e][from:to], formattest.SameBits) {
						t.Fatalf("leaf %d, element %d, rows [%d,%d) differ from the whole", l, e, from, to)
					}
				}
			}
			if !list {
				continue
			}
			var got format.Lists
			formattest.Must(t, g.DecodeLists(context.Background(), l, 0, rows, &got))
			for r := range int(rows) {
				want := libraryRow(col, r, leaf.Width)
				if col.IsNull(r) {
					want = nil
				}
				if row := got.Values[got.Ptr[r]:got.Ptr[r+1]]; col.IsNull(r) != got.Null[r] || !slices.EqualFunc(row, want, formattest.SameBits) {
					t.Fatalf("list %d row %d: %v, null %v, want %v", l, r, row, got.Null[r], want)
				}
			}
		}
	})
	if batches != len(records) {
		t.Errorf("%d batches, want %d", batches, len(records))
	}
}

func allNull(a arrow.Array) bool { return a.NullN() == a.Len() }

// Arrow JS writes -1 as the number of nulls of slices, where it has not counted them,
// with a validity bitmap or without: what is read stays the same.
func TestUnknownNulls(t *testing.T) {
	const rows = 1013 // as no buffer's length is, so that bytes of it mark the arrays
	types, _ := numericTypes()
	for _, isStream := range []bool{false, true} {
		for _, nulls := range []float64{0, 0.3} {
			rec := randomRecord(rand.New(rand.NewPCG(3, 4)), nulls, rows, types...)
			whole := formattest.Arrow(t, isStream, []arrow.Record{rec})
			var want [][][]float64
			readGroups(t, whole, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) {
				for i, l := range leaves {
					want = append(want, mustDecode(t, g, l, i, 0, rows))
				}
			})
			unknown, n := uncount(whole, rec.Columns())
			if n < len(types) {
				t.Fatalf("%d arrays of %d columns found", n, len(types))
			}
			readGroups(t, unknown, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) {
				for i, l := range leaves {
					if !sameRows(mustDecode(t, g, l, i, 0, rows), want[i]) {
						t.Errorf("stream=%v nulls=%v: %s differs", isStream, nulls, l.Type)
					}
					if l.Nulls > 0 || l.Nulls == 0 && !isStream {
						t.Errorf("%s promises %d nulls", l.Type, l.Nulls)
					}
				}
			})
		}
	}
}

// uncount sets the number of nulls to -1 in the metadata of the columns' arrays.
func uncount(b []byte, cols []arrow.Array) (_ []byte, n int) {
	b = bytes.Clone(b)
	node := make([]byte, 16)
	for _, a := range cols {
		binary.LittleEndian.PutUint64(node, uint64(a.Len()))
		binary.LittleEndian.PutUint64(node[8:], uint64(a.NullN()))
		for at := bytes.Index(b, node); at >= 0; at = bytes.Index(b, node) {
			copy(b[at+8:], []byte{255, 255, 255, 255, 255, 255, 255, 255})
			n++
		}
	}
	return b, n
}
