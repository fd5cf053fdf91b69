package main

import (
	"encoding/csv"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// hostile is a column name that breaks what quotes badly.
const hostile = `a,"b" <i>*[1] = 2·x`

// totals writes a file of parts, their total, a copy and a hostile column, and selects from it.
func totals(t *testing.T) (path, sel, stats string, at func(string) string) {
	t.Helper()
	at = folder(t)
	const rows = 400
	series := func(k uint64) []float64 {
		s, x := planted.NewSeries(3, k), make([]float64, rows)
		for i := range x {
			x[i] = s.Normal(int64(i))
		}
		return x
	}
	food, rent, other, odd := series(1), series(2), series(3), series(4)
	total, cents, flat := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range total {
		total[i] = food[i] + rent[i] + other[i]
		cents[i] = 100*odd[i] + 7
		flat[i] = 1
	}
	path = columnsFile(t, at("costs.parquet"), []string{"total", "rent", "food", "other", hostile, "cents", "flat"}, total, rent, food, other, odd, cents, flat)
	sel, stats = at("sel.json"), at("all.ufs")
	must(t, "select", path, "-k", "3", "--method", "greedy", "-o", sel)
	must(t, "scan", path, "-o", stats)
	return path, sel, stats, at
}

// TestExplain: the table, and the same from the data and from its statistics; columns and inputs are told apart.
func TestExplain(t *testing.T) {
	path, sel, stats, at := totals(t)
	out := must(t, "explain", "food", hostile, "flat", path, "--selection", sel)
	for _, words := range []string{
		"exactly: total = rent + other + food", "exactly: cents = 100·" + hostile + " + 7", "VIF infinite on all other columns",
		"flat: left out: constant", "food: kept, rank 3", "nearest", "(constant)", "correlations of 6 features over 400 rows",
	} {
		if !strings.Contains(out, words) {
			t.Errorf("no %q in\n%s", words, out)
		}
	}
	if got := must(t, "explain", "food", hostile, "flat", "--stats", stats, "--selection", sel, "--threads", "1"); got != out {
		t.Errorf("from statistics:\n%s\nwant\n%s", got, out)
	}
	alone := must(t, "explain", "food", "--selection", sel)
	if !strings.Contains(alone, "add --stats ALL.ufs, or the INPUT") || strings.Contains(alone, "on all other columns") {
		t.Errorf("without data:\n%s", alone)
	}
	x := decoded[ufs.Explanation](t, "explain", "total", path, "--selection", sel)
	if x.Schema != ufs.ExplainSchema || len(x.Columns) != 1 || x.Data.Features != 6 || !x.Columns[0].Relations.Determined || !math.IsNaN(float64(x.Columns[0].Relations.VIF)) {
		t.Errorf("explanation of total: got %+v, want 6 features and an infinite VIF", x)
	}
	must(t, "explain", "total", path, "--selection", sel, "-o", at("x.json"))
	if !strings.Contains(read(t, at("x.json")), `"schema": "`+ufs.ExplainSchema+`"`) {
		t.Error("no schema in the file")
	}
}

// TestExplainAndRedundancyRefuse: bad requests have their exit codes and words, and no output replaces an input.
func TestExplainAndRedundancyRefuse(t *testing.T) {
	path, sel, stats, at := totals(t)
	text := write(t, at("text.json"), "{}")
	checkAll(t, []outcome{
		{"explain food", exit.Usage, "--selection SEL.json"},
		{"explain --selection " + sel, exit.Usage, "no column given"},
		{"explain fod --selection " + sel, exit.Usage, "did you mean food?"},
		{"explain fod " + path + " --selection " + sel, exit.Usage, "did you mean food?"},
		{"explain " + path + " --selection " + sel, exit.Usage, "no column given"},
		{"explain food --selection " + at("none.json"), exit.Data, "none.json"},
		{"explain food --selection " + text, exit.Data, "not a selection"},
		{"explain food --stats " + at("none.ufs") + " --selection " + sel, exit.Data, "none.ufs"},
		{"explain food --stats " + stats + " " + path + " --selection " + sel, exit.Usage, "not both"},
		{"explain food --selection " + sel + " --format csv", exit.Usage, "want table, json"},
		{"explain food --selection " + sel + " -o " + sel, exit.Usage, "replace the input"},
		{"explain food --stats " + stats + " --selection " + sel + " --format json -o " + stats, exit.Usage, "replace the input"},
		{"explain food " + path + " --selection " + sel + " --memory-limit 10MiB", exit.Memory, "--memory-limit"},
		{"redundancy", exit.Usage, "INPUT"},
		{"redundancy " + path + " --stats " + stats, exit.Usage, "not both"},
		{"redundancy " + stats, exit.Usage, "--stats"},
		{"redundancy " + path + " --threshold 0", exit.Usage, "above 0"},
		{"redundancy " + path + " --threshold 1.5", exit.Usage, "--threshold"},
		{"redundancy " + path + " --max-eigen -1", exit.Usage, "--max-eigen"},
		{"redundancy " + path + " --proportion 2", exit.Usage, "--proportion"},
		{"redundancy " + path + " --columns nothing", exit.Usage, "nothing"},
		{"redundancy " + path + " --format parquet", exit.Usage, "want table, json, csv"},
		{"redundancy " + path + " --format json -o " + path, exit.Usage, "replace the input"},
		{"redundancy " + path + " --memory-limit 10MiB", exit.Memory, "--exclude"},
		{"redundancy " + path + " -o /dev/full", exit.Fault, "cannot write"},
	}, filepath.Dir(sel))
}

// TestRedundancy: the table names copies and sums, and csv has a row a column with hostile names intact.
func TestRedundancy(t *testing.T) {
	path, _, stats, _ := totals(t)
	out := must(t, "redundancy", path)
	for _, words := range []string{
		"6 features over 400 rows: rank 4", "duplicates (1):\n  cents = 100·" + hostile + " + 7\n",
		"exact combinations (1):\n  total = rent + other + food\n", "5 columns kept, no two correlated above 0.95; 1 dropped: cents for " + hostile, "flat: constant",
	} {
		if !strings.Contains(out, words) {
			t.Errorf("no %q in\n%s", words, out)
		}
	}
	if got := must(t, "redundancy", "--stats", stats); got != out {
		t.Errorf("from statistics:\n%s\nwant\n%s", got, out)
	}
	rows, err := csv.NewReader(strings.NewReader(must(t, "redundancy", path, "--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatalf("reading the CSV: %v", err)
	}
	r := decoded[ufs.Redundant](t, "redundancy", path)
	if r.Schema != ufs.RedundancySchema || len(rows) != 1+r.Features {
		t.Fatalf("schema %s, %d rows of csv", r.Schema, len(rows))
	}
	at := 1
	for _, cl := range r.Clusters {
		for _, col := range cl.Columns {
			row := rows[at]
			at++
			if row[0] != col.Name || row[7] == "inf" != col.Exact || row[8] == "true" != slices.Contains(r.Kept, col.Name) || row[11] != map[bool]string{true: hostile}[col.Name == "cents"] {
				t.Errorf("%q, want %+v", row, col)
			}
		}
	}
}

// TestRedundancyFindsTheFactors: the clusters of the demo's table are its factors, with mixtures and noise alone.
func TestRedundancyFindsTheFactors(t *testing.T) {
	dir, _ := plant(t, 3000, 2)
	table := planted.New(planted.Options{Rows: 3000, GroupRow: 100})
	answer := table.Answer()
	r := decoded[ufs.Redundant](t, "redundancy", dir)
	var want [][]string
	for _, group := range answer.Groups {
		var names []string
		for _, j := range group {
			names = append(names, table.Columns()[j].Name)
		}
		want = append(want, names)
	}
	for k, cl := range r.Clusters {
		var names []string
		for _, col := range cl.Columns {
			names = append(names, col.Name)
		}
		slices.Sort(names)
		if k < len(want) && !slices.Equal(names, want[k]) || k >= len(want) && len(names) > 1 {
			t.Errorf("cluster %d is %v", k+1, names)
		}
	}
	if len(r.Clusters) != len(want)+len(answer.Mixtures)+len(answer.Noise) {
		t.Errorf("%d clusters", len(r.Clusters))
	}
}
