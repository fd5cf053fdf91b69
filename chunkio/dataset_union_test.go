package chunkio

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/stream"
)

// unionTable has scalars, a list, weights, classes and a text that a condition asks about.
func unionTable(rows int) *chunkiotest.FakeTable {
	rng := rand.New(rand.NewPCG(18, 5))
	tab := chunkiotest.NewTable(rows)
	for _, name := range []string{"a", "b", "c", "w", "k"} {
		x := make([]float64, rows)
		for i := range x {
			if x[i] = float64(1 + rng.IntN(9)); name == "c" && rng.IntN(4) == 0 {
				x[i] = format.Null
			}
		}
		tab.AddScalar(name, x)
	}
	lists := make([][]float64, rows)
	for i := range lists {
		lists[i] = []float64{rng.Float64(), rng.Float64()}
	}
	tab.AddList("l", 2, lists)
	tab.Text = map[string][]string{"t": make([]string, rows)}
	for i := range rows {
		tab.Text["t"][i] = []string{"yes", "no", listing.HiveNull}[rng.IntN(3)]
	}
	tab.AddText("t")
	return tab
}

// lack takes columns away from a planted file; in the twin they stay and are null.
func lack(disk, twin *FakeDisk, path string, names ...string) {
	f := disk.ByPath[path]
	f.Order = slices.DeleteFunc(f.Order, func(l format.Leaf) bool { return slices.Contains(names, l.Name) })
	same := twin.ByPath[path]
	copied := *same.Table
	rows := int64(0)
	for _, n := range same.Groups {
		rows += n
	}
	nulls := func(x []float64) []float64 {
		x = slices.Clone(x)
		for i := same.From; i < same.From+rows; i++ {
			x[i] = format.Null
		}
		return x
	}
	copied.Scalar, copied.List, copied.Text = map[string][]float64{}, map[string][][]float64{}, map[string][]string{}
	for name, x := range same.Table.Scalar {
		if copied.Scalar[name] = x; slices.Contains(names, name) {
			copied.Scalar[name] = nulls(x)
		}
	}
	for name, x := range same.Table.List {
		x = slices.Clone(x)
		for i := same.From; slices.Contains(names, name) && i < same.From+rows; i++ {
			x[i] = []float64{format.Null, format.Null}
		}
		copied.List[name] = x
	}
	for name, x := range same.Table.Text {
		x = slices.Clone(x)
		for i := same.From; slices.Contains(names, name) && i < same.From+rows; i++ {
			x[i] = listing.HiveNull
		}
		copied.Text[name] = x
	}
	same.Table = &copied
}

// Files that lack columns deliver the same as files with these columns, null: under any threads, memory and
// condition, with weights, classes and kept values.
func TestUnionIsNulls(t *testing.T) {
	const rows = 300
	names := []string{"a", "b", "c", "k", "l[0]", "l[1]"}
	for what, opt := range map[string]Options{
		"plain": {}, "weights": {Weight: "w"}, "classes": {Label: "t", Classes: true}, "number": {Where: "b > 3"}, "null": {Where: "a is null or c > 2"},
		"text": {Where: "t == 'yes' and not (k in (1, 2, 3))"}, "sample": {Sample: 50, Seed: 3, Where: "l[1] < 0.5"}, "few columns": {Columns: []string{"b", "l"}},
	} {
		for _, policy := range []stream.MissingPolicy{stream.MissingKeep, stream.MissingDropRow} {
			tab := unionTable(rows)
			disk, paths := PlantTable(tab, 4, 30, 7)
			twin, _ := PlantTable(tab, 4, 30, 7)
			lack(disk, twin, paths[0], "b", "t")
			lack(disk, twin, paths[1], "l", "k")
			lack(disk, twin, paths[3], "a", "l")
			opt.Missing, opt.Order = policy, names
			want, err := chunkiotest.CollectRows(twin.OpenDataset(t, paths, opt), stream.Range{})
			formattest.Must(t, err)
			for _, threads := range []int{1, 8} {
				for _, memory := range []int64{0, 1} {
					union := opt
					union.Union, union.Threads = true, threads
					union.Keep = NewKeep(1 << 20)
					ds := disk.OpenDataset(t, paths, union)
					if memory > 0 {
						union.Memory = ds.MinMemory()
						ds = disk.OpenDataset(t, paths, union)
					}
					for pass := range 2 { // the second one from the Keep
						got, err := chunkiotest.CollectRows(ds, stream.Range{})
						if err != nil {
							t.Fatalf("%s, missing %v, pass %d: %v", what, policy, pass, err)
						}
						if d := chunkiotest.DescribeDiff(got, want); d != "" {
							t.Fatalf("%s, %v, pass %d: %s", what, policy, pass, d)
						}
						if opt.Classes && classesOf(t, ds) != classesOf(t, twin.OpenDataset(t, paths, opt)) {
							t.Fatalf("%s, %v: other classes", what, policy)
						}
					}
					formattest.Must(t, ds.Close())
				}
			}
			disk.CheckClosed(t)
		}
	}
}

// classesOf are the classes of all rows.
func classesOf(t *testing.T, ds *Dataset) string {
	var rows []string
	for c, err := range ds.Chunks(t.Context(), stream.Range{}) {
		formattest.Must(t, err)
		for _, class := range c.Class {
			name := "null"
			if class >= 0 {
				name = ds.Classes()[class]
			}
			rows = append(rows, name)
		}
	}
	return strings.Join(rows, ",")
}

