package parquet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/stream"
)

var (
	required = parquet.Repetitions.Required
	optional = parquet.Repetitions.Optional
	repeated = parquet.Repetitions.Repeated
)

func groupOf(name string, rep parquet.Repetition, logical schema.LogicalType, fields ...schema.Node) schema.Node {
	if logical.IsNone() {
		return schema.MustGroup(schema.NewGroupNode(name, rep, fields, -1))
	}
	return schema.MustGroup(schema.NewGroupNodeLogical(name, rep, fields, logical, -1))
}

func i32(name string, rep parquet.Repetition) schema.Node { return schema.NewInt32Node(name, rep, -1) }

func logical(name string, l schema.LogicalType, physical parquet.Type, size int) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, optional, l, physical, size, -1))
}

// TestFlatten: names, types and reasons of all that a schema may hold.
func TestFlatten(t *testing.T) {
	none, list, types := schema.NoLogicalType{}, schema.NewListLogicalType(), parquet.Types
	fields := schema.FieldList{
		i32("a", required),
		groupOf("s", optional, none, i32("x", optional), groupOf("t", optional, none, i32("y", required), logical("text", schema.StringLogicalType{}, types.ByteArray, 0))),
		groupOf("l3", optional, list, groupOf("list", repeated, none, i32("element", optional))),
		groupOf("l2", optional, list, i32("element", repeated)),
		i32("bare", repeated),
		groupOf("tuple", optional, list, groupOf("tuple_tuple", repeated, none, i32("x", required))),
		groupOf("array", optional, list, groupOf("array", repeated, none, i32("x", required))),
		groupOf("ll", optional, list, groupOf("list", repeated, none, groupOf("element", optional, list, groupOf("list", repeated, none, i32("element", optional))))),
		groupOf("ls", optional, list, groupOf("list", repeated, none, groupOf("element", optional, none, i32("p", optional), i32("q", optional)))),
		groupOf("m", optional, schema.MapLogicalType{}, groupOf("key_value", repeated, none, i32("key", required), i32("value", optional))),
		groupOf("texts", optional, list, groupOf("list", repeated, none, logical("element", schema.StringLogicalType{}, types.ByteArray, 0))),
		groupOf("rs", repeated, none, i32("x", required)),
		groupOf("deep", required, none, groupOf("l", required, list, groupOf("list", repeated, none, i32("element", required)))),
		logical("uuid", schema.UUIDLogicalType{}, types.FixedLenByteArray, 16),
		logical("day", schema.DateLogicalType{}, types.Int32, 0),
		logical("time", schema.NewTimeLogicalType(true, schema.TimeUnitMicros), types.Int64, 0),
		logical("ts", schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), types.Int64, 0),
		logical("json", schema.JSONLogicalType{}, types.ByteArray, 0),
		logical("enum", schema.EnumLogicalType{}, types.ByteArray, 0),
		logical("bytes", none, types.ByteArray, 0),
		logical("i96", none, types.Int96, 0),
		logical("null", schema.NullLogicalType{}, types.Int32, 0),
		logical("u16", schema.NewIntLogicalType(16, false), types.Int32, 0),
		logical("dec", schema.NewDecimalLogicalType(10, 2), types.Int64, 0),
		i32("last", optional),
	}
	want := `a int32
s.x int32
s.t.y int32
s.t.text string: text
l3 list<int32> list
l2 list<int32> list
bare list<int32> list
tuple list<struct> list: lists of structs
array list<struct> list: lists of structs
ll list<list> list: lists of lists
ls list<struct> list: lists of structs
m map: maps
texts list<string> list: lists of string
rs list<struct> list: lists of structs
deep.l list<int32> list
uuid uuid: identifier (UUID)
day date: date
time time: time of day
ts timestamp: timestamp
json json: text (JSON)
enum enum: text (enum)
bytes binary: binary
i96 int96: timestamp
null null: always null
u16 uint16
dec decimal(10,2)
last int32
`
	s := schema.NewSchema(schema.MustGroup(schema.NewGroupNode("schema", required, fields, -1)))
	flat := flattenSchema(&footer.Metadata{Schema: s})
	leaves, columns := flat.leaves, flat.columns
	var got strings.Builder
	for _, l := range leaves {
		fmt.Fprintf(&got, "%s %s", l.Name, l.Type)
		if l.List {
			got.WriteString(" list")
		}
		if l.Why != "" {
			got.WriteString(": " + l.Why)
		}
		got.WriteString("\n")
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if c := columns[len(columns)-1]; c.index != s.NumColumns()-1 || c.desc.Name() != "last" {
		t.Errorf("the last leaf is physical column %d (%s) of %d", c.index, c.desc.Name(), s.NumColumns())
	}
	for i, l := range leaves {
		if inner := flat.entries[i]; (l.Name == "m") != (inner != nil) {
			t.Errorf("%s: keys and values %v", l.Name, inner)
		} else if inner != nil && (l.Entries != "int32" || inner.columns[0].index != columns[i].index || inner.columns[1].index != columns[i].index+1 ||
			inner.columns[0].elementLevel != 2 || inner.columns[1].elementLevel != 2) {
			t.Errorf("%s is a map to %s: %+v", l.Name, l.Entries, inner.columns)
		}
	}
	for i, exists := range map[int]uint8{4: 2, 5: 2, 6: 1, 14: 1} {
		if columns[i].elementLevel != exists {
			t.Errorf("%s: elements exist from level %d, want %d", leaves[i].Name, columns[i].elementLevel, exists)
		}
	}
}

