package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectWide: above 1,000 columns those of one type and use are one line of the table,
// with the sums and ends of theirs; -v and csv still have a line for each.
func TestInspectWide(t *testing.T) {
	wide := func(columns int) string {
		var names []string
		var values [][]float64
		for j := range columns {
			x := float64(j + 1)
			two := []float64{x, -x}
			if j == 7 || j == 9 {
				two[1] = x
			}
			names, values = append(names, fmt.Sprintf("x%d", j)), append(values, two)
		}
		return columnsFile(t, filepath.Join(t.TempDir(), "wide.parquet"), names, values...)
	}
	lines := func(args ...string) []string {
		return strings.Split(strings.TrimSuffix(must(t, append([]string{"inspect"}, args...)...), "\n"), "\n")
	}
	const maxUnfoldedColumns = 1000
	at, above := wide(maxUnfoldedColumns), wide(maxUnfoldedColumns+1)
	if n := len(lines(at)); n < maxUnfoldedColumns {
		t.Errorf("%d lines of a table of %d columns", n, maxUnfoldedColumns)
	}
	for _, args := range [][]string{{above, "-v"}, {above, "--format", "csv"}} {
		if n := len(lines(args...)); n < maxUnfoldedColumns+1 {
			t.Errorf("%v: %d lines of a table of %d columns", args[1:], n, maxUnfoldedColumns+1)
		}
	}
	folded := lines(above, "--scan")
	text := strings.Join(folded, "\n")
	if len(folded) > 12 {
		t.Fatalf("%d lines:\n%s", len(folded), text)
	}
	for _, want := range [][]string{
		{"x0 … x1000 (999 columns)", "0", "-1001", "1001", "yes"},
		{"x7 … x9 (2 columns)", "0", "8", "10", "no", "constant"},
	} {
		found := false
		for _, line := range folded {
			if rest, ok := strings.CutPrefix(line, want[0]); ok {
				found = true
				for _, cell := range want[1:] {
					if !strings.Contains(rest+" ", " "+cell) {
						t.Errorf("%q lacks %s", line, cell)
					}
				}
			}
		}
		if !found {
			t.Errorf("no line of %s:\n%s", want[0], text)
		}
	}
}
