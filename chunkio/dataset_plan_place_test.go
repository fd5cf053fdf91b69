package chunkio

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest"
	"github.com/ufs-stream/ufs-stream/internal/disk/planfile"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// plantFour makes four files in a folder.
func plantFour(t *testing.T, dir string) {
	t.Helper()
	for i := range 4 {
		PutFile(t, dir, fmt.Sprintf("day=%d/x.parquet", i), parquetOf(t, 100*i, 100*i+100, 25, "a", "b"))
	}
}

// TestPlanIsReadFromAnywhere: relative names, lists of them and file:// URLs mean the same files in another working
// directory; folders above the folder in which the plan was made are no keys.
func TestPlanIsReadFromAnywhere(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "run=7", "day=x") // day is below, too
	plantFour(t, filepath.Join(home, "in"))
	PutFile(t, home, "list.txt", []byte("in/day=0/*.parquet\n# of a list\nin/day=1\nin/day=2/x.parquet\nin/day=3\n"))
	for _, input := range []string{"in", "./in/", "in/*/x.parquet", "@list.txt"} {
		t.Chdir(home)
		c := planCase{inputs: []string{input}, opt: Options{Columns: []string{"*"}, Where: "day >= 1"}}
		_, whole := CollectFrom(t, c.opt, input)
		plan, _ := planned(t, c)
		t.Chdir(root)
		ds := openPlanned(t, c, plan, Shard{})
		if got := must.Get(chunkiotest.CollectRows(ds, stream.Range{}))(t); chunkiotest.DescribeDiff(got, whole) != "" || !slices.Equal(ColumnNames(ds), []string{"a", "b", "day"}) {
			t.Errorf("%s: %s, columns %v", input, chunkiotest.DescribeDiff(got, whole), ColumnNames(ds))
		}
		got := 0
		for i := range 3 {
			ds := openPlanned(t, c, plan, Shard{Number: i + 1, Of: 3})
			rows, _ := ds.ShardRows()
			got += len(must.Get(chunkiotest.CollectRows(ds, rows))(t).Rows)
		}
		if got != len(whole.Rows) {
			t.Errorf("%s: shards have %d rows", input, got)
		}
	}
	t.Chdir(home)
	url := planCase{inputs: []string{"file://" + filepath.Join(root, "run=7", "day=x", "in", "day=1", "x.parquet")}}
	if _, err := Open(t.Context(), url.inputs, url.opt); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("the whole path as given counts: %v", err)
	}
}

// TestPlanOfObjects: a plan pins the versions of objects; one that was replaced, or is gone, is
// refused by name.
func TestPlanOfObjects(t *testing.T) {
	storetest.RunEverywhere(t, func(t *testing.T, s *storetest.Server) {
		for i := range 3 {
			s.PutObject(fmt.Sprintf("lake/day=%d/x.parquet", i), parquetOf(t, 100*i, 100*i+100, 25, "a", "b"))
		}
		c := planCase{inputs: []string{s.URL("lake/")}, opt: Options{Missing: stream.MissingKeep, Allow: []string{s.URL("lake")}}}
		want, whole := CollectFrom(t, c.opt, c.inputs...)
		plan, from := planned(t, c)
		for _, n := range []int{1, 3, 5} {
			checkShardsOfPlan(t, planCase{opt: c.opt}, plan, n, want, whole, from)
		}
		// The same size and the same footer, but for a value.
		s.PutObject("lake/day=1/x.parquet", parquetOf(t, 101, 201, 25, "a", "b"))
		ds := openPlanned(t, c, plan, Shard{Number: 2, Of: 3})
		rows, _ := ds.ShardRows()
		if _, err := chunkiotest.CollectRows(ds, rows); !says(err, "changed since the plan", "day=1/x.parquet", plan) {
			t.Errorf("an object that was replaced: %v", err)
		}
		ds = openPlanned(t, c, plan, Shard{Number: 3, Of: 3})
		rows, _ = ds.ShardRows()
		must.Get(chunkiotest.CollectRows(ds, rows))(t)
	})
}

