package ufs_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// typedTable is a table whose columns have names and types.
type typedTable struct {
	tabletest.Table
	columns []stream.Column
}

func (t typedTable) Columns() []stream.Column { return t.columns }

// typedFile writes columns "name:type" of the named values to a Parquet file.
func typedFile(t *testing.T, path string, values map[string][]float64, columns ...string) string {
	t.Helper()
	var table typedTable
	for _, c := range columns {
		name, typ, _ := strings.Cut(c, ":")
		table.columns = append(table.columns, stream.Column{Name: name, Type: typ})
		table.Cols = append(table.Cols, values[name])
	}
	must.Do(t, chunkio.WriteParquet(t.Context(), path, table, chunkio.WriteOptions{RowGroupRows: 40}))
	return path
}

// randomColumns are whole numbers of few values, of which every type holds each.
func randomColumns(rng *rand.Rand, rows int, names ...string) map[string][]float64 {
	values := make(map[string][]float64)
	shared := make([]float64, rows)
	for i := range shared {
		shared[i] = float64(rng.IntN(2))
	}
	for k, name := range names {
		for i := range rows {
			x := shared[i]*float64(k%3) + float64(rng.IntN(2+3*k))
			if name == "bool" {
				x = float64(rng.IntN(2))
			}
			values[name] = append(values[name], x)
		}
	}
	return values
}

// mixedFiles are three files of the same columns, whose types and order differ.
func mixedFiles(t *testing.T, dir string) (files []string, all map[string][]float64) {
	rng := rand.New(rand.NewPCG(18, 3))
	all = make(map[string][]float64)
	for i, columns := range [][]string{
		{"a:int8", "b:float", "bool:bool", "c:uint32", "d:double"},
		{"d:float", "c:double", "b:double", "a:float", "bool:int32"},
		{"b:int64", "a:bool", "d:int16", "bool:uint8", "c:int32"},
	} {
		values := randomColumns(rng, 100+30*i, "a", "b", "bool", "c", "d")
		if i == 2 {
			for r := range values["a"] {
				values["a"][r] = float64(rng.IntN(2)) // as a bool holds
			}
		}
		for name, x := range values {
			all[name] = append(all[name], x...)
		}
		files = append(files, typedFile(t, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), values, columns...))
	}
	return files, all
}

func scan(t *testing.T, q ufs.ScanRequest, inputs ...string) string {
	t.Helper()
	q.Input.Paths, q.Output = inputs, filepath.Join(t.TempDir(), "s.ufs")
	must.Get(ufs.Scan(t.Context(), q))(t)
	return q.Output
}

// gatheredAlike are statistics of path, from one scan, from shards and by a plan: they are to select the same.
func gatheredAlike(t *testing.T, q ufs.Request, path string) map[string]string {
	t.Helper()
	var shards []string
	for i := range 3 {
		shards = append(shards, scan(t, ufs.ScanRequest{Request: q, Shard: fmt.Sprintf("%d/3", i+1)}, path))
	}
	plan := q
	plan.Output = filepath.Join(t.TempDir(), "job.plan.json")
	planned := must.Get(ufs.WritePlan(t.Context(), plan))(t)
	return map[string]string{
		"one scan": scan(t, ufs.ScanRequest{Request: q}, path), "shards": merged(t, ufs.MergeRequest{}, shards...),
		"plan": merged(t, ufs.MergeRequest{}, scanned(t, planned.Path, t.TempDir()+"/", 3, nil)),
	}
}

// picked are the names of a selection, in order.
func picked(s *stream.Selection) (names []string) {
	for _, f := range s.Selected {
		names = append(names, f.Name)
	}
	return names
}

