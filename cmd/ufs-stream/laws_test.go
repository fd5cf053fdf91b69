package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// graphRequests are flags that choose a method on the anchor graph, and vary its settings.
func graphRequests() []string {
	return []string{
		"--method sfufs --anchors 150", "--method sfufs --constraint identity --alpha 10 --anchors 150", "--method fufs --gamma 0.5 --anchors 150", "--method sfesa --anchors 150", "--method graphgreedy --anchors 150", "--method graphgreedy --target spectral --clusters 4 --anchors 150", "--method graphgreedy --target scatter --anchors 150", "--method graphgreedy --smooth auto --anchors 150",
		"--method align", "--method align --diffusion 3 --neighbors 4 --keep x007", "--method laplacian --anchors 150", "--method mcfs --clusters 6 --anchors 150", "--method graphgreedy --anchor-method kmeans --anchors 40", "--method sfesa --anchor-method balanced --anchors 40",
		"--method sfufs --where x000>0 --anchors 150", "--method spec --power 2 --anchors 150", "--method spec --score phi3 --clusters 4 --anchors 150", "--method jelsr --clusters 4 --alpha 5 --anchors 150",
		"--method ndfs --clusters 4 --anchors 150", "--method u2fs --clusters 6 --anchors 150", "--method socfs --clusters 4 --alpha 0.05x --anchors 150",
	}
}

// rowsRequests are flags that choose a method that iterates over rows, and vary its settings.
func rowsRequests() []string {
	return []string{
		"--method eufs --clusters 4", "--method eufs --clusters 3 --graph anchor --anchors 40 --state float32", "--method eufs --graph none --alpha 0.5x --beta 0",
		"--method hufs --clusters 4", "--method hufs --tree correlation --alpha 0.1x", "--method eufs --missing zero --scale standard --mu 50",
		"--method eufs --seed 5 --rows 500 --sample 300 --neighbors 4 --label x000 --exclude x04*",
		"--method cpufs --clusters 4 --shape 5x10", "--method cpufs --sample 300 --seed 4 --neighbors 3 --shape 5x10",
		"--method eufs --clusters 4 --where x000>0", "--method cpufs --sample 300 --where x000>0 --neighbors 3 --shape 5x10",
		"--method udfs --clusters 4 --alpha 50 --neighbors 3", "--method rufs --clusters 4 --sample 300 --nu 0.5 --max-iter 5",
		"--method rsfs --clusters 4 --sample 300 --beta 0.2x --errors 0.05x --max-iter 5", "--method sogfs --clusters 4 --sample 300 --gamma 0.5 --dimensions 3 --max-iter 3",
		"--method cpufsnn --nu 0.5 --alpha 2 --beta 0.3 --eta 1000 --graph anchor --anchors 40 --anchor-method kmeans --shape 5x10",
	}
}

// TestCoil20 compares order and errors with an independent run of the greedy paper's
// setting on real data.
func TestCoil20(t *testing.T) {
	var want struct {
		Names  []string
		Errors []float64
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join("..", "..", "testdata", "fixtures", "coil20_greedy.json"))), &want); err != nil {
		t.Fatalf("decoding the fixture: %v", err)
	}
	s := selection(t, "--method", "greedy", "--scale", "none", "-k", "100", "--label", "label", fixtures.DatasetPath(t, "coil20.parquet"))
	if got := names(s); !slices.Equal(got, want.Names) {
		t.Errorf("order %v\nwant  %v", got, want.Names)
	}
	for i, f := range s.Selected {
		// Both sum 1,440 × 1,024 values; the fixture's own rounding is about 1e-12.
		if e := want.Errors[i+1] / want.Errors[0]; !near(float64(f.Error), e, 1e-9) {
			t.Errorf("rank %d: error %v, want %v", i+1, f.Error, e)
		}
	}
}

func near(a, b, tolerance float64) bool { return a-b <= tolerance*b && b-a <= tolerance*b }

// sameBits returns a check that wants each answer to equal the first one to the last bit.
func sameBits(t *testing.T) func(s *stream.Selection, what ...any) {
	var first string
	return func(s *stream.Selection, what ...any) {
		t.Helper()
		if got := answer(t, s); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%v: other bits", what)
		}
	}
}

