package chunkio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/listing"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/storage"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// planCase is an input that is planned, and how.
type planCase struct {
	inputs []string
	opt    Options
}

// parquetOf is a Parquet file of rows [from, to) of some columns: column "a" is the position,
// the others follow from it.
func parquetOf(t *testing.T, from, to, group int, columns ...string) []byte {
	t.Helper()
	tab := chunkiotest.NewTable(to - from)
	for j, name := range columns {
		x := make([]float64, tab.Rows)
		for i := range x {
			x[i] = float64(from + i)
			if name != "a" {
				x[i] = float64((from+i)*(j+7)%101) / 8
			}
		}
		tab.AddScalar(name, x)
	}
	disk, paths := PlantTable(tab, 1, int64(max(group, 1)), 1)
	return chunkiotest.WriteToBytes(t, disk.OpenDataset(t, paths, Options{}), WriteOptions{RowGroupRows: group})
}

// planCases are inputs of all kinds, in folders of their own.
func planCases(t *testing.T) map[string]planCase {
	keep := Options{Missing: stream.MissingKeep}
	cases := map[string]planCase{}
	add := func(name string, opt Options, files map[string][]byte) {
		dir := t.TempDir()
		for key, content := range files {
			PutFile(t, dir, key, content)
		}
		cases[name] = planCase{[]string{dir}, opt}
	}
	orders := map[string][]byte{
		"1.parquet": parquetOf(t, 0, 700, 100, "a", "b", "c", "w"),
		"2.parquet": parquetOf(t, 700, 1000, 300, "c", "w", "a", "b"),
		"3.parquet": parquetOf(t, 1000, 1001, 100, "c", "w", "a", "b"),
		"4.parquet": parquetOf(t, 1001, 1900, 70, "w", "a", "b", "c"),
	}
	add("columns in another order", keep, orders)
	weighted := keep
	weighted.Weight, weighted.Exclude = "w", []string{"b"}
	add("weights", weighted, orders)
	statistics := keep
	statistics.Where = "a >= 250 and a < 1200" // decided by the statistics of most row groups
	add("statistics", statistics, orders)
	rows := keep
	rows.Where = "b > 4 and a <> 1000"
	add("rows", rows, orders)

	hive := map[string][]byte{}
	for i, key := range []string{
		"year=2024/flag=true/site=a%20b/x.parquet", "year=2025/flag=false/site=b/x.parquet", "year=2025/flag=false/site=b/y.parquet",
		"year=" + listing.HiveNull + "/flag=true/site=" + listing.HiveNull + "/x.parquet", "year=2026/flag=" + listing.HiveNull + "/site=c/x.parquet",
	} {
		hive[key] = parquetOf(t, 100*i, 100*i+100, 30, "a", "b")
	}
	add("partitions", keep, hive)
	for name, where := range map[string]string{
		"number key": "year >= 2025", "null key": "year is null or a < 50", "truth key": "flag = true", "text key": `site = "b" and b < 9`, "key and statistics": "year = 2025 and a > 250",
	} {
		opt := keep
		opt.Where = where
		add("where "+name, opt, hive)
	}

	types := map[string][]byte{}
	for i, groups := range [][]int{{50, 0, 70}, {20}, {0}, {10, 10, 10, 10}} {
		path := filepath.Join(t.TempDir(), "x")
		formattest.WriteEveryType(t, path, 1000*i, groups...)
		types[fmt.Sprintf("%d.parquet", i)] = must.Get(os.ReadFile(path))(t)
	}
	add("lists, nulls, all types", keep, types)

	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(4, 2)), 3000, 3, 0.05)
	add("Arrow", keep, map[string][]byte{"a.arrow": chunkiotest.ArrowBytes(t, tab, 700, true), "b.arrow": chunkiotest.ArrowBytes(t, tab, 3000, true), "c.arrow": chunkiotest.ArrowBytes(t, tab, 11, true)})

	table := t.TempDir()
	plantDelta(t, table)
	cases["Delta"] = planCase{[]string{table}, keep}
	day := keep
	day.Where = "day is null or y > 5"
	cases["Delta with a condition"] = planCase{[]string{"delta://" + table}, day}

	cases["messy"] = planCase{[]string{fixtures.DatasetPath(t, "messy.parquet")}, Options{Missing: stream.MissingKeep, Label: "label"}}
	cases["messy, complete rows"] = planCase{[]string{fixtures.DatasetPath(t, "messy.parquet")}, Options{Missing: stream.MissingDropRow, Exclude: []string{"null_col", "late_f"}}}
	cases["sparse"] = planCase{[]string{fixtures.DatasetPath(t, "basehock_sparse.parquet")}, Options{Label: "label", Sparse: "indices,values,4862"}}
	maps := mapFiles(t, mapRecords(t, 3, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float32, 900, 20, 3000))
	cases["maps"], cases["maps in Arrow"] = planCase{maps[:1], Options{Sparse: "m,7"}}, planCase{maps[1:], Options{Sparse: "s.m,7"}}
	text := filepath.Join(t.TempDir(), "rows.svm")
	must.Do(t, os.WriteFile(text, bytes.Repeat([]byte("1 1:2 3:4\n-1 2:0.5\n"), 70_000), 0o600))
	cases["text"] = planCase{[]string{text}, Options{Sparse: "x,4", Label: "label"}}
	cases["classes"] = planCase{[]string{fixtures.DatasetPath(t, "messy.parquet")}, Options{Missing: stream.MissingKeep, Label: "category", Classes: true}}
	return cases
}

