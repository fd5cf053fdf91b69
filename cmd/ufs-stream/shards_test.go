package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// planOf makes a plan file and returns its path.
func planOf(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.plan.json")
	must(t, append(append([]string{"plan"}, args...), "-o", path)...)
	return path
}

// mergedShards scans n shards of a plan, the last one first, and merges them.
func mergedShards(t *testing.T, plan string, n int, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := n; i >= 1; i-- {
		must(t, append([]string{"scan", "--plan", plan, "--shard", fmt.Sprintf("%d/%d", i, n), "-o", dir + "/parts/"}, args...)...)
	}
	all := filepath.Join(dir, "all.ufs")
	must(t, "merge", dir+"/parts/", "-o", all)
	return all
}

// sameAnswer compares two selections: what is chosen and left out exactly, numbers but for
// rounding.
func sameAnswer(t *testing.T, got, want *stream.Selection) {
	t.Helper()
	for _, s := range []*stream.Selection{got, want} { // what may differ
		s.Passes, s.Timing, s.Memory, s.Transfer, s.Version, s.Warnings, s.Why = 0, stream.Timing{}, stream.Memory{}, nil, "", nil, ""
		for i := range s.Inputs {
			s.Inputs[i].Path = filepath.Base(s.Inputs[i].Path)
		}
	}
	if where := differ(asJSON(t, got), asJSON(t, want), "selection"); where != "" {
		t.Errorf("the answers differ: %s", where)
	}
}

func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatalf("decoding the output: %v", err)
	}
	return out
}

