package chunkio

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/writer"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// mapRecords are rows of entries as a map m, as lists ix and v, and as a map in a struct s.
func mapRecords(t testing.TB, seed uint64, key, value arrow.DataType, heights ...int) []arrow.Record {
	typ := arrow.MapOf(key, value)
	fields := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Int8}, {Name: "m", Type: typ, Nullable: true},
		{Name: "ix", Type: arrow.ListOf(key)}, {Name: "v", Type: arrow.ListOf(value)},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "m", Type: typ, Nullable: true})},
	}, nil)
	rng := rand.New(rand.NewPCG(seed, 3))
	var records []arrow.Record
	for _, rows := range heights {
		b := array.NewRecordBuilder(memory.DefaultAllocator, fields)
		inner := b.Field(4).(*array.StructBuilder)
		maps := []*array.MapBuilder{b.Field(1).(*array.MapBuilder), inner.FieldBuilder(0).(*array.MapBuilder)}
		lists := []*array.ListBuilder{b.Field(2).(*array.ListBuilder), b.Field(3).(*array.ListBuilder)}
		for i := range rows {
			b.Field(0).(*array.Int8Builder).Append(int8(i))
			inner.Append(true)
			for k := range 2 {
				maps[k].Append(true)
				lists[k].Append(true)
			}
			for _, j := range rng.Perm(7)[:rng.IntN(8)] {
				text := fmt.Sprint(rng.IntN(4) * j)
				for _, side := range []array.Builder{maps[0].KeyBuilder(), maps[1].KeyBuilder(), lists[0].ValueBuilder()} {
					formattest.Must(t, side.AppendValueFromString(fmt.Sprint(j)))
				}
				for _, side := range []array.Builder{maps[0].ItemBuilder(), maps[1].ItemBuilder(), lists[1].ValueBuilder()} {
					formattest.Must(t, side.AppendValueFromString(text))
				}
			}
		}
		records = append(records, b.NewRecord())
	}
	return records
}

// mapFiles writes records as Parquet and as Arrow IPC.
func mapFiles(t testing.TB, records []arrow.Record) []string {
	t.Helper()
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "m.parquet"), filepath.Join(dir, "m.arrow")}
	var fields schema.FieldList
	var columns []func(r arrow.Record) (of, in arrow.Array) // a column and its lists; nil for scalars
	optional, required := parquet.Repetitions.Optional, parquet.Repetitions.Required
	node := func(name string, typ arrow.DataType, rep parquet.Repetition) schema.Node {
		if typ.ID() == arrow.STRING {
			return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
		}
		if typ.ID() != arrow.FLOAT32 && typ.ID() != arrow.FLOAT64 {
			return writer.NumberOf(typ.Name()).Node(name, rep == required)
		}
		return writer.NumberOf(map[string]string{"float32": "float", "float64": "double"}[typ.Name()]).Node(name, rep == required)
	}
	mapNode := func(typ arrow.DataType, at func(r arrow.Record) arrow.Array) schema.Node {
		m := typ.(*arrow.MapType)
		for side := range 2 {
			columns = append(columns, func(r arrow.Record) (of, in arrow.Array) {
				a := at(r).(*array.Map)
				return []arrow.Array{a.Keys(), a.Items()}[side], a
			})
		}
		return schema.MustGroup(schema.MapOf("m", node("key", m.KeyType(), required), node("value", m.ItemType(), optional), optional, -1))
	}
	for i, f := range records[0].Schema().Fields() {
		column := func(r arrow.Record) arrow.Array { return r.Column(i) }
		switch typ := f.Type.(type) {
		case *arrow.MapType:
			fields = append(fields, mapNode(typ, column))
		case *arrow.StructType:
			inner := mapNode(typ.Field(0).Type, func(r arrow.Record) arrow.Array { return r.Column(i).(*array.Struct).Field(0) })
			fields = append(fields, schema.MustGroup(schema.NewGroupNode(f.Name, required, schema.FieldList{inner}, -1)))
		case *arrow.ListType:
			fields = append(fields, schema.MustGroup(schema.ListOfWithName(f.Name, node("element", typ.Elem(), optional), optional, -1)))
			columns = append(columns, func(r arrow.Record) (of, in arrow.Array) {
				return r.Column(i).(*array.List).ListValues(), r.Column(i)
			})
		default:
			fields = append(fields, node(f.Name, typ, required))
			columns = append(columns, func(r arrow.Record) (of, in arrow.Array) { return r.Column(i), nil })
		}
	}
	file := formattest.WriteFile(t, fields, len(records), func(g, c int, w pqfile.ColumnChunkWriter) error {
		of, in := columns[c](records[g])
		return shred(t, w, int(records[g].NumRows()), of, in)
	}, parquet.WithDataPageSize(200))
	formattest.Must(t, errors.Join(os.WriteFile(paths[0], file, 0o644), os.WriteFile(paths[1], formattest.WriteArrow(t, false, records), 0o644)))
	return paths
}

