package ipc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/endian"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// fromJSON makes a record of one column for each pair of a type and its JSON rows.
func fromJSON(t testing.TB, columns ...any) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var cols []arrow.Array
	for i := 0; i < len(columns); i += 2 {
		a, _, err := array.FromJSON(memory.DefaultAllocator, columns[i].(arrow.DataType), strings.NewReader(columns[i+1].(string)))
		formattest.Must(t, err)
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i/2), Type: columns[i].(arrow.DataType), Nullable: true})
		cols = append(cols, a)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, -1)
}

// Columns of every other type precede numbers, so that these are found only if the layout of the preceding ones is
// known; and each has a reason for being left out.
func TestLeftOut(t *testing.T) {
	p, fw := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	text := arrow.BinaryTypes.String
	union := []arrow.Field{{Name: "a", Type: p.Int32}, {Name: "b", Type: text}}
	left := []struct {
		typ       arrow.DataType
		name, why string
	}{
		{text, "string", "text"},
		{arrow.BinaryTypes.LargeString, "string", "text"},
		{arrow.BinaryTypes.StringView, "string", "text"},
		{arrow.BinaryTypes.Binary, "binary", "binary"},
		{arrow.BinaryTypes.BinaryView, "binary", "binary"},
		{&arrow.FixedSizeBinaryType{ByteWidth: 3}, "binary", "binary"},
		{fw.Timestamp_us, "timestamp", "timestamp"},
		{fw.Date32, "date", "date"},
		{fw.Time64ns, "time", "time"},
		{fw.Duration_s, "duration", "duration"},
		{fw.MonthInterval, "interval", "interval"},
		{arrow.Null, "null", "no type"},
		{arrow.MapOf(text, p.Int32), "map", "map"},
		{arrow.SparseUnionOf(union, []arrow.UnionTypeCode{0, 1}), "union", "union"},
		{arrow.DenseUnionOf(union, []arrow.UnionTypeCode{0, 1}), "union", "union"},
		{arrow.ListOf(arrow.ListOf(p.Int32)), "list<list>", "nested lists"},
		{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: p.Int32})), "list<struct>", "lists of structs"},
		{arrow.ListOf(text), "list<string>", "text"},
		{arrow.ListViewOf(p.Int32), "list view", "rewrite"},
		{&arrow.DictionaryType{IndexType: p.Int8, ValueType: text}, "string", "text"},
		{arrow.RunEndEncodedOf(p.Int32, text), "string", "text"},
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const rows = 20
	var fields []arrow.Field
	var cols []arrow.Array
	for i, l := range left {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("left", i), Type: l.typ, Nullable: true}, arrow.Field{Name: fmt.Sprint("x", i), Type: p.Int16, Nullable: true})
		b := array.NewBuilder(memory.DefaultAllocator, l.typ)
		if d, ok := b.(array.DictionaryBuilder); ok {
			for range rows {
				formattest.Must(t, d.AppendValueFromString("a"))
			}
		} else {
			b.AppendEmptyValues(rows)
		}
		cols = append(cols, b.NewArray(), appendRows(array.NewBuilder(memory.DefaultAllocator, p.Int16), rng, 0.2, rows))
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), cols, rows)
	for _, isStream := range []bool{false, true} {
		b := formattest.WriteArrow(t, isStream, []arrow.Record{rec}, ipc.WithZstd())
		readGroups(t, b, isStream, func(leaves []format.Leaf, _ int, g format.Group, _ int64) {
			if len(leaves) != 2*len(left) {
				t.Fatalf("%d leaves", len(leaves))
			}
			for i, l := range leaves {
				if want := left[i/2]; i%2 == 0 {
					if l.Type != want.name || !strings.Contains(l.Why, want.why) || l.Refused != (want.why == "rewrite") {
						t.Errorf("%v is %+v, want %q: %q", want.typ, l, want.name, want.why)
					}
					if l.Width == 0 && !l.List {
						wantDataErrorAt(t, g.Decode(context.Background(), i, 0, rows, nil), l.Name)
					}
					continue
				}
				for r, x := range mustDecode(t, g, l, i, 0, rows)[0] {
					if want := libraryValue(rec.Column(i), r); !formattest.SameBits(x, want) {
						t.Fatalf("the column behind %v: row %d is %v, want %v", left[i/2].typ, r, x, want)
					}
				}
			}
		})
	}
}

func wantDataErrorAt(t *testing.T, err error, column string) {
	t.Helper()
	var d *stream.DataError
	if !errors.As(err, &d) || d.Column != column || d.RowGroup < 0 {
		t.Errorf("got %v, want a DataError at column %q", err, column)
	}
}