// Numbers of any width and columns in any order are one column, in one read and over scan and merge: both equal
// the result of one file of doubles, in whatever order the files are named.
func TestTypesOfOneColumn(t *testing.T) {
	dir := t.TempDir()
	files, all := mixedFiles(t, dir)
	plain := typedFile(t, filepath.Join(t.TempDir(), "all.parquet"), all, "a:double", "b:double", "bool:double", "c:double", "d:double")
	want := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{plain}}, Choice: ufs.Choice{Method: "greedy", K: 5}}))(t)
	types := []stream.Column{{Name: "a", Type: "double"}, {Name: "b", Type: "double"}, {Name: "bool", Type: "int32"}, {Name: "c", Type: "double"}, {Name: "d", Type: "double"}}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		var named, scans, rounds []string
		for _, i := range order {
			named = append(named, files[i])
		}
		one := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: named}, Choice: ufs.Choice{Method: "greedy", K: 5}}))(t)
		profile := scan(t, ufs.ScanRequest{ProfileOnly: true, KeepRows: 50}, named...)
		for _, path := range named {
			scans = append(scans, scan(t, ufs.ScanRequest{}, path))
			rounds = append(rounds, scan(t, ufs.ScanRequest{Profile: profile}, path))
		}
		sum := merged(t, ufs.MergeRequest{}, scans...)
		whole := scan(t, ufs.ScanRequest{}, named...)
		near(t, fmt.Sprint(order, " merged"), sum, whole)
		near(t, fmt.Sprint(order, " by profile"), merged(t, ufs.MergeRequest{}, rounds...), profiled(t, profile, named))
		for what, path := range map[string]string{"merged": sum, "scanned": whole} {
			h := headerOf(t, path)
			columns := slices.SortedFunc(slices.Values(h.Columns), func(a, b stream.Column) int { return strings.Compare(a.Name, b.Name) })
			if !slices.Equal(columns, types) {
				t.Errorf("%v %s: columns %v, want %v", order, what, columns, types)
			}
		}
		from := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: sum, Choice: ufs.Choice{Method: "greedy", K: 5}}))(t)
		for what, s := range map[string]*stream.Selection{"read": one, "merged": from} {
			if !slices.Equal(picked(s), picked(want)) {
				t.Errorf("%v %s: %v, want %v", order, what, picked(s), picked(want))
			}
			for i := range s.Selected {
				if a, b := float64(s.Selected[i].Error), float64(want.Selected[i].Error); math.Abs(a-b) > 1e-9 { // of a share of 1
					t.Errorf("%v %s: error %v after %d, want %v", order, what, a, i+1, b)
				}
			}
		}
	}
}

func profiled(t *testing.T, profile string, files []string) string {
	t.Helper()
	return scan(t, ufs.ScanRequest{Profile: profile}, files...)
}

// Profiles with rows, ranks and hash shards of files whose columns stand in other orders add up
// to those of one scan.
func TestMergedOrders(t *testing.T) {
	files, _ := mixedFiles(t, t.TempDir())
	for what, q := range map[string]ufs.ScanRequest{
		"profile":     {ProfileOnly: true, KeepRows: 400},
		"hash shards": {Request: ufs.Request{Choice: ufs.Choice{Stability: 4}}}, "ranks": {ProfileOnly: true, Request: ufs.Request{Choice: ufs.Choice{Scale: "rank"}}},
	} {
		var scans []string
		for _, path := range files {
			scans = append(scans, scan(t, q, path))
		}
		sum := merged(t, ufs.MergeRequest{}, scans...)
		sorted := headerOf(t, sum)
		if columns := headerOf(t, scans[0]).Columns; len(sorted.Columns) != 5 || sorted.Columns[1].Name != columns[1].Name {
			t.Errorf("%s: columns %v, want the order of %v", what, sorted.Columns, columns)
		}
		// The same files with their columns in the order of the first, of the same types.
		var again []string
		for _, path := range files {
			again = append(again, scan(t, ufs.ScanRequest{Request: q.Request, ProfileOnly: q.ProfileOnly, KeepRows: q.KeepRows}, inOrder(t, path, files[0])))
		}
		same := merged(t, ufs.MergeRequest{}, again...)
		for _, name := range []string{"profile", "moments", "rows", "sample", "histograms", "hash-shards", "ranks"} {
			if !slices.Equal(sectionOrNil(t, sum, name), sectionOrNil(t, same, name)) {
				t.Errorf("%s: section %s differs", what, name)
			}
		}
	}
}

// inOrder is a copy of a file with its columns in the order of another's.
func inOrder(t *testing.T, path, as string) string {
	t.Helper()
	columns := must.Get(chunkio.Open(t.Context(), []string{as}, chunkio.Options{}))(t).Columns()
	var order []string
	for _, c := range columns {
		order = append(order, c.Name)
	}
	src := must.Get(chunkio.Open(t.Context(), []string{path}, chunkio.Options{Order: order}))(t)
	defer src.Close()
	out := filepath.Join(t.TempDir(), "ordered.parquet")
	must.Do(t, chunkio.WriteParquet(t.Context(), out, src, chunkio.WriteOptions{RowGroupRows: 40}))
	return out
}

// sectionOrNil is a section of a statistics file, if there is one.
func sectionOrNil(t *testing.T, path, name string) []byte {
	t.Helper()
	r := must.Get(chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{}))(t)
	defer r.Close()
	if !r.Has(name) {
		return nil
	}
	return section(t, path, name)
}