// differ says where two values of JSON differ: numbers by more than 1e-12 of the larger, or of
// 1, as sums of other orders round.
func differ(a, b any, at string) string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: %v against %v", at, a, b)
		}
		for k := range x {
			if d := differ(x[k], y[k], at+"."+k); d != "" {
				return d
			}
		}
		return ""
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return fmt.Sprintf("%s: %v against %v", at, a, b)
		}
		for i := range x {
			if d := differ(x[i], y[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
		return ""
	case float64:
		if y, ok := b.(float64); ok && math.Abs(x-y) <= 1e-12*max(1, math.Abs(x), math.Abs(y)) {
			return ""
		}
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return fmt.Sprintf("%s: %v against %v", at, a, b)
}

// TestShardsOfAPlanAddUp: the shards of a plan, merged, answer as one scan of the same input
// does, whatever decides about rows, weights and missing values; with a round of profiles where
// the plan asks for one.
func TestShardsOfAPlanAddUp(t *testing.T) {
	whole, _ := plant(t, 900, 3)
	holes, _ := plantHoled(t, 900, 3)
	weighted, _ := plantSource(t, editedTable{planted.New(planted.Options{Rows: 900, GroupRow: 100}), func(c *stream.Chunk, i int) {
		c.Col(7)[i] = float64(c.Position(i) % 4)
	}}, 3)
	sparse := t.TempDir()
	for i := range int64(3) {
		writeSource(t, fmt.Sprintf("%s/%d.parquet", sparse, i), sparseCounts(300, i == 0), chunkio.WriteOptions{RowGroupRows: 100, Sparse: true})
	}
	for name, c := range map[string]struct {
		in, plan string
		rounds   bool
	}{
		"sparse":           {sparse, "--sparse indices,values", false},
		"greedy":           {whole, "", false},
		"mean":             {holes, "--missing mean --label x004", false},
		"zero":             {holes, "--missing zero", false},
		"error":            {whole, "--missing error --exclude x01*", false},
		"drop-row":         {holes, "--missing drop-row", true},
		"weights":          {weighted, "--weight x007", false},
		"where":            {whole, "--where x000>0", false},
		"nothing left out": {whole, "--columns x00*,x03* --scale minmax", false},
	} {
		t.Run(name, func(t *testing.T) {
			flags := strings.Fields(c.plan)
			one := filepath.Join(t.TempDir(), "one.ufs")
			var method []string
			if c.plan != "" { // the survey, by which a method is recommended, takes most of the time
				method = []string{"--method", "greedy"}
			}
			must(t, append([]string{"scan", c.in, "-o", one}, slices.DeleteFunc(slices.Clone(flags), func(s string) bool { return s == "--scale" || s == "minmax" })...)...)
			want := selection(t, append(method, "--stats", one, "-k", "6")...)
			if c.in == sparse { // a plan has counted the features
				want.Options["sparse"] = "indices,values,12"
			}
			plan := planOf(t, append(flags, c.in)...)
			for _, n := range []int{4, 1, 11}[:long.CountCases(1, 3)] { // of 9 row groups
				var round []string
				if c.rounds {
					round = []string{"--profile", mergedShards(t, plan, n, "--profile-only")}
				}
				sameAnswer(t, selection(t, append(method, "--stats", mergedShards(t, plan, n, round...), "-k", "6")...), want)
			}
			if c.in == whole && c.plan == "" {
				sameAnswer(t, selection(t, "--plan", plan, "-k", "6"), selection(t, c.in, "-k", "6"))
			}
		})
	}
}

// sparseCounts is a table of rows of few counts; its last feature may be absent from all.
func sparseCounts(rows int, last bool) stream.Source {
	const cols = 12
	m := memory{rows: rows, data: make([]float64, rows*cols)}
	for j := range cols {
		m.columns = append(m.columns, stream.Column{Name: fmt.Sprintf("c%d", j), Type: "float"})
		for i := range rows {
			if (i*(j+3)+j)%5 == 0 && (j < cols-1 || last && i < 100) {
				m.data[j*rows+i] = float64((i*i+j*i)%7 + 1)
			}
		}
	}
	return m
}

// TestGraphOfAPlan: a graph takes two rounds, and its anchors are those of one scan.
func TestGraphOfAPlan(t *testing.T) {
	in, _ := plant(t, 900, 3)
	anchors := filepath.Join(t.TempDir(), "anchors.parquet")
	writeSource(t, anchors, planted.Part{Source: planted.New(planted.Options{Rows: 900, GroupRow: 100}), Range: stream.Range{To: 100}}, chunkio.WriteOptions{})
	for _, flags := range []string{"--method sfufs --anchors 40", "--method laplacian --anchors 30 --anchor-method kmeans", "--method sfufs --anchors 30 --anchor-method balanced", "--method graphgreedy --anchors-file " + anchors} {
		t.Run(flags[9:20], func(t *testing.T) {
			args := strings.Fields(flags)
			dir := t.TempDir()
			profile, one := filepath.Join(dir, "profile.ufs"), filepath.Join(dir, "one.ufs")
			must(t, append([]string{"scan", in, "--profile-only", "-o", profile}, args...)...)
			must(t, append([]string{"scan", in, "--profile", profile, "-o", one}, args...)...)
			want := selection(t, "--stats", one, "-k", "5", "--method", args[1])
			plan := planOf(t, append(args, in)...)
			for _, n := range []int{4, 1}[:long.CountCases(1, 2)] {
				ends(t, exit.Usage, "--profile", "scan", "--plan", plan, "--shard", "1/4", "-o", dir+"/no.ufs")
				got := mergedShards(t, plan, n, "--profile", mergedShards(t, plan, n, "--profile-only"))
				s := selection(t, "--stats", got, "-k", "5", "--method", args[1])
				if a, b := names(s), names(want); !slices.Equal(a, b) {
					t.Errorf("%d shards: %v, want %v", n, a, b)
				}
				for i := range s.Selected {
					if x, y := float64(s.Selected[i].Score), float64(want.Selected[i].Score); math.Abs(x-y) > 1e-9*max(1, math.Abs(y)) { // eigenvectors amplify rounding
						t.Errorf("%d shards: score %v, want %v", n, x, y)
					}
				}
			}
		})
	}
}

// TestPartsAreNotMadeTwice: what is there is left alone and nothing is read for it; anything else
// at its place is refused.
func TestPartsAreNotMadeTwice(t *testing.T) {
	in, files := plant(t, 900, 3)
	plan := planOf(t, in, "--label", "x001")
	other := planOf(t, in)
	dir := t.TempDir()
	part := filepath.Join(dir, "part-00002-of-00003.ufs")
	must(t, "scan", "--plan", plan, "--shard", "2/3", "-o", dir)
	before := stat(t, part)
	time.Sleep(10 * time.Millisecond)
	must(t, "scan", "--plan", plan, "--shard", "1/3", "-o", dir)
	for _, f := range files {
		if err := os.Rename(f, f+".gone"); err != nil {
			t.Fatalf("moving a file: %v", err)
		}
	}
	r := invoke("scan", "--plan", plan, "--shard", "2/3", "-o", dir+"/")
	if r.code != exit.Done || !strings.Contains(r.err, part+" is there already: 300 rows") || stat(t, part).ModTime() != before.ModTime() {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if r := invoke("-q", "scan", "--plan", plan, "--shard", "2/3", "-o", part); r.code != exit.Done || r.err != "" {
		t.Errorf("with -q: exit code %d: %s", r.code, r.err)
	}
	ends(t, exit.Data, "is not there", "scan", "--plan", plan, "--shard", "3/3", "-o", dir)
	for _, f := range files {
		if err := os.Rename(f+".gone", f); err != nil {
			t.Fatalf("moving a file: %v", err)
		}
	}
	plain := filepath.Join(dir, "plain.ufs")
	must(t, "scan", in, "-o", plain)
	text := write(t, filepath.Join(dir, "text.ufs"), "nothing of the kind")
	whole := read(t, part)
	cut := write(t, filepath.Join(dir, "cut.ufs"), whole[:len(whole)-1])
	checkAll(t, []outcome{
		{"scan --plan " + other + " --shard 2/3 -o " + dir, exit.Usage, "belongs to another plan"},
		{"scan --plan " + plan + " --shard 2/4 -o " + part, exit.Usage, "has shard 2 of 3"},
		{"scan --plan " + plan + " --shard 3/3 -o " + part, exit.Usage, "has shard 2 of 3"},
		{"scan --plan " + plan + " --shard 2/3 --profile-only -o " + dir, exit.Usage, "is of kind gram, not profile"},
		{"scan --plan " + plan + " --shard 2/3 -o " + plain, exit.Usage, "belongs to no plan"},
		{"scan --plan " + plan + " --shard 2/3 -o " + text, exit.Data, "not a statistics file"},
		{"scan --plan " + plan + " --shard 2/3 -o " + cut, exit.Data, "the file ends early"},
	}, dir, plan, other)
	profile := mergedShards(t, plan, 3, "--profile-only")
	ends(t, exit.Usage, "with another --profile", "scan", "--plan", plan, "--shard", "2/3", "-o", dir, "--profile", profile)
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatalf("finding a file: %v", err)
	}
	return fi
}

// TestPlanSettlesFlags: what shapes statistics comes from the plan, and is refused beside it.
func TestPlanSettlesFlags(t *testing.T) {
	in, _ := plant(t, 300, 1)
	dir := t.TempDir()
	plan := planOf(t, in, "--label", "x001")
	graph := planOf(t, in, "--method", "sfufs")
	var all []outcome
	for _, flags := range []string{
		"--label x002", "--weight x003", "--sparse a,b", "--where x001>0", "--missing error", "--missing zero", "--columns x00*", "--exclude x002", "--seed 7", "--method sfufs", "--scale none",
		"--neighbors 3", "--anchors 5", "--partitions 3",
	} {
		option, _, _ := strings.Cut(flags, " ")
		all = append(all, outcome{"scan --plan " + plan + " --shard 1/2 -o " + dir + " " + flags, exit.Usage, option})
	}
	for flags, says := range map[string]string{
		"--rows 100":           "--rows",
		"--checkpoint " + dir:  "--checkpoint",
		"--on-error skip-file": "--on-error",
		"--version 3":          "--version",
		in:                     "leave INPUT out",
		"--shard 0/2":          "1 <= I <= N",
		"--shard 1/2 --profile-only --profile " + dir: "--profile",
	} {
		all = append(all, outcome{"scan --plan " + plan + " -o " + dir + " " + flags, exit.Usage, says})
	}
	all = append(all, []outcome{
		{"scan --plan " + graph + " --shard 1/2 -o " + dir + " --anchors 7", exit.Usage, "--anchors"},
		{"scan --plan " + dir + "/no.plan.json -o " + dir, exit.Data, "no such file"},
		{"scan --plan " + plan, exit.Usage, "-o"},
		{"select --plan " + plan + " --stats x.ufs", exit.Usage, "not both"},
		{"select " + plan, exit.Usage, "read what it names with --plan"},
		{"plan " + in + " --rows 10 -o " + dir + "/x.plan.json", exit.Usage, "--rows"},
		{"plan " + in + " -o " + dir + "/no/x.plan.json", exit.Fault, "no"},
		{"plan " + in + " --format table -o " + dir + "/x.plan.json", exit.Usage, "--format"},
	}...)
	checkAll(t, all, dir, plan, graph, in)
	if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// The same words again are no contradiction, and limits are free.
	must(t, "scan", "--plan", plan, "--label", "x001", "--threads", "1", "--memory-limit", "1GiB", "-o", dir+"/one.ufs")
}

// TestVerbsReadByPlan: every verb that reads an input reads what a plan names, with the options
// of the plan; another method leaves those of the plan's method.
func TestVerbsReadByPlan(t *testing.T) {
	in, _ := plant(t, 300, 2)
	plan := planOf(t, in, "--label", "x001", "--scale", "none", "--method", "partgreedy", "--partitions", "4")
	input := []string{in, "--label", "x001"}
	own := append(slices.Clone(input), "--scale", "none", "--method", "partgreedy", "--partitions", "4")
	sameAnswer(t, selection(t, "--plan", plan, "-k", "4"), selection(t, append(own, "-k", "4")...))
	sameAnswer(t, selection(t, "--plan", plan, "-k", "4", "--partitions", "2"), selection(t, append(append([]string{}, own[:len(own)-1]...), "2", "-k", "4")...))
	sameAnswer(t, selection(t, "--plan", plan, "-k", "4", "--method", "variance"), selection(t, append(input, "-k", "4", "--method", "variance")...))
	sameAnswer(t, selection(t, "--plan", plan, "-k", "4", "--method", "eufs", "--columns", "x00*"), selection(t, append(input, "-k", "4", "--method", "eufs", "--columns", "x00*")...))
	for _, verb := range []string{"inspect --scan", "tree --tree correlation"} {
		args := strings.Fields(verb)
		if got, want := must(t, append(args, "--plan", plan)...), must(t, append(args, input...)...); got != want {
			t.Errorf("%s says\n%s\nand of the input\n%s", verb, got, want)
		}
	}
	if got, want := forecastOf(t, "--plan", plan, "-k", "4"), forecastOf(t, append(own, "-k", "4")...); got.Rows != want.Rows || got.Bytes != want.Bytes || got.Features != want.Features || got.Method != want.Method {
		t.Errorf("plan says %+v, and of the input %+v", got, want)
	}
	must(t, "path", "--plan", plan, "-k", "4")
	if again := planOf(t, "--plan", plan); read(t, again) != read(t, plan) {
		t.Error("a plan of a plan is another one")
	}
}
