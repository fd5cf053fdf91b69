package ufs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
)

// Options that make, group or leave out columns, on inputs of rows, by all the ways to a selection.

// mixedTable writes CSV of categories that go with numbers, a time and an identifier.
func mixedTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,at,kind,a,b,c,d\n")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 600 {
		x, y := i*7919%600, i*104729%601
		fmt.Fprintf(&b, "%d,%s,%c,%d.5,%d.5,%d.5,%d.5\n", 1_000_000+i*7907%600*13, at.Add(time.Duration(i)*97*time.Minute).Format(time.RFC3339), "pqr"[x/200], x, 2*x+i%5, y, 3*y+i%7)
	}
	path := filepath.Join(t.TempDir(), "mixed.csv")
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

func (l namesLeftOut) has(name string) bool {
	return slices.ContainsFunc(l, func(o stream.LeftOut) bool { return o.Name == name })
}

type namesLeftOut []stream.LeftOut

// TestCategoriesWithoutMethod: the fallback of the recommended method has the categories, and apply writes
// their column.
func TestCategoriesWithoutMethod(t *testing.T) {
	path := mixedTable(t)
	s := selected(t, Request{Input: Input{Paths: []string{path}}, Columns: Columns{Categorical: "auto"}, Choice: Choice{K: 4}})
	if s.Method != methods.Fallback || namesLeftOut(s.LeftOut).has("kind") || !slices.ContainsFunc(s.Columns, func(c stream.ColumnReport) bool { return c.Name == "kind=p" }) {
		t.Fatalf("%s, left out %v", s.Method, s.LeftOut)
	}
	kept := selected(t, Request{Input: Input{Paths: []string{path}}, Columns: Columns{Categorical: "auto"}, Choice: Choice{K: 2, Keep: []string{"kind"}}})
	done := must.Get(Apply(t.Context(), ApplyRequest{Input: Input{Paths: []string{path}}, Selection: kept, Output: filepath.Join(t.TempDir(), "out.parquet")}))(t)
	if !slices.Equal(done.Columns, []string{"kind", kept.Selected[1].Inputs()[0]}) {
		t.Errorf("applied %v", done.Columns)
	}
	alike := must.Get(Redundancy(t.Context(), RedundancyRequest{Request: Request{Input: Input{Paths: []string{path}}, Columns: Columns{Categorical: "auto"}}}))(t)
	if namesLeftOut(alike.LeftOut).has("kind") {
		t.Errorf("redundancy leaves out %v", alike.LeftOut)
	}
}

// TestTimesAreNoSuspects: times that were asked for are not warned of, nor left out.
func TestTimesAreNoSuspects(t *testing.T) {
	s := selected(t, Request{Input: Input{Paths: []string{mixedTable(t)}}, Columns: Columns{Times: true, AutoExclude: true}, Choice: Choice{Method: "greedy", K: 3, Keep: []string{"at"}}})
	if out := namesLeftOut(s.LeftOut); out.has("at") || !out.has("id") || s.Selected[0].Members[0] != "at" {
		t.Errorf("left out %v, kept %v", s.LeftOut, s.Selected[0].Members)
	}
}

// TestTimesCostTheirColumn: features made of a column of times, or of categories, cost as much as the column,
// alone and in a group; a single feature of it has no cost of its own.
func TestTimesCostTheirColumn(t *testing.T) {
	q := Request{
		Input:   Input{Paths: []string{mixedTable(t)}},
		Columns: Columns{Times: true, Categorical: "auto", Exclude: []string{"id"}},
		Choice:  Choice{Method: "greedy", K: 6, Costs: textFile(t, "costs.csv", "at,7\nkind,3\n")},
	}
	stats := filepath.Join(t.TempDir(), "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Paths: q.Input.Paths}, Columns: Columns{Times: true, Categorical: "auto"}, Output: stats}}))(t)
	fromStats := Request{Stats: stats, Choice: Choice{Method: q.Choice.Method, K: q.Choice.K, Costs: q.Choice.Costs}, Columns: Columns{Exclude: q.Columns.Exclude}}
	grouped := q
	grouped.Choice.Groups, grouped.Choice.K = textFile(t, "groups.csv", "at,g\na,g\n"), 5
	for _, c := range []struct {
		q    Request
		want map[string]float64
	}{
		{q, map[string]float64{"at": 7, "kind": 3, "a": 1, "b": 1, "c": 1, "d": 1}},
		{fromStats, map[string]float64{"at": 7, "kind": 3, "a": 1, "b": 1, "c": 1, "d": 1}},
		{grouped, map[string]float64{"g": 8, "kind": 3, "b": 1, "c": 1, "d": 1}},
	} {
		s := selected(t, c.q)
		for _, f := range s.Selected {
			if want, there := c.want[f.Name]; !there || float64(*f.Cost) != want {
				t.Errorf("%s costs %v, want %v", f.Name, *f.Cost, want)
			}
		}
		if len(s.Selected) != len(c.want) {
			t.Errorf("selected %v", s.Selected)
		}
	}
	q.Choice.Costs = textFile(t, "part.csv", "at.hour.sin,2\n")
	if _, err := Select(t.Context(), q); !errors.As(err, new(*stream.UsageError)) || !strings.Contains(err.Error(), "of the column at,") {
		t.Errorf("a cost of a part: %v", err)
	}
}

// TestPlanOfRows: a shard of a plan of CSV works within the limit that the plan names.
func TestPlanOfRows(t *testing.T) {
	path, dir := mixedTable(t), t.TempDir()
	planned := must.Get(WritePlan(t.Context(), Request{Input: Input{Paths: []string{path}}, Output: filepath.Join(dir, "job.plan.json")}))(t)
	stats := filepath.Join(dir, "a.ufs")
	must.Get(Scan(t.Context(), ScanRequest{Request: Request{Input: Input{Plan: planned.Path}, Output: stats, Limits: Limits{Memory: planned.Smallest}}, Shard: "1/1"}))(t)
	want := choice.FeatureNames(selected(t, Request{Input: Input{Paths: []string{path}}, Choice: Choice{Method: "greedy", K: 3}}))
	if got := choice.FeatureNames(selected(t, Request{Stats: stats, Choice: Choice{Method: "greedy", K: 3}})); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s := selected(t, Request{Stats: stats, Columns: Columns{AutoExclude: true}, Choice: Choice{K: 2}})
	if s.Method != methods.Fallback || !namesLeftOut(s.LeftOut).has("id") || s.Why == "" {
		t.Errorf("%s (%s), left out %v", s.Method, s.Why, s.LeftOut)
	}
}
