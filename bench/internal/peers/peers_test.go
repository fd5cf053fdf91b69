package peers

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdb"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/testtool"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, gen.New}

func TestMain(m *testing.M) { benchtest.Main(m) }

// importsScikitLearn reports whether the default Python has scikit-learn.
var importsScikitLearn = sync.OnceValue(func() bool {
	_, _, err := workshop.RunChild(context.Background(), defaultOptions().python, "-c", "import sklearn")
	return err == nil
})

// needsScikitLearn skips the test if the default Python has no scikit-learn.
func needsScikitLearn(t *testing.T) {
	t.Helper()
	if !importsScikitLearn() {
		t.Skipf("%s has no scikit-learn, by which this test selects: apt-get install python3-sklearn", defaultOptions().python)
	}
}

// tinyPeers returns options for 200 rows of one set, and sets up a scratch folder.
func tinyPeers(t *testing.T) *options {
	t.Helper()
	needsScikitLearn(t)
	o := defaultOptions()
	w, err := benchtest.BuildOnce()
	if err != nil {
		t.Fatalf("building ufs-stream: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	path := filepath.Join(t.TempDir(), "small.parquet")
	bench.MakePlanted(t, path, 250, 30, "--label")
	o.binary, o.files, o.rows, o.folder, o.progress, o.generate = w.Program, []string{path}, []string{"200"}, t.TempDir(), io.Discard, bench.Generate
	o.runs, o.threads, o.giveUp = 2, 1, time.Hour
	return o
}

// peerLines runs o and returns the lines of peers.csv by library and method, and by column.
func peerLines(t *testing.T, o *options) map[string]map[string]string {
	t.Helper()
	var out strings.Builder
	if err := o.runPeers(t.Context(), &out); err != nil {
		t.Fatalf("running peers: %v", err)
	}
	text := benchtest.ReadText(t, filepath.Join(o.folder, "peers.md"))
	if text != out.String() {
		t.Error("peers.md is not what was printed")
	}
	benchtest.CheckTables(t, text)
	lines, err := csv.NewReader(strings.NewReader(benchtest.ReadText(t, filepath.Join(o.folder, "peers.csv")))).ReadAll()
	if err != nil {
		t.Fatalf("reading peers.csv: %v", err)
	}
	byName := make(map[string]map[string]string)
	for _, l := range lines[1:] {
		line := make(map[string]string)
		for i, column := range lines[0] {
			line[column] = l[i]
		}
		byName[line["library"]+":"+line["method"]+" "+line["rows"]] = line
	}
	if len(byName) != len(lines)-1 {
		t.Error("some points are there twice")
	}
	benchtest.CheckNoScratch(t)
	return byName
}

// nodeModules is a folder with the npm packages of the engines.
func nodeModules(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node_modules") // Node looks into folders of this name only
	for name, module := range map[string]string{
		duckdb.Package:  duckdbtest.ModuleFolder(t),
		"nodejs-polars": testtool.NodeModule(t, "nodejs-polars", "0.26.1", "nodejs-polars-linux-x64-gnu"),
	} {
		link := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(link), 0o700))
		must.Do(t, os.Symlink(module, link))
	}
	return dir
}

