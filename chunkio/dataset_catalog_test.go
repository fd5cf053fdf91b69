package chunkio

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// twoFiles plants a and b as scalars and l as lists of two in two files, and lets
// change adapt the second one's leaves.
func twoFiles(change func(f *FakeFile)) (*FakeDisk, []string) {
	rows := [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}
	tab := chunkiotest.NewTable(4).AddScalar("a", make([]float64, 4)).AddScalar("b", make([]float64, 4)).AddList("l", 2, rows)
	disk, paths := PlantTable(tab, 2, 2, 1)
	f := disk.ByPath[paths[1]]
	f.Order = append([]format.Leaf(nil), tab.Leaves...)
	change(f)
	return disk, paths
}

func TestSchemasThatDiffer(t *testing.T) {
	for _, c := range []struct {
		change func(f *FakeFile)
		words  string
	}{
		{func(f *FakeFile) { f.Order = f.Order[:2] }, `"l"`},
		{func(f *FakeFile) { f.Order = append(f.Order, format.Leaf{Name: "c", Type: "double"}) }, `"c"`},
		{func(f *FakeFile) { f.Order[1].Type = "string" }, "string here but double"},
	} {
		disk, paths := twoFiles(c.change)
		_, err := OpenPaths(t.Context(), paths, disk.Open, Options{})
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), c.words) ||
			!strings.Contains(err.Error(), paths[0]) || !strings.Contains(err.Error(), paths[1]) {
			t.Errorf("error %v, want both files and %s", err, c.words)
		}
		ds := disk.OpenDataset(t, paths, Options{SkipBad: true})
		if w := ds.Warnings(); len(w) != 1 || !strings.Contains(w[0].String(), paths[1]) || ds.Rows() != 2 {
			t.Errorf("skipping: %d rows, warnings %q", ds.Rows(), w)
		}
		disk.CheckClosed(t)
	}
}

func TestListsOfDifferentLengthsAreLeftOut(t *testing.T) {
	disk, paths := twoFiles(func(f *FakeFile) { f.Order[2].Width = 3 })
	ds := disk.OpenDataset(t, paths, Options{})
	if left := ds.LeftOut(); len(left) != 1 || left[0] != (stream.LeftOut{Name: "l", Why: format.WhyVarying, Column: stream.PositionAt(2)}) {
		t.Errorf("left out %v", left)
	}
	if err := chunkiotest.PassError(ds); err != nil {
		t.Errorf("a pass without the list of varying width: %v", err)
	}
}

func TestFileWithoutRowsHasNoListLength(t *testing.T) {
	unknown := func(f *FakeFile) {
		f.Groups = nil
		f.Order[2].Width, f.Order[2].Why = 0, "lists of unknown length (the file has no rows)"
	}
	disk, paths := twoFiles(unknown)
	for _, order := range [][]string{paths, {paths[1], paths[0]}} {
		if ds := disk.OpenDataset(t, order, Options{}); len(ds.Columns()) != 4 || ds.Rows() != 2 {
			t.Errorf("%v: columns %v, %d rows", order, ds.Columns(), ds.Rows())
		}
	}
}

func TestColumnOrdersAreShared(t *testing.T) {
	tab := chunkiotest.NewTable(50).AddScalar("a", make([]float64, 50)).AddScalar("b", make([]float64, 50))
	disk, paths := PlantTable(tab, 50, 1, 1)
	ds := disk.OpenDataset(t, paths, Options{})
	distinct := map[*int32]bool{}
	for i := range dataset.TableOf(ds).Catalog.Files {
		if order := dataset.TableOf(ds).Catalog.Files[i].Order; order != nil {
			distinct[&order[0]] = true
		}
	}
	if len(distinct) != 1 {
		t.Errorf("%d orders held for the one that differs from the first file's", len(distinct))
	}
}

func TestSkippingAllFilesIsAnError(t *testing.T) {
	disk, _ := PlantTable(chunkiotest.NewTable(1).AddText("s"), 1, 1, 1)
	_, err := OpenPaths(t.Context(), []string{"gone", "lost"}, disk.Open, Options{SkipBad: true})
	if e, ok := errors.AsType[*stream.DataError](err); !ok || e.Path != "gone" {
		t.Errorf("error %v, want the first file's", err)
	}
}

