package chunkio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	pqfooter "github.com/ufs-stream/ufs-stream/chunkio/internal/parquet/footer"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twins has two columns a, one of them of text, and columns b and A; A differs from both.
const twins = "a,b,a,A\n1,2,x,3\n4,5,y,7\n6,9,,1\n"

// twinFiles are the same rows in every format, by ending.
func twinFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for _, ending := range []string{"csv", "parquet", "arrow", "arrows"} {
		files[ending] = filepath.Join(dir, "twins."+ending)
	}
	formattest.Must(t, os.WriteFile(files["csv"], []byte(twins), 0o600))
	_, err := Convert(t.Context(), []string{files["csv"]}, files["parquet"], ApplyOptions{})
	formattest.Must(t, err)
	text := arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}
	number := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{number("a"), number("b"), text, number("A")}, nil))
	for i, values := range map[int][]int64{0: {1, 4, 6}, 1: {2, 5, 9}, 3: {3, 7, 1}} {
		b.Field(i).(*array.Int64Builder).AppendValues(values, nil)
	}
	b.Field(2).(*array.StringBuilder).AppendValues([]string{"x", "y", ""}, []bool{true, true, false})
	records := []arrow.Record{b.NewRecord()}
	for _, ending := range []string{"arrow", "arrows"} {
		formattest.Must(t, os.WriteFile(files[ending], formattest.WriteArrow(t, ending == "arrows", records), 0o600))
	}
	return files
}

// TestSharedNames: columns that share a name are listed with the reason and left out, with a warning, and the others
// work; an option that has the name is told that it is ambiguous.
func TestSharedNames(t *testing.T) {
	for ending, path := range twinFiles(t) {
		inputs, opt := []string{path}, Options{}
		open := func(opt Options) (*Dataset, error) { return Open(t.Context(), inputs, opt) }
		if ending == "arrows" { // as a stream, which is no file
			open = func(opt Options) (*Dataset, error) {
				text, err := os.ReadFile(path)
				formattest.Must(t, err)
				opt.Stdin = bytes.NewReader(text)
				return Open(t.Context(), []string{"-"}, opt)
			}
		}
		ds, err := open(opt)
		formattest.Must(t, err)
		var fields []string
		for f := range ds.Fields() {
			fields = append(fields, f.Name+strings.TrimPrefix(f.Why, SharedName))
			if f.Used != (f.Why == "") || (f.Name == "a") != (f.Why == SharedName) {
				t.Errorf("%s: field %+v, want only a left out, for its shared name", ending, f)
			}
		}
		left := []stream.LeftOut{leftOutAt(0, "a", SharedName), leftOutAt(2, "a", SharedName)}
		if !slices.Equal(fields, []string{"a", "b", "a", "A"}) || !slices.Equal(ds.LeftOut(), left) {
			t.Errorf("%s: %q, left out %v", ending, fields, ds.LeftOut())
		}
		if w := ds.Warnings(); len(w) != 1 || !strings.Contains(w[0].String(), `share a name and are left out: "a"`) {
			t.Errorf("%s: warnings %q", ending, w)
		}
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if want := "[[2 3] [5 7] [9 1]]"; fmt.Sprint(got.Rows) != want {
			t.Errorf("%s: rows %v, want %s", ending, got.Rows, want)
		}
		for name, bad := range map[string]Options{
			"columns": {Columns: []string{"b", "a"}}, "label": {Label: "a"}, "weight": {Weight: "a"}, "where": {Where: "a > 1"}, "sparse": {Sparse: "a"}, "values": {Sparse: "b,a,9"},
		} {
			if _, err := open(bad); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "ambiguous") && name != "values" {
				t.Errorf("%s, option %s: %v, want a UsageError about the ambiguous name", ending, name, err)
			}
		}
		for _, c := range []struct {
			Options
			why      string
			warnings int
		}{
			{Options{Columns: []string{"?"}}, SharedName, 1},
			{Options{Exclude: []string{"a"}}, Excluded, 0},
			{Options{Columns: []string{"b", "A"}}, "not among the columns asked for", 0},
		} {
			ds, err := open(c.Options)
			formattest.Must(t, err)
			left := []stream.LeftOut{leftOutAt(0, "a", c.why), leftOutAt(2, "a", c.why)}
			if len(ds.Columns()) != 2 || len(ds.Warnings()) != c.warnings || !slices.Equal(ds.LeftOut(), left) {
				t.Errorf("%s, %+v: %v, warnings %q, left out %v", ending, c, ds.Columns(), ds.Warnings(), ds.LeftOut())
			}
		}
		if ending == "arrows" {
			continue
		}
		if _, err := open(Options{Sparse: "b,A,a"}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "ambiguous") {
			t.Errorf("%s, triples: %v", ending, err)
		}
		if _, err := ds.Categories(t.Context(), []string{"a"}, 9); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "ambiguous") {
			t.Errorf("%s, categories: %v", ending, err)
		}
		if none, err := ds.Categories(t.Context(), nil, 9); err != nil || none != nil {
			t.Errorf("%s: categories %v, %v", ending, none, err)
		}
		// A selection made elsewhere may have one column of that name.
		out := filepath.Join(t.TempDir(), "out.parquet")
		for _, opt := range []ApplyOptions{{Columns: []string{"b", "a"}}, {Columns: []string{"b"}, Also: []string{"a"}}} {
			if _, err := Apply(t.Context(), inputs, out, opt); err == nil || !strings.Contains(err.Error(), "rename them") {
				t.Errorf("%s, apply: %v", ending, err)
			}
		}
		mustApply(t, inputs, out, ApplyOptions{Columns: []string{"A", "b"}})
	}
}

func writeIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	formattest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSharedNamesOfSeveralFiles: columns that share a name in one file share it in all, whichever order the files
// come in and whatever the types; if files must have the same columns, they must have as many of each name. A copy of
// a union has nulls if a file has fewer.
func TestSharedNamesOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	two, one, swapped := writeIn(t, dir, "two.csv", twins), writeIn(t, dir, "one.csv", "a,b,A\n1,2,3\n"), writeIn(t, dir, "swapped.csv", "A,a,b,a\n3,x,2,1\n")
	none, all := writeIn(t, dir, "none.csv", "a,b,A\n"), writeIn(t, dir, "all.csv", twins)
	for _, c := range []struct {
		inputs []string
		places [2]int // of the columns named a: from the first file with rows, and of the others, which come last
	}{
		{[]string{one, two}, [2]int{0, 3}}, {[]string{two, one}, [2]int{0, 3}}, {[]string{none, two, one}, [2]int{0, 3}},
		{[]string{two, none}, [2]int{0, 2}}, {[]string{two, swapped}, [2]int{1, 3}}, {[]string{one, swapped}, [2]int{0, 3}},
	} {
		inputs := c.inputs
		ds, err := Open(t.Context(), inputs, Options{Union: true})
		if err != nil {
			t.Errorf("union of %q: %v", inputs, err)
			continue
		}
		left := ds.LeftOut()
		if !slices.Equal(left, []stream.LeftOut{leftOutAt(c.places[0], "a", SharedName), leftOutAt(c.places[1], "a", SharedName)}) || len(ds.Columns()) != 2 {
			t.Errorf("%q: left out %v of %v", inputs, left, ds.Columns())
		}
		formattest.Must(t, chunkiotest.PassError(ds))
	}
	if ds, err := Open(t.Context(), []string{two, swapped}, Options{}); err != nil || ds.Rows() != 4 {
		t.Errorf("the same columns in another order: %v", err)
	}
	for _, inputs := range [][]string{{one, two}, {two, one}} {
		if _, err := Open(t.Context(), inputs, Options{}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "fewer columns of this name") {
			t.Errorf("opening %q: %v, want a DataError about fewer columns of a name", inputs, err)
		}
	}
	for _, c := range []struct {
		inputs []string // in the order of their names
		want   string
	}{
		{[]string{one, two}, `[a[1 1 4 6] b[2 2 5 9] A[3 3 7 1] a[null "x" "y" null]]`},
		{[]string{all, one}, `[a[1 4 6 1] b[2 5 9 2] a["x" "y" null null] A[3 7 1 3]]`},
	} {
		out := filepath.Join(t.TempDir(), "out.parquet")
		_, err := Convert(t.Context(), c.inputs, out, ApplyOptions{Union: true})
		formattest.Must(t, err)
		if got := columnsOf(t, out); fmt.Sprint(got) != c.want {
			t.Errorf("%q: %s, want %s", c.inputs, got, c.want)
		}
	}
}

// columnsOf are the columns of a Parquet file with their values.
func columnsOf(t *testing.T, path string) (columns []string) {
	t.Helper()
	for _, l := range formattest.ReadDump(t, path).Leaves {
		columns = append(columns, fmt.Sprint(l.Path, l.RowTexts()))
	}
	return columns
}

// TestConvertSharedNames: a copy has all columns, also columns that share a name, each with its values.
func TestConvertSharedNames(t *testing.T) {
	for ending, path := range twinFiles(t) {
		out := filepath.Join(t.TempDir(), "out.parquet")
		_, err := Convert(t.Context(), []string{path}, out, ApplyOptions{})
		formattest.Must(t, err)
		columns := columnsOf(t, out)
		if want := []string{"a[1 4 6]", "b[2 5 9]", `a["x" "y" null]`, "A[3 7 1]"}; !slices.Equal(columns, want) {
			t.Errorf("%s: %q, want %q", ending, columns, want)
		}
	}
}

