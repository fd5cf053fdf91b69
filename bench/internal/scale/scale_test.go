package scale

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, NewSpeed, gen.New}

func TestMain(m *testing.M) { benchtest.Main(m) }

// tinyScale returns options for tiny points, and sets up a scratch folder for the test.
func tinyScale(t *testing.T) *options {
	w, err := benchtest.BuildReadersOnce()
	if err != nil {
		t.Fatalf("building the programs: %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	return &options{
		verb:   "scale",
		binary: w.Program, bare: w.Bare, decode: w.Decode,
		rows: []string{"300", "600", "1e9"}, columns: []string{"10", "20"}, threads: []string{"1", "2"},
		methods: []string{"greedy", "sfufs"}, k: "5", anchors: 20, count: 2, seed: 1, maxBytes: 1 << 20,
		folder: t.TempDir(), progress: io.Discard, generate: bench.Generate,
		onceAbove: time.Minute, giveUp: time.Hour,
	}
}

func TestScale(t *testing.T) {
	o := tinyScale(t)
	var out bytes.Buffer
	if err := o.runScale(t.Context(), &out); err != nil {
		t.Fatalf("running scale: %v", err)
	}
	lines := checkBenchFormat(t, out.String())
	// 2 × 2 sizes, 2 numbers of threads, the reading and 2 methods, 2 turns.
	if len(lines) != 48 {
		t.Errorf("%d results, want 48", len(lines))
	}
	for name, units := range lines {
		if strings.HasPrefix(name, "BenchmarkSelect/") && units["x-read"] <= 0 || units["ns/op"] <= 0 || units["peak-B"] <= 0 {
			t.Errorf("%s: got %v, want positive measurements", name, units)
		}
	}
	if file := readResult(t, o, "scale.txt"); file != out.String() {
		t.Error("scale.txt is not what was printed")
	}
	summary := readResult(t, o, "scale.md")
	for _, want := range []string{"cores", "bare reading", "| 600 | 20 | sfufs | 2 |", "Left out", "1,000,000,000 rows × 20 columns", "arrow v15"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q:\n%s", want, summary)
		}
	}
	for _, plot := range regexp.MustCompile(`scale-[a-z-]+\.svg`).FindAllString(summary, -1) {
		if err := xml.Unmarshal([]byte(readResult(t, o, plot)), new(struct{})); err != nil {
			t.Errorf("%s is no XML: %v", plot, err)
		}
	}
	if n := strings.Count(summary, ".svg"); n != 5 {
		t.Errorf("%d plots, want 5", n)
	}
	benchtest.CheckNoScratch(t)
}

// Sparse rows are measured in addition to dense ones, under their own name.
func TestScaleSparse(t *testing.T) {
	o := tinyScale(t)
	o.rows, o.columns, o.sparse, o.threads, o.methods, o.count = []string{"300"}, []string{"40", "60"}, []string{"200"}, []string{"1"}, []string{"greedy"}, 1
	if err := o.runScale(t.Context(), io.Discard); err != nil {
		t.Fatalf("running scale on sparse data: %v", err)
	}
	lines := checkBenchFormat(t, readResult(t, o, "scale.txt"))
	// 2 widths, dense and sparse, the reading and 1 method.
	if _, ok := lines["BenchmarkSelect/data=sparse/method=greedy/rows=200/cols=60/threads=1-1"]; !ok || len(lines) != 8 {
		t.Errorf("%d results, want 8: %v", len(lines), lines)
	}
	if summary := readResult(t, o, "scale.md"); !strings.Contains(summary, "| 200 | 60 | greedy (sparse) | 1 |") {
		t.Errorf("the summary has no sparse rows:\n%s", summary)
	}
}

// Planted data is lists if a footer of all columns would outgrow the values.
func TestWideDataIsLists(t *testing.T) {
	for columns, want := range map[int]bool{listColumns - 1: false, listColumns: true} {
		if args := plantedData.genFlags(size{200, columns}); slices.Contains(args, "--list") != want {
			t.Errorf("%d columns are made by %v", columns, args)
		}
	}
}

// Data of --data is measured under its name, and never removed.
func TestScaleRealData(t *testing.T) {
	o := tinyScale(t)
	path := filepath.Join(t.TempDir(), "e.parquet")
	bench.MakePlanted(t, path, 400, 12, "--label")
	o.data, o.label, o.name, o.methods, o.count = []string{path}, "label", "emnist", []string{"sfufs", "variance"}, 1
	if err := o.runScale(t.Context(), io.Discard); err != nil {
		t.Fatalf("running scale on --data: %v", err)
	}
	for name := range checkBenchFormat(t, readResult(t, o, "emnist.txt")) {
		if !strings.Contains(name, "/data=emnist/") || !strings.Contains(name, "/rows=400/cols=12/") {
			t.Errorf("%s does not name the data and its size", name)
		}
	}
	summary := readResult(t, o, "emnist.md")
	for _, want := range []string{"| 325.7 |", "| variance |"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q:\n%s", want, summary)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the data is gone: %v", err)
	}
}