// listFile is a file of one group with a list column of the given lengths; -1 is a null
// list, and each hundredth length an element that is null.
func listFile(t *testing.T, lengths ...int) *File {
	t.Helper()
	return listGroups(t, lengths)
}

// listGroups is listFile of several groups.
func listGroups(t *testing.T, groups ...[]int) *File {
	t.Helper()
	node := schema.MustGroup(schema.ListOfWithName("v", schema.NewFloat64Node("element", optional, -1), optional, -1))
	file := formattest.WriteFile(t, schema.FieldList{node}, len(groups), func(g, _ int, w pqfile.ColumnChunkWriter) error {
		var def, rep []int16
		var values []float64
		for i, n := range groups[g] {
			if n <= 0 {
				def, rep = append(def, int16(n+1)), append(rep, 0)
			}
			for j := range n % 100 {
				d := int16(3)
				if n >= 100 && j == 1 {
					d = 2
				} else {
					values = append(values, float64(100*i+j))
				}
				def, rep = append(def, d), append(rep, int16(min(j, 1)))
			}
		}
		return putBatch(w, values, def, rep)
	}, parquet.WithDataPageSize(64), parquet.WithBatchSize(4))
	f, err := Open(formattest.NewMemory(file), 1<<20)
	formattest.Must(t, err)
	return f
}

// TestUnevenLists: lists whose number of values would allow a constant length but that have none are left out if the
// first page, of four entries here, shows it. In later pages they are an error that names the row, both lengths and
// the remedy.
func TestUnevenLists(t *testing.T) {
	for _, uneven := range [][]int{
		{2, 1, 3}, {1, 3, 2}, {4, 1, 1, 2},
		{3, -1, 5, 3}, // a null list stands as one entry
		{3, 0, 5, 3},  // so does an empty one
		{5, 1, 1, 1, 1, 1, 1, 5},
		{7, 1, 1}, {13, 1, 1, 1, 1, 1}, // over several pages
	} {
		for _, before := range []int{0, 40} {
			width := 0
			for _, n := range uneven {
				width += max(n, 1)
			}
			width /= len(uneven)
			lengths := append(slices.Repeat([]int{width}, before), uneven...)
			f := listFile(t, lengths...)
			l := f.leaves[0]
			if before == 0 {
				if !strings.HasPrefix(l.Why, format.WhyVarying) || l.Refused || l.Width != 0 {
					t.Errorf("%v: leaf %+v", lengths, l)
				}
				continue
			}
			if l.Why != "" || l.Width != width {
				t.Fatalf("%v: leaf %+v", lengths, l)
			}
			row := slices.IndexFunc(lengths, func(n int) bool { return n != width })
			this := fmt.Sprintf("a list of %d values", lengths[row])
			if lengths[row] < 0 {
				this = "a null list"
			}
			for _, step := range []int64{100, 1} {
				_, err := tryDecodeLeaf(f, 0, step)
				data, ok := errors.AsType[*stream.DataError](err)
				if !ok || data.Row != int64(row) || data.Column != "v" || data.RowGroup != 0 || !strings.Contains(data.Remedy.String(), `exclude "v"`) {
					t.Errorf("%v: decoding gives %v, want a data error for row %d", lengths, err, row)
				}
				if want := fmt.Sprintf("%s where the rows before have %d", this, width); !strings.Contains(err.Error(), want) && step > 1 {
					t.Errorf("%v: %v, want %s", lengths, err, want)
				}
			}
			free, err := allLists(f, 0, 2)
			if err != nil || len(free.Ptr) != len(lengths)+1 {
				t.Errorf("%v: read freely: %v", lengths, err)
			}
		}
	}
	later := listGroups(t, slices.Repeat([]int{2}, 30), slices.Repeat([]int{2}, 5), append(slices.Repeat([]int{2}, 40), 1, 3))
	_, err := tryDecodeLeaf(later, 0, 100)
	if data, ok := errors.AsType[*stream.DataError](err); !ok || data.RowGroup != 2 || data.Row != 75 {
		t.Errorf("in the third row group: %v", err)
	}
	if l := listFile(t, 1, 2, 2).leaves[0]; l.Why != format.WhyVarying || l.Width != 0 || l.Refused {
		t.Errorf("lists of varying length: %+v", l)
	}
	even := listFile(t, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)
	got := decodeLeaf(t, even, 0, 5)
	for i := range 14 {
		if got[0][i] != float64(100*i) || got[1][i] != float64(100*i+1) {
			t.Fatalf("row %d is %v, %v", i, got[0][i], got[1][i])
		}
	}
	group, err := even.Open(context.Background(), 0, nil)
	formattest.Must(t, err)
	second := make([]float64, 3) // only the second element of rows 4 to 6
	if err := group.Decode(context.Background(), 0, 4, 7, [][]float64{nil, second}); err != nil || second[2] != 601 {
		t.Fatalf("the second elements are %v, error %v, want 601 last", second, err)
	}
}

