package parquet

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/disk/columns"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// constantCase is a constant as a plan has it, and as a writer of Parquet stores it.
type constantCase struct {
	typ, text string
	physical  parquet.Type
	size      int
	logical   schema.LogicalType
	value     any
}

func constantCases(t *testing.T) []constantCase {
	t.Helper()
	types, none := parquet.Types, schema.NoLogicalType{}
	micros, nanos := schema.TimeUnitMicros, schema.TimeUnitNanos
	uuid := must.Get(hex.DecodeString("f79c3e09677c4bbda4793f349cb785e7"))(t)
	return []constantCase{
		{"bool", "true", types.Boolean, 0, none, true},
		{"bool", "false", types.Boolean, 0, none, false},
		{"int32", "-34", types.Int32, 0, none, int32(-34)},
		{"int64", "9223372036854775807", types.Int64, 0, none, int64(math.MaxInt64)},
		{"float", "0.1", types.Float, 0, none, float32(0.1)},
		{"double", "-2.5e-300", types.Double, 0, none, -2.5e-300},
		{"double", "NaN", types.Double, 0, none, math.NaN()},
		{"double", "-Inf", types.Double, 0, none, math.Inf(-1)},
		{"decimal(9,2)", "-14.2", types.Int32, 0, schema.NewDecimalLogicalType(9, 2), int32(-1420)},
		{"decimal(18,0)", "2E+17", types.Int64, 0, schema.NewDecimalLogicalType(18, 0), int64(2e17)},
		{"decimal(38,3)", "-0.001", types.FixedLenByteArray, 16, schema.NewDecimalLogicalType(38, 3), parquet.FixedLenByteArray(strings.Repeat("\xff", 16))},
		{"date", "1969-12-31", types.Int32, 0, schema.DateLogicalType{}, int32(-1)},
		{"time", "22:31:08.123456", types.Int64, 0, schema.NewTimeLogicalType(false, micros), int64(81068123456)},
		{"timestamp_ntz", "1969-12-31T23:59:59.000001", types.Int64, 0, schema.NewTimestampLogicalType(false, micros), int64(-999999)},
		{"timestamp", "1970-01-01T00:00:01+00:00", types.Int64, 0, schema.NewTimestampLogicalType(true, micros), int64(1e6)},
		{"timestamp", "1970-01-01T00:00:01.000000002+00:00", types.Int64, 0, schema.NewTimestampLogicalType(true, nanos), int64(1e9 + 2)},
		{"string", "köln", types.ByteArray, 0, schema.StringLogicalType{}, parquet.ByteArray("köln")},
		{"string", "", types.ByteArray, 0, schema.StringLogicalType{}, parquet.ByteArray("")},
		{"binary", "00ff", types.ByteArray, 0, none, parquet.ByteArray("\x00\xff")},
		{"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", types.FixedLenByteArray, 16, schema.UUIDLogicalType{}, parquet.FixedLenByteArray(uuid)},
	}
}

func putConstant(w pqfile.ColumnChunkWriter, value any, rows int) error {
	switch v := value.(type) {
	case bool:
		return putBatch(w, slices.Repeat([]bool{v}, rows), nil, nil)
	case int32:
		return putBatch(w, slices.Repeat([]int32{v}, rows), nil, nil)
	case int64:
		return putBatch(w, slices.Repeat([]int64{v}, rows), nil, nil)
	case float32:
		return putBatch(w, slices.Repeat([]float32{v}, rows), nil, nil)
	case float64:
		return putBatch(w, slices.Repeat([]float64{v}, rows), nil, nil)
	case parquet.ByteArray:
		return putBatch(w, slices.Repeat([]parquet.ByteArray{v}, rows), nil, nil)
	case parquet.FixedLenByteArray:
		return putBatch(w, slices.Repeat([]parquet.FixedLenByteArray{v}, rows), nil, nil)
	}
	return fmt.Errorf("no column of %T", value)
}

// A file that lacks a column reads like a file in which a writer has stored the column's value in every row: the same leaf,
// numbers, texts, bounds and, for copies, physical values, by any ranges of rows.
func TestConstants(t *testing.T) {
	heights := []int{3, 1, 1<<17 + 1, 1 << 16}
	x := must.Get(schema.NewPrimitiveNode("x", parquet.Repetitions.Required, parquet.Types.Int32, -1, -1))(t)
	for _, c := range long.TakeCases(3, constantCases(t)) {
		name := fmt.Sprintf("%s %s", c.typ, c.text)
		node := must.Get(schema.NewPrimitiveNodeLogical("c", parquet.Repetitions.Required, c.logical, c.physical, c.size, -1))(t)
		written := must.Get(Open(formattest.NewMemory(formattest.WriteFile(t, schema.FieldList{x, node}, len(heights), func(g, column int, w pqfile.ColumnChunkWriter) error {
			return putConstant(w, []any{int32(g), c.value}[column], heights[g])
		})), 1<<30))(t)
		without := formattest.WriteFile(t, schema.FieldList{x}, len(heights), func(g, _ int, w pqfile.ColumnChunkWriter) error {
			return putConstant(w, int32(g), heights[g])
		})
		other := "wrong"
		table := func(def *string) *columns.Schema {
			return must.Get(columns.NewSchema([]columns.Column{{Name: "c", ID: 7, Physical: "c", Type: c.typ, Default: def}, {Name: "x", ID: 8, Physical: "x", Type: "int32"}}))(t)
		}
		byDefault := must.Get(OpenOfTable(formattest.NewMemory(without), 1<<30, table(&c.text), nil))(t)
		byFile := must.Get(OpenOfTable(formattest.NewMemory(without), 1<<30, table(&other), fmt.Appendf(nil, `{"7":%q}`, c.text)))(t)
		for how, f := range map[string]*File{"default": byDefault, "constant of the file": byFile} {
			compareConstant(t, name+", "+how, f, written, heights)
		}
		if byDefault.FooterDigest() == byFile.FooterDigest() {
			t.Errorf("%s: files with different values of a column have the same digest", name)
		}
		null := must.Get(OpenOfTable(formattest.NewMemory(without), 1<<30, table(&c.text), []byte(`{"7":null}`)))(t)
		if n := len(null.Leaves()); n != 1 {
			t.Errorf("%s: a file whose constant is null has %d leaves, want x alone", name, n)
		}
		if whole := must.Get(OpenOfTable(formattest.NewMemory(without), 1<<30, table(nil), nil))(t); len(whole.Leaves()) != 1 {
			t.Errorf("%s: without a value the file has %d leaves, want x alone", name, len(whole.Leaves()))
		}
	}
}

