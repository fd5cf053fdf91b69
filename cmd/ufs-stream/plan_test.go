package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/progress"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/program"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	mustbe "github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/methods"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// wide writes a table whose rows take more memory than the buffers of scratch files.
func wide(t *testing.T) string {
	t.Helper()
	return wideOf(t, planted.New(planted.Options{Rows: 6000, Columns: 400}))
}

// wideOf writes table with few row groups, because long footers take long to read.
func wideOf(t *testing.T, table stream.Source) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "wide.parquet")
	writeSource(t, path, table, chunkio.WriteOptions{RowGroupRows: 1500})
	return path
}

// What a method does where its limit is below what it needs to work in memory.
type outOfCore int

const (
	fitsAlways outOfCore = iota // its smallest limit is enough to work in memory
	rereads                     // it reads the input again and again
	scratches                   // it writes scratch files, at the smallest limit at least
)

// TestPlanKeepsItsWord: at every limit that plan names, and one between, passes, scratch
// space and peak are as planned. A MiB less than the smallest limit fails and names it, and
// so does a byte less of scratch space.
func TestPlanKeepsItsWord(t *testing.T) {
	clean, _ := plant(t, 1500, 2)
	_, few := plant(t, 300, 1)
	holes, _ := plantHoled(t, 1500, 2)
	wide, wideHoles := wide(t), wideOf(t, holed(planted.New(planted.Options{Rows: 6000, Columns: 400})))
	pixels, pixelHoles := wideOf(t, planted.New(planted.Options{Rows: 2400, Columns: 144})), wideOf(t, holed(planted.New(planted.Options{Rows: 2400, Columns: 144})))
	const iterates = " --max-iter 2 --clusters 3"
	const cells = iterates + " --shape 12x12"
	for i, c := range []struct {
		args, in string
		outOfCore
	}{
		{"--method greedy", clean, fitsAlways},
		{"--method partgreedy", clean, fitsAlways},
		{"--method variance", clean, fitsAlways},
		{"--method random", clean, fitsAlways},
		{"--method sfufs --anchors 400", clean, fitsAlways},
		{"--method sfufs --constraint identity --anchors 400", clean, fitsAlways},
		{"--method fufs --anchors 400", clean, fitsAlways},
		{"--method laplacian --anchors 400", clean, fitsAlways},
		{"--method mcfs --anchors 400", clean, fitsAlways},
		{"--method graphgreedy --missing mean --anchors 400", holes, rereads},
		{"--method graphgreedy --target spectral --anchors 400", clean, rereads},
		{"--method graphgreedy --target scatter --anchors 400", clean, fitsAlways},
		{"--method graphgreedy --missing drop-row --anchors 400", holes, rereads},
		{"--method graphgreedy --anchor-method kmeans --anchors 100", clean, rereads},
		{"--method laplacian --anchors-file " + copied(t, few[0]), clean, fitsAlways},
		{"--method eufs --missing mean" + iterates, wideHoles, scratches},
		{"--method hufs --missing drop-row" + iterates, wideHoles, scratches},
		{"--method eufs --sample 1000" + iterates, wide, fitsAlways}, // too little for files to save anything
		{"--method hufs --tree correlation" + iterates, wide, scratches},
		{"--method eufs --graph anchor --state float32" + iterates, wide, scratches},
		{"--method cpufs --graph anchor" + cells, pixels, scratches},
		{"--method cpufsnn --graph anchor" + cells, pixels, scratches},
		{"--method cpufs" + cells, pixels, rereads},
		{"--method cpufs --sample 1000" + cells, pixels, rereads},
		{"--method cpufs --graph anchor --missing mean" + cells, pixelHoles, scratches},
		{"--method cpufs --graph anchor --missing drop-row" + cells, pixelHoles, scratches},
	} {
		t.Run(c.args, func(t *testing.T) {
			if !long.TakesCase(i, 5) {
				long.SkipTest(t)
			}
			request := append(strings.Fields(c.args), c.in)
			flags := append(slices.Clone(request), "-k", "3")
			f := forecastOf(t, flags...)
			m := f.Memory
			if (m.Smallest < m.InMemory) != (c.outOfCore != fitsAlways) {
				t.Errorf("out of core should need less memory (%v): got %+v", c.outOfCore != fitsAlways, m)
			}
			if c.in == clean && (f.Features != 50 || f.Rows != 1500 || f.Files != 2 || m.Anchors == 0 && f.Passes.Least != 1) {
				t.Errorf("forecast: got %+v, want 50 features, 1500 rows, 2 files", f)
			}
			for _, limit := range slices.Compact([]int64{m.Smallest, (m.Smallest + m.InMemory) / 2, m.InMemory}) {
				if at := keepsItsWord(t, c.outOfCore, limit, flags); at.Smallest != m.Smallest || at.InMemory != m.InMemory {
					t.Errorf("limit %d: %+v, want the limits of %+v", limit, at, m)
				}
			}
			for _, verb := range []string{"plan", "select"} {
				ends(t, exit.Memory, mebibytes(m.Smallest), append([]string{verb, "--memory-limit", fmt.Sprint(m.Smallest - 1<<20)}, flags...)...)
			}
			if m.Anchors > 0 && c.outOfCore == fitsAlways { // its statistics can be scanned
				if m.Anchors > m.Statistics || m.Peak != m.Program+m.Statistics+max(m.Reading+m.Kept+m.Slack, m.Solver) {
					t.Errorf("parts of the peak memory do not add up: %+v", m)
				}
				stats := filepath.Join(t.TempDir(), "stats.ufs")
				must(t, append([]string{"scan", "-o", stats}, request...)...)
				smallestLimit(t, "select", flags[0], flags[1], "--stats", stats, "-k", "3")
			}
		})
	}
}

