package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gridOf runs path with JSON output.
func gridOf(t *testing.T, args ...string) *stream.Grid {
	t.Helper()
	out := must(t, append([]string{"path", "--format", "json"}, args...)...)
	g, err := stream.DecodeGrid(strings.NewReader(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return g
}

// TestGridIsSelect: every setting of a grid gives what select gives with its weights, from
// the input and from its statistics.
func TestGridIsSelect(t *testing.T) {
	in, _ := plant(t, 300, 2)
	stats := filepath.Join(t.TempDir(), "all.ufs")
	must(t, "scan", in, "--method", "fufs", "-o", stats)
	for _, c := range []struct {
		args     string
		settings int
	}{
		{"--method sfufs --alpha 100,0.1,1 --gamma 0.01..10 -k 6", 12},
		{"--method sfufs --constraint scatter --alpha 1,10", 2},
		{"--method sfufs -k 6 --max-iter 3 --clusters 4", 1},
		{"--method fufs --gamma 0,1,100 -k 6", 3},
	} {
		args := strings.Fields(c.args)
		g := gridOf(t, append(args, in)...)
		if len(g.Settings) != c.settings || g.Recommended < -1 || g.Recommended >= len(g.Settings) || g.Why == "" || g.Passes != 2 {
			t.Fatalf("%s: %d settings, want %d; %d recommended because %q; %d passes", c.args, len(g.Settings), c.settings, g.Recommended, g.Why, g.Passes)
		}
		fromStats := gridOf(t, append(args, "--stats", stats)...)
		if a, b := fmt.Sprint(fromStats.Settings), fmt.Sprint(g.Settings); a != b || fromStats.Recommended != g.Recommended || fromStats.Why != g.Why {
			t.Errorf("%s: from statistics %s\nwant %s", c.args, a, b)
		}
		var others []string
		for i := 0; i < len(args); i += 2 {
			if args[i] != "--alpha" && args[i] != "--gamma" {
				others = append(others, args[i:i+2]...)
			}
		}
		for _, set := range g.Settings {
			one := append(slices.Clone(others), in, "--gamma", exact(set.Gamma))
			if g.Method == "sfufs" {
				one = append(one, "--alpha", exact(set.Alpha))
			} else if exact(set.Alpha) != "" {
				t.Errorf("fufs has alpha %v", set.Alpha)
			}
			s := selection(t, one...)
			if !slices.Equal(names(s), set.Selected) || s.Objective[len(s.Objective)-1] != set.Objective ||
				s.Iterations != set.Iterations || s.Converged != set.Converged {
				t.Errorf("%v: %v, %d iterations to %v; the grid has %+v", one, names(s), s.Iterations, s.Objective, set)
			}
			if a := float64(set.Agreement); c.settings > 1 && !(a >= 0 && a <= 1) || c.settings == 1 && a == a {
				t.Errorf("%s: agreement %v", c.args, a)
			}
			for _, flag := range []string{"scale", "missing", "anchors", "neighbors", "constraint", "clusters", "max-iter", "tol"} {
				if x, y := fmt.Sprint(g.Options[flag]), fmt.Sprint(s.Options[flag]); x != y || g.Options[flag] == nil {
					t.Errorf("%s: option %s is %s, of select %s", c.args, flag, x, y)
				}
			}
		}
	}
}

// TestGridFormats: every format has the same settings, and no number where there is none.
func TestGridFormats(t *testing.T) {
	in, _ := plant(t, 300, 1)
	dir := t.TempDir()
	for _, args := range []string{"--method sfufs --alpha 1,10 --gamma 1,10", "--method fufs --gamma 1..1000", "--method fufs"} {
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
			if row[0] != exact(set.Alpha) || row[1] != exact(set.Gamma) || row[2] != exact(set.Objective) ||
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