// A null struct makes its fields null, however deep, lists too.
func TestStructs(t *testing.T) {
	p := arrow.PrimitiveTypes
	typ := arrow.StructOf(
		arrow.Field{Name: "x", Type: p.Int8, Nullable: true},
		arrow.Field{Name: "in", Nullable: true, Type: arrow.StructOf(
			arrow.Field{Name: "y", Type: p.Float32, Nullable: true},
			arrow.Field{Name: "v", Type: arrow.FixedSizeListOf(2, p.Int32), Nullable: true})})
	rec := fromJSON(t, typ, `[{"x":1,"in":{"y":2,"v":[3,4]}},null,{"x":null,"in":null},{"x":5,"in":{"y":null,"v":null}},{"x":6,"in":{"y":7,"v":[8,null]}}]`)
	n := format.Null
	want := map[string][][]float64{
		"c0.x":    {{1, n, n, 5, 6}},
		"c0.in.y": {{2, n, n, n, 7}},
		"c0.in.v": {{3, n, n, n, 8}, {4, n, n, n, n}},
	}
	for name, opts := range compressions {
		readGroups(t, formattest.WriteArrow(t, false, []arrow.Record{rec}, opts...), false, func(leaves []format.Leaf, _ int, g format.Group, rows int64) {
			if len(leaves) != len(want) {
				t.Errorf("%d leaves", len(leaves))
			}
			for i, l := range leaves {
				if got := mustDecode(t, g, l, i, 0, rows); !sameRows(got, want[l.Name]) {
					t.Errorf("%s: %s is %v, want %v", name, l.Name, got, want[l.Name])
				}
				if l.Nulls >= 0 {
					t.Errorf("%s promises %d nulls", l.Name, l.Nulls)
				}
			}
		})
	}
}

// The first batch of a stream with a row determines the length of a list; a row of another length in a later batch is
// an error at its row, but sparse reading takes any length. A file's column is left out if such a row is among the
// rows that are checked.
func TestListLengths(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Float64)
	records := []arrow.Record{
		fromJSON(t, list, `[]`), fromJSON(t, list, `[null,null]`), fromJSON(t, list, `[[1,2],null]`), fromJSON(t, list, `[[3,4],[5],[]]`),
	}
	for _, isStream := range []bool{false, true} {
		readGroups(t, formattest.WriteArrow(t, isStream, records), isStream, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
			l, want := leaves[0], format.Leaf{Width: 2}
			if !isStream { // of a file the first rows of all batches are looked at
				want = format.Leaf{Why: format.WhyVarying}
			}
			if l.Width != want.Width || !l.List || l.Why != want.Why {
				t.Fatalf("the leaf is %+v, want a list of width %d with reason %q", l, want.Width, want.Why)
			}
			if isStream {
				_, err := decodeRows(g, l, 0, 0, rows)
				if i < 3 {
					formattest.Must(t, err)
					return
				}
				var d *stream.DataError
				if !errors.As(err, &d) || d.Row != 5 || d.Column != "c0" || d.RowGroup != 3 ||
					!strings.Contains(err.Error(), "a list of 1 values where the rows before have 2") || !strings.Contains(d.Remedy.String(), "exclude") {
					t.Errorf("got %v", err)
				}
			}
			if i < 3 {
				return
			}
			var got format.Lists
			formattest.Must(t, g.DecodeLists(context.Background(), 0, 0, rows, &got))
			if fmt.Sprint(got) != "{[0 2 3 3] [3 4 5] [false false false]}" {
				t.Errorf("lists are %v", got)
			}
		})
		long := fromJSON(t, list, "[[1,2]"+strings.Repeat(",[1,2]", widthCheckRows)+"]")
		readGroups(t, formattest.WriteArrow(t, isStream, []arrow.Record{long, fromJSON(t, list, `[[3,4],[5],[6,7,8]]`)}), isStream, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
			_, err := decodeRows(g, leaves[0], 0, 0, rows)
			if d, ok := errors.AsType[*stream.DataError](err); ok != (i == 1) || ok && (d.Row != widthCheckRows+2 || d.RowGroup != 1) {
				t.Errorf("batch %d: %v", i, err)
			}
		})
		readGroups(t, formattest.WriteArrow(t, isStream, records[3:]), isStream, func(leaves []format.Leaf, _ int, _ format.Group, _ int64) {
			if l := leaves[0]; l.Width != 0 || !l.List || l.Why != format.WhyVarying {
				t.Errorf("the leaf is %+v, want lists of varying length", l)
			}
		})
	}
}

// After the first rows, the number of elements in a batch's metadata may show that lists of a file have other
// lengths; if it does not, the row is an error.
func TestListLengthsBehind(t *testing.T) {
	list := arrow.ListOf(arrow.PrimitiveTypes.Float64)
	first := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float64)
	for range widthCheckRows + 1 {
		first.Append(true)
		first.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
	}
	many := array.NewRecord(fromJSON(t, list, `[]`).Schema(), []arrow.Array{first.NewArray()}, -1)
	for _, c := range []struct{ rows, why, fault string }{
		{`[[1,2],[1,2,3]]`, format.WhyVarying, ""},
		{`[[1,2],[1]]`, format.WhyVarying, ""},
		{`[[1,2],[]]`, "", ""},
		{`[[1,2],null]`, "", ""},
		{`[[1,2],[1,2,3],[1]]`, "", "a list of 3 values where the rows before have 2"},
	} {
		records := []arrow.Record{many, fromJSON(t, list, c.rows)}
		readGroups(t, formattest.WriteArrow(t, false, records), false, func(leaves []format.Leaf, i int, g format.Group, rows int64) {
			l := leaves[0]
			if l.Why != c.why {
				t.Fatalf("%s: the reason is %q, want %q", c.rows, l.Why, c.why)
			}
			if i == 0 || c.why != "" {
				return
			}
			if _, err := decodeRows(g, l, 0, 0, rows); (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: decoding gives error %v, want one with %q", c.rows, err, c.fault)
			}
		})
	}
}

