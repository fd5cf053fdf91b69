package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gridOf runs path with JSON output.
func gridOf(t *testing.T, args ...string) *stream.Grid {
	t.Helper()
	out := must(t, append([]string{"path", "--format", "json"}, args...)...)
	g, err := stream.DecodeGrid(strings.NewReader(out))
	if err != nil {
		t.Fatalf("decoding the grid: %v\n%s", err, out)
	}
	return g
}

// TestGridIsSelect: every setting of a grid gives what select gives with its weights, for the
// methods of the graph from the statistics of the input too.
func TestGridIsSelect(t *testing.T) {
	in, _ := plant(t, 300, 2)
	stats := filepath.Join(t.TempDir(), "all.ufs")
	must(t, "scan", in, "--method", "fufs", "--anchors", "100", "-o", stats)
	for _, c := range []struct {
		args, grid string
		weights    string // that a setting has
		settings   int
	}{
		{"--method sfufs --anchors 100 -k 6", "--alpha 100,0.1,1 --gamma 0.01..10", "alpha gamma", 12},
		{"--method sfufs --constraint identity --anchors 100", "--alpha 1,10", "alpha gamma", 2},
		{"--method sfufs --anchors 100 -k 6 --max-iter 3 --clusters 4", "", "alpha gamma", 1},
		{"--method fufs --anchors 100 -k 6", "--gamma 0,1,100", "gamma", 3},
		{"--method eufs -k 6 --max-iter 4 --clusters 4", "--alpha 0.5x,0.01x,0.1x --beta 0,1e-3..0.1", "alpha beta", 12},
		{"--method hufs -k 6 --max-iter 4 --tree correlation", "--alpha 0.01x --beta 0.1x,0.5", "alpha beta", 2},
		{"--method eufs -k 6 --max-iter 4 --graph anchor --anchors 40 --mu 2", "--alpha 0.1", "alpha beta", 1},
		{"--method eufs -k 6 --clusters 4 --mu 1", "--alpha 0.1x,100x", "alpha beta", 2}, // ties decide the second
	} {
		args := append(strings.Fields(c.args), in)
		g := gridOf(t, append(args, strings.Fields(c.grid)...)...)
		if len(g.Settings) != c.settings || g.Recommended < -1 || g.Recommended >= len(g.Settings) || g.Why == "" {
			t.Fatalf("%s: %d settings, want %d; %d recommended because %q", c.args, len(g.Settings), c.settings, g.Recommended, g.Why)
		}
		if last := g.Settings[len(g.Settings)-1]; !last.DecidedByTies && strings.HasSuffix(c.grid, "100x") {
			t.Errorf("%s %s: ties must decide the last setting; it has %+v", c.args, c.grid, last)
		}
		ofGraph := strings.HasSuffix(c.weights, "gamma")
		if ofGraph {
			for _, flag := range recordedFlags() {
				if g.Options[flag] == nil {
					t.Errorf("%s: no option %s", c.args, flag)
				}
			}
			fromStats := gridOf(t, append(strings.Fields(c.args+" "+c.grid), "--stats", stats)...)
			if a, b := fmt.Sprint(fromStats.Settings), fmt.Sprint(g.Settings); a != b || fromStats.Recommended != g.Recommended || fromStats.Why != g.Why || g.Passes != 2 {
				t.Errorf("%s: %d passes; from statistics %s\nwant %s", c.args, g.Passes, a, b)
			}
		}
		for i, set := range g.Settings {
			beta := stream.Number(nan)
			if set.Beta != nil {
				beta = *set.Beta
			}
			var weights, flags []string
			for _, w := range []struct {
				name  string
				value stream.Number
			}{{"alpha", set.Alpha}, {"beta", beta}, {"gamma", set.Gamma}} {
				if value := decimal(w.value); value != "" {
					weights, flags = append(weights, w.name), append(flags, "--"+w.name, value)
				}
			}
			if strings.Join(weights, " ") != c.weights || i > 0 && set.Alpha < g.Settings[i-1].Alpha {
				t.Errorf("%s: setting %d: %+v", c.args, i, set)
			}
			if a := float64(set.Agreement); ofGraph && (c.settings > 1 && !(a >= 0 && a <= 1) || c.settings == 1 && a == a) {
				t.Errorf("%s: agreement %v", c.args, a)
			}
			sameAsSelect(t, g, set, append(slices.Clone(args), flags...))
			if !ofGraph {
				sameAsSelect(t, g, set, append(slices.Clone(args), strings.Fields(set.Flags)...))
			}
		}
	}
}