// A column that is a feature in one file and none in another is refused by name, however they meet.
func TestTypesThatDiffer(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(18, 4))
	a := typedFile(t, filepath.Join(dir, "a.parquet"), randomColumns(rng, 50, "x", "y", "z"), "x:double", "y:int32", "z:float")
	b := typedFile(t, filepath.Join(dir, "b.parquet"), randomColumns(rng, 50, "x", "y"), "y:int32", "x:float")
	refused(t, exit.Usage, `has no "z"`, ufs.MergeRequest{}, scan(t, ufs.ScanRequest{}, a), scan(t, ufs.ScanRequest{}, b))
	refused(t, exit.Usage, `has no "z"`, ufs.MergeRequest{}, scan(t, ufs.ScanRequest{}, b), scan(t, ufs.ScanRequest{}, a))
	_, err := ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{a, b}}})
	if exit.CodeOf(err) != exit.Data || !strings.Contains(err.Error(), `"z"`) || !strings.Contains(err.Error(), "a.parquet") || !strings.Contains(err.Error(), "b.parquet") {
		t.Errorf("one read: %v", err)
	}
	graph := func(path string) string {
		return scan(t, ufs.ScanRequest{Request: ufs.Request{Choice: ufs.Choice{Method: "laplacian"}, Columns: ufs.Columns{Exclude: []string{"[z]"}}}}, path)
	}
	c := typedFile(t, filepath.Join(dir, "c.parquet"), randomColumns(rng, 50, "x", "y", "z"), "x:double", "y:int32", "z:float")
	d := typedFile(t, filepath.Join(dir, "d.parquet"), randomColumns(rng, 50, "x", "y", "z"), "y:int32", "z:double", "x:float")
	refused(t, exit.Usage, "differ in order, and the anchors", ufs.MergeRequest{}, graph(c), graph(d))
}

func asJSON(t *testing.T, x any) string { return string(must.Get(json.Marshal(x))(t)) }

// unionFiles are files that each lack columns of the others, and one file with nulls in these columns.
func unionFiles(t *testing.T, dir string) (files []string, twin string) {
	rng := rand.New(rand.NewPCG(18, 7))
	names := []string{"a", "b", "c", "d", "y"}
	all := make(map[string][]float64)
	for i, columns := range [][]string{{"a:double", "b:int8", "y:int32"}, {"c:float", "b:double", "y:int32"}, {"d:float", "c:double", "y:int32", "a:int16"}} {
		values := randomColumns(rng, 80, names...)
		files = append(files, typedFile(t, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)), values, columns...))
		for _, name := range names {
			if !slices.ContainsFunc(columns, func(c string) bool { return strings.HasPrefix(c, name+":") }) {
				values[name] = slices.Repeat([]float64{math.NaN()}, 80)
			}
			all[name] = append(all[name], values[name]...)
		}
	}
	return files, typedFile(t, filepath.Join(t.TempDir(), "twin.parquet"), all, "a:double", "b:double", "y:int32", "c:double", "d:double")
}

// Absent columns are nulls, in one read, in shards of the files and of a plan, which add up to it;
// a selection of it is judged and applied as it was made.
func TestUnionByName(t *testing.T) {
	files, twin := unionFiles(t, t.TempDir())
	for _, missing := range []string{"mean", "zero", "pairwise"} {
		q := ufs.Request{Input: ufs.Input{Paths: files}, Columns: ufs.Columns{UnionByName: true, Missing: missing, Label: "y"}, Choice: ufs.Choice{Method: "greedy", K: 3}}
		s := must.Get(ufs.Select(t.Context(), q))(t)
		same := q
		same.Input.Paths, same.Columns.UnionByName = []string{twin}, false
		want := must.Get(ufs.Select(t.Context(), same))(t)
		if !slices.Equal(picked(s), picked(want)) || s.Options["union-by-name"] != "true" {
			t.Errorf("%s: %v, options %v, want %v", missing, picked(s), s.Options, picked(want))
		}
		whole := scan(t, ufs.ScanRequest{Request: q}, files...)
		var shards []string
		for i := range 3 {
			shards = append(shards, scan(t, ufs.ScanRequest{Request: q, Shard: fmt.Sprintf("%d/3", i+1)}, files...))
		}
		sum := merged(t, ufs.MergeRequest{}, shards...)
		near(t, missing+" shards", sum, whole)
		plan := q
		plan.Output = filepath.Join(t.TempDir(), "job.plan.json")
		planned := must.Get(ufs.WritePlan(t.Context(), plan))(t)
		parts := merged(t, ufs.MergeRequest{}, scanned(t, planned.Path, t.TempDir()+"/", 3, nil))
		near(t, missing+" plan", parts, whole)
		if o := headerOf(t, parts).Options["union-by-name"]; o != "true" {
			t.Errorf("%s: a plan's statistics record union-by-name %q", missing, o)
		}
		from := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: sum, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
		if !slices.Equal(picked(from), picked(want)) {
			t.Errorf("%s: from shards %v, want %v", missing, picked(from), picked(want))
		}
		judged := must.Get(ufs.Eval(t.Context(), ufs.EvalRequest{Input: ufs.Input{Paths: files}, Label: "y", Runs: 2, Selections: []ufs.NamedSelection{{Selection: s}}}))(t)
		expected := must.Get(ufs.Eval(t.Context(), ufs.EvalRequest{Input: ufs.Input{Paths: []string{twin}}, Label: "y", Runs: 2, Selections: []ufs.NamedSelection{{Selection: want}}}))(t)
		if got, want := asJSON(t, judged.Results), asJSON(t, expected.Results); got != want {
			t.Errorf("%s: judged %s, want %s", missing, got, want)
		}
		out := filepath.Join(t.TempDir(), "out.parquet")
		if _, err := ufs.Apply(t.Context(), ufs.ApplyRequest{Input: ufs.Input{Paths: files[:1]}, Selection: s, Output: out}); err == nil {
			t.Errorf("%s: applied to files without the columns", missing)
		}
	}
	q := ufs.ScanRequest{Request: ufs.Request{Columns: ufs.Columns{Missing: "mean"}}}
	refused(t, exit.Usage, "union-by-name", ufs.MergeRequest{}, scan(t, q, files[0]), scan(t, q, files[1]))
	_, err := ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: files}, Columns: ufs.Columns{Missing: "mean"}})
	if exit.CodeOf(err) != exit.Data || !strings.Contains(err.Error(), "union-by-name") || !strings.Contains(err.Error(), "0.parquet") || !strings.Contains(err.Error(), "1.parquet") {
		t.Errorf("without a union: %v", err)
	}
	_, err = ufs.Select(t.Context(), ufs.Request{Stats: scan(t, q, files[0]), Columns: ufs.Columns{UnionByName: true}})
	if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "union-by-name") {
		t.Errorf("statistics without a union: %v", err)
	}
}

