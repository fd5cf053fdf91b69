package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// rowsRequests are flags that choose a method that iterates over rows, and vary its settings.
func rowsRequests() []string {
	return []string{
		"--method eufs --clusters 4", "--method eufs --clusters 3 --graph anchor --anchors 40 --state float32", "--method eufs --graph none --alpha 0.5x --beta 0",
		"--method hufs --clusters 4", "--method hufs --tree correlation --alpha 0.1x", "--method eufs --missing zero --scale standard --mu 50",
	}
}

// wide writes a table whose rows take more memory than the buffers of scratch files.
func wide(t *testing.T) string {
	t.Helper()
	return wideOf(t, planted.New(planted.Options{Rows: 6000, Columns: 400}))
}

// wideOf writes table with few row groups, because long footers take long to read.
func wideOf(t *testing.T, table stream.Source) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wide.parquet")
	if err := chunkio.WriteParquet(context.Background(), path, table, chunkio.WriteOptions{RowGroupRows: 1500}); err != nil {
		t.Fatal(err)
	}
	return path
}

// forecastOf runs plan with JSON output.
func forecastOf(t *testing.T, args ...string) (f ufs.Forecast) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, append([]string{"plan", "--format", "json"}, args...)...)), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRowsLimitsAndThreads: no bit of the answer depends on the threads, or on whether the
// rows stay in memory or go through scratch files. No scratch files are left.
func TestRowsLimitsAndThreads(t *testing.T) {
	in := wide(t)
	for _, args := range []string{"--method eufs --clusters 3 --graph anchor --anchors 40 --state float32", "--method eufs --clusters 4", "--method hufs --clusters 3 --tree correlation --missing zero"} {
		flags := append(strings.Fields(args), in, "-k", "9", "--max-iter", "2", "--temp-dir", t.TempDir())
		smallest := forecastOf(t, append(flags, "--threads", "1")...).Memory
		if smallest.Smallest >= smallest.InMemory {
			t.Fatalf("%s: %+v: scratch files save nothing", args, smallest)
		}
		var bits string
		for _, c := range []struct {
			threads string
			limit   int64
		}{{"1", 1 << 30}, {"8", 2 << 30}, {"1", smallest.Smallest}} {
			s := selection(t, append(flags, "--threads", c.threads, "--memory-limit", fmt.Sprint(c.limit))...)
			if scratch := c.limit < smallest.InMemory; scratch != (s.Memory.Scratch > 0) {
				t.Errorf("%s, limit %d: %d bytes of scratch", args, c.limit, s.Memory.Scratch)
			}
			if b := answer(t, s); bits == "" {
				bits = b
			} else if b != bits {
				t.Errorf("%s: %s threads and a limit of %d give other bits", args, c.threads, c.limit)
			}
		}
		if left, err := os.ReadDir(flags[len(flags)-1]); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", args, left, err)
		}
	}
}

