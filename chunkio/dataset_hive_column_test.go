package chunkio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/apache/arrow/go/v15/parquet"
	pqfile "github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// KeyedFile writes a file of rows with the columns x and k, as Parquet if columnar, below a folder of the key.
func KeyedFile(t *testing.T, key string, values []string, columnar bool) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,k\n")
	for i, v := range values {
		fmt.Fprintf(&b, "%d,%s\n", i, v)
	}
	dir := filepath.Join(t.TempDir(), "k="+key)
	formattest.Must(t, os.Mkdir(dir, 0o700))
	in, out := filepath.Join(t.TempDir(), "in.csv"), filepath.Join(dir, "a.csv")
	if !columnar {
		in = out
	}
	formattest.Must(t, os.WriteFile(in, []byte(b.String()), 0o600))
	if columnar {
		out = filepath.Join(dir, "a.parquet")
		must.Get(Convert(t.Context(), []string{in}, out, ApplyOptions{}))(t)
	}
	return dir
}

// TestKeyThatIsAColumn: a key that stands in the files too is one column, named once, if their values are equal as
// values of the column's type; else it is an error with its place, unless nobody asks for it.
func TestKeyThatIsAColumn(t *testing.T) {
	for _, c := range []struct {
		key    string
		values []string
		row    int64 // the first that differs; -1 for none
	}{
		{"2021", []string{"2021", "2021"}, -1},
		{"2021", []string{"2021", "2021", "2022"}, 2},
		{"01", []string{"1", "1"}, -1},
		{"9007199254740993", []string{"9007199254740993"}, -1},
		{"9007199254740993", []string{"9007199254740993", "9007199254740992"}, 1}, // equal as float64
		{"0.1", []string{"0.1", "0.10"}, -1},
		{"1e-1", []string{"0.1"}, -1},
		{"0.1", []string{"0.1", "0.1000000000000001"}, 1},
		{"1e-999999999", []string{"5"}, 0},
		{"2", []string{"2", "NA"}, 1},
		{"a%2Fb c", []string{"a/b c"}, -1},
		{"a", []string{"a", "b"}, 1},
		{"a", []string{"a", ""}, 1},
		{"1", []string{"one"}, 0},
		{"True", []string{"true", "true"}, -1},
		{"true", []string{"true", "false"}, 1},
		{"2024-02-29", []string{"2024-02-29"}, -1},
		{"2024-02-29", []string{"2024-02-29", "2024-03-01"}, 1},
		{"2024-02-29 01%3A02%3A03", []string{"2024-02-29T01:02:03"}, -1},
		{"2024-02-29 01%3A02%3A03", []string{"2024-02-29T01:02:04"}, 0},
		{listing.HiveNull, []string{"NA", "NA"}, -1},
		{listing.HiveNull, []string{"NA", "1"}, 1},
	} {
		for _, columnar := range []bool{false, true} {
			if !columnar && len(c.key) == 16 && len(c.values) == 2 {
				continue // CSV reads its numbers as float64, which has one value for both
			}
			dir := KeyedFile(t, c.key, c.values, columnar)
			ds, err := Open(t.Context(), []string{dir}, Options{Columns: []string{"x", "k"}, Label: "k"})
			e, ok := errors.AsType[*stream.DataError](err)
			switch {
			case c.row >= 0 && (!ok || e.Row != c.row || e.RowGroup != 0 || e.Column != "k" || !strings.HasPrefix(e.Path, dir)):
				t.Errorf("k=%s, columnar %v, of %q: %v, want an error at row %d", c.key, columnar, c.values, err, c.row)
			case c.row < 0 && err != nil:
				t.Errorf("k=%s, columnar %v, of %q: %v", c.key, columnar, c.values, err)
			case c.row < 0:
				var names []string
				for f := range ds.Fields() {
					names = append(names, f.Name)
				}
				if !slices.Equal(names, []string{"x", "k"}) {
					t.Errorf("k=%s, columnar %v: the columns are %q, want x and k once", c.key, columnar, names)
				}
				formattest.Must(t, ds.Close())
			}
			for _, opt := range []Options{{Exclude: []string{"k"}}, {Columns: []string{"x"}}} {
				ds, err := Open(t.Context(), []string{dir}, opt)
				if err != nil || !slices.Equal(ColumnNames(ds), []string{"x"}) {
					t.Errorf("k=%s, %+v: got error %v, want the column x alone", c.key, opt, err)
					continue
				}
				formattest.Must(t, ds.Close())
			}
		}
	}
}

// TestKeyColumnPlace: the error names the row group, and the row within the file.
func TestKeyColumnPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	formattest.Must(t, os.Mkdir("k=7", 0o700))
	fields := schema.FieldList{schema.NewInt64Node("k", pq.Repetitions.Required, -1)}
	formattest.Must(t, os.WriteFile("k=7/a.parquet", formattest.WriteFile(t, fields, 3, func(g, _ int, w pqfile.ColumnChunkWriter) error {
		_, err := w.(*pqfile.Int64ColumnChunkWriter).WriteBatch([][]int64{{7, 7}, {7}, {7, 7, 8}}[g], nil, nil)
		return err
	}), 0o600))
	_, err := Open(t.Context(), []string{"k=7"}, Options{})
	e, ok := errors.AsType[*stream.DataError](err)
	if !ok || e.RowGroup != 2 || e.Row != 5 || !strings.Contains(err.Error(), `is "7"`) || !strings.Contains(err.Error(), `has "8"`) {
		t.Errorf("got %v, want row group 2 and row 5", err)
	}
}

// TestKeyColumnInSomeFiles: it does not matter which of the files have the column, nor its position in them; apply,
// conditions and plans take the key.
func TestKeyColumnInSomeFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"in/k=1/a.csv": "k,x,y\n1,10,5\n1,20,6\n", "in/k=2/b.csv": "x,y\n30,7\n", "in/k=3/c.csv": "y,x,k\n9,40,3\n",
	} {
		formattest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		formattest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	numbers := func(inputs []string, opt Options) string {
		ds := must.Get(Open(t.Context(), inputs, opt))(t)
		defer ds.Close()
		got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t)
		return fmt.Sprint(ColumnNames(ds), got.Rows)
	}
	want := numbers([]string{"in"}, Options{Columns: []string{"x", "y", "k"}})
	if want != "[x y k] [[10 5 1] [20 6 1] [30 7 2] [40 9 3]]" {
		t.Errorf("the columns are %s", want)
	}
	if got := numbers([]string{"in"}, Options{Columns: []string{"x"}, Where: "k >= 2"}); got != "[x] [[30] [40]]" {
		t.Errorf("where k >= 2 are %s", got)
	}
	ds := must.Get(Open(t.Context(), []string{"in"}, Options{ForPlan: true}))(t)
	must.Get(ds.WritePlan(t.Context(), "j.plan.json", PlanHeader{}))(t)
	formattest.Must(t, ds.Close())
	if got := numbers(nil, Options{Plan: "j.plan.json", Columns: []string{"x", "y", "k"}}); got != want {
		t.Errorf("by the plan the columns are %s, want %s", got, want)
	}
	must.Get(Apply(t.Context(), []string{"in"}, "out.parquet", ApplyOptions{Columns: []string{"x", "y"}, Also: []string{"k"}, Form: copying.FormParquet}))(t)
	must.Get(Convert(t.Context(), []string{"in"}, "all", ApplyOptions{}))(t)
	for _, out := range []string{"out.parquet", "all"} {
		if got := numbers([]string{out}, Options{Columns: []string{"x", "y", "k"}}); got != want {
			t.Errorf("%s has %s, want %s", out, got, want)
		}
	}
}