// TestCutsAndThreads: the same rows give the same selection from 1 or 21 files, with any
// number of threads, directly or through statistics files. For the same files, no bit of
// the answer depends on the threads or the limit.
func TestCutsAndThreads(t *testing.T) {
	grams := []string{"--method greedy", "--method partgreedy", "--method fastcan", "--method fsfs", "--method pcalrg", "--method pfa", "--method fspca", "--method spcafs", "--method cdlfs"}
	requests := long.TakeCases(4, slices.Concat(grams, graphRequests()))
	grams = long.TakeCases(4, grams)
	want := make(map[string][]string)
	for _, n := range []int{1, 21} {
		dir, paths := plant(t, 1260, n)
		for _, request := range requests {
			check := sameBits(t)
			for _, c := range []struct{ threads, limit string }{{"1", "2GiB"}, {"8", "190MiB"}} {
				s := selection(t, append(strings.Fields(request), dir, "-k", "9", "--threads", c.threads, "--memory-limit", c.limit)...)
				if want[request] == nil {
					want[request] = names(s)
				}
				if got := names(s); !slices.Equal(got, want[request]) {
					t.Errorf("%s, %d files, %s threads: %v, want %v", request, n, c.threads, got, want[request])
				}
				check(s, request, n, c)
			}
		}
		all := filepath.Join(dir, "all.ufs")
		args := []string{"merge", "-o", all}
		for _, p := range paths {
			must(t, "scan", p, "-o", p+".ufs")
			args = append(args, p+".ufs")
		}
		must(t, args...)
		for _, request := range grams {
			if got := names(selection(t, append(strings.Fields(request), "--stats", all, "-k", "9")...)); !slices.Equal(got, want[request]) {
				t.Errorf("%s, %d files merged: %v, want %v", request, n, got, want[request])
			}
		}
	}
}

// TestOutOfCore: the selection is the same where the Gram matrix G does not fit.
func TestOutOfCore(t *testing.T) {
	path := fixtures.DatasetPath(t, "coil20.parquet")
	for i, method := range []string{"greedy", "partgreedy", "graphgreedy --anchors 50 --scale none", "graphgreedy --anchors 50 --target spectral"} {
		if !long.TakesCase(i, 2) {
			continue
		}
		args := slices.Concat([]string{path, "-k", "8", "--label", "label", "--method"}, strings.Fields(method))
		in := selection(t, args...)
		out := selection(t, append(args, "--memory-limit", fmt.Sprint(forecastOf(t, args...).Memory.Smallest))...)
		if out.Passes <= in.Passes {
			t.Fatalf("%s: %d passes: the limit did not make it go out of core", method, out.Passes)
		}
		if a, b := names(in), names(out); !slices.Equal(a, b) {
			t.Errorf("%s: in memory %v, out of core %v", method, a, b)
		}
		for j, c := range out.Columns {
			if want := in.Columns[j]; c.Name != want.Name || !near(float64(c.Explained), float64(want.Explained), 1e-6) || c.Nearest != want.Nearest {
				t.Errorf("%s: column report %+v, want %+v", method, c, want)
			}
		}
	}
}