// shred writes rows of a column, or of the lists around it.
func shred(t testing.TB, w pqfile.ColumnChunkWriter, rows int, of, in arrow.Array) (err error) {
	var def, rep []int16
	var at []int
	most := w.Descr().MaxDefinitionLevel()
	for i := range rows {
		from, to := int64(i), int64(i+1)
		if in != nil {
			from, to = in.(array.ListLike).ValueOffsets(i)
			switch {
			case in.IsNull(i):
				def, rep = append(def, 0), append(rep, 0)
				continue
			case from == to:
				def, rep = append(def, 1), append(rep, 0)
			}
		}
		for k := from; k < to; k++ {
			d := most
			if of.IsNull(int(k)) {
				d--
			} else {
				at = append(at, int(k))
			}
			def, rep = append(def, d), append(rep, int16(min(k-from, 1)))
		}
	}
	number := func(k int) float64 {
		x, err := strconv.ParseFloat(of.ValueStr(k), 64)
		formattest.Must(t, err)
		return x
	}
	switch w := w.(type) {
	case *pqfile.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(each(at, func(k int) int32 { return int32(int64(number(k))) }), def, rep)
	case *pqfile.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(each(at, func(k int) int64 { return int64(number(k)) }), def, rep)
	case *pqfile.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(each(at, func(k int) float32 { return float32(number(k)) }), def, rep)
	case *pqfile.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(each(at, number), def, rep)
	case *pqfile.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(each(at, func(k int) parquet.ByteArray { return parquet.ByteArray(of.ValueStr(k)) }), def, rep)
	}
	return err
}

func each[T any](at []int, value func(int) T) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = value(k)
	}
	return out
}

// The rows of a map equal the rows of two lists, whatever the types, the format and the memory.
func TestMapsEqualLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, typ := range [][2]arrow.DataType{{p.Int32, p.Float32}, {p.Int64, p.Float64}, {p.Uint8, p.Int16}, {p.Uint16, p.Uint32}} {
		records := mapRecords(t, 1, typ[0], typ[1], 300, 1, 0, 2000)
		more := mapFiles(t, records[1:])
		for i, path := range mapFiles(t, records) {
			lists, err := Open(t.Context(), []string{path, more[i]}, Options{Sparse: "ix,v"})
			formattest.Must(t, err)
			want, err := chunkiotest.CollectRows(lists, stream.Range{})
			formattest.Must(t, err)
			for _, sparse := range []string{"m", "m,7", "s.m"} {
				opt := Options{Sparse: sparse}
				ds, err := Open(t.Context(), []string{path, more[i]}, opt)
				formattest.Must(t, err)
				if c := ds.Columns()[6]; c.Name != strings.TrimSuffix(sparse, ",7")+"[6]" || len(ds.Columns()) != 7 {
					t.Fatalf("%s: columns %v", sparse, ds.Columns())
				}
				for _, opt.Memory = range []int64{ds.MinMemory(), 1 << 30} {
					ds, err := ds.With(opt)
					formattest.Must(t, err)
					got, err := chunkiotest.CollectRows(ds, stream.Range{})
					formattest.Must(t, err)
					if d := chunkiotest.DescribeDiff(got, want); d != "" {
						t.Fatalf("%s of %s, %v: %s", sparse, path, typ, d)
					}
				}
			}
			plain, err := Open(t.Context(), []string{path}, Options{})
			formattest.Must(t, err)
			if len(plain.Columns()) != 1 || slices.Collect(plain.Fields())[1].Type != "map" {
				t.Errorf("%s: without {sparse}, %v are features", path, plain.Columns())
			}
		}
	}
}

// Features of a map are written with the type of its values, and the map goes along whole.
func TestApplyMap(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, path := range mapFiles(t, mapRecords(t, 2, p.Int32, p.Float32, 40, 50)) {
		out := filepath.Join(t.TempDir(), "out.parquet")
		want := filepath.Join(t.TempDir(), "want.parquet")
		mustApply(t, []string{path}, out, ApplyOptions{Columns: []string{"m[5]", "m[0]"}, Also: []string{"x"}, Sparse: "m"})
		mustApply(t, []string{path}, want, ApplyOptions{Columns: []string{"v[5]", "v[0]"}, Also: []string{"x"}, Sparse: "ix,v"})
		got, lists := formattest.ReadDump(t, out), formattest.ReadDump(t, want)
		for k, l := range lists.Leaves {
			if g := got.Leaves[k]; fmt.Sprint(g.RowTexts()) != fmt.Sprint(l.RowTexts()) || g.Node.PhysicalType() != l.Node.PhysicalType() {
				t.Errorf("%s: %s is not %s", path, g.Path, l.Path)
			}
		}
	}
	path := mapFiles(t, mapRecords(t, 2, p.Int32, p.Float32, 40))[0]
	out := filepath.Join(t.TempDir(), "whole.parquet")
	mustApply(t, []string{path}, out, ApplyOptions{Columns: []string{"m[1]"}, Also: []string{"m"}, Sparse: "m"})
	if got, want := formattest.ReadDump(t, out).FindLeaf("m.key_value.key"), formattest.ReadDump(t, path).FindLeaf("m.key_value.key"); got == nil || fmt.Sprint(got.Values) != fmt.Sprint(want.Values) {
		t.Error("the map as a whole is not written")
	}
}