// Without it, and for rows that number their features, the option is asked for or refused; types
// must agree still.
func TestUnionRefusals(t *testing.T) {
	tab := unionTable(40)
	disk, paths := PlantTable(tab, 2, 10, 1)
	twin, _ := PlantTable(tab, 2, 10, 1)
	lack(disk, twin, paths[1], "b")
	_, err := OpenPaths(t.Context(), paths, disk.Open, Options{})
	if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "union-by-name") || !strings.Contains(err.Error(), paths[0]) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("a column that a file lacks: %v", err)
	}
	if err := settings.Validate((Options{Union: true, Sparse: "i,v"})); err == nil || !strings.Contains(err.Error(), "sparse") {
		t.Errorf("sparse rows: %v", err)
	}
	_, err = OpenPaths(t.Context(), paths, disk.Open, Options{Union: true, Where: "stranger > 1"})
	if err == nil || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("a condition on a column of no file: %v", err)
	}
	f := disk.ByPath[paths[1]]
	f.Order = append(f.Order, format.Leaf{Name: "b", Type: "string", Why: "text"})
	if _, err := OpenPaths(t.Context(), paths, disk.Open, Options{Union: true}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "its type is string here but double") {
		t.Errorf("types that differ: %v", err)
	}
}

// unionFiles writes Parquet files that lack columns of each other.
func unionFiles(t *testing.T, dir string) (paths []string) {
	rng := rand.New(rand.NewPCG(18, 6))
	for i, columns := range [][]string{{"a", "b"}, {"c", "b"}, {"c", "d", "a"}} {
		tab := chunkiotest.NewTable(60)
		for _, name := range columns {
			x := make([]float64, 60)
			for k := range x {
				x[k] = float64(rng.IntN(50))
			}
			tab.AddScalar(name, x)
		}
		disk, planted := PlantTable(tab, 1, 20, 1)
		path := filepath.Join(dir, fmt.Sprintf("%d.parquet", i))
		formattest.Must(t, WriteParquet(t.Context(), path, disk.OpenDataset(t, planted, Options{}), WriteOptions{RowGroupRows: 20, Required: i == 0}))
		paths = append(paths, path)
	}
	return paths
}

// A plan knows the columns of all files, so that its shards together are the whole.
func TestUnionPlans(t *testing.T) {
	dir := t.TempDir()
	paths := unionFiles(t, dir)
	for _, where := range []string{"", "d > 10", "a < 40 or b is null"} {
		plan := filepath.Join(t.TempDir(), "job.plan.json")
		opt := Options{Union: true, Where: where, Missing: stream.MissingKeep, ForPlan: true}
		ds, err := Open(t.Context(), paths, opt)
		formattest.Must(t, err)
		want, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		if len(ds.Columns()) != 4 || ds.WithNulls() != 4 {
			t.Errorf("columns %v, %d with nulls", ds.Columns(), ds.WithNulls())
		}
		_, err = ds.WritePlan(t.Context(), plan, PlanHeader{Options: map[string]string{"where": where}})
		formattest.Must(t, err)
		var rows [][]float64
		for i := range 4 {
			part, err := Open(t.Context(), nil, Options{Plan: plan, Shard: Shard{Number: i + 1, Of: 4}, Where: where, Missing: stream.MissingKeep})
			formattest.Must(t, err)
			for c, err := range part.Chunks(t.Context(), stream.Range{}) {
				formattest.Must(t, err)
				for r := range c.Rows {
					row := make([]float64, c.Cols)
					for j := range row {
						row[j] = c.Col(j)[r]
					}
					rows = append(rows, row)
				}
			}
		}
		if got, want := fmt.Sprint(rows), fmt.Sprint(want.Rows); got != want {
			t.Errorf("where %q: shards have %.200s, want %.200s", where, got, want)
		}
	}
}

// Apply writes nulls to one file, and leaves the files of a folder unchanged.
func TestUnionApplied(t *testing.T) {
	paths := unionFiles(t, t.TempDir())
	out := filepath.Join(t.TempDir(), "one.parquet")
	chosen := ApplyOptions{Columns: []string{"c", "a"}, Also: []string{"d"}, Union: true}
	report, err := Apply(t.Context(), paths, out, chosen)
	formattest.Must(t, err)
	if report.Rows != 180 || report.Files != 1 {
		t.Errorf("wrote %+v", report)
	}
	read := func(opt Options, paths ...string) chunkiotest.Delivered {
		opt.Missing, opt.Order = stream.MissingKeep, []string{"c", "a", "d"}
		ds, err := Open(t.Context(), paths, opt)
		formattest.Must(t, err)
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		formattest.Must(t, err)
		return got
	}
	want := read(Options{Union: true, Columns: []string{"a", "c", "d"}}, paths...)
	if d := chunkiotest.DescribeDiff(read(Options{}, out), want); d != "" {
		t.Errorf("one file: %s", d)
	}
	folder := filepath.Join(t.TempDir(), "folder")
	_, err = Apply(t.Context(), paths, folder, chosen)
	formattest.Must(t, err)
	if d := chunkiotest.DescribeDiff(read(Options{Union: true}, folder), want); d != "" {
		t.Errorf("a folder: %s", d)
	}
	if _, err := Apply(t.Context(), paths, out, ApplyOptions{Columns: []string{"a"}}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "union-by-name") {
		t.Errorf("without a union: %v", err)
	}
	if _, err := Apply(t.Context(), paths, filepath.Join(t.TempDir(), "f"), ApplyOptions{Columns: []string{"d"}, Union: true}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), "none of the columns") {
		t.Errorf("a file without any of the columns: %v", err)
	}
	if math.IsNaN(want.Rows[0][1]) || !math.IsNaN(want.Rows[0][0]) {
		t.Errorf("the first row is %v", want.Rows[0])
	}
}
