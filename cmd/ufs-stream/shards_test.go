package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/internal/planted"
	"github.com/ufs-stream/ufs-stream/internal/store/storetest"
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
		s.Passes, s.Timing, s.Memory, s.Transfer, s.Version, s.Warnings = 0, stream.Timing{}, stream.Memory{}, nil, "", nil
		for i := range s.Inputs {
			s.Inputs[i].Path = filepath.Base(s.Inputs[i].Path)
		}
	}
	if where := differ(asJSON(t, got), asJSON(t, want), "selection"); where != "" {
		t.Errorf("%s", where)
	}
}

func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
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
	for name, c := range map[string]struct {
		in, plan string
		rounds   bool
	}{
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
			must(t, append([]string{"scan", c.in, "-o", one}, slices.DeleteFunc(slices.Clone(flags), func(s string) bool { return s == "--scale" || s == "minmax" })...)...)
			want := selection(t, "--stats", one, "-k", "6")
			plan := planOf(t, append(flags, c.in)...)
			for _, n := range []int{1, 2, 5, 40} { // of 9 row groups
				var round []string
				if c.rounds {
					round = []string{"--profile", mergedShards(t, plan, n, "--profile-only")}
				}
				sameAnswer(t, selection(t, "--stats", mergedShards(t, plan, n, round...), "-k", "6"), want)
				want = selection(t, "--stats", one, "-k", "6")
			}
			if c.in == whole && c.plan == "" {
				sameAnswer(t, selection(t, "--plan", plan, "-k", "6"), selection(t, c.in, "-k", "6"))
			}
		})
	}
}