// planned freezes an input.
func planned(t testing.TB, c planCase) (path string, from *Dataset) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "job.plan.json")
	c.opt.ForPlan = true
	from = must.Get(Open(t.Context(), c.inputs, c.opt))(t)
	options := map[string]string{}
	if c.opt.Where != "" {
		options["where"] = c.opt.Where
	}
	h := must.Get(from.WritePlan(t.Context(), path, PlanHeader{Method: "greedy", Options: options}))(t)
	if again := must.Get(ReadPlanHeader(t.Context(), path, FetchOptions{}))(t); again.ID != h.ID || again.Files != len(from.Inputs()) || again.Rows != from.Rows() {
		t.Errorf("header %+v, written %+v", again, h)
	}
	return path, from
}

func openPlanned(t testing.TB, c planCase, plan string, shard Shard) *Dataset {
	t.Helper()
	opt := c.opt
	opt.Plan, opt.Shard = plan, shard
	return must.Get(Open(t.Context(), nil, opt))(t)
}

// TestPlanIsTheInput: reading by a plan gives the same as reading without one.
func TestPlanIsTheInput(t *testing.T) {
	for name, c := range planCases(t) {
		t.Run(name, func(t *testing.T) {
			want, whole := CollectFrom(t, c.opt, c.inputs...)
			plan, _ := planned(t, c)
			ds := openPlanned(t, c, plan, Shard{})
			sameView(t, ds, want)
			if got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t); chunkiotest.DescribeDiff(got, whole) != "" || !slices.Equal(got.Blocks, whole.Blocks) {
				t.Errorf("rows differ: %s", chunkiotest.DescribeDiff(got, whole))
			}
			if a, b := ds.Inputs(), want.Inputs(); !slices.EqualFunc(a, b, sameInput) {
				t.Errorf("inputs %v, want %v", a, b)
			}
			if !slices.Equal(ds.Cuts(), want.Cuts()) || ds.Part() != nil {
				t.Errorf("cuts %v, want %v; part %v", ds.Cuts(), want.Cuts(), ds.Part())
			}
			if a, b := ds.MemoryFor(1<<30), want.MemoryFor(1<<30); a < b-b/50 || a > b+b/50 { // except for the remembered keys
				t.Errorf("reading takes %d bytes, without a plan %d", a, b)
			}
			// A plan of the plan is the plan.
			c.inputs, c.opt.Plan = nil, plan
			again, _ := planned(t, c)
			if x, y := must.Get(os.ReadFile(plan))(t), must.Get(os.ReadFile(again))(t); string(x) != string(y) {
				t.Errorf("a plan of the plan is another one:\n%s\n%s", x, y)
			}
		})
	}
}

// sameView compares the facts that two Datasets report about the whole input.
func sameView(t *testing.T, ds, want *Dataset) {
	t.Helper()
	if ds.Rows() != want.Rows() || !slices.Equal(ds.Columns(), want.Columns()) || !slices.Equal(ds.LeftOut(), want.LeftOut()) {
		t.Fatalf("%d rows of %v without %v, want %d rows of %v without %v", ds.Rows(), ds.Columns(), ds.LeftOut(), want.Rows(), want.Columns(), want.LeftOut())
	}
	if a, b := fmt.Sprint(slices.Collect(ds.Fields())), fmt.Sprint(slices.Collect(want.Fields())); a != b {
		t.Errorf("fields %s, want %s", a, b)
	}
	if a, b := sentences(ds.Warnings()), sentences(want.Warnings()); a != b {
		t.Errorf("warnings %s, want %s", a, b)
	}
	if a, b := fmt.Sprint(ds.Table()), fmt.Sprint(want.Table()); a != b {
		t.Errorf("table %s, want %s", a, b)
	}
}

func sentences(all []stream.Text) string {
	var b strings.Builder
	for _, w := range all {
		b.WriteString(w.String() + "\n")
	}
	return b.String()
}

