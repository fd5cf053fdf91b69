package main

import (
	"encoding/csv"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestStability: the flag alone and with a number; the table, JSON and CSV show how often each
// feature is chosen, and nothing of it without the flag.
func TestStability(t *testing.T) {
	dir, _ := plant(t, 600, 1)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", dir, "-k", "4", "--stability", "-o", sel)
	s := readSelection(t, sel)
	if s.Stability == nil || s.Stability.Shards != 8 || s.Stability.Halves != 20 || s.Options["stability"] != 8.0 {
		t.Fatalf("stability: got %+v and options %v, want 8 shards and 20 halves", s.Stability, s.Options)
	}
	total := 0.0
	for _, col := range s.Columns {
		total += float64(*col.Frequency)
	}
	if total < 3.999 || total > 4.001 { // every half has four features
		t.Errorf("frequencies add up to %v", total)
	}
	table := must(t, "select", dir, "-k", "4", "--stability")
	for _, words := range []string{"freq", "stability ", "over 20 half-samples of the rows (8 hash shards)"} {
		if !strings.Contains(table, words) {
			t.Errorf("no %q in\n%s", words, table)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(must(t, "select", dir, "-k", "4", "--stability=4", "--format", "csv"))).ReadAll()
	if err != nil || rows[0][5] != "frequency" {
		t.Fatalf("CSV: got %v (%v), want a column frequency", rows, err)
	}
	for _, row := range rows[1:] {
		if share, err := strconv.ParseFloat(row[5], 64); err != nil || share < 0 || share > 1 {
			t.Errorf("frequency %s", row[5])
		}
	}
	for _, format := range []string{"table", "json", "csv"} {
		if out := must(t, "select", dir, "-k", "4", "--format", format); strings.Contains(out, "freq") || strings.Contains(out, "stability") {
			t.Errorf("without the flag:\n%s", out)
		}
	}
	for _, bad := range []string{"3", "many", "0"} {
		ends(t, exit.Usage, "even number", "select", dir, "--stability="+bad)
	}
	ends(t, exit.Usage, "write --stability=8", "select", dir, "--stability", "6")
}

// TestStabilityByPlan: the parts of a plan have the hash shards that the plan asks for, and their
// sum the stability of the input.
func TestStabilityByPlan(t *testing.T) {
	dir, _ := plant(t, 900, 2)
	at := func(name string) string { return filepath.Join(filepath.Dir(dir), filepath.Base(dir)+name) }
	must(t, "plan", dir, "--stability=6", "-o", at(".plan.json"))
	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		must(t, "scan", "--plan", at(".plan.json"), "--shard", shard, "-o", at("-parts")+"/")
	}
	must(t, "merge", at("-parts"), "-o", at(".ufs"))
	must(t, "select", "--stats", at(".ufs"), "--stability", "-k", "5", "-o", at("-a.json"))
	must(t, "select", dir, "--method", "greedy", "--stability=6", "-k", "5", "-o", at("-b.json"))
	a, b := readSelection(t, at("-a.json")), readSelection(t, at("-b.json"))
	if *a.Stability != *b.Stability || strings.Join(names(a), " ") != strings.Join(names(b), " ") {
		t.Errorf("%v with %+v, want %v with %+v", names(a), a.Stability, names(b), b.Stability)
	}
	ends(t, exit.Usage, "--stability", "scan", "--plan", at(".plan.json"), "--shard", "1/3", "--stability=4", "-o", at("-others")+"/")
}