// Dictionaries that grow by deltas, are replaced, or serve several batches.
func TestDictionaries(t *testing.T) {
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.PrimitiveTypes.Float64}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: typ, Nullable: true}}, nil)
	makeRecords := func(grow bool) (records []arrow.Record, want [][]float64) {
		values := []float64{}
		for i := range 4 {
			if !grow {
				values = nil
			}
			// Two more values: the earlier ones stay in their places, or are gone.
			values = append(values, float64(i), float64(10*i))
			v := array.NewFloat64Builder(memory.DefaultAllocator)
			v.AppendValues(values, nil)
			n := uint8(len(values))
			x := array.NewUint8Builder(memory.DefaultAllocator)
			x.AppendValues([]uint8{n - 1, 0, n - 2, 0}, []bool{true, true, true, false})
			d := array.NewDictionaryArray(typ, x.NewArray(), v.NewArray())
			records = append(records, array.NewRecord(schema, []arrow.Array{d}, 4))
			want = append(want, []float64{values[n-1], values[0], values[n-2], format.Null})
		}
		return records, want
	}
	for _, c := range []struct{ stream, grow bool }{{true, true}, {true, false}, {false, true}} {
		records, want := makeRecords(c.grow)
		if !c.stream { // v15 writes neither deltas nor replacements to files
			records, want = []arrow.Record{records[3], records[3]}, [][]float64{want[3], want[3]}
		}
		var groups []format.Group // all held, so that a replacement must not reach back
		b := formattest.WriteArrow(t, c.stream, records, ipc.WithDictionaryDeltas(c.grow))
		readGroups(t, b, c.stream, func(_ []format.Leaf, _ int, g format.Group, _ int64) { groups = append(groups, g) })
		for i, g := range groups {
			if got := mustDecode(t, g, format.Leaf{Width: 1}, 0, 0, 4); !sameRows(got, want[i:i+1]) {
				t.Errorf("%+v batch %d: %v, want %v", c, i, got[0], want[i])
			}
		}
	}
}

func TestBigEndian(t *testing.T) {
	rec := fromJSON(t, arrow.PrimitiveTypes.Int32, `[1]`)
	schema := rec.Schema().WithEndianness(endian.BigEndian)
	rec = array.NewRecord(schema, rec.Columns(), 1)
	for _, isStream := range []bool{false, true} {
		err := readEverything(formattest.WriteArrow(t, isStream, []arrow.Record{rec}), isStream, 1<<30)
		var d *stream.DataError
		if !errors.As(err, &d) || !strings.Contains(err.Error(), "big-endian") {
			t.Errorf("got %v", err)
		}
	}
}

// Dictionaries inside lists, structs and runs.
func TestNestedDictionaries(t *testing.T) {
	p := arrow.PrimitiveTypes
	dict := &arrow.DictionaryType{IndexType: p.Int8, ValueType: p.Float64}
	rec := fromJSON(t, dict, `[7, null, 9, 7]`, p.Int32, `[1, 2, 3, 4]`)
	d, ends := rec.Column(0), rec.Column(1)
	runs := array.NewRunEndEncodedArray(ends, d, 4, 0)
	list := array.NewData(arrow.FixedSizeListOf(2, dict), 2, []*memory.Buffer{nil}, []arrow.ArrayData{d.Data()}, 0, 0)
	in := array.NewData(arrow.StructOf(arrow.Field{Name: "x", Type: dict, Nullable: true}), 4, []*memory.Buffer{nil}, []arrow.ArrayData{d.Data()}, 0, 0)
	for name, c := range map[string]struct {
		column arrow.Array
		want   [][]float64
	}{
		"runs":   {runs, [][]float64{{7, format.Null, 9, 7}}},
		"list":   {array.MakeFromData(list), [][]float64{{7, 9}, {format.Null, 7}}},
		"struct": {array.MakeFromData(in), [][]float64{{7, format.Null, 9, 7}}},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.column.DataType(), Nullable: true}}, nil)
		b := formattest.WriteArrow(t, false, []arrow.Record{array.NewRecord(schema, []arrow.Array{c.column}, -1)})
		readGroups(t, b, false, func(leaves []format.Leaf, _ int, g format.Group, rows int64) {
			if got := mustDecode(t, g, leaves[0], 0, 0, rows); !sameRows(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		})
	}
}