// TestRowsLimitsAndThreads: no bit of the answer of a method that iterates over rows depends
// on the threads, or on whether the rows stay in memory, are read in every iteration, or go
// through scratch files; only the number of passes does. No scratch files are left.
func TestRowsLimitsAndThreads(t *testing.T) {
	const side = 10
	in, pixels := wide(t), wideOf(t, planted.New(planted.Options{Rows: 3000, Columns: side * side}))
	const cells = " --shape 10x10 --clusters 4 "
	for i, c := range []struct {
		args    string
		keepsG  bool // without G its answers are equal to rounding only
		rereads bool // before it needs scratch files, it reads the input in every iteration
		scratch bool
	}{
		{"--method eufs --clusters 3 --graph anchor --anchors 40 --state float32 " + in, false, false, true},
		{"--method eufs --clusters 4 " + in, false, false, true},
		{"--method hufs --clusters 3 --tree correlation --missing zero " + in, false, false, true},
		{"--method cpufs --graph anchor --anchors 40" + cells + pixels, true, true, true},
		{"--method cpufsnn --missing mean --graph anchor --anchors 30" + cells + pixels, true, true, true},
		{"--method cpufs --sample 1500 --graph knn" + cells + pixels, true, true, false},
	} {
		if !long.TakesCase(i, 3) {
			continue
		}
		scratch := t.TempDir()
		flags := append(strings.Fields(c.args), "-k", "9", "--max-iter", "2", "--temp-dir", scratch)
		m := forecastOf(t, append(flags, "--threads", "1")...).Memory
		if m.Smallest >= m.InMemory {
			t.Fatalf("%s: %+v: nothing is saved out of core", c.args, m)
		}
		lowest := m.Smallest
		if c.keepsG {
			lowest += 8 * side * side * side * side
		}
		check := sameBits(t)
		inMemory := 0 // passes
		for _, run := range []struct {
			threads string
			limit   int64
		}{{"1", 1 << 30}, {"8", 2 << 30}, {"1", m.InMemory - 1}, {"1", lowest}} {
			s := selection(t, append(flags, "--threads", run.threads, "--memory-limit", fmt.Sprint(run.limit))...)
			outOfCore := run.limit < m.InMemory
			if want := c.scratch && outOfCore && (run.limit == lowest || !c.rereads); want != (s.Memory.Scratch > 0) {
				t.Errorf("%s, limit %d: %d bytes of scratch", c.args, run.limit, s.Memory.Scratch)
			}
			if outOfCore && c.rereads {
				if s.Passes <= inMemory {
					t.Errorf("%s, limit %d: %d passes, %d in memory", c.args, run.limit, s.Passes, inMemory)
				}
				s.Passes = inMemory
			}
			inMemory = s.Passes
			check(s, c.args, run)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v, %v", c.args, left, err)
		}
	}
}

// TestRecordsItsFlags: the options in the answer, used as flags, give the same answer; eval
// selects again by them from halves of the rows.
func TestRecordsItsFlags(t *testing.T) {
	in, _ := plant(t, 900, 1)
	tree, sel := filepath.Join(t.TempDir(), "tree.json"), filepath.Join(t.TempDir(), "sel.json")
	must(t, "tree", in, "--tree", "correlation", "-o", tree)
	graphs := append(graphRequests(), "--method sfufs --seed 5 --anchors 33 --neighbors 4 --label x000 --exclude x04*")
	for i, args := range slices.Concat(graphs, rowsRequests(), []string{"--method hufs --tree " + tree}) {
		if !long.TakesCase(i, 6) {
			continue
		}
		flags := append(strings.Fields(args), in, "-k", "6")
		if !slices.Contains(graphs, args) {
			flags = append(flags, "--max-iter", "5")
		}
		must(t, append([]string{"select", "-o", sel}, flags...)...)
		s := readSelection(t, sel)
		again := []string{in, "-k", strconv.Itoa(s.K), "--method", s.Method, "--seed", fmt.Sprint(s.Seed)}
		for flag, value := range s.Options {
			if flag != "alpha_max" {
				again = append(again, "--"+flag, fmt.Sprint(value))
			}
		}
		if b := selection(t, again...); answer(t, b) != answer(t, s) {
			t.Errorf("%s: %v give another answer", args, again)
		}
		if out := must(t, "eval", in, "--selection", sel, "--resamples", "2", "--baselines", "none", "--allow", tree); !strings.Contains(out, "stability") {
			t.Errorf("%s: no stability:\n%s", args, out)
		}
		turns := []string{"graphgreedy", "align", "u2fs", "sfesa"}
		if ranks := !slices.Contains(turns, s.Method); (len(s.Scores) == s.Features) != ranks || len(s.Columns) != s.Features {
			t.Errorf("%s: %d scores and %d columns of %d features", args, len(s.Scores), len(s.Columns), s.Features)
		}
		if slices.Contains(graphs, args) && s.Method != "align" && s.Passes != 2 {
			t.Errorf("%s: %d passes", args, s.Passes)
		}
		if slices.ContainsFunc(s.Scores, func(f stream.Score) bool { return f.Name == s.Options["label"] }) {
			t.Errorf("%s: the label has a score", args)
		}
	}
}