// keepsItsWord plans and selects with a limit, and with no more scratch space than planned.
func keepsItsWord(t *testing.T, o outOfCore, limit int64, flags []string) ufs.Budget {
	t.Helper()
	flags = append(slices.Clone(flags), "--memory-limit", fmt.Sprint(limit))
	f := forecastOf(t, flags...)
	m := f.Memory
	scratch := f.Scratch > 0
	if m.Peak > limit || m.OutOfCore != (limit < m.InMemory) || scratch && (o != scratches || !m.OutOfCore) || limit == m.Smallest && scratch != (o == scratches) {
		t.Errorf("limit %d: %d bytes of scratch, %+v", limit, f.Scratch, m)
	}
	enough := flags
	if scratch {
		enough = append(slices.Clone(flags), "--max-temp-size", fmt.Sprint(f.Scratch))
		little := append([]string{"select", "--max-temp-size", fmt.Sprint(f.Scratch - 1)}, flags...)
		ends(t, exit.Memory, "--max-temp-size", little...)
		ends(t, exit.Memory, mebibytes(m.InMemory), little...)
	}
	s := selection(t, enough...)
	if s.Passes < f.Passes.Least || s.Passes > f.Passes.Most || s.Memory.Scratch > f.Scratch {
		t.Errorf("limit %d: %d passes, planned %d to %d; %d bytes of scratch, planned %d", limit, s.Passes, f.Passes.Least, f.Passes.Most, s.Memory.Scratch, f.Scratch)
	}
	return m
}

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }

// smallestLimit wants a command that has too little memory to name a limit that works. A
// MiB less must fail and name the same limit. merge may take two steps, because it knows
// what a merged sample needs only once it has read the parts.
func smallestLimit(t *testing.T, args ...string) {
	t.Helper()
	name, steps := "1MiB", 0
	var n program.Bytes
	for r := invoke(append(args, "--memory-limit", name)...); r.code != exit.Done; r = invoke(append(args, "--memory-limit", name)...) {
		var found bool
		_, name, found = strings.Cut(retryCommand(r.err), "--memory-limit ")
		if steps++; r.code != exit.Memory || !found || n.Set(name) != nil || steps > 2 || steps > 1 && args[0] != "merge" {
			t.Fatalf("%v, step %d: exit code %d: %s", args, steps, r.code, r.err)
		}
	}
	if r := invoke(append(args, "--memory-limit", fmt.Sprint(int64(n)-1<<20))...); r.code != exit.Memory || !strings.HasSuffix(strings.TrimSpace(r.err), name) {
		t.Errorf("%v: exit code %d below the smallest limit, %s: %s", args, r.code, name, r.err)
	}
}

// TestGraphSmallestLimits: every command on the way over shards names the limit it needs.
func TestGraphSmallestLimits(t *testing.T) {
	in, paths := plantHoled(t, 3000, 2)
	at := folder(t)
	for _, drawn := range []string{"random", "kmeans"} {
		scan := []string{"scan", in, "--method", "sfufs", "--anchor-method", drawn, "--missing", "mean", "--anchors", "300"}
		for _, n := range []string{"1", "2"} {
			smallestLimit(t, append(scan, "--profile-only", "--shard", n+"/2", "-o", at("p"+n+".ufs"))...)
		}
		smallestLimit(t, "merge", at("p1.ufs"), at("p2.ufs"), "-o", at("p.ufs"))
		for _, n := range []string{"1", "2"} {
			smallestLimit(t, append(scan, "--profile", at("p.ufs"), "--shard", n+"/2", "-o", at("s"+n+".ufs"))...)
		}
		smallestLimit(t, "merge", at("s1.ufs"), at("s2.ufs"), "-o", at("s.ufs"))
		smallestLimit(t, "path", "--method", "sfufs", "--stats", at("s.ufs"), "--gamma", "1,10")
	}
	smallestLimit(t, "select", in, "--method", "laplacian", "--missing", "zero", "--anchors-file", paths[0])
}

