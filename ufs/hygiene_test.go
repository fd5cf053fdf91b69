package ufs_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

const customers = 1200

// quick are settings with which a method takes little time.
func quick(name string) method.Settings {
	switch name {
	case "laplacian", "mcfs":
		return method.Settings{"anchors": 50}
	case "udfs", "sogfs":
		return method.Settings{"max-iter": 3}
	}
	return nil
}

// customerLake writes a realistic table of customers into Hive folders: identifiers, times, a copy, columns
// that are mostly null or null except for one value, and one that determines the label. Only plain columns are
// good features.
func customerLake(t *testing.T) (folder string, suspects map[string]string, plain []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(18, 2))
	order := r.Perm(customers)
	hidden := make([][]float64, 3)
	for f := range hidden {
		for range customers {
			hidden[f] = append(hidden[f], r.NormFloat64())
		}
	}
	churn := make([]float64, customers)
	for i := range churn {
		churn[i] = float64(r.IntN(2))
	}
	var names []string
	var data [][]float64
	add := func(name string, at func(i int) float64) {
		col := make([]float64, customers)
		for i := range col {
			col[i] = at(i)
		}
		names, data = append(names, name), append(data, col)
	}
	add("customer_id", func(i int) float64 { return float64(100000 + order[i]) })
	add("row", func(i int) float64 { return float64(i) })
	add("seen_ms", func(int) float64 { return 1.7e12 + float64(r.Int64N(3e10)) })
	for j := range 12 {
		name := fmt.Sprintf("m%d", j)
		plain = append(plain, name)
		add(name, func(i int) float64 { return hidden[j%3][i] + 0.5*float64(j)*r.NormFloat64() })
	}
	add("m1_copy", func(i int) float64 { return data[4][i] })
	add("rare", func(i int) float64 {
		if i%10 < 7 {
			return math.NaN()
		}
		return r.NormFloat64()
	})
	add("flag", func(i int) float64 {
		if i%2 == 0 {
			return math.NaN()
		}
		return 1
	})
	add("churn_score", func(i int) float64 { return churn[i] + 0.03*r.NormFloat64() })
	add("churn", func(i int) float64 { return churn[i] })

	folder = filepath.Join(t.TempDir(), "lake")
	for part := range 4 {
		from, to := part*customers/4, (part+1)*customers/4
		src := tabletest.Table{Names: names}
		for _, col := range data {
			src.Cols = append(src.Cols, col[from:to])
		}
		dir := filepath.Join(folder, fmt.Sprintf("site=%d", part), "day=2026-01-0"+fmt.Sprint(1+part))
		must.Do(t, os.MkdirAll(dir, 0o755))
		must.Do(t, chunkio.WriteParquet(t.Context(), filepath.Join(dir, "x.parquet"), src, chunkio.WriteOptions{RowGroupRows: 100}))
	}
	return folder, map[string]string{
		"customer_id": "looks like an identifier: whole numbers that hardly repeat",
		"row":         "looks like an identifier: whole numbers that hardly repeat",
		"seen_ms":     "counts time (milliseconds since 1970)",
		"m1_copy":     "a copy of m1",
		"rare":        "mostly missing (70.0 % of the rows)",
		"churn_score": "nearly determines the label churn",
	}, plain
}

// reasons are the reasons by name.
func reasons(list []stream.LeftOut) map[string]string {
	by := map[string]string{}
	for _, l := range list {
		by[l.Name] = l.Why
	}
	return by
}

// suspected checks that a list has just the suspects, with their reasons.
func suspected(t *testing.T, what string, list []stream.LeftOut, want map[string]string) {
	t.Helper()
	got := reasons(list)
	if len(got) != len(want) {
		t.Errorf("%s: %d suspects %v, want %d", what, len(got), got, len(want))
	}
	for name, why := range want {
		if !strings.HasPrefix(got[name], why) {
			t.Errorf("%s: %s: %q, want %q", what, name, got[name], why)
		}
	}
}

// always are the columns that are left out in any case.
var always = map[string]string{
	"churn": "label", "site": "a partition key", "day": "text (partition key)", "flag": "constant (1 wherever observed)",
}

