package chunkio

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/copying"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/opening"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gapRows is a table with a number x and a column e of lists of three numbers, some null and some empty.
const gapRows = `{"x":0,"e":[1,2,3]}
{"x":1,"e":null}
{"x":2,"e":[4,null,6]}
{"x":3,"e":[]}
{"x":4,"e":[7,8,9]}
{"x":5,"e":null}
`

// gapFiles writes it as NDJSON, Arrow and Parquet.
func gapFiles(t *testing.T) map[string]string {
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"t.ndjson", "t.arrow", "t.arrows", "t.parquet"} {
		files[name] = filepath.Join(dir, name)
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "e", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.ReplaceAll(strings.TrimSpace(gapRows), "\n", ",")+"]"))
	must.Do(t, err)
	must.Do(t, os.WriteFile(files["t.ndjson"], []byte(gapRows), 0o666))
	must.Do(t, os.WriteFile(files["t.arrow"], formattest.WriteArrow(t, false, []arrow.Record{record}), 0o666))
	must.Do(t, os.WriteFile(files["t.arrows"], formattest.WriteArrow(t, true, []arrow.Record{record}), 0o666))
	_, err = Convert(t.Context(), []string{files["t.arrow"]}, files["t.parquet"], ApplyOptions{})
	must.Do(t, err)
	return files
}

// numbersOf is the rows that a pass delivers, as text.
func numbersOf(t *testing.T, inputs []string, opt Options) string {
	t.Helper()
	var rows strings.Builder
	ds, err := Open(t.Context(), inputs, opt)
	must.Do(t, err)
	defer ds.Close()
	for _, c := range ds.Columns() {
		rows.WriteString(c.Name + " ")
	}
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		must.Do(t, err)
		for i := range c.Rows {
			rows.WriteByte('|')
			for j := range c.Cols {
				x := c.Col(j)[i]
				if math.IsNaN(x) {
					rows.WriteString("- ")
				} else {
					fmt.Fprint(&rows, x, " ")
				}
			}
		}
	}
	return rows.String()
}

// TestRowsWithoutTheirList: a list that is null or empty makes missing entries of its row, whatever the format, for the
// policy on missing values to act on.
func TestRowsWithoutTheirList(t *testing.T) {
	const columns = "x e[0] e[1] e[2] "
	for name, path := range gapFiles(t) {
		for _, c := range []struct {
			opt  Options
			want string
		}{
			{Options{Missing: stream.MissingKeep}, "|0 1 2 3 |1 - - - |2 4 - 6 |3 - - - |4 7 8 9 |5 - - - "},
			{Options{Missing: stream.MissingDropRow}, "|0 1 2 3 |4 7 8 9 "},
			{Options{Missing: stream.MissingKeep, Where: "e[2] is null"}, "|1 - - - |3 - - - |5 - - - "},
			{Options{Missing: stream.MissingKeep, Where: "e[1] > 1"}, "|0 1 2 3 |4 7 8 9 "},
		} {
			if got := numbersOf(t, []string{path}, c.opt); got != columns+c.want {
				t.Errorf("%s with %+v: %s, want %s", name, c.opt, got, columns+c.want)
			}
		}
		ds := must.Get(Open(t.Context(), []string{path}, Options{}))(t)
		for _, err := range ds.Chunks(t.Context(), stream.Range{}) {
			if err == nil || !strings.Contains(err.Error(), "row 1") {
				t.Errorf("%s, where missing values are an error: %v", name, err)
			}
			break
		}
		ds.Close()
		if name == "t.ndjson" {
			continue
		}
		for where, want := range map[string]string{"e is null": "|1 - - - |5 - - - ", "e is not null and x > 1": "|2 4 - 6 |3 - - - |4 7 8 9 "} {
			if got := numbersOf(t, []string{path}, Options{Missing: stream.MissingKeep, Where: where}); got != columns+want {
				t.Errorf("%s where %s: %s, want %s", name, where, got, columns+want)
			}
		}
		if _, err := Open(t.Context(), []string{path}, Options{Where: "e = 1"}); err == nil || !strings.Contains(err.Error(), "e[0], or ask whether it is null") {
			t.Errorf("%s where e = 1: %v", name, err)
		}
	}
}

