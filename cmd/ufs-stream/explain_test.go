package main

import (
	"math"
	"strings"
	"testing"
)

// TestRankingsAreExplained: the report on columns after a ranking on the graph equals the
// report of a greedy selection that is told to keep the same features.
func TestRankingsAreExplained(t *testing.T) {
	data, _ := plant(t, 900, 1)
	// Both sum the same 900 products an entry, in another order, and eliminate 7 columns
	// of a matrix whose condition is about (1/copyNoise)² = 100.
	const tolerance = 900 * 100 * 7 * 0x1p-53
	for _, args := range []string{"sfufs", "fufs --constraint scatter", "laplacian", "mcfs"} {
		s := selection(t, append([]string{data, "-k", "7", "--method"}, strings.Fields(args)...)...)
		want := selection(t, data, "-k", "7", "--keep", strings.Join(names(s), ","))
		for i, f := range s.Selected {
			if w := want.Selected[i]; w.Name != f.Name || !(math.Abs(float64(w.Error-f.Error)) <= tolerance) {
				t.Errorf("%s: error %v after %s, greedy says %v after %s", args, f.Error, f.Name, w.Error, w.Name)
			}
		}
		for j, c := range s.Columns {
			w := want.Columns[j]
			if c.Nearest != w.Nearest || !(math.Abs(float64(c.Explained-w.Explained)) <= tolerance) {
				t.Errorf("%s: %s is explained %v by %q, greedy says %v by %q", args, c.Name, c.Explained, c.Nearest, w.Explained, w.Nearest)
			}
		}
	}
}
