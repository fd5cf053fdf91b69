package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestRowsSample: --sample takes the same rows as --rows, a sample as large as the table
// is the table, and another seed takes other rows.
func TestRowsSample(t *testing.T) {
	in, _ := plant(t, 900, 2)
	run := func(args ...string) *stream.Selection {
		t.Helper()
		s := selection(t, append(args, in, "--method", "eufs", "-k", "9", "--clusters", "4", "--max-iter", "5")...)
		s.Warnings, s.Options["sample"], s.Options["rows"] = nil, nil, nil
		return s
	}
	all, some := run(), run("--sample", "200")
	if got := answer(t, run("--sample", "0")); got != answer(t, all) || all.RowsUsed != 900 {
		t.Errorf("all rows, by the default and by 0, differ; %d rows", all.RowsUsed)
	}
	if got := answer(t, run("--rows", "200", "--sample", "0")); got != answer(t, some) || some.RowsUsed != 200 || some.Rows != 900 {
		t.Errorf("--rows 200 and --sample 200 differ; %d of %d rows", some.RowsUsed, some.Rows)
	}
	if got := answer(t, run("--rows", "200", "--sample", "500")); got != answer(t, some) {
		t.Error("--rows 200 and --sample 500 are not 200 rows")
	}
	if other := run("--sample", "200", "--seed", "2"); fmt.Sprint(other.Scores) == fmt.Sprint(some.Scores) {
		t.Error("another seed takes the same rows")
	}
	if r := invoke("select", in, "--method", "eufs", "--sample", "200", "--max-iter", "1"); !strings.Contains(r.err, "a seeded sample of 200 of 900 rows") {
		t.Errorf("nothing is said of the sample: %s", r.err)
	}
}

// TestRowsSparse: sparse rows are made dense, and give the ranking of the dense ones.
func TestRowsSparse(t *testing.T) {
	flags := []string{"--label", "label", "--method", "eufs", "--clusters", "2", "--rows", "150", "--max-iter", "3", "-k", "20"}
	dense := selection(t, append(flags, fixtures.DatasetPath(t, "basehock.parquet"))...)
	sparse := selection(t, append(flags, fixtures.DatasetPath(t, "basehock_sparse.parquet"), "--sparse", "indices,values,4862")...)
	for i, f := range sparse.Selected {
		// Squares are summed in another order, which makes 150 roundings.
		if want := dense.Selected[i]; !near(float64(f.Score), float64(want.Score), 1e-9) || f.Column != want.Column && !near(float64(want.Score), float64(dense.Selected[max(i-1, 0)].Score), 1e-9) {
			t.Errorf("rank %d: column %v, score %v; dense %v, %v", i+1, f.Column, f.Score, want.Column, want.Score)
		}
	}
}

// TestRowsReport: a selection reports on its run.
func TestRowsReport(t *testing.T) {
	in, _ := plant(t, 900, 2)
	const falls = "--method cpufs --shape 5x10" // its objective falls in every iteration
	for _, args := range []string{falls, "--method eufs --alpha 0.05x"} {
		s := selection(t, append(strings.Fields(args), in, "-k", "6", "--clusters", "4", "--max-iter", "15", "--tol", "1e-12")...)
		if s.Iterations != 15 || s.Converged || len(s.Trace) != 15 || len(s.Objective) != 15 || len(s.Scores) != s.Features || len(s.Columns) != s.Features {
			t.Fatalf("%s: %d iterations, %d steps, %d scores", args, s.Iterations, len(s.Trace), len(s.Scores))
		}
		for i, step := range s.Trace {
			if step.Iteration != i+1 || !(step.Objective > 0) || step.Objective != s.Objective[i] || !(step.ResidualZU >= 0) || !(step.ResidualE >= 0) {
				t.Errorf("%s: step %+v", args, step)
			}
			if args == falls && i > 0 && step.Objective > s.Objective[i-1] {
				t.Errorf("%s: the objective rises to %v from %v", args, step.Objective, s.Objective[i-1])
			}
		}
		if !strings.Contains(strings.Join(s.Warnings, "\n"), "not converged after 15 iterations") {
			t.Errorf("%s: warnings %q", args, s.Warnings)
		}
		if args == falls {
			continue
		}
		if most, ok := s.Options["alpha_max"].(float64); s.Options["alpha"] != "0.05x" || !ok || !(most > 0) || s.Options["mu"] != most {
			t.Errorf("%s: options %v", args, s.Options)
		}
	}
}

// TestRowsGridWithoutGroups: a setting without a tree or graph, if none was asked for, has
// no warning and can be recommended.
func TestRowsGridWithoutGroups(t *testing.T) {
	in, _ := plant(t, 300, 2)
	for _, args := range []string{"--method hufs --tree none --beta 0.2x,0.4x", "--method eufs --graph none --alpha 0.2x,0.4x"} {
		g := gridOf(t, append(strings.Fields(args), in, "-k", "6", "--clusters", "3", "--max-iter", "20")...)
		for _, set := range g.Settings {
			if len(set.Warnings) > 0 {
				t.Errorf("%s: %s warns of %q", args, set.Flags, set.Warnings)
			}
		}
		if g.Recommended < 0 {
			t.Errorf("%s: nothing is recommended: %s", args, g.Why)
		}
	}
}

