package chunkio

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestEmptyFilesRefuseNothing: whatever columns, types and keys files without rows have, and wherever they stand, the
// dataset equals the dataset of the other files: when read, under a condition, in a plan and when copied.
func TestEmptyFilesRefuseNothing(t *testing.T) {
	const full = "x,y,city\n1,10,Paris\n2,20,Lund\n3,30,Oslo\n"
	for name, empty := range map[string]string{
		"the same": "x,y,city\n", "another order": "city,y,x\n", "fewer": "x\n", "more": "x,y,city,z\n", "others": "a,b\n",
	} {
		for _, columnar := range []bool{false, true} {
			for _, union := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/%v", name, columnar, union), func(t *testing.T) {
					t.Chdir(t.TempDir())
					formattest.Must(t, os.Mkdir("in", 0o700))
					for file, text := range map[string]string{"0": empty, "1": full, "2": empty, "3": full, "4": empty} {
						if !columnar {
							formattest.Must(t, os.WriteFile("in/"+file+".csv", []byte(text), 0o600))
							continue
						}
						formattest.Must(t, os.WriteFile(file+".csv", []byte(text), 0o600))
						must.Get(Convert(t.Context(), []string{file + ".csv"}, "in/"+file+".parquet", ApplyOptions{}))(t)
					}
					compareWithFull(t, union)
				})
			}
		}
	}
}

// compareWithFull compares the folder in with the contents of its two files with rows.
func compareWithFull(t *testing.T, union bool) {
	t.Helper()
	read := func(inputs []string, opt Options) string {
		opt.Union = union && opt.Plan == ""
		ds := must.Get(Open(t.Context(), inputs, opt))(t)
		defer ds.Close()
		var left []string
		for _, l := range ds.LeftOut() { // whose positions differ in the copy
			left = append(left, l.Name+": "+l.Why)
		}
		return fmt.Sprint(ColumnNames(ds), must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows, left)
	}
	const want = "[x y] [[1 10] [2 20] [3 30] [1 10] [2 20] [3 30]] [city: text]"
	if got := read([]string{"in"}, Options{}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const north = "[x y] [[2 20] [3 30] [2 20] [3 30]] [city: text]"
	if got := read([]string{"in"}, Options{Where: `city != "Paris"`}); got != north {
		t.Errorf("under a condition got %s, want %s", got, north)
	}
	ds := must.Get(Open(t.Context(), []string{"in"}, Options{ForPlan: true, Union: union}))(t)
	must.Get(ds.WritePlan(t.Context(), "j.plan.json", PlanHeader{}))(t)
	formattest.Must(t, ds.Close())
	if got := read(nil, Options{Plan: "j.plan.json"}); got != want {
		t.Errorf("by the plan got %s, want %s", got, want)
	}
	for _, out := range []string{"one.parquet", "all"} {
		must.Get(Apply(t.Context(), []string{"in"}, out, ApplyOptions{Columns: []string{"x", "y"}, Also: []string{"city"}, Union: union}))(t)
		if got := read([]string{out}, Options{}); got != want {
			t.Errorf("%s has %s, want %s", out, got, want)
		}
	}
	must.Get(Convert(t.Context(), []string{"in"}, "converted", ApplyOptions{Union: union}))(t)
	if got := read([]string{"converted"}, Options{}); got != want {
		t.Errorf("converted it is %s, want %s", got, want)
	}
}

// TestEmptyFilesOfOtherKeys are passed over with a warning.
func TestEmptyFilesOfOtherKeys(t *testing.T) {
	for _, empties := range [][]string{{"in/0.csv"}, {"in/z.csv"}, {"in/0.csv", "in/1.csv", "in/l=1/z.csv"}} {
		t.Chdir(t.TempDir())
		for _, path := range append(empties, "in/k=1/a.csv", "in/k=2/a.csv") {
			text := "x,y\n"
			if strings.HasSuffix(path, "a.csv") {
				text += "1,2\n"
			}
			formattest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			formattest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		ds := must.Get(Open(t.Context(), []string{"in"}, Options{Columns: []string{"*"}}))(t)
		if got := fmt.Sprint(ColumnNames(ds), must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t).Rows); got != "[x y k] [[1 2 1] [1 2 2]]" {
			t.Errorf("%q: got %s", empties, got)
		}
		for _, path := range empties {
			if w := ds.FileWarnings(); len(w) != len(empties) || !strings.Contains(fmt.Sprint(w), path) {
				t.Errorf("%q: the warnings are %v, want one of %s", empties, w, path)
			}
		}
		formattest.Must(t, ds.Close())
	}
}

// TestOnlyEmptyFiles are an input without rows, whatever their columns.
func TestOnlyEmptyFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	formattest.Must(t, os.Mkdir("in", 0o700))
	for i, text := range []string{"x,y\n", "a\n", "y,x\n"} {
		formattest.Must(t, os.WriteFile(fmt.Sprintf("in/%d.csv", i), []byte(text), 0o600))
	}
	ds := must.Get(Open(t.Context(), []string{"in"}, Options{Where: "x > 1"}))(t)
	defer ds.Close()
	if err := ds.Check(); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("Check: %v, want that there are no rows", err)
	}
	if _, err := Open(t.Context(), []string{"in"}, Options{Where: "z > 1"}); !chunkiotest.IsUsage(err) {
		t.Errorf("a condition on a column that is not there: %v, want a usage error", err)
	}
}