func TestPeers(t *testing.T) {
	long.SkipTest(t)
	o := tinyPeers(t)
	o.modules = nodeModules(t)
	lines := peerLines(t, o)
	if len(lines) != len(allPeers()) {
		t.Errorf("%d points, want all peers", len(lines))
	}
	// The same greedy selection, from every engine's matrix.
	for _, name := range []string{"NumPy:gram 200", "DuckDB:gram 200", "polars:gram 200"} {
		if got, want := lines[name]["explained"], lines["ufs-stream:greedy 200"]["explained"]; got != want {
			t.Errorf("%s explains %q of the sum of squares, ufs-stream's greedy %q", name, got, want)
		}
	}
	number := func(line map[string]string, column string) float64 {
		v, err := strconv.ParseFloat(line[column], 64)
		if err != nil {
			t.Errorf("%s %s has no number in %s: %v", line["library"], line["method"], column, err)
		}
		return v
	}
	for name, line := range lines {
		if line["ended"] != "" || line["k"] != "3" || line["turns"] != "1" {
			t.Errorf("%s: got %v, want one finished turn with k = 3", name, line)
		}
		for _, column := range []string{"wall_seconds", "cpu_seconds", "peak_bytes"} {
			if number(line, column) <= 0 {
				t.Errorf("%s has no %s: %v", name, column, line)
			}
		}
		if line["method"] == startMethod {
			continue
		}
		for _, column := range []string{"nmi", "acc", "explained"} {
			if v := number(line, column); v < 0 || v > 1 {
				t.Errorf("%s: %s is %v", name, column, v)
			}
		}
	}
	// Greedy maximizes the explained share.
	if ours, theirs := number(lines["ufs-stream:greedy 200"], "explained"), number(lines["scikit-learn:variance 200"], "explained"); ours <= theirs {
		t.Errorf("greedy explains %v, the features of most variance %v", ours, theirs)
	}
	text := benchtest.ReadText(t, filepath.Join(o.folder, "peers.md"))
	for _, want := range []string{"scikit-learn 1", "## small: 3 of 30 features", "At 200 rows scikit-learn finished 4 of 4", "on all features k-means has"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// Engines that are absent are left out with a remark. Rows of float32 and a sample to judge on are honoured.
func TestPeersWithoutEngines(t *testing.T) {
	o := tinyPeers(t)
	var remarks strings.Builder
	o.progress, o.modules, o.peerType, o.judgeRows = &remarks, t.TempDir(), "float32", 150
	o.methods = []string{"DuckDB:gram", "SciPy:qr", "ufs-stream:greedy"}
	lines := peerLines(t, o)
	if len(lines) != 2 || lines["SciPy:qr 200"]["nmi"] == "" || lines["ufs-stream:greedy 200"]["nmi"] == "" {
		t.Errorf("got %v, want SciPy's and ufs-stream's choices, judged", lines)
	}
	for _, want := range []string{"DuckDB is left out", "polars is left out"} {
		if !strings.Contains(remarks.String(), want) {
			t.Errorf("the remarks lack %q:\n%s", want, remarks.String())
		}
	}
	text := benchtest.ReadText(t, filepath.Join(o.folder, "peers.md"))
	for _, want := range []string{"on 150 of the rows", "Python from .npy of float32"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// Numbers of rows beyond the table's are taken as all of it, once.
func TestPeersTakeAllRows(t *testing.T) {
	long.SkipTest(t)
	o := tinyPeers(t)
	o.rows, o.methods, o.count = []string{"100", "1000", "2000"}, []string{"scikit-learn:variance", "ufs-stream:greedy"}, 2
	lines := peerLines(t, o)
	for _, name := range []string{"scikit-learn:variance 100", "scikit-learn:variance 250", "ufs-stream:greedy 100", "ufs-stream:greedy 250"} {
		if line := lines[name]; line["turns"] != "2" || line["nmi"] == "" {
			t.Errorf("%s: got %v, want two turns and a score", name, line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("%d points, want 4", len(lines))
	}
}

// A selection that ends at a limit is reported, and not tried on more rows.
func TestPeersEnd(t *testing.T) {
	o := tinyPeers(t)
	o.rows, o.methods, o.giveUp = []string{"100", "200"}, []string{"scikit-feature-like:spec", "ufs-stream:greedy"}, time.Millisecond
	for name, line := range peerLines(t, o) {
		want := "not tried: ended at 100 rows"
		if line["rows"] == "100" {
			want = "ended: more than --give-up 1ms (cpu "
		}
		if !strings.HasPrefix(line["ended"], want) || line["wall_seconds"] != "" || line["nmi"] != "" {
			t.Errorf("%s: %v, want it to be %s", name, line, want)
		}
	}

	o = tinyPeers(t)
	o.methods, o.memory = []string{"scikit-feature-like:spec", "ufs-stream:greedy"}, 64<<20
	lines := peerLines(t, o)
	if got := lines["scikit-feature-like:spec 200"]["ended"]; got != "ended: more than --memory-limit 64MiB" {
		t.Errorf("Python within less memory than its libraries take: %q", got)
	}
	if line := lines["ufs-stream:greedy 200"]; line["ended"] != "" || line["nmi"] == "" {
		t.Errorf("the others do not go on: %v", line)
	}
}

func TestPeersInterrupted(t *testing.T) {
	o := tinyPeers(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.progress = benchtest.CancelAt{Word: "peers: small", Cancel: cancel}
	if err := o.runPeers(ctx, io.Discard); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want an interruption", err)
	}
	benchtest.CheckNoScratch(t)
	if left, _ := os.ReadDir(o.folder); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestPeersRefusesTables(t *testing.T) {
	long.SkipTest(t)
	o := tinyPeers(t)
	few := filepath.Join(t.TempDir(), "few.parquet")
	bench.MakePlanted(t, few, 10, 30, "--label")
	plain := filepath.Join(t.TempDir(), "plain.parquet")
	bench.MakePlanted(t, plain, 50, 30)
	holes := filepath.Join(t.TempDir(), "holes.parquet")
	bench.MakePlanted(t, holes, 50, 30, "--label", "--nulls", "0.1")
	for _, c := range []struct {
		path, say string
		k         int
	}{{holes, "name a table without missing values", 0}, {few, "10 rows of 30 features are too few", 0}, {plain, "label", 0}, {o.files[0], "-k 31 is more than the 30 features", 31}} {
		o.files, o.k = []string{c.path}, c.k
		if err := o.runPeers(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want something of %q", c.path, err, c.say)
		}
	}
}

func TestPeersUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--rows", "0"}, {"--rows", "5"}, {"-k", "-1"}, {"--count", "0"}, {"--runs", "0"}, {"--give-up", "0s"}, {"--threads", "0"},
		{"--seed", "0"}, {"--seed", "4294967296"}, {"--name", "a/b"}, {"--methods", "none"}, {"--memory-limit", "many"},
		{"--label", "class"}, {"--peer-scale", "unit"}, {"--peer-type", "int8"}, {"--judge-rows", "-1"}, {"a/x.parquet", "b/x.parquet"},
	} {
		bench.CheckRefusal(t, exit.Usage, "", append([]string{"peers"}, args...)...)
	}
	if code, out, _ := bench.Run(t.Context(), "peers", "--methods", "list"); code != exit.Done || len(strings.Fields(out)) < len(allPeers()) {
		t.Errorf("it lists %q", out)
	}
}

// If Python or scikit-learn is absent, the command names the packages to install.
func TestPeersWithoutPython(t *testing.T) {
	w, err := benchtest.BuildOnce()
	if err != nil {
		t.Fatalf("building ufs-stream: %v", err)
	}
	absent := filepath.Join(t.TempDir(), "python")
	bench.CheckRefusal(t, exit.Usage, "apt-get install python3-sklearn", "peers", "--binary", w.Program, "--python", absent)
	script := "#!/bin/sh\necho \"No module named 'sklearn'\" >&2\nexit 1\n"
	if err := os.WriteFile(absent, []byte(script), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatalf("writing a false Python: %v", err)
	}
	for _, say := range []string{"No module named 'sklearn'", "apt-get install python3-sklearn"} {
		bench.CheckRefusal(t, exit.Usage, say, "peers", "--binary", w.Program, "--python", absent)
	}
}