// TestPlanInAStore: the plan itself may be an object.
func TestPlanInAStore(t *testing.T) {
	s := storetest.S3(t)
	dir := t.TempDir()
	plantFour(t, dir)
	c := planCase{inputs: []string{dir}}
	_, whole := CollectFrom(t, c.opt, dir)
	c.opt.ForPlan = true
	from := must.Get(Open(t.Context(), c.inputs, c.opt))(t)
	url := s.URL("jobs/x.plan.json")
	must.Get(from.WritePlan(t.Context(), url, PlanHeader{}))(t)
	if got := must.Get(chunkiotest.CollectRows(openPlanned(t, c, url, Shard{}), stream.Range{}))(t); chunkiotest.DescribeDiff(got, whole) != "" {
		t.Errorf("rows by the plan in a store differ: %s", chunkiotest.DescribeDiff(got, whole))
	}
	if _, err := ReadPlanHeader(t.Context(), s.URL("jobs/no.plan.json"), FetchOptions{}); !chunkiotest.IsData(err) {
		t.Errorf("no such plan: %v", err)
	}
}

// TestPlanOfSignedURLs: the plan contains the URLs that open the files, and other users may not read it. Output about
// it has no signature.
func TestPlanOfSignedURLs(t *testing.T) {
	web := newWebServer(t, true)
	var urls []string
	for i := range 2 {
		web.put(fmt.Sprintf("%d.parquet", i), parquetOf(t, 100*i, 100*i+100, 25, "a", "b"))
		urls = append(urls, fmt.Sprintf("%s/%d.parquet?sig=secret", web.URL, i))
	}
	c := planCase{inputs: urls, opt: Options{Allow: []string{web.URL}}}
	_, whole := CollectFrom(t, c.opt, urls...)
	plan, _ := planned(t, c)
	if mode := must.Get(os.Stat(plan))(t).Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	if got := must.Get(chunkiotest.CollectRows(openPlanned(t, c, plan, Shard{}), stream.Range{}))(t); chunkiotest.DescribeDiff(got, whole) != "" {
		t.Errorf("rows by the plan of URLs differ: %s", chunkiotest.DescribeDiff(got, whole))
	}
	web.put("1.parquet", parquetOf(t, 0, 100, 25, "a", "b"))
	ds := openPlanned(t, c, plan, Shard{Number: 2, Of: 2})
	_, err := chunkiotest.CollectRows(ds, stream.Range{})
	if !says(err, "1.parquet", plan) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got error %v", err)
	}
	if shown := fmt.Sprint(ds.Inputs(), ds.Part(), ds.Warnings(), slices.Collect(ds.Fields())); strings.Contains(shown, "secret") {
		t.Errorf("the secret of a URL shows in %s", shown)
	}
	plain, _ := planned(t, planCase{inputs: []string{lone(t)}})
	if mode := must.Get(os.Stat(plain))(t).Mode().Perm(); mode == 0o600 {
		t.Error("a plan without secrets is not for everybody")
	}
}

// lone is a file of its own.
func lone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	PutFile(t, dir, "x.parquet", parquetOf(t, 0, 100, 25, "a", "b"))
	return filepath.Join(dir, "x.parquet")
}

// writeOwn is a plan file that another program might write.
func writeOwn(t testing.TB, h planfile.Header, files []planfile.File) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.plan.json")
	f := must.Get(os.Create(path))(t)
	h.Count, h.Roots = len(files), []string{"/tmp", "/x", os.TempDir()}
	must.Get(planfile.Write(f, h, listOf(files)))(t)
	must.Do(t, f.Close())
	return path
}