// TestCopiesOfRowsWithoutTheirList: convert keeps null and empty lists as they are, and apply writes nulls for elements.
func TestCopiesOfRowsWithoutTheirList(t *testing.T) {
	for name, path := range gapFiles(t) {
		out := t.TempDir()
		columns := filepath.Join(out, "c.csv")
		mustApply(t, []string{path}, columns, ApplyOptions{Columns: []string{"e[2]", "x"}, Form: copying.FormCSV})
		if got, want := string(must.Get(os.ReadFile(columns))(t)), "e[2],x\n3,0\n,1\n6,2\n,3\n9,4\n,5\n"; got != want {
			t.Errorf("%s: apply wrote %q, want %q", name, got, want)
		}
		if name == "t.ndjson" {
			continue
		}
		whole := filepath.Join(out, "c.parquet")
		mustApply(t, []string{path}, whole, ApplyOptions{Columns: []string{"x"}, Also: []string{"e"}})
		if got, want := fmt.Sprint(listLengths(t, whole)), "[3 -1 3 0 3 -1]"; got != want {
			t.Errorf("%s: lists of lengths %s, want %s", name, got, want)
		}
		_, err := Convert(t.Context(), []string{path}, whole, ApplyOptions{})
		must.Do(t, err)
		if got, want := fmt.Sprint(listLengths(t, whole)), "[3 -1 3 0 3 -1]"; got != want {
			t.Errorf("%s: converted, lists of lengths %s, want %s", name, got, want)
		}
	}
}

// listLengths are the lengths of the lists e of a Parquet file, -1 for a null one.
func listLengths(t *testing.T, path string) (lengths []int) {
	a := opening.NewAccess(settings.WithDefaults(Options{}))
	defer a.Close()
	f, in, err := a.OpenEntry(t.Context(), storage.Entry{Path: path}, 1<<30, nil)
	must.Do(t, err)
	defer in.Close()
	defer f.Close()
	for l, leaf := range f.Leaves() {
		if leaf.Name != "e" {
			continue
		}
		group := must.Get(f.Open(t.Context(), 0, []int{l}))(t)
		var lists format.Lists
		must.Do(t, group.DecodeLists(t.Context(), l, 0, f.GroupRows()[0], &lists))
		for i, null := range lists.Null {
			n := lists.Ptr[i+1] - lists.Ptr[i]
			if null {
				n = -1
			}
			lengths = append(lengths, n)
		}
	}
	return lengths
}

// TestObjectsThatAreNull: if a member is null in some rows and an object or array in others, the nulls make no column
// of their own, in the sample and after it.
func TestObjectsThatAreNull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.ndjson")
	rows := `{"x":1,"g":{"a":1,"b":{"c":2}},"l":[1,2]}` + "\n" + `{"x":2,"g":null,"l":null}` + "\n" + `{"x":3,"g":{"a":3,"b":null},"l":[3,4]}` + "\n"
	const want = "x g.a g.b.c l[0] l[1] "
	for name, text := range map[string]string{
		"in the sample":  rows,
		"null first":     `{"x":2,"g":null,"l":null}` + "\n" + rows,
		"behind":         strings.Repeat(`{"x":1,"g":{"a":1,"b":{"c":2}},"l":[1,2]}`+"\n", 30_000) + rows,
		"objects behind": strings.Repeat(`{"x":1,"g":null,"l":null}`+"\n", 60_000) + rows,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o666))
		got := numbersOf(t, []string{path}, Options{Missing: stream.MissingKeep})
		if names, values, _ := strings.Cut(got, "|"); names != want || !strings.Contains(values, "|2 - - - - |3 3 - 3 4 ") {
			t.Errorf("%s: columns %q, rows %.200q", name, names, values)
		}
	}
}