// TestGraphOfAPlan: a graph takes two rounds, and its anchors are those of one scan.
func TestGraphOfAPlan(t *testing.T) {
	in, _ := plant(t, 900, 3)
	anchors := filepath.Join(t.TempDir(), "anchors.parquet")
	writeSource(t, anchors, rowsOf{planted.New(planted.Options{Rows: 900, GroupRow: 100}), stream.Range{To: 100}}, chunkio.WriteOptions{})
	for _, flags := range []string{"--method sfufs --anchors 40", "--method laplacian --anchors 30 --anchor-method kmeans", "--method graphgreedy --anchors-file " + anchors} {
		t.Run(flags[9:20], func(t *testing.T) {
			args := strings.Fields(flags)
			dir := t.TempDir()
			profile, one := filepath.Join(dir, "profile.ufs"), filepath.Join(dir, "one.ufs")
			must(t, append([]string{"scan", in, "--profile-only", "-o", profile}, args...)...)
			must(t, append([]string{"scan", in, "--profile", profile, "-o", one}, args...)...)
			want := selection(t, "--stats", one, "-k", "5", "--method", args[1])
			plan := planOf(t, append(args, in)...)
			for _, n := range []int{1, 4} {
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
			t.Fatal(err)
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
			t.Fatal(err)
		}
	}
	plain := filepath.Join(dir, "plain.ufs")
	must(t, "scan", in, "-o", plain)
	text := write(t, filepath.Join(dir, "text.ufs"), "nothing of the kind")
	checkAll(t, []outcome{
		{"scan --plan " + other + " --shard 2/3 -o " + dir, exit.Usage, "is of another plan"},
		{"scan --plan " + plan + " --shard 2/4 -o " + part, exit.Usage, "has shard 2 of 3"},
		{"scan --plan " + plan + " --shard 3/3 -o " + part, exit.Usage, "has shard 2 of 3"},
		{"scan --plan " + plan + " --shard 2/3 --profile-only -o " + dir, exit.Usage, "is of kind gram, not profile"},
		{"scan --plan " + plan + " --shard 2/3 -o " + plain, exit.Usage, "is of no plan"},
		{"scan --plan " + plan + " --shard 2/3 -o " + text, exit.Data, "not a statistics file"},
	}, dir, plan, other)
	profile := mergedShards(t, plan, 3, "--profile-only")
	ends(t, exit.Usage, "with another --profile", "scan", "--plan", plan, "--shard", "2/3", "-o", dir, "--profile", profile)
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
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
		"--label x002", "--weight x003", "--sparse a,b", "--where x001>0", "--missing mean", "--columns x00*", "--exclude x002", "--seed 7", "--method sfufs", "--scale none",
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

// TestSmallestLimitOfAShard: the limit that plan names is enough for any shard, and less is
// refused with a number that is.
func TestSmallestLimitOfAShard(t *testing.T) {
	in, _ := plant(t, 900, 3)
	path := filepath.Join(t.TempDir(), "job.plan.json")
	r := invoke("plan", in, "-o", path)
	var limit int
	_, after, ok := strings.Cut(r.err, "a shard needs --memory-limit ")
	if _, err := fmt.Sscanf(after, "%dMiB", &limit); !ok || err != nil {
		t.Fatalf("plan said %s", r.err)
	}
	for i := 1; i <= 3; i++ {
		args := []string{"scan", "--plan", path, "--shard", fmt.Sprintf("%d/3", i), "-o", t.TempDir() + "/", "--memory-limit"}
		must(t, append(args, fmt.Sprintf("%dMiB", limit))...)
		args[6] = t.TempDir() + "/"
		ends(t, exit.Memory, fmt.Sprintf("%dMiB", limit), append(args, fmt.Sprintf("%dMiB", limit-1))...)
	}
}

// TestTwoAtOnce: two machines that scan one shard into one place, or make one plan, leave one
// whole file, and the same one.
func TestTwoAtOnce(t *testing.T) {
	in, _ := plant(t, 900, 3)
	dir := t.TempDir()
	var first string
	for range 3 {
		var running sync.WaitGroup
		for range 2 {
			running.Go(func() {
				if r := invoke("plan", in, "-o", dir+"/job.plan.json"); r.code != exit.Done {
					t.Errorf("plan: exit code %d: %s", r.code, r.err)
				}
			})
		}
		running.Wait()
		for range 3 {
			running.Go(func() {
				if r := invoke("scan", "--plan", dir+"/job.plan.json", "--shard", "2/3", "-o", dir+"/parts/"); r.code != exit.Done {
					t.Errorf("scan: exit code %d: %s", r.code, r.err)
				}
			})
		}
		running.Wait()
		got := read(t, dir+"/parts/part-00002-of-00003.ufs")
		if first == "" {
			first = got
		}
		if got != first {
			t.Error("the part is another one")
		}
		if files, _ := filepath.Glob(dir + "/parts/*"); len(files) != 1 {
			t.Errorf("files %v", files)
		}
		os.Remove(dir + "/parts/part-00002-of-00003.ufs")
	}
	// Parts of two plans in one folder do not get along.
	must(t, "scan", "--plan", dir+"/job.plan.json", "--shard", "1/2", "-o", dir+"/mixed/")
	must(t, "scan", "--plan", planOf(t, in, "--seed", "5"), "--shard", "2/2", "-o", dir+"/mixed/")
	if r := invoke("merge", dir+"/mixed/", "-o", dir+"/all.ufs"); r.code != exit.Usage || !strings.Contains(r.err, "parts of two plans") {
		t.Errorf("parts of two plans: exit code %d: %s", r.code, r.err)
	}
}

// TestMissingWithoutARound: a shard that meets a missing value says what has to be done first.
func TestMissingWithoutARound(t *testing.T) {
	holes, _ := plantHoled(t, 900, 3)
	for _, missing := range []string{"error", "drop-row"} {
		path := filepath.Join(t.TempDir(), "job.plan.json")
		r := invoke("plan", holes, "--missing", missing, "-o", path)
		if r.code != exit.Done || !strings.Contains(r.err, "a round of profiles comes first") {
			t.Errorf("plan: exit code %d: %s", r.code, r.err)
		}
		ends(t, exit.Usage, "scan --profile-only, merge", "scan", "--plan", path, "--shard", "1/3", "-o", t.TempDir()+"/")
	}
}

// TestPlanAndPartsInAStore: input, plan, parts and profile lie in a store, and a part that is
// there is not scanned again.
func TestPlanAndPartsInAStore(t *testing.T) {
	s := storetest.S3(t)
	_, files := plantHoled(t, 900, 3)
	for i, f := range files {
		s.Put(fmt.Sprintf("lake/in/%d.parquet", i), []byte(read(t, f)))
	}
	plan, first, second := s.URL("lake/job.plan.json"), s.URL("lake/profiles/"), s.URL("lake/parts/")
	must(t, "plan", s.URL("lake/in/"), "--missing", "drop-row", "-o", plan)
	shards := func(to string, args ...string) {
		for _, shard := range []string{"3/3", "1/3", "2/3"} {
			must(t, append([]string{"scan", "--plan", plan, "--shard", shard, "-o", to}, args...)...)
		}
	}
	shards(first, "--profile-only")
	must(t, "merge", first, "-o", s.URL("lake/profile.ufs"))
	shards(second, "--profile", s.URL("lake/profile.ufs"))
	r := invoke("scan", "--plan", plan, "--shard", "3/3", "-o", second, "--profile", s.URL("lake/profile.ufs"))
	if r.code != exit.Done || !strings.Contains(r.err, "part-00003-of-00003.ufs") || !strings.Contains(r.err, "is there already: 300 rows") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	must(t, "merge", second, "-o", s.URL("lake/all.ufs"))
	got, want := selection(t, "--stats", s.URL("lake/all.ufs"), "-k", "6"), selection(t, filepath.Dir(files[0]), "--missing", "drop-row", "-k", "6")
	if a, b := names(got), names(want); !slices.Equal(a, b) || got.RowsUsed != want.RowsUsed {
		t.Errorf("%v of %d rows, want %v of %d", a, got.RowsUsed, b, want.RowsUsed)
	}
	s.Put("lake/in/1.parquet", []byte(read(t, files[0])))
	ends(t, exit.Data, "changed since the plan", "scan", "--plan", plan, "--shard", "2/3", "--profile", s.URL("lake/profile.ufs"), "-o", t.TempDir())
}

// TestSignaturesInAPlanStayThere: a plan of signed URLs works, and nobody is shown what signs
// them.
func TestSignaturesInAPlanStayThere(t *testing.T) {
	_, files := plant(t, 300, 2)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(files[0]))))
	defer server.Close()
	dir := t.TempDir()
	plan := dir + "/job.plan.json"
	var said []string
	tell := func(code int, args ...string) {
		r := invoke(args...)
		if said = append(said, r.out, r.err); r.code != code {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.err)
		}
	}
	tell(exit.Done, "-v", "plan", server.URL+"/part-000.parquet?sig=hidden", server.URL+"/part-001.parquet?sig=hidden", "-o", plan)
	tell(exit.Done, "-v", "scan", "--plan", plan, "--shard", "1/2", "-o", dir)
	tell(exit.Done, "-v", "scan", "--plan", plan, "--shard", "1/2", "-o", dir)
	tell(exit.Done, "select", "--plan", plan, "-k", "3", "--format", "json")
	tell(exit.Done, "inspect", "--plan", plan, "-v")
	if err := os.WriteFile(files[1], []byte(read(t, files[0])), 0o666); err != nil {
		t.Fatal(err)
	}
	tell(exit.Data, "scan", "--plan", plan, "--shard", "2/2", "-o", dir)
	damaged := strings.Replace(read(t, plan), "hidden", "hiddem", 1)
	tell(exit.Data, "scan", "--plan", write(t, dir+"/other.plan.json", damaged), "--shard", "2/2", "-o", dir)
	said = append(said, read(t, dir+"/part-00001-of-00002.ufs"))
	if text := strings.Join(said, ""); strings.Contains(text, "hidde") {
		t.Errorf("the signature is shown: %s", text)
	}
	if !strings.Contains(read(t, plan), "hidden") || runtime.GOOS != "windows" && stat(t, plan).Mode().Perm() != 0o600 {
		t.Errorf("mode %v", stat(t, plan).Mode())
	}
}