// TestSuspectsAreWarnedOf and stay features; partition keys are none, whoever reads.
func TestSuspectsAreWarnedOf(t *testing.T) {
	folder, suspects, plain := customerLake(t)
	for _, method := range []string{"greedy", "variance", "laplacian", "mcfs", ""} {
		for _, threads := range []int{1, 3} {
			s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Label: "churn", Missing: "mean"}, Choice: ufs.Choice{Method: method, Options: quick(method), K: 3}, Limits: ufs.Limits{Threads: threads}}))(t)
			suspected(t, method, s.Suspects, suspects)
			suspected(t, method+" left out", s.LeftOut, always)
			if s.Features != len(plain)+len(suspects) {
				t.Errorf("%s: %d features", method, s.Features)
			}
			for _, want := range []string{
				"1 column is mostly missing: rare (70.0 %); max-missing 0.5 leaves it out",
				"1 column counts time: seen_ms (milliseconds since 1970); exclude seen_ms or auto-exclude leaves it out",
				"2 columns look like identifiers: customer_id, row; auto-exclude leaves them out",
				"1 column is a copy: m1_copy (of m1); exclude m1_copy or auto-exclude leaves it out",
			} {
				if !slices.Contains(s.Warnings, want) {
					t.Errorf("%s: no warning %q among %q", method, want, s.Warnings)
				}
			}
		}
	}
}

// TestAutoExcludeIsExcludeByName: for methods of every kind and every missing policy the choice is that
// without these columns, and they are listed with the reason.
func TestAutoExcludeIsExcludeByName(t *testing.T) {
	folder, suspects, _ := customerLake(t)
	names := []string{"flag"}
	for name := range suspects {
		names = append(names, name)
	}
	for _, method := range []string{"greedy", "variance", "laplacian", "udfs", "partgreedy"} {
		for _, missing := range []string{"error", "drop-row", "mean"} {
			q := ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Label: "churn", Missing: missing}, Choice: ufs.Choice{Method: method, Options: quick(method), K: 4}}
			auto, byName := q, q
			auto.Columns.AutoExclude, byName.Columns.Exclude = true, names
			got, want := must.Get(ufs.Select(t.Context(), auto))(t), must.Get(ufs.Select(t.Context(), byName))(t)
			if !slices.EqualFunc(got.Selected, want.Selected, func(a, b stream.Selected) bool { return a.Name == b.Name && a.Column == b.Column }) {
				t.Errorf("%s, %s: %v, by name %v", method, missing, got.Selected, want.Selected)
			}
			if got.RowsUsed != customers || got.Suspects != nil || got.Options["auto-exclude"] != true {
				t.Errorf("%s, %s: %d rows used, suspects %v, options %v", method, missing, got.RowsUsed, got.Suspects, got.Options)
			}
			all := reasons(got.LeftOut)
			for name, why := range suspects {
				if !strings.HasPrefix(all[name], why) {
					t.Errorf("%s, %s: %s is left out as %q", method, missing, name, all[name])
				}
			}
		}
	}
}

// TestSuspectsOfShards: merged parts of a plan, and of files scanned separately, report the same suspects as
// one read, and leave the same columns out.
func TestSuspectsOfShards(t *testing.T) {
	folder, suspects, _ := customerLake(t)
	q := ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Label: "churn", Missing: "mean"}}
	plan := filepath.Join(t.TempDir(), "job.plan.json")
	planning := q
	planning.Output = plan
	must.Get(ufs.WritePlan(t.Context(), planning))(t)
	parts := scanned(t, plan, filepath.Join(t.TempDir(), "parts")+"/", 3, nil)
	all := merged(t, ufs.MergeRequest{}, parts)
	small := merged(t, ufs.MergeRequest{Limits: ufs.Limits{Memory: 64 << 20}}, parts)
	var days []string
	for part := range 4 {
		day := ufs.ScanRequest{Request: q}
		day.Input.Paths = []string{filepath.Join(folder, fmt.Sprintf("site=%d", part))}
		day.Output = filepath.Join(t.TempDir(), fmt.Sprintf("%d.ufs", part))
		must.Get(ufs.Scan(t.Context(), day))(t)
		days = append(days, day.Output)
	}
	for what, stats := range map[string]string{"shards": all, "little memory": small, "days": merged(t, ufs.MergeRequest{}, days...)} {
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
		suspected(t, what, s.Suspects, suspects)
		suspected(t, what+" left out", s.LeftOut, always)
		direct := q
		direct.Columns.AutoExclude, direct.Choice.Method, direct.Choice.K = true, "greedy", 4
		want := must.Get(ufs.Select(t.Context(), direct))(t)
		got := must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: ufs.Choice{Method: "greedy", K: 4}, Columns: ufs.Columns{AutoExclude: true}}))(t)
		if !slices.EqualFunc(got.Selected, want.Selected, func(a, b stream.Selected) bool { return a.Name == b.Name && a.Column == b.Column }) {
			t.Errorf("%s: %v, in one read %v", what, got.Selected, want.Selected)
		}
	}
}