// Long footers are parsed side by side: the catalog is the same as of one after the other, and so
// are the faults, whichever file has them; nothing stays open.
func TestLongFootersSideBySide(t *testing.T) {
	dir := t.TempDir()
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(6, 6)), 10, 1000, 0.1)
	disk, planted := PlantTable(tab, 5, 2, 1)
	for _, path := range planted {
		one := disk.OpenDataset(t, []string{path}, Options{Missing: stream.MissingKeep})
		formattest.Must(t, WriteParquet(t.Context(), filepath.Join(dir, path+".parquet"), one, WriteOptions{}))
	}
	opened := func(threads int, skip bool) string {
		ds, err := Open(t.Context(), []string{dir}, Options{Missing: stream.MissingKeep, Threads: threads, SkipBad: skip})
		if err != nil {
			return err.Error()
		}
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		return fmt.Sprint(ds.Warnings(), ds.Columns()[:9], got.Rows, got.Positions)
	}
	whole, err := os.ReadFile(filepath.Join(dir, planted[3]+".parquet"))
	formattest.Must(t, err)
	for damaged := -1; damaged < 5; damaged += 2 { // none, the second, the fourth
		if damaged >= 0 {
			formattest.Must(t, os.WriteFile(filepath.Join(dir, planted[damaged]+".parquet"), whole[:len(whole)-9], 0o600))
		}
		for _, skip := range []bool{false, true} {
			want := opened(1, skip)
			if got := opened(4, skip); got != want {
				t.Fatalf("file %d damaged, skipped %t: %.300s, one by one %.300s", damaged, skip, got, want)
			}
		}
	}
}

// Columns that are numbers in every file are one column of the type that holds all, in whatever order the files come;
// the values are each file's. Types that are no features may differ.
func TestTypesThatAgree(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, columns ...stream.Column) string {
		table := chunkiotest.NewTable(30)
		for _, c := range columns {
			x := make([]float64, 30)
			for i := range x {
				x[i] = float64((i*7 + len(c.Name)) % 5)
			}
			table.AddScalar(c.Name, x)
		}
		disk, planted := PlantTable(table, 1, 10, 1)
		ds := disk.OpenDataset(t, planted, Options{})
		for i, c := range columns {
			dataset.TableOf(ds).Features.Columns[i].Type = c.Type
		}
		path := filepath.Join(dir, name+".parquet")
		formattest.Must(t, WriteParquet(t.Context(), path, ds, WriteOptions{RowGroupRows: 10}))
		return path
	}
	a := write("a", stream.Column{Name: "x", Type: "int8"}, stream.Column{Name: "y", Type: "float"}, stream.Column{Name: "label", Type: "int32"})
	b := write("b", stream.Column{Name: "label", Type: "double"}, stream.Column{Name: "y", Type: "double"}, stream.Column{Name: "x", Type: "uint8"})
	plan := filepath.Join(dir, "job.plan.json")
	for _, paths := range [][]string{{a, b}, {b, a}} {
		ds, err := Open(t.Context(), paths, Options{Label: "label", Classes: true, ForPlan: true})
		formattest.Must(t, err)
		for _, c := range ds.Columns() {
			if want := map[string]string{"x": "int16", "y": "double"}[c.Name]; c.Type != want {
				t.Errorf("%s is %s, want %s", c.Name, c.Type, want)
			}
		}
		_, err = ds.WritePlan(t.Context(), plan, PlanHeader{})
		formattest.Must(t, err)
		planned, err := Open(t.Context(), nil, Options{Plan: plan, Label: "label", Classes: true})
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		again, err := chunkiotest.CollectRows(planned, stream.Range{})
		formattest.Must(t, err)
		if d := chunkiotest.DescribeDiff(again, got); d != "" {
			t.Errorf("by a plan: %s", d)
		}
		var want chunkiotest.Delivered
		for _, path := range []string{a, b} { // as one read sorts them
			one, err := Open(t.Context(), []string{path}, Options{Label: "label", Order: []string{ds.Columns()[0].Name, ds.Columns()[1].Name}})
			formattest.Must(t, err)
			part, err := chunkiotest.CollectRows(one, stream.Range{})
			formattest.Must(t, err)
			want.Rows = append(want.Rows, part.Rows...)
		}
		for i, row := range got.Rows {
			if fmt.Sprint(row) != fmt.Sprint(want.Rows[i]) {
				t.Fatalf("row %d is %v, want %v", i, row, want.Rows[i])
			}
		}
		if classes := ds.Classes(); len(classes) != 5 { // 0 to 4, whole or not
			t.Errorf("classes %q", classes)
		}
	}
	_, err := Open(t.Context(), []string{a, b}, Options{Where: "y > 2"})
	if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "values of one type") {
		t.Errorf("a condition on float and double: %v", err)
	}
	if ds, err := Open(t.Context(), []string{a, b}, Options{Where: "x > 2"}); err != nil || ds.Rows() != 60 {
		t.Errorf("a condition on integers of two widths: %v", err)
	}

	text := format.Leaf{Name: "s", Type: "string", Why: "text"}
	for _, other := range []format.Leaf{{Name: "s", Type: "timestamp", Why: "timestamp"}, {Name: "s", Type: "double", Width: 1}} {
		disk, paths := twoFiles(func(f *FakeFile) { f.Order = append(f.Order, other) })
		first := disk.ByPath[paths[0]]
		first.Order = append(first.Order[:len(first.Order):len(first.Order)], text)
		ds, err := OpenPaths(t.Context(), paths, disk.Open, Options{})
		if other.Why == "" {
			if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "double here but string in "+paths[0]) {
				t.Errorf("a number in one file and text in another: %v", err)
			}
			continue
		}
		formattest.Must(t, err)
		if left := ds.LeftOut(); len(left) != 1 || left[0].Name != "s" || !strings.Contains(left[0].Why, "timestamp in "+paths[1]) {
			t.Errorf("left out %v", left)
		}
		if _, err := OpenPaths(t.Context(), paths, disk.Open, Options{Label: "s", Classes: true}); err == nil {
			t.Error("classes of two types that do not agree")
		}
	}
}