// recordedFlags are options that a grid on the graph records.
func recordedFlags() []string {
	return []string{"scale", "missing", "anchors", "neighbors", "constraint", "clusters", "max-iter", "tol"}
}

// sameAsSelect wants a setting of a grid to be what select gives with some flags, of as many features.
func sameAsSelect(t *testing.T, g *stream.Grid, set stream.GridSetting, flags []string) {
	t.Helper()
	s := selection(t, append(slices.Clone(flags), "-k", fmt.Sprint(g.K))...)
	if !slices.Equal(names(s), set.Selected) || s.Objective[len(s.Objective)-1] != set.Objective ||
		s.Iterations != set.Iterations || s.Converged != set.Converged || s.IsDecidedByTies() != set.DecidedByTies {
		t.Errorf("%v: %v, %d iterations to %v; the grid has %+v", flags, names(s), s.Iterations, s.Objective, set)
	}
	for _, flag := range recordedFlags() {
		if x, y := fmt.Sprint(g.Options[flag]), fmt.Sprint(s.Options[flag]); x != y {
			t.Errorf("%v: option %s is %s in the grid, of select %s", flags, flag, x, y)
		}
	}
}

// TestGridFormats: every format has the same settings, and no number where there is none.
func TestGridFormats(t *testing.T) {
	in, _ := plant(t, 300, 1)
	dir := t.TempDir()
	for _, args := range []string{"--method sfufs --alpha 1,10 --gamma 1,10 --anchors 100", "--method fufs --gamma 1..1000 --anchors 100", "--method fufs --anchors 100"} {
		flags := append(strings.Fields(args), in, "-k", "4")
		g := gridOf(t, flags...)
		if out := must(t, append([]string{"path", "--format", "json"}, flags...)...); !json.Valid([]byte(out)) || strings.Contains(out, "NaN") {
			t.Errorf("%s: no JSON:\n%s", args, out)
		}
		lines := strings.Split(strings.TrimSpace(must(t, append([]string{"path", "--format", "csv"}, flags...)...)), "\n")
		if len(lines) != len(g.Settings)+1 || lines[0] != "alpha,gamma,objective,iterations,converged,agreement,recommended,selected" {
			t.Errorf("%s: csv:\n%s", args, strings.Join(lines, "\n"))
		}
		for i, set := range g.Settings {
			row := strings.Split(lines[i+1], ",")
			if row[0] != decimal(set.Alpha) || row[1] != decimal(set.Gamma) || row[2] != decimal(set.Objective) ||
				row[6] != fmt.Sprint(i == g.Recommended) || row[7] != strings.Join(set.Selected, " ") {
				t.Errorf("%s: csv has %q of %+v", args, row, set)
			}
		}
		file := filepath.Join(dir, "grid.parquet")
		must(t, append([]string{"path", "-o", file}, flags...)...)
		if out := must(t, "inspect", file); !strings.Contains(out, fmt.Sprintf("%d rows", len(g.Settings))) || !strings.Contains(out, "agreement") {
			t.Errorf("%s: the Parquet form:\n%s", args, out)
		}
		table := filepath.Join(dir, "grid.txt")
		must(t, append([]string{"path", "-o", table, "--format", "table"}, flags...)...)
		if text := read(t, table); (g.Recommended < 0) != strings.Contains(text, "no setting is recommended") || strings.Contains(text, "NaN") {
			t.Errorf("%s: %d recommended; the table:\n%s", args, g.Recommended, text)
		}
	}
	ends(t, exit.Usage, "", "path", in, "--method", "sfufs", "--format", "names")
	ends(t, exit.Usage, "", "path", in, "--format", "parquet") // a curve as Parquet
}