// TestMaxMissing leaves out exactly the columns with more missing values.
func TestMaxMissing(t *testing.T) {
	folder, suspects, _ := customerLake(t)
	for _, c := range []struct {
		share float64
		out   bool
	}{{0.69, true}, {0.7, false}, {0.9, false}} {
		s := must.Get(ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Label: "churn", Missing: "mean", MaxMissing: c.share}, Choice: ufs.Choice{Method: "greedy", K: 3}}))(t)
		if _, out := reasons(s.LeftOut)["rare"]; out != c.out {
			t.Errorf("above %v: left out %v", c.share, out)
		}
		if _, warned := reasons(s.Suspects)["rare"]; warned {
			t.Errorf("above %v: warned of", c.share)
		}
		if len(s.Suspects) != len(suspects)-1 {
			t.Errorf("above %v: suspects %v", c.share, s.Suspects)
		}
	}
	q := ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Label: "churn", Missing: "mean", MaxMissing: 0.6, AutoExclude: true}, Choice: ufs.Choice{Method: "greedy", K: 3}}
	if again := must.Get(ufs.RecordedRequest(must.Get(ufs.Select(t.Context(), q))(t), nil))(t); again.Columns.MaxMissing != 0.6 || !again.Columns.AutoExclude {
		t.Errorf("recorded: %+v", again)
	}
	for _, q := range []ufs.Request{
		{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{MaxMissing: 1}}, {Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{MaxMissing: -0.1}},
		{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{AutoExclude: true, Missing: "mean", Names: []string{"row", "rare"}}, Choice: ufs.Choice{Method: "greedy"}},
	} {
		if _, err := ufs.Select(t.Context(), q); !isUsage(err) {
			t.Errorf("%+v: got %v, want a usage error", q, err)
		}
	}
	scan := ufs.ScanRequest{Request: ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{AutoExclude: true}, Output: filepath.Join(t.TempDir(), "x.ufs")}}
	if _, err := ufs.Scan(t.Context(), scan); !isUsage(err) {
		t.Errorf("scan: %v", err)
	}
}

// TestExplainLeavesOutWhatTheSelectionDid: a column that the selection left out by itself is no neighbour and
// no part of a combination, and is named with its reason, from the data and from statistics, which hold it.
func TestExplainLeavesOutWhatTheSelectionDid(t *testing.T) {
	folder, suspects, plain := customerLake(t)
	q := ufs.Request{Input: ufs.Input{Paths: []string{folder}}, Columns: ufs.Columns{Missing: "mean", Label: "churn"}, Choice: ufs.Choice{Method: "greedy", K: 4}}
	stats := filepath.Join(t.TempDir(), "all.ufs")
	scan := q
	scan.Output = stats
	must.Get(ufs.Scan(t.Context(), ufs.ScanRequest{Request: scan}))(t)
	all := must.Get(ufs.Select(t.Context(), q))(t)
	q.Columns.AutoExclude = true
	some := must.Get(ufs.Select(t.Context(), q))(t)
	for what, from := range map[string]ufs.Request{"data": {Input: ufs.Input{Paths: q.Input.Paths}}, "statistics": {Stats: stats}} {
		explained := func(s *stream.Selection) *ufs.Explanation {
			return must.Get(ufs.Explain(t.Context(), ufs.ExplainRequest{Request: from, Selection: s, Names: []string{"m1", "m1_copy", "row"}}))(t)
		}
		if x := explained(all); x.Columns[0].Relations.Nearest[0].Name != "m1_copy" || !x.Columns[0].Relations.Determined {
			t.Errorf("%s: with all columns m1 is %+v", what, x.Columns[0].Relations)
		}
		x := explained(some)
		if x.Data.Features != len(plain) {
			t.Errorf("%s: correlations of %d features, want %d", what, x.Data.Features, len(plain))
		}
		r := x.Columns[0].Relations
		for _, n := range r.Nearest {
			if !slices.Contains(plain, n.Name) {
				t.Errorf("%s: %s is near m1", what, n.Name)
			}
		}
		if r.Determined || len(r.Combinations) > 0 {
			t.Errorf("%s: VIF %v, combinations %v of m1", what, r.VIF, r.Combinations)
		}
		for _, out := range x.Columns[1:] {
			if out.State != ufs.StateLeftOut || !strings.HasPrefix(out.Why, suspects[out.Name]) || out.Relations != nil {
				t.Errorf("%s: column %+v: want it left out because %q, without relations", what, out, suspects[out.Name])
			}
		}
	}
}

func isUsage(err error) bool { return errors.As(err, new(*stream.UsageError)) }
