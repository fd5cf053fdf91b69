package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestDemoOfSeeds: the default finds all factors of demo's table, also of seed 3, where the columns' shares in the graph are above
// those of rows without clusters.
func TestDemoOfSeeds(t *testing.T) {
	for _, seed := range []string{"1", "3"} {
		if out := must(t, "demo", "--seed", seed); !strings.Contains(out, "6 of 6 factors found") || !strings.Contains(out, "no clusters beyond factors") {
			t.Errorf("seed %s: %s", seed, out)
		}
	}
}

// TestTelemetry is the job of docs/first-hour.md judged by what is planted: of each hidden factor one
// sensor, what is no measurement named and left out, each dropped sensor explained, and a
// query that DuckDB runs.
func TestTelemetry(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, "demo", "--telemetry", "--keep", "lake")
	made := planted.Telemetry{}

	// Unasked, what had better be no feature is warned of by name, with the flag.
	r := invoke("select", "lake", "--label", "churned", "--missing", "mean", "--method", "greedy")
	for _, name := range []string{"event_id", "customer_id", "boiler_temp_copy", "lab_sample", "churn_score_prev_model", "--auto-exclude", "--max-missing"} {
		if !strings.Contains(r.err, name) {
			t.Errorf("no warning names %s:\n%s", name, r.err)
		}
	}

	must(t, "select", "lake", "--label", "churned", "--missing", "mean", "--method", "greedy", "--auto-exclude", "-o", "selection.json")
	var s stream.Selection
	if err := json.Unmarshal([]byte(read(t, "selection.json")), &s); err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	var found []string
	for _, f := range s.Selected {
		family := strings.TrimRight(f.Name, "_0123456789")
		if family == "flow_total" { // the sum of two sensors of this one
			family = "pump_flow"
		}
		found = append(found, family)
	}
	want := made.Factors()
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("selected of %v, want one of %v", found, want)
	}
	left := make(map[string]string)
	for _, l := range s.LeftOut {
		left[l.Name] = l.Why
	}
	for name, why := range map[string]string{
		"event_id": "identifier", "customer_id": "identifier", "boiler_temp_copy": "copy of boiler_temp_1", "lab_sample": "missing",
		"churn_score_prev_model": "label churned", "churned": "label", "site": "partition key", "day": "partition key",
		"event_time": "timestamp", "mode": "text", "firmware": "constant", "alarm_code": "constant",
	} {
		if !strings.Contains(left[name], why) {
			t.Errorf("%s is left out because %q, want %q", name, left[name], why)
		}
	}

	// A sensor is its factor, of variance 1, and noise of variance 0.04. By another sensor of the
	// factor it is explained to 1/1.04² = 0.925, less what nulls filled with means take from both: 0.98.
	var sensors []string
	for f, name := range made.Factors() {
		for i := 1; i <= made.SensorCount(f); i++ {
			sensors = append(sensors, fmt.Sprintf("%s_%d", name, i))
		}
	}
	args := append([]string{"explain", "--selection", "selection.json", "--format", "json"}, sensors...)
	var e ufs.Explanation
	if err := json.Unmarshal([]byte(must(t, append(args, "lake")...)), &e); err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	if len(e.Columns) != len(sensors) {
		t.Fatalf("%d columns explained of %d", len(e.Columns), len(sensors))
	}
	for _, c := range e.Columns {
		if c.State == ufs.StateDropped && !(float64(c.Relations.R2) > 0.88) {
			t.Errorf("%s is explained to %v", c.Name, c.Relations.R2)
		}
	}

	explainFirstSensors(t, made)

	query := must(t, "apply", "lake", "--selection", "selection.json", "--format", "sql")
	query = strings.TrimSuffix(strings.TrimSpace(query), ";")
	got := duckdbtest.RunQuery(t, dir, "SELECT count(*), count(\""+s.Selected[0].Name+"\") FROM (\n"+query+"\n)")
	if got.Error != "" || *got.Rows[0][0] != "20000" {
		t.Errorf("DuckDB: %+v", got)
	}
	if first := duckdbtest.RunQuery(t, dir, query+" LIMIT 1"); !slices.EqualFunc(first.Columns, s.Selected, func(name string, f stream.Selected) bool { return name == f.Name }) {
		t.Errorf("DuckDB has the columns %v", first.Columns)
	}
}

// explainFirstSensors lets the first two sensors of each factor be explained by the other columns: one of another number
// stands for each factor, and explains 0.9 of its sensors, as another sensor of the factor does.
func explainFirstSensors(t *testing.T, made planted.Telemetry) {
	t.Helper()
	factors := made.Factors()
	must(t, "select", "lake", "--label", "churned", "--auto-exclude", "--explain-columns", "*_1,*_2", "-k", fmt.Sprint(len(factors)), "-o", "cheap.json")
	var s stream.Selection
	if err := json.Unmarshal([]byte(read(t, "cheap.json")), &s); err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	var found []string
	for _, f := range s.Selected {
		if strings.HasSuffix(f.Name, "_1") || strings.HasSuffix(f.Name, "_2") {
			t.Errorf("chose %s, which is to be explained", f.Name)
		}
		family := strings.TrimRight(f.Name, "_0123456789")
		if family == "flow_total" {
			family = "pump_flow"
		}
		found = append(found, family)
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(factors))
	if !slices.Equal(found, want) {
		t.Errorf("selected of %v, want one of %v", found, want)
	}
	explained := 0
	for _, c := range s.Columns {
		if c.Role == stream.RoleExplained {
			explained++
			if !(float64(c.Explained) > 0.88) {
				t.Errorf("%s is explained to %v", c.Name, c.Explained)
			}
		}
	}
	if explained != 2*len(factors) {
		t.Errorf("%d explained columns, want two of each factor", explained)
	}
	if out := must(t, "explain", "boiler_temp_1", "--selection", "cheap.json", "lake"); !strings.Contains(out, "mostly by boiler_temp_") {
		t.Errorf("boiler_temp_1: %s", out)
	}
}