// TestRowsPlanKeepsItsWord: passes and scratch space are within the limits that plan names.
// The smallest memory limit works, and a MiB less does not; scratch space likewise.
func TestRowsPlanKeepsItsWord(t *testing.T) {
	in := wide(t)
	holes := wideOf(t, holed(planted.New(planted.Options{Rows: 6000, Columns: 400})))
	for _, args := range []string{"--method eufs --missing mean " + holes, "--method hufs --missing drop-row " + holes, "--method eufs --sample 1000", "--method hufs --tree correlation", "--method eufs --graph anchor --state float32"} {
		flags := append(strings.Fields(args), "-k", "3", "--max-iter", "2", "--clusters", "3")
		if !strings.Contains(args, holes) {
			flags = append(flags, in)
		}
		smallest := forecastOf(t, flags...).Memory.Smallest
		at := append(slices.Clone(flags), "--memory-limit", fmt.Sprint(smallest))
		f := forecastOf(t, at...)
		enough := at
		if f.Scratch > 0 {
			enough = append(slices.Clone(at), "--max-temp-size", fmt.Sprint(f.Scratch))
		}
		s := selection(t, enough...)
		if s.Passes < f.Passes.Least || s.Passes > f.Passes.Most {
			t.Errorf("%s: %d passes, planned %d to %d", args, s.Passes, f.Passes.Least, f.Passes.Most)
		}
		if s.Memory.Scratch > f.Scratch || f.Memory.OutOfCore != (f.Scratch > 0) {
			t.Errorf("%s: %d bytes of scratch, planned %d", args, s.Memory.Scratch, f.Scratch)
		}
		if m := f.Memory; m.Peak > m.Limit || m.Smallest != smallest {
			t.Errorf("%s: %+v", args, m)
		}
		for _, verb := range []string{"plan", "select"} {
			if r := invoke(append([]string{verb, "--memory-limit", fmt.Sprint(smallest - 1<<20)}, flags...)...); r.code != exit.Memory || !strings.Contains(r.err, mebibytes(smallest)) {
				t.Errorf("%s %s: exit code %d below the smallest limit, %s: %s", verb, args, r.code, mebibytes(smallest), r.err)
			}
		}
		if drawn := strings.Contains(args, "--sample"); f.Memory.OutOfCore == drawn { // a sample is too small for files to save anything
			t.Errorf("%s: out of core %v", args, f.Memory.OutOfCore)
		}
		if !f.Memory.OutOfCore {
			continue
		}
		if r := invoke(append([]string{"select", "--max-temp-size", fmt.Sprint(f.Scratch - 1)}, at...)...); r.code != exit.Memory || !strings.Contains(r.err, "--max-temp-size") || !strings.Contains(r.err, mebibytes(f.Memory.InMemory)) {
			t.Errorf("%s: exit code %d with too little scratch: %s", args, r.code, r.err)
		}
	}
}

// staysBelowSmallest wants a process of its own, with scratch files, to stay below the
// smallest limit.
func staysBelowSmallest(t *testing.T, flags []string) {
	t.Helper()
	smallest := forecastOf(t, flags...).Memory.Smallest
	out, err := ownProcess(t, append([]string{"select", "--format", "json", "-q", "--memory-limit", fmt.Sprint(smallest)}, flags...)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", flags, err)
	}
	s, err := stream.DecodeSelection(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if m := s.Memory; m.PeakRSS > smallest || m.Scratch == 0 {
		t.Errorf("%s: peak %d of %d bytes, %d of scratch", flags, m.PeakRSS, smallest, m.Scratch)
	}
}

// TestRowsPeakMemory: a process stays below the smallest limit that plan names.
func TestRowsPeakMemory(t *testing.T) {
	in := dataset(t, "mnist10k.parquet")
	for _, args := range []string{"--method eufs --graph anchor --state float32", "--method hufs --tree image"} {
		flags := append(strings.Fields(args), in, "--label", "label", "--sample", "0", "--max-iter", "3", "--threads", "2")
		staysBelowSmallest(t, flags)
	}
}

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
	dense := selection(t, append(flags, dataset(t, "basehock.parquet"))...)
	sparse := selection(t, append(flags, dataset(t, "basehock_sparse.parquet"), "--sparse", "indices,values,4862")...)
	for i, f := range sparse.Selected {
		// Squares are summed in another order, which makes 150 roundings.
		if want := dense.Selected[i]; !near(float64(f.Score), float64(want.Score), 1e-9) || f.Column != want.Column && !near(float64(want.Score), float64(dense.Selected[max(i-1, 0)].Score), 1e-9) {
			t.Errorf("rank %d: column %d, score %v; dense %d, %v", i+1, f.Column, f.Score, want.Column, want.Score)
		}
	}
}