// TestUnnameableColumns: a column whose name is not UTF-8 is left out, whatever it is; the file's own list of
// leaves stays as it is.
func TestUnnameableColumns(t *testing.T) {
	disk, paths := twoFiles(func(*FakeFile) {})
	for _, p := range paths {
		f := disk.ByPath[p]
		f.Order = slices.Clone(f.Order)
		f.Order[1].Name, f.Order[2].Name = "b\xFF", "\xC3\x28"
	}
	before := slices.Clone(disk.ByPath[paths[0]].Order)
	ds := disk.OpenDataset(t, paths, Options{})
	left := ds.LeftOut()
	if len(left) != 2 || left[0].Name != "b\xFF" || left[1].Name != "\xC3\x28" || !strings.Contains(left[0].Why, "not UTF-8") || left[0].Why != left[1].Why {
		t.Errorf("left out %q", left)
	}
	if c := ds.Columns(); len(c) != 1 || c[0].Name != "a" {
		t.Errorf("columns %v", c)
	}
	if !reflect.DeepEqual(before, disk.ByPath[paths[0]].Order) {
		t.Error("the leaves of the file changed")
	}
	if err := chunkiotest.PassError(ds); err != nil {
		t.Errorf("a pass with merged leaves: %v", err)
	}
}

// TestEncryptedByItsBeginning: a Parquet file with an encrypted footer is called encrypted, not unknown, wherever it
// comes from.
func TestEncryptedByItsBeginning(t *testing.T) {
	const file = "PARE\x15\x04\x15\x10\x4C\x00\x02\x00\x00\x00\x08\x00\x00\x00PARE"
	path := filepath.Join(t.TempDir(), "x.parquet")
	formattest.Must(t, os.WriteFile(path, []byte(file), 0o600))
	_, err := Open(t.Context(), []string{path}, Options{})
	_, piped := Open(t.Context(), []string{"-"}, Options{Stdin: strings.NewReader(file)})
	for _, err := range []error{err, piped} {
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "is encrypted") {
			t.Errorf("opening an encrypted file: %v, want a DataError that it is encrypted", err)
		}
	}
}