// A run that is interrupted at the first result leaves no children, scratch or results.
func TestScaleInterrupted(t *testing.T) {
	o := tinyScale(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := o.runScale(ctx, benchtest.CancelAt{Word: "Benchmark", Cancel: cancel}); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want an interruption", err)
	}
	benchtest.CheckNoScratch(t)
	if left, _ := os.ReadDir(o.folder); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestScaleKeepsData(t *testing.T) {
	o := tinyScale(t)
	o.rows, o.columns, o.threads, o.methods, o.count = []string{"300"}, []string{"10"}, []string{"1"}, []string{"variance"}, 1
	o.dir, o.keep = t.TempDir(), true
	made := 0
	o.generate = func(ctx context.Context, args []string) error { made++; return bench.Generate(ctx, args) }
	for range 2 {
		if err := o.runScale(t.Context(), io.Discard); err != nil {
			t.Fatalf("running scale with --keep: %v", err)
		}
	}
	if made != 1 {
		t.Errorf("made the data %d times, want once", made)
	}
	o.keep = false
	if err := o.runScale(t.Context(), io.Discard); err != nil {
		t.Fatalf("running scale without --keep: %v", err)
	}
	if left, _ := os.ReadDir(o.dir); len(left) != 1 {
		t.Errorf("data that was there before is gone: %v", left)
	}
}

// A point that cannot be measured within the limits is left out; the run continues, and the summary reports it.
func TestScaleSaysWhatItLeavesOut(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*options)
		say   string
		lines int
	}{
		{"memory", func(o *options) { o.memoryLimit = "1MiB" }, "memory", 2},
		{"long", func(o *options) { o.onceAbove = 1 }, "--once-above", 3},
		{"too long", func(o *options) { o.giveUp = time.Nanosecond }, "--give-up", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tinyScale(t)
			o.rows, o.columns, o.threads, o.methods = []string{"300"}, []string{"10"}, []string{"1"}, []string{"greedy"}
			c.set(o)
			if err := o.runScale(t.Context(), io.Discard); err != nil {
				t.Fatalf("running scale: %v", err)
			}
			_, left, found := strings.Cut(readResult(t, o, "scale.md"), "Left out")
			if !found || !strings.Contains(left, "BenchmarkSelect/method=greedy") || !strings.Contains(left, c.say) {
				t.Errorf("it does not say %s was left out:%s", c.say, left)
			}
			if n := len(checkBenchFormat(t, readResult(t, o, "scale.txt"))); n != c.lines {
				t.Errorf("%d results, want %d", n, c.lines)
			}
		})
	}
}

func TestScaleUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--rows", "0"}, {"--rows", "1.5"}, {"--columns", "many"}, {"--threads", "-1"}, {"--count", "0"},
		{"--keep"}, {"--max-bytes", "many"}, {"--sparse", "0"}, {"--sparse", "10", "--columns", "20"}, {"--sparse", "10", "--data", "a"}, {"--name", "a/b"}, {"more"},
	} {
		bench.CheckRefusal(t, exit.Usage, "", append([]string{"scale"}, args...)...)
	}
}

// A result line as golang.org/x/perf/benchfmt reads it: a name, a whole number of
// iterations, pairs of value and unit.
var resultLine = regexp.MustCompile(`^Benchmark[A-Z]\S* [0-9]+( [0-9.e+-]+ [^\s"=]+)+$`)

// checkBenchFormat checks text against the grammar and returns the results by name. A
// number is added to the names of further turns at a point.
func checkBenchFormat(t *testing.T, text string) map[string]map[string]float64 {
	t.Helper()
	results := map[string]map[string]float64{}
	keys := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		key, _, isKey := strings.Cut(l, ": ")
		switch {
		case strings.HasPrefix(l, "# "), l == "Unit rows/s better=higher", l == "Unit GFLOP/s better=higher":
		case strings.HasPrefix(l, "Benchmark"):
			if !resultLine.MatchString(l) {
				t.Errorf("not a result: %q", l)
				continue
			}
			fields := strings.Fields(l)
			units := map[string]float64{}
			for i := 2; i < len(fields); i += 2 {
				v, err := strconv.ParseFloat(fields[i], 64)
				if err != nil {
					t.Errorf("the line %q: %v", l, err)
				}
				units[fields[i+1]] = v
			}
			name := fields[0]
			for n := 2; results[name] != nil; n++ {
				name = fields[0] + "#" + strconv.Itoa(n)
			}
			results[name] = units
		case isKey && regexp.MustCompile(`^[a-z][^A-Z\s]*$`).MatchString(key):
			keys[key] = true
		default:
			t.Errorf("neither a result nor a key: %q", l)
		}
	}
	for _, key := range []string{"goos", "goarch", "cpu", "pkg"} {
		if !keys[key] {
			t.Errorf("no %s: line", key)
		}
	}
	return results
}

func readResult(t *testing.T, o *options, name string) string {
	t.Helper()
	return benchtest.ReadText(t, filepath.Join(o.folder, name))
}

// If the bare reading was given up, there is no ratio to it.
func TestScaleWithoutYardstick(t *testing.T) {
	m := measuredPoint{point: point{"", size{10, 10}, "greedy", 1, false}, turns: []turnResult{{cost: workshop.Cost{Wall: time.Second, Peak: 1}}}}
	var out bytes.Buffer
	writeTurn(&out, m.point, m.turns[0])
	if cells := strings.Join(m.formatSummaryCells(), " "); strings.Contains(out.String()+cells, "Inf") || strings.Contains(out.String(), "x-read") {
		t.Errorf("a turn without a bare reading shows a ratio: %s%s", out.String(), cells)
	}
}
