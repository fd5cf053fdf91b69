package copying

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestApplyNested: structs in structs, and lists in them, arrive with their values and nulls, whichever of
// them may be null.
func TestApplyNested(t *testing.T) {
	item := arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	for mask := range 8 {
		outer, inner, list := mask&1 != 0, mask&2 != 0, mask&4 != 0
		typ := arrow.StructOf(
			arrow.Field{Name: "in", Nullable: inner, Type: arrow.StructOf(
				arrow.Field{Name: "l", Nullable: list, Type: arrow.ListOfField(item)}, arrow.Field{Name: "n", Nullable: list, Type: arrow.PrimitiveTypes.Int64})},
			arrow.Field{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true})
		rows := []string{`{"in":{"l":[1,null,3],"n":4},"b":true}`, `{"in":{"l":[],"n":5},"b":null}`}
		top := bits.OnesCount(uint(mask)) // the level of an empty list
		wantDef, wantRep := fmt.Sprint(top+2, top+1, top+2, top), "0 1 1 0"
		wantN, wantB := "4 5", "true null"
		at := 0
		if outer {
			rows = append(rows, `null`)
			wantDef, wantRep, wantN, wantB = wantDef+" 0", wantRep+" 0", wantN+" null", wantB+" null"
			at = 1
		}
		if inner {
			rows = append(rows, `{"in":null,"b":false}`)
			wantDef, wantRep, wantN, wantB = wantDef+fmt.Sprint(" ", at), wantRep+" 0", wantN+" null", wantB+" false"
			at++
		}
		if list {
			rows = append(rows, `{"in":{"l":null,"n":null},"b":false}`)
			wantDef, wantRep, wantN, wantB = wantDef+fmt.Sprint(" ", at), wantRep+" 0", wantN+" null", wantB+" false"
		}
		column, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader("["+strings.Join(rows, ",")+"]"))
		formattest.Must(t, err)
		record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "s", Type: typ, Nullable: outer}, {Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil),
			[]arrow.Array{column, array.NewSlice(MustJSON(t, arrow.PrimitiveTypes.Int64, "[1,2,3,4,5]"), 0, int64(len(rows)))}, int64(len(rows)))
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in.arrow"), filepath.Join(dir, "out.parquet")
		formattest.Must(t, os.WriteFile(in, formattest.WriteArrow(t, false, []arrow.Record{record}), 0o600))
		MustApply(t, []string{in}, out, ApplyOptions{Columns: []string{"x"}, Also: []string{"s"}})
		got := formattest.ReadDump(t, out)
		l := got.FindLeaf("s.in.l.list.element")
		if def, rep := strings.Trim(fmt.Sprint(l.Def), "[]"), strings.Trim(fmt.Sprint(l.Rep), "[]"); def != wantDef || rep != wantRep || strings.Join(l.Values, " ") != "1 3" {
			t.Errorf("%03b: list levels %s and %s, want %s and %s", mask, def, rep, wantDef, wantRep)
		}
		if n := strings.Join(got.FindLeaf("s.in.n").RowTexts(), " "); n != wantN {
			t.Errorf("%03b: %s, want %s", mask, n, wantN)
		}
		if b := strings.Join(got.FindLeaf("s.b").RowTexts(), " "); b != wantB {
			t.Errorf("%03b: %s, want %s", mask, b, wantB)
		}
	}
}

// TestApplySmallDecimals: decimals of 32 and 64 bits, which the library does not know, are copied like others: flat,
// as elements, in lists and in structs.
func TestApplySmallDecimals(t *testing.T) {
	for _, bits := range []int{32, 64} {
		for _, scale := range []int{0, 3} {
			values := []int64{1, -2, 0, 999_999_999, -999_999_999, 7, 8, 9}
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.arrow"), filepath.Join(dir, "out.parquet")
			formattest.Must(t, os.WriteFile(in, SmallDecimals(t, bits, 9, scale, values), 0o600))
			MustApply(t, []string{in}, out, ApplyOptions{Columns: []string{"l[1]"}, Also: []string{"d", "l", "s"}})
			got := formattest.ReadDump(t, out)
			for path, want := range map[string]string{
				"d": "1 -2 null 999999999", "s.x": "1 -2 null 999999999", "l[1]": "-2 999999999 7 9", "l.list.element": "1 -2 0 999999999 -999999999 7 8 9",
			} {
				l := got.FindLeaf(path)
				if rows := strings.Join(l.RowTexts(), " "); rows != want {
					t.Errorf("%d bits, %s: %s, want %s", bits, path, rows, want)
				}
				if d, ok := l.Node.LogicalType().(*schema.DecimalLogicalType); !ok || d.Precision() != 9 || int(d.Scale()) != scale || l.Node.PhysicalType() != map[int]parquet.Type{32: parquet.Types.Int32, 64: parquet.Types.Int64}[bits] {
					t.Errorf("%d bits, %s: %v of %v", bits, path, l.Node.LogicalType(), l.Node.PhysicalType())
				}
			}
		}
	}
}