// TestOptionsSpelled: whatever a method says of itself in a plan, a path or a refusal names options as
// flags; invoke looks for marks that do not.
func TestOptionsSpelled(t *testing.T) {
	pixels := wideOf(t, planted.New(planted.Options{Rows: 200, Columns: 12}))
	for _, m := range methods.All() {
		args := []string{pixels, "-k", "3", "--method", m.Name}
		if m.Takes.Cells {
			args = append(args, "--shape", "3x4")
		}
		for _, more := range []string{"", "--memory-limit 1MiB", "--format json", "--scale rank", "--variance 0.5", "--refine swap", "--smooth auto", "--keep x00000", "--sketch 40", "--sample 0", "--missing pairwise"} {
			for i, verb := range []string{"plan", "path"} {
				if !long.TakesCase(i+len(m.Name)+len(more), 2) {
					continue
				}
				invoke(slices.Concat([]string{verb}, args, strings.Fields(more))...)
			}
		}
	}
}

// TestPlanSmallestOfFactors: where features outnumber rows the Gram matrix is a factor, which plan says
// and bounds, and select keeps to.
func TestPlanSmallestOfFactors(t *testing.T) {
	wide := wideOf(t, planted.New(planted.Options{Rows: 100, Columns: 1200}))
	for _, method := range []string{"greedy", "partgreedy", "graphgreedy", "graphgreedy --target scatter", "laplacian", "mcfs", "align", "spec", "sfufs --max-iter 3"} {
		args := append([]string{wide, "-k", "20", "--method"}, strings.Fields(method)...)
		if f := forecastOf(t, args...).Memory; f.Factor != 100 || f.OutOfCore {
			t.Errorf("%s: %+v, want a factor of 100 rows", method, f)
		}
		smallestLimit(t, append([]string{"select"}, args...)...)
	}
	if out := must(t, "plan", wide, "--method", "greedy"); !strings.Contains(out, "a factor of 100 rows") {
		t.Errorf("plan says\n%s", out)
	}
}

// TestPlanSmallestOutOfCore: plan names the limit for going out of core as the smallest, if
// it is the lower one, also where the planned run stays in memory.
func TestPlanSmallestOutOfCore(t *testing.T) {
	path := fixtures.DatasetPath(t, "coil20.parquet")
	for _, method := range []string{"greedy", "graphgreedy --anchors 50 --scale none"} {
		flags := slices.Concat([]string{path, "-k", "4", "--label", "label", "--method"}, strings.Fields(method), []string{"--memory-limit"})
		in := forecastOf(t, append(flags, "2GiB")...).Memory
		if in.OutOfCore || in.Smallest >= in.InMemory {
			t.Fatalf("%+v: want the smallest limit below the one for staying in memory", in)
		}
		if m := forecastOf(t, append(flags, fmt.Sprint(in.InMemory))...).Memory; m.OutOfCore {
			t.Errorf("at %d bytes: %+v", in.InMemory, m)
		}
		if m := forecastOf(t, append(flags, fmt.Sprint(in.InMemory-1))...).Memory; !m.OutOfCore || m.Smallest != in.Smallest || m.InMemory != in.InMemory {
			t.Errorf("below: %+v, want the limits of %+v", m, in)
		}
		want := names(selection(t, flags[:len(flags)-1]...))
		r := invoke(append([]string{"select", "--format", "names", "--progress", "json"}, append(flags, fmt.Sprint(in.Smallest))...)...)
		if got := strings.Fields(r.out); r.code != exit.Done || !slices.Equal(got, want) {
			t.Fatalf("exit code %d, %v, want %v\n%s", r.code, got, want, r.err)
		}
		ends(t, exit.Memory, "", append([]string{"select"}, append(flags, fmt.Sprint(in.Smallest-1))...)...)
		// Every line of the progress says how many passes are to come.
		for line := range strings.Lines(r.err) {
			var s progress.Snapshot
			if strings.HasPrefix(line, "warning:") {
				continue
			}
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatalf("decoding the line %q: %v", line, err)
			}
			if s.Passes < max(s.Pass, 2) || s.Most < s.Passes {
				t.Errorf("pass %d of %d to %d", s.Pass, s.Passes, s.Most)
			}
		}
	}
}

