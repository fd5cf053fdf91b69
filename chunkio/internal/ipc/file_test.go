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

// numericTypes has every type that can be decoded, and how it is to be called.
func numericTypes() []struct {
	typ  arrow.DataType
	name string
} {
	p := arrow.PrimitiveTypes
	return []struct {
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
	}
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
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range testListWidth {
			appendRandom(b.ValueBuilder(), rng, nulls)
		}
	case *array.ListBuilder:
		b.Append(true)
		for range testListWidth {
			appendRandom(b.ValueBuilder(), rng, nulls)
		}
	case *array.LargeListBuilder:
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
	decimal := func(x *big.Int, scale int32) float64 {
		r := new(big.Rat).SetInt(x)
		ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
		if scale > 0 {
			r.Quo(r, ten)
		} else {
			r.Mul(r, ten)
		}
		f, _ := r.Float64()
		return f
	}
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			return 1
		}
		return 0
	case *array.Int8:
		return float64(a.Value(i))
	case *array.Int16:
		return float64(a.Value(i))
	case *array.Int32:
		return float64(a.Value(i))
	case *array.Int64:
		return float64(a.Value(i))
	case *array.Uint8:
		return float64(a.Value(i))
	case *array.Uint16:
		return float64(a.Value(i))
	case *array.Uint32:
		return float64(a.Value(i))
	case *array.Uint64:
		return float64(a.Value(i))
	case *array.Float16:
		return formattest.NaiveHalf(a.Value(i).Uint16())
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Decimal128:
		return decimal(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return decimal(a.Value(i).BigInt(), a.DataType().(*arrow.Decimal256Type).Scale)
	case *array.Dictionary:
		return libraryValue(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return libraryValue(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return libraryValue(a.Storage(), i)
	}
	panic(fmt.Sprintf("%T", a))
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

// encoded writes records as a file or a stream.
func encoded(t testing.TB, stream bool, records []arrow.Record, opts ...ipc.Option) []byte {
	t.Helper()
	opts = append(opts, ipc.WithSchema(records[0].Schema()))
	var b bytes.Buffer
	var w interface {
		Write(arrow.Record) error
		Close() error
	}
	if stream {
		w = ipc.NewWriter(&b, opts...)
	} else {
		f, err := ipc.NewFileWriter(&seekBuffer{&b}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// seekBuffer is what NewFileWriter asks for; it only tells the position.
type seekBuffer struct{ *bytes.Buffer }

func (b *seekBuffer) Seek(int64, int) (int64, error) { return int64(b.Len()), nil }

// readGroups opens b and calls f for every batch of it.
func readGroups(t testing.TB, b []byte, stream bool, f func(leaves []format.Leaf, i int, g format.Group, rows int64) error) error {
	t.Helper()
	ctx := context.Background()
	if !stream {
		file, err := Open(formattest.NewMemory(b), 1<<30)
		if err != nil {
			return err
		}
		for i, rows := range file.GroupRows() {
			g, err := file.Open(ctx, i, nil)
			if err != nil {
				return err
			}
			if err := f(file.Leaves(), i, g, rows); err != nil {
				return err
			}
			g.Close()
		}
		return file.Close()
	}
	s, err := NewStream(bytes.NewReader(b), 1<<30, true)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		g, rows, err := s.Next(ctx, nil)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(s.Leaves(), i, g, rows); err != nil {
			return err
		}
		g.Close()
	}
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

// Every type, nullable and not, in batches of edge sizes and as slices, compressed and
// not, as file and as stream, whole and by any range of rows, equals the library's own reading.
func TestRoundTrip(t *testing.T) {
	types := numericTypes()
	fields := make([]arrow.Field, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: typ.typ, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	for name, opts := range compressions {
		for _, nulls := range []float64{0, 0.3} {
			rng := rand.New(rand.NewPCG(1, 2))
			var records []arrow.Record
			for _, rows := range []int{5, 0, 1, 8, tileValues + 9, 100} {
				cols := make([]arrow.Array, len(types))
				for i := range cols {
					cols[i] = appendRows(array.NewBuilder(memory.DefaultAllocator, types[i].typ), rng, nulls, rows+7)
				}
				whole := array.NewRecord(schema, cols, int64(rows+7))
				records = append(records, whole.NewSlice(3, int64(rows+3)))
			}
			// A dictionary may be replaced in streams only, and v15 writes one for each batch.
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/nulls=%v/stream=%v", name, nulls, stream), func(t *testing.T) {
					var b []byte
					if stream {
						b = encoded(t, true, records, opts...)
						check(t, b, true, records, rng)
						return
					}
					for i := range records {
						b = encoded(t, false, records[i:i+1], opts...)
						check(t, b, false, records[i:i+1], rng)
					}
				})
			}
		}
	}
}

func check(t *testing.T, b []byte, stream bool, records []arrow.Record, rng *rand.Rand) {
	t.Helper()
	types := numericTypes()
	empty := true
	for _, r := range records {
		empty = empty && r.NumRows() == 0
	}
	batches := 0
	err := readGroups(t, b, stream, func(leaves []format.Leaf, i int, g format.Group, rows int64) error {
		batches++
		rec := records[i]
		if rows != rec.NumRows() || len(leaves) != len(types) {
			t.Fatalf("batch %d: %d rows, %d leaves", i, rows, len(leaves))
		}
		for l, leaf := range leaves {
			col := rec.Column(l)
			list := leaf.Type[:4] == "list"
			if leaf.Name != rec.ColumnName(l) || leaf.Type != types[l].name || leaf.List != list {
				t.Errorf("leaf %d is %+v, want type %s", l, leaf, types[l].name)
			}
			if list && rows > 0 && leaf.Width == 0 && allNull(col) {
				continue
			}
			if empty && list {
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
			dst, err := decodeRows(g, leaf, l, 0, rows)
			if err != nil {
				return fmt.Errorf("leaf %d (%s): %w", l, leaf.Type, err)
			}
			for r := range int(rows) {
				for e, want := range libraryRow(col, r, leaf.Width) {
					if !formattest.SameBits(dst[e][r], want) {
						t.Fatalf("leaf %d (%v), batch %d, row %d[%d]: %v (%x), want %v", l, types[l].typ, i, r, e, dst[e][r], math.Float64bits(dst[e][r]), want)
					}
				}
			}
			for range 4 {
				from := rng.Int64N(rows + 1)
				to := from + rng.Int64N(rows-from+1)
				part, err := decodeRows(g, leaf, l, from, to)
				if err != nil {
					return err
				}
				for e := range part {
					for r := range part[e] {
						if !formattest.SameBits(part[e][r], dst[e][from+int64(r)]) {
							t.Fatalf("leaf %d, rows [%d,%d) differ from the whole at %d", l, from, to, r)
						}
					}
				}
			}
			if !list {
				continue
			}
			var got format.Lists
			if err := g.DecodeLists(context.Background(), l, 0, rows, &got); err != nil {
				return err
			}
			for r := range int(rows) {
				want := libraryRow(col, r, leaf.Width)
				row := got.Values[got.Ptr[r]:got.Ptr[r+1]]
				if col.IsNull(r) != got.Null[r] || col.IsNull(r) && len(row) > 0 || !col.IsNull(r) && len(row) != len(want) {
					t.Fatalf("list %d row %d: %v, null %v", l, r, row, got.Null[r])
				}
				for e := range row {
					if !formattest.SameBits(row[e], want[e]) {
						t.Fatalf("list %d row %d: %v, want %v", l, r, row, want)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if batches != len(records) {
		t.Errorf("%d batches, want %d", batches, len(records))
	}
}

func allNull(a arrow.Array) bool { return a.NullN() == a.Len() }

// Arrow JS writes -1 as the number of nulls of slices, where it has not counted them,
// with a validity bitmap or without: what is read stays the same.
func TestUnknownNulls(t *testing.T) {
	const rows = 1013 // as no buffer's length is, so that bytes of it mark the arrays
	types := numericTypes()
	for _, isStream := range []bool{false, true} {
		for _, nulls := range []float64{0, 0.3} {
			rng := rand.New(rand.NewPCG(3, 4))
			var fields []arrow.Field
			var cols []arrow.Array
			for i, typ := range types {
				a := appendRows(array.NewBuilder(memory.DefaultAllocator, typ.typ), rng, nulls, rows)
				fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: typ.typ, Nullable: true})
				cols = append(cols, a)
			}
			whole := encoded(t, isStream, []arrow.Record{array.NewRecord(arrow.NewSchema(fields, nil), cols, rows)})
			var want [][][]float64
			read := func(b []byte, each func(i int, l format.Leaf, got [][]float64)) {
				err := readGroups(t, b, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) error {
					for i, l := range leaves {
						got, err := decodeRows(g, l, i, 0, rows)
						if err != nil {
							return err
						}
						each(i, l, got)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			read(whole, func(_ int, _ format.Leaf, got [][]float64) { want = append(want, got) })
			unknown, n := uncount(whole, cols)
			if n < len(cols) {
				t.Fatalf("%d arrays of %d columns found", n, len(cols))
			}
			read(unknown, func(i int, l format.Leaf, got [][]float64) {
				if !slices.EqualFunc(got, want[i], func(a, b []float64) bool { return slices.EqualFunc(a, b, formattest.SameBits) }) {
					t.Errorf("stream=%v nulls=%v: %s differs", isStream, nulls, l.Type)
				}
				if l.Nulls > 0 || l.Nulls == 0 && !isStream {
					t.Errorf("%s promises %d nulls", l.Type, l.Nulls)
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