// Every Arrow type arrives with its values and the Parquet type that means the same:
// at the top level, in a struct, as an element of a list, and in a list copied whole.
func TestApplyIPC(t *testing.T) {
	const rows = 40 // a batch; two batches
	cases := chunkiotest.ArrowCases()
	var fields []arrow.Field
	for _, c := range cases {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.Typ, Nullable: true},
			arrow.Field{Name: "s_" + c.Name, Type: arrow.StructOf(arrow.Field{Name: "x", Type: c.Typ, Nullable: true}), Nullable: true},
			arrow.Field{Name: "r_" + c.Name, Type: c.Typ})
	}
	emb := arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)
	fields = append(fields, arrow.Field{Name: "emb", Type: emb, Nullable: true},
		arrow.Field{Name: "runs", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int16)},
		arrow.Field{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true})
	s := arrow.NewSchema(fields, nil)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.arrow")
	// v15 cannot write a dictionary that differs between batches, so all batches are one record.
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range rows {
		null := i%5 == 3
		for k, c := range cases {
			top, st, req := b.Field(3*k), b.Field(3*k+1).(*array.StructBuilder), b.Field(3*k+2)
			c.Add(req, i)
			if null {
				top.AppendNull()
			} else {
				c.Add(top, i)
			}
			switch i % 7 {
			case 1:
				st.AppendNull()
			case 2:
				st.Append(true)
				st.FieldBuilder(0).AppendNull()
			default:
				st.Append(true)
				c.Add(st.FieldBuilder(0), i)
			}
		}
		l := b.Field(3 * len(cases)).(*array.FixedSizeListBuilder)
		l.Append(!null)
		for e := range 3 {
			l.ValueBuilder().(*array.Float32Builder).Append(float32(10*i + e))
		}
		if runs := b.Field(3*len(cases) + 1).(*array.RunEndEncodedBuilder); i%10 == 0 {
			runs.Append(10)
			runs.ValueBuilder().(*array.Int16Builder).Append(int16(i))
		}
		tags := b.Field(3*len(cases) + 2).(*array.ListBuilder)
		if i%4 == 0 {
			tags.AppendNull()
		} else {
			tags.Append(true)
			for range i % 4 {
				tags.ValueBuilder().(*array.StringBuilder).Append("t")
			}
			if i%8 == 1 {
				tags.ValueBuilder().AppendNull()
			}
		}
	}
	record := b.NewRecord()
	formattest.Must(t, os.WriteFile(in, formattest.WriteArrow(t, false, []arrow.Record{record, record}, ipc.WithZstd()), 0o600))

	var also []string
	for _, c := range cases {
		also = append(also, c.Name, "s_"+c.Name+".x", "r_"+c.Name)
	}
	out := filepath.Join(dir, "out.parquet")
	opt := ApplyOptions{Columns: []string{"emb[2]", "emb[0]"}, Also: append(also, "emb", "tags", "runs")}
	MustApply(t, []string{in}, out, opt)
	got := formattest.ReadDump(t, out)
	want := func(text func(int) string, null func(int) bool) (all []string) {
		for i := range 2 * rows {
			v := "null"
			if i := i % rows; !null(i) {
				v = text(i)
			}
			all = append(all, v)
		}
		return all
	}
	for _, c := range cases {
		size := -1
		if l := got.FindLeaf(c.Name).Node; c.Physical == parquet.Types.FixedLenByteArray {
			size = l.TypeLength()
		}
		node := schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Optional, c.Logical, c.Physical, size, -1))
		sameColumn(t, got.FindLeaf(c.Name), c.Name, node, parquet.Repetitions.Optional, want(c.Text, func(i int) bool { return i%5 == 3 }))
		sameColumn(t, got.FindLeaf("s_"+c.Name+".x"), "s_"+c.Name+".x", node, parquet.Repetitions.Optional, want(c.Text, func(i int) bool { return i%7 == 1 || i%7 == 2 }))
		sameColumn(t, got.FindLeaf("r_"+c.Name), "r_"+c.Name, node, parquet.Repetitions.Required, want(c.Text, func(int) bool { return false }))
	}
	for _, e := range []int{2, 0} {
		rows := got.FindLeaf(fmt.Sprintf("emb[%d]", e)).RowTexts()
		whole := got.FindLeaf("emb.list.element").ElementTexts(e)
		for i, v := range rows {
			x := fmt.Sprint(10*(i%40) + e)
			if i%40%5 == 3 {
				x = "null"
			}
			if text, _, _ := strings.Cut(v, " "); text != x || whole[i] != v {
				t.Fatalf("emb[%d], row %d: %s and %s, want %s", e, i, v, whole[i], x)
			}
		}
	}
	for i, v := range got.FindLeaf("runs").RowTexts() {
		if want := fmt.Sprint(i % rows / 10 * 10); v != want {
			t.Fatalf("runs, row %d: %s, want %s", i, v, want)
		}
	}
	tags := got.FindLeaf("tags.list.element")
	if d := fmt.Sprint(tags.Def[:11], tags.Rep[:11]); d != "[0 3 2 3 3 3 3 3 0 3 3] [0 0 1 0 1 0 1 1 0 0 0]" {
		t.Fatalf("tags has levels %v", d)
	}

	// A struct copied whole has the values of its fields, and marks its own nulls.
	var structs []string
	for _, c := range cases {
		structs = append(structs, "s_"+c.Name)
	}
	nested := filepath.Join(dir, "nested.parquet")
	MustApply(t, []string{in}, nested, ApplyOptions{Also: structs})
	inside := formattest.ReadDump(t, nested)
	for _, name := range structs {
		l := inside.FindLeaf(name + ".x")
		if l == nil || !slices.Equal(l.RowTexts(), got.FindLeaf(name+".x").RowTexts()) || inside.Root.Field(0).Type() != schema.Group {
			t.Fatalf("%s differs from its field", name)
		}
		for i, d := range l.Def {
			if want := map[int]int16{1: 0, 2: 1}; d != want[i%rows%7] && (d != 2 || i%rows%7 == 1 || i%rows%7 == 2) {
				t.Fatalf("%s, row %d: level %d", name, i, d)
			}
		}
	}
	if _, err := ApplyColumns(t.Context(), []string{in}, filepath.Join(dir, "x.parquet"), ApplyOptions{Also: []string{"bool"}, Memory: 1 << 10}); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("too little memory: %v", err)
	}
	// In a folder, .arrow becomes .parquet.
	folder := filepath.Join(dir, "folder")
	formattest.Must(t, os.Mkdir(folder, 0o777))
	if err := os.Rename(in, filepath.Join(folder, "in.arrow")); err != nil {
		t.Fatalf("moving the Arrow file into a folder: %v", err)
	}
	MustApply(t, []string{folder}, filepath.Join(dir, "reduced"), ApplyOptions{Columns: []string{"emb[1]"}})
	if g := formattest.ReadDump(t, filepath.Join(dir, "reduced", "in.parquet")).Groups; len(g) != 2 || g[0] != rows {
		t.Fatalf("row groups %v", g)
	}
}