// sameInput compares two inputs, but for the folder that one is named from.
func sameInput(a, b stream.Input) bool {
	path, err := place.AbsolutePath(b.Path)
	return err == nil && a.Path == path && a.Rows == b.Rows && a.Bytes == b.Bytes && a.Fingerprint == b.Fingerprint
}

// TestShardsOfAPlan: shards are disjoint, in order, cover everything, deliver the rows of the whole, and have equal
// parts of the bytes but for a row group.
func TestShardsOfAPlan(t *testing.T) {
	for name, c := range planCases(t) {
		t.Run(name, func(t *testing.T) {
			want, whole := CollectFrom(t, c.opt, c.inputs...)
			plan, from := planned(t, c)
			for _, n := range []int{7, 1, 2, 3, 100}[:long.CountCases(1, 5)] {
				checkShardsOfPlan(t, c, plan, n, want, whole, from)
			}
		})
	}
}

func checkShardsOfPlan(t *testing.T, c planCase, plan string, n int, want *Dataset, whole chunkiotest.Delivered, from *Dataset) {
	t.Helper()
	sum := chunkiotest.Delivered{Missing: make([]stream.MissingCount, len(want.Columns()))}
	var inputs []stream.Input
	next := int64(0)
	groups := weights(from)
	id := must.Get(ReadPlanHeader(t.Context(), plan, FetchOptions{}))(t).ID
	for i := 1; i <= n; i++ {
		ds := openPlanned(t, c, plan, Shard{Number: i, Of: n})
		sameView(t, ds, want)
		if p := ds.Part(); p.Of != n || p.Plan != id || !slices.Equal(p.Shards, []stream.ShardRange{{From: i, To: i}}) ||
			*p.Whole != (stream.WholeOfParts{Files: len(want.Inputs()), Rows: want.Rows()}) {
			t.Fatalf("shard %d/%d: part %+v of %+v", i, n, p, p.Whole)
		}
		rows, first := ds.ShardRows()
		empty := rows == stream.Range{From: want.Rows(), To: want.Rows()}
		if !empty && (rows.From != next || rows.To <= rows.From) {
			t.Fatalf("shard %d/%d has rows %v, the one before ends at %d", i, n, rows, next)
		}
		if !empty {
			next = rows.To
		}
		if cuts := ds.Cuts(); !slices.IsSorted(cuts) || cuts[0] != rows.From || cuts[len(cuts)-1] != rows.To || !subset(cuts, want.Cuts()) {
			t.Fatalf("shard %d/%d: cuts %v of %v", i, n, cuts, want.Cuts())
		}
		if a, b := ds.MemoryFor(1<<30), openPlanned(t, c, plan, Shard{}).MemoryFor(1<<30); a > b {
			t.Errorf("shard %d/%d takes %d bytes, and the whole %d", i, n, a, b)
		}
		used := opened(ds)
		got := must.Get(chunkiotest.CollectRows(ds, rows))(t)
		for _, path := range used() {
			if !slices.ContainsFunc(ds.Inputs(), func(in stream.Input) bool { return in.Path == path }) {
				t.Errorf("shard %d/%d opened %s, which is not its own", i, n, path)
			}
		}
		at := first
		for _, in := range ds.Inputs() {
			if at += in.Rows; len(inputs) == 0 || inputs[len(inputs)-1] != in {
				inputs = append(inputs, in)
			}
		}
		if rows.From < first || rows.To > max(at, first) {
			t.Errorf("shard %d/%d: rows %v of files from %d to %d", i, n, rows, first, at)
		}
		if bytes, total, largest := within(groups, rows); n*bytes > total+n*largest {
			t.Errorf("shard %d/%d has %d of %d bytes, in row groups of up to %d", i, n, bytes, total, largest)
		}
		sum.Rows, sum.Positions = append(sum.Rows, got.Rows...), append(sum.Positions, got.Positions...)
		sum.Weights, sum.Blocks = append(sum.Weights, got.Weights...), append(sum.Blocks, got.Blocks...)
		for j, m := range got.Missing {
			sum.Missing[j] = sum.Missing[j].Plus(m)
		}
	}
	if next != want.Rows() {
		t.Errorf("%d shards end at row %d of %d", n, next, want.Rows())
	}
	if d := chunkiotest.DescribeDiff(sum, whole); d != "" || !slices.Equal(sum.Blocks, whole.Blocks) {
		t.Errorf("%d shards differ from the whole: %s", n, d)
	}
	if all := want.Inputs(); !slices.EqualFunc(inputs, all, sameInput) {
		t.Errorf("%d shards have the inputs %v, want %v", n, inputs, all)
	}
}