// TestConvertNestedSharedNames: structs of one name become columns of their fields' names; a column that can only be
// copied by the shared name is refused, and so is a logical type that is written by it.
func TestConvertNestedSharedNames(t *testing.T) {
	dir := t.TempDir()
	group := func(name string, fields ...schema.Node) schema.Node {
		return schema.MustGroup(schema.NewGroupNode(name, pq.Repetitions.Required, fields, -1))
	}
	number := requiredNumber
	list := schema.MustGroup(schema.ListOfWithName("s", number("element"), pq.Repetitions.Required, -1))
	for k, c := range []struct {
		fields schema.FieldList
		words  string
		want   []string
	}{
		{schema.FieldList{group("s", number("x"), number("y")), group("s", number("z"))}, "", []string{"s.x", "s.y", "s.z"}},
		{schema.FieldList{group("s", number("x"), number("x")), number("s.x")}, "", []string{"s.x", "s.x", "s.x"}},
		{schema.FieldList{list, number("s")}, "several columns are named s", nil},
		{schema.FieldList{number("s"), number("geo"), number("geo")}, "logical type", nil},
		{schema.FieldList{group("s", number("v"), number("v"))}, "logical type", nil},
	} {
		out := filepath.Join(dir, "out.parquet")
		in := geometryFile(t, dir, "in.parquet", c.fields)
		_, err := Convert(t.Context(), []string{in}, out, ApplyOptions{})
		if c.words != "" {
			if !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%d: %v, want %q", k, err, c.words)
			}
			continue
		}
		formattest.Must(t, err)
		var got []string
		for _, l := range formattest.ReadDump(t, out).Leaves {
			got = append(got, l.Path)
			if !slices.Equal(l.Values, []string{"7"}) {
				t.Errorf("leaf %s has values %v, want 7", l.Path, l.Values)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("columns %q, want %q", got, c.want)
		}
		formattest.Must(t, os.Remove(out))
	}
}

func requiredNumber(name string) schema.Node {
	return schema.NewInt32Node(name, pq.Repetitions.Required, -1)
}

// geometryFile has the number 7 in all leaves of the fields, of which the first geo and the first v of s are geometries.
func geometryFile(t *testing.T, dir, name string, fields schema.FieldList) string {
	t.Helper()
	file := formattest.WriteFile(t, fields, 1, func(_, _ int, w pqfile.ColumnChunkWriter) error {
		_, err := w.(*pqfile.Int32ColumnChunkWriter).WriteBatch([]int32{7}, []int16{w.Descr().MaxDefinitionLevel()}, []int16{0})
		return err
	})
	n := int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	start := len(file) - 8 - n
	footer, err := pqfooter.Annotations{"geo": chunkiotest.LogicalField(17), pqfooter.AnnotationPath("s", "v"): chunkiotest.LogicalField(17)}.AnnotateFooter(file[start : start+n])
	formattest.Must(t, err)
	file = binary.LittleEndian.AppendUint32(append(file[:start:start], footer...), uint32(len(footer)))
	path := filepath.Join(dir, name)
	formattest.Must(t, os.WriteFile(path, append(file, parquet.Magic...), 0o600))
	return path
}

// TestConvertSharedLogicalTypes: whichever file has columns that share a name, a logical type that is written by it
// is refused; nothing is refused if each file's names are unique.
func TestConvertSharedLogicalTypes(t *testing.T) {
	dir := t.TempDir()
	s, geo := requiredNumber("s"), requiredNumber("geo")
	none, one := geometryFile(t, dir, "b.parquet", schema.FieldList{s}), geometryFile(t, dir, "c.parquet", schema.FieldList{s, geo})
	first, last := geometryFile(t, dir, "a-two.parquet", schema.FieldList{s, geo, geo}), geometryFile(t, dir, "d-two.parquet", schema.FieldList{s, geo, geo})
	for _, inputs := range [][]string{{first}, {none, last}, {first, none}, {none, one, last}, {first, one}} {
		for _, out := range []string{"out", "out.parquet"} {
			out = filepath.Join(t.TempDir(), out)
			if _, err := Convert(t.Context(), inputs, out, ApplyOptions{Union: true}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "-two.parquet: column geo shares its name") {
				t.Errorf("converting %q: %v, want a UsageError about the shared name geo", inputs, err)
			}
		}
	}
	twins := writeIn(t, dir, "e.csv", "s,geo,geo\n1,2,3\n")
	out := filepath.Join(t.TempDir(), "out")
	_, err := Convert(t.Context(), []string{one, twins}, out, ApplyOptions{Union: true})
	formattest.Must(t, err)
	if got := chunkiotest.TypesOf(t, filepath.Join(out, "c.parquet")); got != chunkiotest.TypesOf(t, one) || !strings.Contains(got, "geometry") {
		t.Errorf("written as %s", got)
	}
}