// TestNullsInLists: null elements are missing values, and so are all elements of a null list.
func TestNullsInLists(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		want    [][]float64 // by element
	}{
		{[]int{3, 103, 3}, [][]float64{{0, 100, 200}, {1, format.Null, 201}, {2, 102, 202}}},
		{[]int{1, -1, 1, -1}, [][]float64{{0, format.Null, 200, format.Null}}},
		{[]int{3, -1, 3}, [][]float64{{0, format.Null, 200}, {1, format.Null, 201}, {2, format.Null, 202}}},
		{[]int{-1, -1}, [][]float64{{format.Null, format.Null}}},
	} {
		f := listFile(t, c.lengths...)
		for _, step := range []int64{1, 2, 100} {
			got := decodeLeaf(t, f, 0, step)
			if !slices.EqualFunc(got, c.want, func(a, b []float64) bool { return slices.EqualFunc(a, b, formattest.SameBits) }) {
				t.Errorf("%v by %d: %v, want %v", c.lengths, step, got, c.want)
			}
		}
	}
}

// TestRefused: columns that cannot be decoded are listed with a remedy.
func TestRefused(t *testing.T) {
	file := formattest.WriteFile(t, schema.FieldList{schema.NewInt32Node("x", optional, -1), schema.NewByteArrayNode("t", optional, -1)}, 1,
		func(_, c int, w pqfile.ColumnChunkWriter) error {
			if c == 0 {
				return putBatch(w, []int32{1, 2}, []int16{1, 1}, nil)
			}
			return putBatch(w, []parquet.ByteArray{[]byte("a"), []byte("b")}, []int16{1, 1}, nil)
		})
	f, err := Open(formattest.NewMemory(file), 1<<20)
	formattest.Must(t, err)
	for name, damage := range map[string]func(c int){
		"codec LZO cannot be decoded": func(c int) { f.footer.Groups[0].Chunks[c].Codec = 3 },
		"encoding number 10 cannot be decoded": func(c int) {
			m := &f.footer.Groups[0].Chunks[c]
			m.Codec, m.Encodings = 0, 1<<10
		},
	} {
		for c := range 2 {
			damage(c)
			l := format.Leaf{Width: 1}
			if c == 1 {
				l = format.Leaf{Why: "binary"}
			}
			formattest.Must(t, f.setLeafFromChunks(&l, &f.columns[c]))
			if c == 0 && (!strings.Contains(l.Why, name) || !strings.Contains(l.Why, remedyRewrite) || !l.Refused || l.Width != 0) {
				t.Errorf("%s: the leaf is %+v, want it refused with this reason and a remedy", name, l)
			}
			if c == 1 && (l.Why != "binary" || l.Refused) {
				t.Errorf("text became %+v", l)
			}
			if _, _, err := f.ColumnReader(0, c); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: raw reader: %v", name, err)
			}
		}
	}
}