func TestBadMaps(t *testing.T) {
	p, text := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	for _, c := range []struct {
		key, value arrow.DataType
		rows, want string
	}{
		{text, text, `[{"m":[{"key":"a","value":"b"}]}]`, "of string to string"},
		{p.Int32, text, `[{"m":[{"key":1,"value":"a"}]}]`, "of int32 to string"},
		{p.Float64, p.Float64, `[{"m":[{"key":1,"value":1}]}]`, "of double to double"},
		{p.Int32, p.Float32, `[{"m":[{"key":1,"value":1}]},{"m":null}]`, "row 1: null map in sparse rows"},
		{p.Int32, p.Float32, `[{"m":[{"key":1,"value":1}]},{"m":[{"key":-1,"value":1}]}]`, "index -1 is not one of"},
		{p.Int32, p.Float32, `[{"m":[]},{"m":[]}]`, "no row has an entry"},
		{p.Int32, p.Float32, `[{"m":[{"key":3,"value":1},{"key":2,"value":1},{"key":3,"value":1}]}]`, "index 3 occurs twice"},
		{p.Int32, p.Float32, `[{"m":[{"key":3,"value":null}]}]`, "missing value"},
	} {
		fields := arrow.NewSchema([]arrow.Field{{Name: "m", Type: arrow.MapOf(c.key, c.value), Nullable: true}}, nil)
		r, _, err := array.RecordFromJSON(memory.DefaultAllocator, fields, strings.NewReader(c.rows))
		formattest.Must(t, err)
		for _, path := range mapFiles(t, []arrow.Record{r}) {
			ds, err := Open(t.Context(), []string{path}, Options{Sparse: "m"})
			if err == nil {
				err = chunkiotest.PassError(ds)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "m") || !chunkiotest.IsData(err) && !chunkiotest.IsUsage(err) {
				t.Errorf("%s: error %v, want %s", filepath.Ext(path), err, c.want)
			}
		}
	}
	a, b := mapFiles(t, mapRecords(t, 1, p.Int32, p.Float32, 5)), mapFiles(t, mapRecords(t, 1, p.Int64, p.Float32, 5))
	for i := range a {
		ds, err := Open(t.Context(), []string{a[i], b[i]}, Options{Sparse: "m"})
		formattest.Must(t, err)
		both, err := chunkiotest.CollectRows(ds, stream.Range{}) // integers of both widths are indices
		formattest.Must(t, err)
		for k, path := range []string{a[i], b[i]} {
			one, err := Open(t.Context(), []string{path}, Options{Sparse: "m"})
			formattest.Must(t, err)
			got, err := chunkiotest.CollectRows(one, stream.Range{})
			formattest.Must(t, err)
			if n := len(got.Rows); len(both.Rows) != 2*n || fmt.Sprint(got.Rows) != fmt.Sprint(both.Rows[k*n:(k+1)*n]) {
				t.Errorf("file %d: other rows where indices are of two widths", k)
			}
		}
	}
}

// Damaged maps are errors, and never a panic.
func TestDamagedMaps(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, path := range mapFiles(t, mapRecords(t, 5, p.Int32, p.Float32, 60)) {
		whole, err := os.ReadFile(path)
		formattest.Must(t, err)
		rng := rand.New(rand.NewPCG(8, 8))
		for range long.CountCases(60, 400) {
			bad := bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] ^= byte(1 << rng.IntN(8))
			}
			formattest.Must(t, os.WriteFile(path, bad, 0o644))
			ds, err := Open(t.Context(), []string{path}, Options{Sparse: "m"})
			if err == nil {
				_, err = chunkiotest.CollectRows(ds, stream.Range{})
			}
			if _, known := errors.AsType[*stream.DataError](err); err != nil && !known && !chunkiotest.IsUsage(err) {
				if _, short := errors.AsType[*stream.MemoryError](err); !short {
					t.Errorf("%s: error %v", path, err)
				}
			}
		}
	}
}