func compareConstant(t *testing.T, name string, f, written *File, heights []int) {
	t.Helper()
	got, want := f.Leaves()[1], written.Leaves()[1]
	for _, l := range []*format.Leaf{&got, &want} {
		l.Scratch, l.TextScratch, l.Packed = 0, 0, 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: leaf %+v, want %+v", name, got, want)
	}
	if f.Extent(0, 1).Size != 0 {
		t.Errorf("%s: the extent of a column that the file lacks is %v", name, f.Extent(0, 1))
	}
	for g, rows := range heights {
		a, b := f.Bounds(g, 1), written.Bounds(g, 1)
		if math.IsInf(b.Min.Number, 0) { // the writer begins the search for the greatest value at the greatest finite one
			b.Max = b.Min
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: bounds of group %d are %+v, want %+v", name, g, a, b)
		}
		own, other := must.Get(f.Open(t.Context(), g, []int{0, 1}))(t), must.Get(written.Open(t.Context(), g, []int{0, 1}))(t)
		for _, r := range [][2]int{{0, rows}, {min(rows, 1<<16-1), min(rows, 1<<16+1)}, {rows - 1, rows}} {
			from, to := int64(r[0]), int64(r[1])
			if from == to {
				continue
			}
			if want.NoClass == "" {
				got, want := must.Get(formattest.TextRows(own, 1, from, to))(t), must.Get(formattest.TextRows(other, 1, from, to))(t)
				if !slices.Equal(got, want) {
					t.Errorf("%s: group %d: the texts of rows %v begin with %q, want %q", name, g, r, got[0], want[0])
				}
			}
			if want.Width == 0 {
				continue
			}
			numbers := func(group format.Group) (all []float64) {
				leaves := make([]format.Decoding, 2) // the stretch of both, and each by itself
				for i := range leaves {
					leaves[i] = format.Decoding{Leaf: i, Dst: [][]float64{make([]float64, to-from)}}
				}
				format.DecodeAll(context.Background(), group, leaves, from, to)
				for i := range leaves {
					must.Do(t, leaves[i].Err)
					all = append(all, leaves[i].Dst[0]...)
				}
				return all
			}
			if !slices.EqualFunc(numbers(own), numbers(other), formattest.SameBits) {
				t.Errorf("%s: group %d: other numbers in rows %v", name, g, r)
			}
		}
		copied := func(f *File) *formattest.Leaf {
			r, done, err := f.ColumnReader(g, 1)
			must.Do(t, err)
			defer done()
			var to formattest.Leaf
			must.Do(t, formattest.ReadChunk(r, &to))
			return &to
		}
		if a, b := copied(f), copied(written); !slices.Equal(a.RowTexts(), b.RowTexts()) {
			t.Errorf("%s: group %d: a copy has other values", name, g)
		}
	}
}

// Values that do not fit their column are refused, with the column and the value.
func TestWrongConstants(t *testing.T) {
	x := must.Get(schema.NewPrimitiveNode("x", parquet.Repetitions.Required, parquet.Types.Int32, -1, -1))(t)
	file := formattest.WriteFile(t, schema.FieldList{x}, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error { return putConstant(w, int32(1), 2) })
	for _, c := range [][2]string{
		{"bool", "yes"}, {"int32", "2147483648"}, {"int64", "1.5"}, {"float", "1e99"}, {"double", "x"}, {"decimal(4,2)", "100"}, {"decimal(4,2)", "0.001"},
		{"decimal(4,2)", "1e-999999999"}, {"decimal(99,2)", "1"}, {"decimal(4,2)", "1/2"}, {"date", "2026-02-30"}, {"time", "25:00:00"}, {"timestamp", "2026-01-01T00:00:00"},
		{"timestamp_ntz", "2026-01-01T00:00:00Z"}, {"timestamp_ntz", "2999-01-01T00:00:00.000000001"}, {"binary", "0"}, {"uuid", "00"}, {"", "1"},
	} {
		table := must.Get(columns.NewSchema([]columns.Column{{Name: "c", Type: c[0], Default: &c[1]}}))(t)
		if _, err := OpenOfTable(formattest.NewMemory(file), 1<<30, table, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", c[1])) || !strings.Contains(err.Error(), `"c"`) {
			t.Errorf("the value %q of type %q: %v, want an error with both and the column", c[1], c[0], err)
		}
	}
	table := must.Get(columns.NewSchema([]columns.Column{{Name: "c", ID: 1, Type: "int32"}}))(t)
	if _, err := OpenOfTable(formattest.NewMemory(file), 1<<30, table, []byte(`{"x":"1"}`)); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("constants of a column without an id: %v", err)
	}
}
