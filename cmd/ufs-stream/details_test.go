package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// TestDetails: the reports on all features go where they are asked to.
func TestDetails(t *testing.T) {
	in, dir := fixtures.DatasetPath(t, "usps.parquet"), t.TempDir()
	args := []string{"select", in, "-k", "4", "--method", "laplacian", "--anchors", "100", "--label", "label", "--format", "json", "--details"}
	type selection struct {
		Columns, Scores, Selected []struct{ Name string }
	}
	read := func(out string) (s selection) {
		t.Helper()
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("decoding the output: %v", err)
		}
		return s
	}
	all := read(must(t, append(args, "all")...))
	if auto := read(must(t, append(args, "auto")...)); len(auto.Columns) != 256 || len(all.Columns) != 256 || len(all.Scores) != 256 {
		t.Errorf("%d reports and %d scores, auto %d reports", len(all.Columns), len(all.Scores), len(auto.Columns))
	}
	out := must(t, append(args, "none")...)
	if none := read(out); len(none.Columns) != 0 || len(none.Scores) != 0 || len(none.Selected) != 4 || !strings.Contains(out, `"columns": []`) {
		t.Errorf("none has %d reports, %d scores and %d features", len(none.Columns), len(none.Scores), len(none.Selected))
	}
	table := filepath.Join(dir, "details.parquet")
	if beside := read(must(t, append(args, table)...)); len(beside.Columns) != 0 {
		t.Errorf("the JSON has %d reports too", len(beside.Columns))
	}
	listed := must(t, "inspect", table)
	for _, column := range []string{"rank", "score", "explained", "nearest"} {
		if !strings.Contains(listed, column) {
			t.Errorf("the table has no %s:\n%s", column, listed)
		}
	}
	// What has no list of its features is judged by all of the input's.
	sel := filepath.Join(dir, "sel.json")
	if err := os.WriteFile(sel, []byte(out), 0o600); err != nil {
		t.Fatalf("writing the input: %v", err)
	}
	if judged := must(t, "eval", in, "--selection", sel, "--label", "label", "--runs", "1"); !strings.Contains(judged, "all 256 features") {
		t.Errorf("eval says\n%s", judged)
	}
	// Nor is anything said of what it does not tell.
	other, stats := filepath.Join(dir, "other.json"), filepath.Join(dir, "now.ufs")
	must(t, "select", in, "-k", "4", "--method", "greedy", "--label", "label", "-o", other)
	must(t, "scan", in, "--method", "greedy", "--label", "label", "-o", stats)
	if said := must(t, "diff", sel, other); strings.Contains(said, "no column of this name") || !strings.Contains(said, "reports left out") {
		t.Errorf("diff says\n%s", said)
	}
	r := invoke("check", "--selection", sel, "--stats", stats)
	if strings.Contains(r.err, "new column") || !strings.Contains(r.err, "no reports on its features") || strings.Contains(r.out, "no column of this name") {
		t.Errorf("check says\n%s\n%s", r.out, r.err)
	}
	ends(t, exit.Usage, "--details", append(args, "some")...)
}