// TestUnwrittenArrowColumn: the error of a column that Parquet has no type for explains how to write the others.
func TestUnwrittenArrowColumn(t *testing.T) {
	views := array.NewBuilder(memory.DefaultAllocator, arrow.ListViewOf(arrow.PrimitiveTypes.Int32))
	views.AppendEmptyValues(1)
	months := array.NewBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.MonthInterval)
	months.AppendEmptyValues(1)
	x := MustJSON(t, arrow.PrimitiveTypes.Int32, "[1]")
	for name, values := range map[string]arrow.Array{"views": views.NewArray(), "months": months.NewArray()} {
		s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: x.DataType()}, {Name: "c", Type: values.DataType()}}, nil)
		in, out := filepath.Join(t.TempDir(), "in.arrow"), filepath.Join(t.TempDir(), "out.parquet")
		record := array.NewRecord(s, []arrow.Array{x, values}, 1)
		formattest.Must(t, os.WriteFile(in, formattest.WriteArrow(t, false, []arrow.Record{record}), 0o600))
		_, err := ConvertInputs(t.Context(), []string{in}, out, ApplyOptions{})
		if err == nil || !strings.Contains(err.Error(), "cannot be written to Parquet; write the other columns with apply") {
			t.Errorf("convert of %s: %v", name, err)
		}
		_, err = ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"x"}, Also: []string{"c"}})
		if err == nil || !strings.Contains(err.Error(), "leave the column out") {
			t.Errorf("apply to %s: %v", name, err)
		}
		if _, err = ApplyColumns(t.Context(), []string{in}, out, ApplyOptions{Columns: []string{"x"}}); err != nil {
			t.Errorf("the others than %s: %v", name, err)
		}
	}
}