// weighedGroup is a row group of the whole input.
type weighedGroup struct{ from, rows, bytes int64 }

func weights(ds *Dataset) (groups []weighedGroup) {
	at := int64(0)
	for _, f := range dataset.TableOf(ds).Catalog.Files {
		for g, rows := range f.Groups {
			groups = append(groups, weighedGroup{at, rows, f.Bytes[g]})
			at += rows
		}
	}
	return groups
}

// within is the bytes of the row groups of a range and of all, and of the largest row group.
func within(groups []weighedGroup, r stream.Range) (bytes, total, largest int) {
	for _, g := range groups {
		total, largest = total+int(g.bytes), max(largest, int(g.bytes))
		if g.rows > 0 && g.from >= r.From && g.from < r.To {
			bytes += int(g.bytes)
		}
	}
	return bytes, total, largest
}

func subset(some, all []int64) bool {
	return !slices.ContainsFunc(some, func(x int64) bool { return !slices.Contains(all, x) })
}

// opened watches which files a Dataset opens.
func opened(ds *Dataset) func() []string {
	var mu sync.Mutex
	var paths []string
	open := dataset.TableOf(ds).Catalog.Open
	watched := *dataset.TableOf(ds).Catalog
	watched.Open = func(ctx context.Context, e storage.Entry, memory int64, meter *stream.Meter) (format.File, Input, error) {
		mu.Lock()
		paths = append(paths, e.Path)
		mu.Unlock()
		return open(ctx, e, memory, meter)
	}
	dataset.TableOf(ds).Catalog = &watched
	return func() []string { return paths }
}

// TestShardReadsItsFilesOnly: a shard is read even if the files of the others are gone, and these fail.
func TestShardReadsItsFilesOnly(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		PutFile(t, dir, fmt.Sprintf("%d.parquet", i), parquetOf(t, 100*i, 100*i+100, 25, "a", "b"))
	}
	c := planCase{inputs: []string{dir}}
	plan, _ := planned(t, c)
	own := openPlanned(t, c, plan, Shard{Number: 2, Of: 4}).Paths()
	for _, path := range must.Get(filepath.Glob(dir + "/*"))(t) {
		if !slices.Contains(own, path) {
			must.Do(t, os.Remove(path))
		}
	}
	for i := 1; i <= 4; i++ {
		ds := openPlanned(t, c, plan, Shard{Number: i, Of: 4})
		rows, _ := ds.ShardRows()
		_, err := chunkiotest.CollectRows(ds, rows)
		if i == 2 && err != nil || i != 2 && !says(err, "is not there", ds.Paths()[0], plan) {
			t.Errorf("shard %d/4: %v", i, err)
		}
	}
}

// says reports whether err is a DataError with these words.
func says(err error, words ...string) bool {
	var data *stream.DataError
	return errors.As(err, &data) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(err.Error(), w) })
}

// TestChangedSincePlan: a file that differs from the planned one is refused by name, however little of it changed.
func TestChangedSincePlan(t *testing.T) {
	content := parquetOf(t, 0, 4000, 500, "a", "b")
	for name, change := range map[string]func(b []byte) []byte{
		"size":                          func([]byte) []byte { return parquetOf(t, 0, 4001, 500, "a", "b") },
		"footer":                        func(b []byte) []byte { b[len(b)-20] ^= 1; return b },
		"contents":                      func([]byte) []byte { return parquetOf(t, 1, 4001, 500, "a", "b") },
		"a byte near the beginning":     func(b []byte) []byte { b[10] ^= 1; return b },
		"a byte in front of the footer": func(b []byte) []byte { b[len(b)-int(footerBytes(b))-9] ^= 1; return b },
		"another file altogether":       func([]byte) []byte { return []byte("nothing of the kind") },
	} {
		for _, shard := range []Shard{{}, {Number: 1, Of: 2}} {
			dir := t.TempDir()
			PutFile(t, dir, "x.parquet", content)
			c := planCase{inputs: []string{dir}}
			plan, _ := planned(t, c)
			PutFile(t, dir, "x.parquet", change(slices.Clone(content)))
			ds := openPlanned(t, c, plan, shard)
			_, err := chunkiotest.CollectRows(ds, stream.Range{})
			if !says(err, "changed since the plan", filepath.Join(dir, "x.parquet"), plan) || !strings.Contains(stream.Spell(err, nil), "make the plan again") {
				t.Errorf("%s, shard %v: %v", name, shard, err)
			}
		}
	}
}

// footerBytes is the length of a Parquet file's footer, with all that follows its data.
func footerBytes(b []byte) int64 {
	end := b[len(b)-8:]
	return int64(end[0]) + int64(end[1])<<8 + int64(end[2])<<16 + 8
}