// TestPeakMemory: a process of its own, with scratch files, stays below the smallest limit
// that plan names.
func TestPeakMemory(t *testing.T) {
	in := fixtures.DatasetPath(t, "mnist10k.parquet")
	for _, args := range []string{"--method eufs --graph anchor --state float32 --max-iter 3", "--method hufs --tree image --max-iter 3", "--method cpufs --graph anchor --max-iter 2"}[:long.CountCases(1, 3)] {
		flags := append(strings.Fields(args), in, "--label", "label", "--sample", "0", "--threads", "2")
		smallest := forecastOf(t, flags...).Memory.Smallest
		out, err := ownProcess(t, append([]string{"select", "--format", "json", "-q", "--memory-limit", fmt.Sprint(smallest)}, flags...)...).Output()
		if err != nil {
			t.Fatalf("select within the planned memory, %s: %v", args, err)
		}
		s, err := stream.DecodeSelection(bytes.NewReader(out))
		if err != nil {
			t.Fatalf("decoding the selection: %v", err)
		}
		if m := s.Memory; m.PeakRSS > smallest || m.Scratch == 0 {
			t.Errorf("%s: peak %d of %d bytes, %d of scratch", args, m.PeakRSS, smallest, m.Scratch)
		}
	}
}

// TestPlanInEveryVerb: a verb that reads data reads the files that a plan names, with the plan's condition and options for
// text, as it reads them as INPUT.
func TestPlanInEveryVerb(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var days [2]strings.Builder
	for i := range 600 {
		fmt.Fprintf(&days[i%2], "%d,%d,%d,%c\n", i*i%89, (i*7919)%101, i*i%89+i%3, 'a'+rune(i%4))
	}
	input := []string{at("in"), "--header", "no", "--where", "c1 > 20", "--union-by-name"}
	for i, text := range days {
		folder := at(fmt.Sprintf("in/day=%d", i))
		mustbe.Do(t, os.MkdirAll(folder, 0o700))
		write(t, filepath.Join(folder, "x.csv"), text.String())
	}
	must(t, slices.Concat([]string{"select"}, input, []string{"-k", "2", "--label", "c3", "-o", at("s.json")})...)
	must(t, slices.Concat([]string{"plan"}, input, []string{"-o", at("job.plan.json")})...)
	chosen := names(readSelection(t, at("s.json")))[0]
	for _, verb := range [][]string{
		{"apply", "--selection", at("s.json"), "--also", "day", "-o", at("out.parquet")},
		{"apply", "--selection", at("s.json"), "--format", "sql"},
		{"convert", "-o", at("out.parquet")},
		{"eval", "--selection", at("s.json"), "--label", "c3", "--runs", "2", "--resamples", "2", "-o", at("out.json")},
		{"explain", chosen, "--selection", at("s.json"), "-o", at("out.json")},
		{"inspect", "--scan", "-o", at("out.json")},
		{"redundancy", "-o", at("out.json")},
		{"tree", "--tree", "correlation", "-o", at("out.json")},
	} {
		var results [2]string
		for i, from := range [][]string{input, {"--plan", at("job.plan.json")}} {
			switch {
			case i == 0 && verb[0] == "explain": // the other options are in the selection
				from = from[:1]
			case i == 0 && verb[len(verb)-1] == "sql": // a query of columns
				from = from[:3]
			case i == 0 && (verb[0] == "apply" || verb[0] == "eval"): // the selection has the option union-by-name
				from = from[:5]
			}
			out := must(t, slices.Concat(verb, from)...)
			switch path := verb[len(verb)-1]; filepath.Ext(path) {
			case ".json":
				var result map[string]any
				mustbe.Do(t, json.Unmarshal(mustbe.Get(os.ReadFile(path))(t), &result))
				for _, measured := range []string{"timing", "memory", "transfer"} {
					delete(result, measured)
				}
				out = string(mustbe.Get(json.Marshal(result))(t))
			case ".parquet":
				out = string(mustbe.Get(os.ReadFile(path))(t))
			}
			results[i] = out
		}
		if results[0] != results[1] {
			t.Errorf("%v: with a plan %s\nwithout %s", verb, results[1], results[0])
		}
		ends(t, exit.Usage, "leave INPUT out", append(verb, at("in"), "--plan", at("job.plan.json"))...)
	}
}
