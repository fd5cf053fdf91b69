package chunkio

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The categories of messy.parquet are its values, and its features are the indicators made from them by hand,
// whatever the threads, the memory and the kept row groups; null is of no category.
func TestCategoriesOfParquet(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	dump := formattest.ReadDump(t, path, "category", "weird name.col")
	texts := dump.FindLeaf("category").RowTexts()
	distinct := map[string]bool{}
	for i, quoted := range texts {
		if texts[i] = "null"; quoted != "null" {
			value, err := strconv.Unquote(quoted)
			formattest.Must(t, err)
			texts[i] = "=" + value
			distinct[value] = true
		}
	}
	for _, threads := range []int{1, 8} {
		opt := Options{Threads: threads, Missing: stream.MissingKeep, Columns: []string{"category", "d_clean"}, Keep: NewKeep(4 << 20)}
		ds, err := Open(t.Context(), []string{path}, opt)
		formattest.Must(t, err)
		found, err := ds.Categories(t.Context(), nil, 64)
		formattest.Must(t, err)
		if len(found) != 1 || found[0].Column != "category" || found[0].Why != "" || !slices.IsSorted(found[0].Values) || len(found[0].Values) != len(distinct) {
			t.Fatalf("found %+v, want the %d of %v", found, len(distinct), distinct)
		}
		opt.Categories = found
		if threads == 1 {
			first, err := ds.With(opt)
			formattest.Must(t, err)
			opt.Memory = first.MinMemory()
		}
		ds, err = ds.With(opt)
		formattest.Must(t, err)
		for range 2 {
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			for j, c := range ds.Columns() {
				value, isCategory := strings.CutPrefix(c.Name, "category")
				if isCategory != (c.Block == "category") || isCategory != (c.Type == stream.CategoryType) {
					t.Fatalf("column %+v", c)
				}
				for i, row := range got.Rows {
					want := map[bool]float64{true: 1}[texts[i] == value]
					if isCategory && row[j] != want {
						t.Fatalf("row %d, %s: %v, want %v of %q", i, c.Name, row[j], want, texts[i])
					}
				}
			}
		}
		formattest.Must(t, ds.Close())
	}
	ds, err := Open(t.Context(), []string{path}, Options{Label: "label"})
	formattest.Must(t, err)
	few, err := ds.Categories(t.Context(), []string{"id", "weird name.col", "category"}, len(distinct)-1)
	formattest.Must(t, err)
	if fmt.Sprint(few[2].Values) != "[0 1]" || few[0].Why == "" || few[1].Why == "" {
		t.Errorf("found %+v", few)
	}
	left, err := ds.With(Options{Categories: few})
	formattest.Must(t, err)
	why := map[string]string{}
	for _, l := range left.LeftOut() {
		why[l.Name] = l.Why
	}
	if !strings.Contains(why["id"], "distinct values") || !strings.Contains(why["category"], "distinct values") {
		t.Errorf("left out %v", why)
	}
	for _, name := range []string{"stranger", "emb", "label"} {
		if _, err := ds.Categories(t.Context(), []string{name}, 64); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), name) {
			t.Errorf("categories of %s: %v, want a UsageError about it", name, err)
		}
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	all, err := ds.Categories(t.Context(), nil, 64)
	formattest.Must(t, err)
	report, err := Apply(t.Context(), []string{path}, out, ApplyOptions{Columns: []string{"d_clean", "category" + texts[0], "category" + texts[1]}, Categories: all})
	formattest.Must(t, err)
	if fmt.Sprint(report.Columns) != "[d_clean category]" {
		t.Errorf("wrote %v", report.Columns)
	}
}

// A column that a file lacks is of no category there; a condition and a value that is in no list
// change nothing else.
func TestCategoriesOfAUnion(t *testing.T) {
	tab := unionTable(120)
	disk, paths := PlantTable(tab, 3, 20, 1)
	twin, _ := PlantTable(tab, 3, 20, 1)
	lack(disk, twin, paths[0], "t")
	opt := Options{Union: true, Missing: stream.MissingKeep, Where: "b > 2", Columns: []string{"a", "t"}, Order: []string{"a", "t=yes"}}
	ds := disk.OpenDataset(t, paths, opt)
	got, err := ds.Categories(t.Context(), nil, 64)
	formattest.Must(t, err)
	if fmt.Sprint(got) != "[{t [no yes] }]" {
		t.Fatalf("found %v", got)
	}
	opt.Categories = []Category{{Column: "t", Values: []string{"yes"}}}
	rows, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
	formattest.Must(t, err)
	want, err := chunkiotest.CollectRows(twin.OpenDataset(t, paths, opt), stream.Range{})
	formattest.Must(t, err)
	if d := chunkiotest.DescribeDiff(rows, want); d != "" {
		t.Errorf("categories of the union differ from their twin: %s", d)
	}
	ones := 0
	for i, row := range rows.Rows {
		position := int(rows.Positions[i])
		is := position >= 40 && tab.Text["t"][position] == "yes"
		if row[1] != map[bool]float64{true: 1}[is] {
			t.Fatalf("row %d: %v", position, row)
		}
		ones += int(row[1])
	}
	if ones == 0 {
		t.Error("no row of the category")
	}
}