// TestRowsGridLimits: a grid depends neither on how many settings are solved at a time nor
// on whether their rows are in memory.
func TestRowsGridLimits(t *testing.T) {
	args := []string{wide(t), "--method", "hufs", "--clusters", "3", "-k", "6", "--max-iter", "2"}
	memory := forecastOf(t, append(slices.Clone(args), "--threads", "4")...).Memory
	smallest, files := memory.Smallest, fmt.Sprint(memory.InMemory-1)
	scratch := forecastOf(t, append(slices.Clone(args), "--threads", "4", "--memory-limit", files)...).Scratch
	args = append(args, "--beta", "0.05x,0.1x,0.2x")
	var want string
	for _, c := range []struct {
		threads string
		limit   int64
	}{{"1", 2 << 30}, {"4", 2 << 30}, {"4", smallest}} {
		g := gridOf(t, append(args, "--threads", c.threads, "--memory-limit", fmt.Sprint(c.limit))...)
		if (g.Memory.Scratch > 0) != (c.limit < 1<<30) {
			t.Errorf("limit %d: %d bytes of scratch", c.limit, g.Memory.Scratch)
		}
		if got := fmt.Sprint(marshal(t, g.Settings), g.Recommended, g.Why); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s threads, limit %d: %s\nwant %s", c.threads, c.limit, got, want)
		}
	}
	// Scratch space for one setting is enough: they are solved one after the other.
	if g := gridOf(t, append(args, "--threads", "4", "--memory-limit", files, "--max-temp-size", fmt.Sprint(scratch))...); g.Memory.Scratch > scratch {
		t.Errorf("%d bytes of scratch, of %d", g.Memory.Scratch, scratch)
	}
	ends(t, exit.Memory, "", append([]string{"path", "--threads", "4", "--memory-limit", fmt.Sprint(smallest - 1<<20)}, args...)...)
}

// TestRowsGridApart: settings whose result rounding decides are left out of the agreement.
func TestRowsGridApart(t *testing.T) {
	in, _ := plant(t, 300, 1)
	g := gridOf(t, in, "--method", "eufs", "--beta", "0.1,1,100", "--mu", "2", "--max-iter", "3", "-k", "5")
	for i, want := range []bool{true, true, false} {
		if got := decimal(g.Settings[i].Agreement) != ""; got != want {
			t.Errorf("beta %v: agreement %v", *g.Settings[i].Beta, g.Settings[i].Agreement)
		}
	}
	if !strings.Contains(strings.Join(g.Warnings, "\n"), "1 of 3 settings are left out of the agreement") || g.Recommended == 2 {
		t.Errorf("%d recommended, warnings %q", g.Recommended, g.Warnings)
	}
	csv := must(t, "path", in, "--method", "hufs", "--beta", "0.1x,0.2x", "--max-iter", "2", "-k", "5", "--format", "csv")
	if !strings.HasPrefix(csv, "alpha,beta,objective,") || strings.Count(csv, "\n") != 3 {
		t.Errorf("csv:\n%s", csv)
	}
}

// TestRowsInterrupt: a run that is interrupted in its first iteration, with the smallest
// limit, leaves no output and no scratch files.
func TestRowsInterrupt(t *testing.T) {
	in := wide(t)
	for i, args := range []string{
		"select --method hufs --clusters 3", "path --method hufs --clusters 3", "select --method cpufs --graph anchor --clusters 4 --shape 20x20",
	} {
		if !long.TakesCase(i, 2) {
			continue
		}
		verb, flags, _ := strings.Cut(args, " ")
		request := append(strings.Fields(flags), in, "--max-iter", "1000", "--tol", "1e-15")
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "sel.json")
		smallest := forecastOf(t, request...).Memory.Smallest
		ctx, cancel := context.WithCancel(t.Context())
		errw := &trigger{word: `"what":"iteration `, pull: cancel}
		limited := []string{verb, "-o", out, "--temp-dir", dir, "--memory-limit", fmt.Sprint(smallest), "--progress", "json"}
		code := run(ctx, append(limited, request...), strings.NewReader(""), &bytes.Buffer{}, errw)
		cancel()
		if code != exit.Interrupted || !strings.Contains(errw.String(), "interrupted") {
			t.Errorf("%s: exit code %d: %s", args, code, errw.String())
		}
		left, err := os.ReadDir(dir)
		if _, statErr := os.Stat(out); err != nil || len(left) > 0 || statErr == nil {
			t.Errorf("%s: left behind: %v, %v", args, left, err)
		}
	}
}

// trigger is a buffer that calls pull when a word is written to it.
type trigger struct {
	bytes.Buffer
	word string
	pull func()
}

func (w *trigger) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.word)) {
		w.pull()
	}
	return w.Buffer.Write(p)
}