// TestReportsAsGreedy: a selection explains as much of the centred data as greedy finds for
// the same features, and by the same columns.
func TestReportsAsGreedy(t *testing.T) {
	in, _ := plant(t, 900, 1)
	// Both sum the same 900 products an entry, in another order, and eliminate 7 columns
	// of a matrix whose condition is about (1/copyNoise)² = 100.
	const tolerance = 900 * 100 * 7 * 0x1p-53
	for _, args := range []string{
		"--method sfufs --anchors 150", "--method fufs --constraint identity --anchors 150", "--method laplacian --anchors 150", "--method mcfs --anchors 150", "--method spec --anchors 150", "--method jelsr --anchors 150", "--method ndfs",
		"--method eufs --clusters 4 --max-iter 7 --scale none", // G is centred, as under greedy's --scale center
	} {
		s := selection(t, append(strings.Fields(args), in, "-k", "7")...)
		scale := "standard"
		if s.Options["scale"] == "none" {
			scale = "center"
		}
		want := selection(t, in, "--method", "greedy", "-k", "7", "--scale", scale, "--keep", strings.Join(names(s), ","))
		for i, f := range s.Selected {
			// 900 rows in 50 columns: roundings of about 2⁻⁵³·50 in each of 7 updates.
			if w := want.Selected[i]; w.Name != f.Name || !near(float64(f.Error), float64(w.Error), 1e-11) {
				t.Errorf("%s: error %v after %s, greedy says %v after %s", args, f.Error, f.Name, w.Error, w.Name)
			}
		}
		for j, c := range s.Columns {
			if w := want.Columns[j]; c.Nearest != w.Nearest || !near(float64(c.Explained), float64(w.Explained), tolerance) {
				t.Errorf("%s: %s is explained %v by %q, greedy says %v by %q", args, c.Name, c.Explained, c.Nearest, w.Explained, w.Nearest)
			}
		}
	}
}

// TestSparseGraphOutOfCore: if the Gram matrix of sparse rows does not fit, graphgreedy keeps the graph's products
// with their entries, within the smallest limit that plan names. It selects the same for all threads and policies for
// missing values.
func TestSparseGraphOutOfCore(t *testing.T) {
	path := fixtures.DatasetPath(t, "basehock_sparse.parquet")
	for i, method := range []string{"", "--scale none --missing mean --threads 1", "--scale none --smooth 1 --neighbors 3 --missing zero", "--target spectral --threads 3 --missing drop-row"} {
		if !long.TakesCase(i, 2) {
			continue
		}
		args := append([]string{path, "--sparse", "indices,values,4862", "-k", "8", "--label", "label", "--method", "graphgreedy", "--anchors", "150"}, strings.Fields(method)...)
		smallest := forecastOf(t, args...).Memory.Smallest
		in := selection(t, args...)
		out, err := ownProcess(t, append([]string{"select", "--format", "json", "-q", "--memory-limit", fmt.Sprint(smallest)}, args...)...).Output()
		if err != nil {
			t.Fatalf("select --method %s out of core: %v", method, err)
		}
		got, err := stream.DecodeSelection(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("decoding the selection: %v", err)
		}
		if got.Passes <= in.Passes || got.Memory.PeakRSS > smallest {
			t.Fatalf("%s: %d passes, in memory %d; %d of %d bytes", method, got.Passes, in.Passes, got.Memory.PeakRSS, smallest)
		}
		if a, b := names(in), names(got); !slices.Equal(a, b) {
			t.Errorf("%s: in memory %v, out of core %v", method, a, b)
		}
		if in.Trust == nil || got.Trust == nil || !near(float64(in.Trust.Graph.Value), float64(got.Trust.Graph.Value), 1e-6) || in.Trust.Graph.Trusted != got.Trust.Graph.Trusted {
			t.Errorf("%s: trust %+v, in memory %+v", method, got.Trust, in.Trust)
		}
	}
}