// Times and indicators are features like others: statistics of one scan, of shards and of a plan give the same
// selection as the data, and apply writes the column from which a feature was made.
func TestMadeFeatures(t *testing.T) {
	path := fixtures.DatasetPath(t, "messy.parquet")
	q := ufs.Request{
		Input:   ufs.Input{Paths: []string{path}},
		Columns: ufs.Columns{Times: true, MissingIndicators: true, Missing: "mean", Label: "label", Exclude: []string{"id", "huge", "u64_big", "d_messy", "vals"}},
		Choice:  ufs.Choice{Method: "greedy", K: 12},
	}
	want := must.Get(ufs.Select(t.Context(), q))(t)
	names := make(map[string]bool)
	for _, c := range want.Columns {
		names[c.Name] = true
	}
	for _, name := range []string{"ts", "ts.hour.sin", "day.yearday.cos", "is_missing(ts)", "is_missing(price)", "is_missing(late_f)"} {
		if !names[name] {
			t.Errorf("no feature %s among %v", name, want.Columns)
		}
	}
	if names["is_missing(d_clean)"] || names["is_missing(label)"] {
		t.Error("an indicator of what is never missing, or of the label")
	}
	if want.Options["times"] != "true" || want.Options["missing-indicators"] != "true" {
		t.Errorf("options %v", want.Options)
	}
	for what, stats := range gatheredAlike(t, q, path) {
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 12}}))(t)
		if !slices.Equal(picked(s), picked(want)) {
			t.Errorf("%s: %v, want %v", what, picked(s), picked(want))
		}
		some := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 3}, Columns: ufs.Columns{Exclude: []string{"ts", "price", "d_*"}}}))(t)
		less := q
		less.Choice.K, less.Columns.Exclude = 3, append([]string{"ts", "price", "d_*"}, q.Columns.Exclude...)
		if same := must.Get(ufs.Select(t.Context(), less))(t); !slices.Equal(picked(some), picked(same)) || len(some.Columns) != len(same.Columns) {
			t.Errorf("%s: without some %v of %d, want %v of %d", what, picked(some), len(some.Columns), picked(same), len(same.Columns))
		}
	}
	out := filepath.Join(t.TempDir(), "out.parquet")
	report := must.Get(ufs.Apply(t.Context(), ufs.ApplyRequest{Input: ufs.Input{Paths: []string{path}}, Selection: want, Output: out}))(t)
	for _, c := range report.Columns {
		if strings.Contains(c, "is_missing") || strings.Contains(c, ".hour") {
			t.Errorf("applied %v", report.Columns)
		}
	}
	judged := must.Get(ufs.Eval(t.Context(), ufs.EvalRequest{Input: ufs.Input{Paths: []string{path}}, Label: "label", Runs: 1, Restarts: 1, Selections: []ufs.NamedSelection{{Selection: want}}}))(t)
	if len(judged.Results) == 0 {
		t.Error("not judged")
	}
	for _, missing := range []string{"error", "drop-row"} {
		bad := q
		bad.Columns.Missing = missing
		if _, err := ufs.Select(t.Context(), bad); exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "mean, zero or pairwise") {
			t.Errorf("missing %q: %v", missing, err)
		}
	}
}