// TestRowsReport: a selection reports on its run, and explains as much of the centred data
// as greedy finds for the same features.
func TestRowsReport(t *testing.T) {
	in, _ := plant(t, 900, 2)
	s := selection(t, in, "--method", "eufs", "-k", "6", "--clusters", "4", "--max-iter", "7", "--alpha", "0.05x")
	if s.Iterations != 7 || s.Converged || len(s.Trace) != 7 || len(s.Objective) != 7 || len(s.Scores) != s.Features || len(s.Columns) != s.Features {
		t.Errorf("%d iterations, %d steps, %d scores", s.Iterations, len(s.Trace), len(s.Scores))
	}
	for i, step := range s.Trace {
		if step.Iteration != i+1 || !(step.Objective > 0) || step.Objective != s.Objective[i] || !(step.ResidualZU >= 0) || !(step.ResidualE >= 0) {
			t.Errorf("step %+v", step)
		}
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "not converged after 7 iterations") {
		t.Errorf("warnings %q", s.Warnings)
	}
	if most, ok := s.Options["alpha_max"].(float64); s.Options["alpha"] != "0.05x" || !ok || !(most > 0) || s.Options["mu"].(float64) < most/2 {
		t.Errorf("options %v", s.Options)
	}
	// Under --scale none the Gram matrix is centred, as under greedy's --scale center.
	raw := selection(t, in, "--method", "eufs", "-k", "6", "--clusters", "4", "--max-iter", "7", "--scale", "none")
	greedy := selection(t, in, "--scale", "center", "-k", "6", "--keep", strings.Join(names(raw), ","))
	for i, f := range raw.Selected {
		// 900 rows in 50 columns: roundings of about 2⁻⁵³·50 in each of 6 updates.
		if want := greedy.Selected[i]; f.Name != want.Name || !near(float64(f.Error), float64(want.Error), 1e-11) {
			t.Errorf("rank %d: %s leaves %v, greedy says %s %v", i+1, f.Name, f.Error, want.Name, want.Error)
		}
	}
	for j, c := range raw.Columns {
		if want := greedy.Columns[j]; c.Nearest != want.Nearest || !near(float64(c.Explained), float64(want.Explained), 1e-9) {
			t.Errorf("%s: %v by %q, greedy says %v by %q", c.Name, c.Explained, c.Nearest, want.Explained, want.Nearest)
		}
	}
}

// TestRowsRecordsItsFlags: the options in the answer, used as flags, give the same answer.
func TestRowsRecordsItsFlags(t *testing.T) {
	in, _ := plant(t, 900, 1)
	tree := filepath.Join(t.TempDir(), "tree.json")
	must(t, "tree", in, "--tree", "correlation", "-o", tree)
	for _, args := range append(rowsRequests(), "--method hufs --tree "+tree, "--method eufs --seed 5 --rows 500 --sample 300 --neighbors 4 --label x000 --exclude x04*") {
		s := selection(t, append(strings.Fields(args), in, "-k", "6", "--max-iter", "5")...)
		again := []string{in, "-k", strconv.Itoa(s.K), "--method", s.Method, "--seed", fmt.Sprint(s.Seed)}
		for flag, value := range s.Options {
			if flag != "alpha_max" {
				again = append(again, "--"+flag, fmt.Sprint(value))
			}
		}
		if b := selection(t, again...); answer(t, b) != answer(t, s) {
			t.Errorf("%s: %v give another answer", args, again)
		}
	}
}

// TestRowsResampled: eval selects again from halves of the rows.
func TestRowsResampled(t *testing.T) {
	in, _ := plant(t, 900, 1)
	for _, args := range []string{"--method eufs --sample 600", "--method eufs --graph anchor", "--method hufs --tree correlation"} {
		sel := filepath.Join(t.TempDir(), "sel.json")
		must(t, append(strings.Fields(args), "select", in, "-k", "6", "--clusters", "4", "--max-iter", "4", "-o", sel)...)
		if out := must(t, "eval", in, "--selection", sel, "--resamples", "3", "--baselines", "none"); !strings.Contains(out, "stability") {
			t.Errorf("%s: no stability:\n%s", args, out)
		}
	}
}