func listOf(files []planfile.File) iter.Seq2[planfile.File, error] {
	return func(yield func(planfile.File, error) bool) {
		for _, f := range files {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// TestPlanWithoutFooters: a plan that only names files reads as they do, and is completed by
// planning it; shards it has none.
func TestPlanWithoutFooters(t *testing.T) {
	dir := t.TempDir()
	plantFour(t, dir)
	want, whole := CollectFrom(t, Options{}, dir)
	var files []planfile.File
	for i, in := range slices.Backward(want.Inputs()) { // in any order
		f := planfile.File{Path: in.Path, Bytes: in.Bytes}
		if i == 2 {
			f = planfile.File{Path: "file://" + in.Path} // of a size that nobody told
		}
		files = append(files, f)
	}
	plan := writeOwn(t, planfile.Header{}, files)
	c := planCase{opt: Options{Plan: plan}}
	ds, got := CollectFrom(t, c.opt)
	sameView(t, ds, want)
	if chunkiotest.DescribeDiff(got, whole) != "" || !slices.EqualFunc(ds.Inputs(), want.Inputs(), sameInput) {
		t.Errorf("rows by a plan without footers differ: %s; its inputs are %v, want %v", chunkiotest.DescribeDiff(got, whole), ds.Inputs(), want.Inputs())
	}
	if _, err := Open(t.Context(), nil, Options{Plan: plan, Shard: Shard{Number: 1, Of: 2}}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "no footers") {
		t.Errorf("a shard of it: %v", err)
	}
	full, _ := planned(t, c)
	if got := must.Get(chunkiotest.CollectRows(openPlanned(t, planCase{}, full, Shard{}), stream.Range{}))(t); chunkiotest.DescribeDiff(got, whole) != "" {
		t.Errorf("completed: %s", chunkiotest.DescribeDiff(got, whole))
	}
	other := writeOwn(t, planfile.Header{Options: map[string]string{"where": "day > 1"}}, files)
	if ds, _ := CollectFrom(t, Options{Plan: other, Where: "day > 1"}); len(ds.Inputs()) != 2 {
		t.Errorf("the condition leaves %v", ds.Inputs())
	}
	// Keys of a table count, and those in the paths do not.
	for i := range files {
		files[i].Keys = []string{fmt.Sprint(9 - i)}
	}
	table := writeOwn(t, planfile.Header{Keys: []string{"k"}, Table: &stream.Table{Path: "/t", Format: "iceberg", Version: 3}}, files)
	ds, _ = CollectFrom(t, Options{Columns: []string{"*"}, Plan: table})
	if !slices.Equal(ColumnNames(ds), []string{"a", "b", "k"}) || ds.Table().Format != "iceberg" {
		t.Errorf("columns %v of %v", ColumnNames(ds), ds.Table())
	}
	must.Do(t, os.Remove(filepath.Join(dir, "day=3", "x.parquet")))
	if _, err := Open(t.Context(), nil, c.opt); !says(err, "is not there", plan) {
		t.Errorf("a file is gone: %v", err)
	}
	PutFile(t, dir, "day=3/x.parquet", parquetOf(t, 0, 90, 25, "a", "b"))
	if _, err := Open(t.Context(), nil, c.opt); !says(err, "changed since the plan", plan) {
		t.Errorf("a file of another size: %v", err)
	}
}

// TestPlanOfChanges: a plan of the changes of a table has rows gained or rows lost, of which a file may have both. It is
// read only as changes since its version.
func TestPlanOfChanges(t *testing.T) {
	dir := t.TempDir()
	plantFour(t, dir)
	want, _ := CollectFrom(t, Options{}, dir)
	var files []planfile.File
	for _, in := range want.Inputs() {
		files = append(files, planfile.File{Path: in.Path, Bytes: in.Bytes})
	}
	lost := func(f planfile.File) planfile.File {
		f.Lost = true
		return f
	}
	since, other := int64(5), int64(6)
	head := planfile.Header{Table: &stream.Table{ID: "t", Path: dir, Format: "iceberg", Version: 9}, Since: &since}
	plan := writeOwn(t, head, []planfile.File{files[0], lost(files[1]), files[1], lost(files[2]), lost(files[0])})
	for _, c := range []struct {
		losses bool
		inputs []stream.Input
	}{{false, want.Inputs()[:2]}, {true, want.Inputs()[:3]}} {
		ds, _ := CollectFrom(t, Options{Plan: plan, TableSince: &since, TableLosses: c.losses})
		if !slices.EqualFunc(ds.Inputs(), c.inputs, sameInput) || !ds.HasLosses() || *ds.Table() != *head.Table {
			t.Errorf("losses %v: the inputs are %v, want %v", c.losses, ds.Inputs(), c.inputs)
		}
	}
	withoutTable, complete := head, head
	withoutTable.Table, complete.Footers = nil, true
	for name, c := range map[string]struct {
		plan  string
		since *int64
		says  string
	}{
		"not as changes":    {plan, nil, "has only the changes of " + dir + " since version 5"},
		"another version":   {plan, &other, "it had changes since version 6"},
		"all rows":          {writeOwn(t, planfile.Header{}, files), &since, "has all rows of a version"},
		"lost since never":  {writeOwn(t, planfile.Header{}, []planfile.File{files[0], lost(files[1])}), nil, "no version since which"},
		"of no table":       {writeOwn(t, withoutTable, files), &since, "changes of no table"},
		"with footers":      {writeOwn(t, complete, files), &since, "with footers"},
		"a file lost twice": {writeOwn(t, head, []planfile.File{files[0], lost(files[1]), lost(files[1])}), &since, "twice"},
	} {
		_, err := Open(t.Context(), nil, Options{Plan: c.plan, TableSince: c.since, TableLosses: strings.Contains(name, "lost twice")})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.says)
		}
	}
}

// TestPlanRefusals: input that cannot be planned, or read by a plan, is refused with a helpful word.
func TestPlanRefusals(t *testing.T) {
	dir := t.TempDir()
	plantFour(t, dir)
	plan, _ := planned(t, planCase{inputs: []string{dir}})
	version := int64(3)
	for says, opt := range map[string]Options{
		"make another plan":     {Plan: plan, Where: "a > 3"},
		"want I/N":              {Plan: plan, Shard: Shard{Number: 3, Of: 2}},
		"shard 0/2":             {Plan: plan, Shard: Shard{Number: 0, Of: 2}},
		"which version is read": {Plan: plan, TableVersion: &version},
		"did you mean":          {Plan: plan, Label: "dayy"},
	} {
		if _, err := Open(t.Context(), nil, opt); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v; want %q", opt, err, says)
		}
	}
	if _, err := Open(t.Context(), []string{plan}, Options{}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), "is a plan file") {
		t.Errorf("a plan as an input: %v", err)
	}
	for says, path := range map[string]string{
		"no such file":     filepath.Join(dir, "no.plan.json"),
		"it is not JSON":   lone(t),
		"it is no plan":    textFile(t, "{}"),
		"C:\\x":            writeOwn(t, planfile.Header{}, []planfile.File{{Path: "C:\\x.parquet"}}),
		"another system":   writeOwn(t, planfile.Header{}, []planfile.File{{Path: "x.parquet"}}),
		"twice":            writeOwn(t, planfile.Header{}, []planfile.File{{Path: "/x"}, {Path: "file:///x"}}),
		"names no file":    writeOwn(t, planfile.Header{}, nil),
		"a file of -1":     writeOwn(t, planfile.Header{}, []planfile.File{{Path: "/x", Bytes: -1}}),
		"promises footers": writeOwn(t, planfile.Header{Footers: true}, nil),
	} {
		if _, err := Open(t.Context(), nil, Options{Plan: path}); !chunkiotest.IsData(err) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want %q", path, err, says)
		}
	}
	ds := must.Get(Open(t.Context(), []string{dir}, Options{}))(t)
	if _, err := ds.WritePlan(t.Context(), filepath.Join(dir, "x.plan.json"), PlanHeader{}); err == nil {
		t.Error("a Dataset that does not know its weights was planned")
	}
	part := must.Get(Open(t.Context(), nil, Options{Plan: plan, Shard: Shard{Number: 1, Of: 2}, ForPlan: true}))(t)
	if _, err := part.WritePlan(t.Context(), filepath.Join(dir, "x.plan.json"), PlanHeader{}); !chunkiotest.IsUsage(err) {
		t.Errorf("a shard was planned: %v", err)
	}
	if rest := must.Get(filepath.Glob(dir + "/*.json"))(t); len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
	odd := t.TempDir()
	PutFile(t, odd, "\xff.parquet", parquetOf(t, 0, 10, 10, "a"))
	ds = must.Get(Open(t.Context(), []string{odd}, Options{ForPlan: true}))(t)
	if _, err := ds.WritePlan(t.Context(), filepath.Join(dir, "x.plan.json"), PlanHeader{}); err == nil || !strings.Contains(err.Error(), "no UTF-8") {
		t.Errorf("a name that JSON cannot hold: %v", err)
	}
}

func textFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.plan.json")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// FuzzThaw: a plan in which anything changed, and whose ID is right all the same, is refused, or
// read without a panic and without more memory than its size suggests.
func FuzzThaw(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "day=3", "x.parquet")
	must.Do(f, os.MkdirAll(filepath.Dir(path), 0o755))
	tab := chunkiotest.NewTable(300).AddScalar("a", make([]float64, 300)).AddScalar("b", make([]float64, 300))
	disk, paths := PlantTable(tab, 1, 100, 1)
	must.Do(f, WriteParquet(f.Context(), path, disk.OpenDataset(f, paths, Options{}), WriteOptions{RowGroupRows: 100}))
	const where = "a >= 0 and day > 1"
	plan, _ := planned(f, planCase{inputs: []string{path}, opt: Options{Where: where}})
	text := must.Get(os.ReadFile(plan))(f)
	f.Add(text, byte(1), byte(1))
	for _, change := range []string{
		`"width":1→"width":9000000000`, `"width":1→"width":0`, `"open_bytes":→"open_bytes":-`, `"nulls":→"nulls":-`, `"rows":300→"rows":-3`, `"open_bytes":→"open_bytes":9`,
		`[100,→[900000000000000000,`, `"order":1→"order":7`, `"outcomes":"→"outcomes":"9`, `"keys":["3"]→"keys":["x"]`, `"kind":"number"→"kind":"x"`,
		`"footer":"→"footer":"g`, `"start":100→"start":7`, `"weight":→"weight":9`, `"leaves":[→"leaves":[{"name":"z","type":"double","width":1},`, `"orders":[[→"orders":[[9,`,
	} {
		old, now, _ := strings.Cut(change, "→")
		f.Add([]byte(strings.ReplaceAll(string(text), old, now)), byte(1), byte(2))
	}
	f.Fuzz(func(t *testing.T, plan []byte, number, of byte) {
		var loose struct {
			planfile.Header
			Files []planfile.File `json:"files"`
		}
		if json.Unmarshal(plan, &loose) != nil {
			return
		}
		var b strings.Builder
		loose.Count = len(loose.Files)
		if _, err := planfile.Write(&b, loose.Header, listOf(loose.Files)); err != nil {
			return
		}
		name := filepath.Join(t.TempDir(), "x.plan.json")
		must.Do(t, os.WriteFile(name, []byte(b.String()), 0o600))
		ds, err := Open(t.Context(), nil, Options{Plan: name, Shard: Shard{Number: int(number), Of: int(of)}, Where: loose.Options["where"], Memory: 64 << 20})
		if err != nil {
			return
		}
		for _, err := range ds.Chunks(t.Context(), stream.Range{}) {
			if err != nil {
				return
			}
		}
	})
}