// TestRowsGrid: every setting of a grid gives what select gives with its weights.
func TestRowsGrid(t *testing.T) {
	in, _ := plant(t, 900, 2)
	for _, c := range []struct {
		args, weights string
		settings      int
	}{
		{"--method eufs --clusters 4", "--alpha 0.5x,0.01x,0.1x --beta 0,1e-3..0.1", 12},
		{"--method hufs --tree correlation", "--alpha 0.01x --beta 0.1x,0.5", 2},
		{"--method eufs --graph anchor --anchors 40 --mu 2", "--alpha 0.1", 1},
	} {
		args := append(strings.Fields(c.args), in, "-k", "6", "--max-iter", "4")
		g := gridOf(t, append(args, strings.Fields(c.weights)...)...)
		if len(g.Settings) != c.settings || g.Recommended < -1 || g.Recommended >= len(g.Settings) || g.Why == "" {
			t.Fatalf("%s: %d settings, want %d; %d recommended because %q", c.args, len(g.Settings), c.settings, g.Recommended, g.Why)
		}
		for i, set := range g.Settings {
			if i > 0 && set.Alpha < g.Settings[i-1].Alpha || set.Beta == nil || exact(set.Gamma) != "" {
				t.Errorf("setting %d: %+v", i, set)
			}
			for _, weights := range [][]string{strings.Fields(set.Flags), {"--alpha", exact(set.Alpha), "--beta", exact(*set.Beta)}} {
				s := selection(t, append(slices.Clone(args), weights...)...)
				if !slices.Equal(names(s), set.Selected) || s.Objective[len(s.Objective)-1] != set.Objective ||
					s.Iterations != set.Iterations || s.Converged != set.Converged {
					t.Errorf("%v: %v, %d iterations to %v; the grid has %+v", weights, names(s), s.Iterations, s.Objective, set)
				}
			}
		}
	}
}

// TestRowsGridWithoutGroups: a setting without a tree or graph, if none was asked for, has
// no warning and can be recommended.
func TestRowsGridWithoutGroups(t *testing.T) {
	in, _ := plant(t, 300, 2)
	for _, args := range []string{"--method hufs --beta 0.2x,0.4x", "--method eufs --graph none --alpha 0.2x,0.4x"} {
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
		b, err := json.Marshal(g.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(string(b), g.Recommended, g.Why); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s threads, limit %d: %s\nwant %s", c.threads, c.limit, got, want)
		}
	}
	// Scratch space for one setting is enough: they are solved one after the other.
	if g := gridOf(t, append(args, "--threads", "4", "--memory-limit", files, "--max-temp-size", fmt.Sprint(scratch))...); g.Memory.Scratch > scratch {
		t.Errorf("%d bytes of scratch, of %d", g.Memory.Scratch, scratch)
	}
	if r := invoke(append([]string{"path", "--threads", "4", "--memory-limit", fmt.Sprint(smallest - 1<<20)}, args...)...); r.code != exit.Memory {
		t.Errorf("below the smallest limit: exit code %d: %s", r.code, r.err)
	}
}

// TestRowsGridApart: settings whose result rounding decides are left out of the agreement.
func TestRowsGridApart(t *testing.T) {
	in, _ := plant(t, 300, 1)
	g := gridOf(t, in, "--method", "eufs", "--beta", "0.1,1,100", "--mu", "2", "--max-iter", "3", "-k", "5")
	for i, want := range []bool{true, true, false} {
		if got := exact(g.Settings[i].Agreement) != ""; got != want {
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

// TestRowsInterrupt: a run that is interrupted in an iteration leaves no output and no
// scratch files.
func TestRowsInterrupt(t *testing.T) {
	flags := []string{wide(t), "--method", "hufs", "--clusters", "3", "--max-iter", "1000", "--tol", "1e-15"}
	for _, verb := range []string{"select", "path"} {
		interruptIteration(t, verb, flags)
	}
}

// interruptIteration runs a verb with the smallest limit and interrupts its first iteration.
// It wants no output and no scratch.
func interruptIteration(t *testing.T, verb string, flags []string) {
	t.Helper()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "sel.json")
	smallest := forecastOf(t, flags...).Memory.Smallest
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errw := &trigger{word: `"what":"iteration `, pull: cancel}
	args := []string{verb, "-o", out, "--temp-dir", dir, "--memory-limit", fmt.Sprint(smallest), "--progress", "json"}
	code := run(ctx, append(args, flags...), strings.NewReader(""), &bytes.Buffer{}, errw)
	if code != exit.Interrupted || !strings.Contains(errw.String(), "interrupted") {
		t.Errorf("%s: exit code %d: %s", verb, code, errw.String())
	}
	left, err := os.ReadDir(dir)
	if _, statErr := os.Stat(out); err != nil || len(left) > 0 || statErr == nil {
		t.Errorf("%s: left behind: %v, %v", verb, left, err)
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
