package scale

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// tinySpeed returns options for tiny images, and sets up a scratch folder for the test.
func tinySpeed(t *testing.T) *options {
	tiny, o := tinyScale(t), speedDefaults()
	o.binary, o.bare, o.decode, o.folder, o.progress, o.generate = tiny.binary, tiny.bare, tiny.decode, tiny.folder, tiny.progress, tiny.generate
	o.name, o.count, o.seed, o.maxBytes, o.anchors = "speed", 2, 1, tiny.maxBytes, 20
	o.rows, o.columns, o.threads = []string{"300"}, []string{"80"}, []string{"1"}
	return o
}

func TestSpeed(t *testing.T) {
	o := tinySpeed(t)
	o.threads = []string{"1", "2"}
	var out strings.Builder
	if err := o.runSpeed(t.Context(), &out); err != nil {
		t.Fatalf("running speed: %v", err)
	}
	peaks, processes := 0, 0
	for name, units := range checkBenchFormat(t, out.String()) {
		switch {
		case strings.HasPrefix(name, "BenchmarkPeak/type="):
			peaks++
			if units["GFLOP/s"] <= 0 {
				t.Errorf("%s: got %v, want a positive rate", name, units)
			}
		case strings.Contains(name, "/data=images/") && strings.Contains(name, "/rows=300/cols=80/"):
			processes++
			if !strings.HasPrefix(name, "BenchmarkRead/") && units["x-read"] <= 0 || units["ns/op"] <= 0 {
				t.Errorf("%s: got %v, want positive measurements", name, units)
			}
		default:
			t.Errorf("%s: what is that?", name)
		}
	}
	// The reading, the decoding and 5 methods, 2 numbers of threads, 2 turns; whole numbers have
	// no peak of their own on some machines.
	if processes != 28 || peaks != 4 && peaks != 6 {
		t.Errorf("%d processes and %d peaks, want 28 and 4 or 6", processes, peaks)
	}
	if readResult(t, o, "speed.txt") != out.String() {
		t.Error("speed.txt is not what was printed")
	}
	summary := readResult(t, o, "speed.md")
	for _, want := range []string{
		"cores", "kernel", "m = 20 anchors", "| images | 300 | 80 | bare reading | 1 |", "| images | 300 | 80 | our decoding | 2 |", "| images | 300 | 80 | eufs | 2 |",
		"| 0.002 |", // greedy: 300·80² operations
		"| 0.003 |", // sfufs: 2·300·20·80 more
	} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary does not say %q:\n%s", want, summary)
		}
	}
	benchtest.CheckNoScratch(t)
}

// Data of --data is measured under its name, and the results have the name speed.
func TestSpeedRealData(t *testing.T) {
	o := tinySpeed(t)
	path := filepath.Join(t.TempDir(), "my data.parquet")
	bench.MakePlanted(t, path, 400, 12, "--label")
	o.data, o.label, o.methods, o.count, o.columns = []string{path}, "label", []string{"variance"}, 1, []string{"7"}
	if err := o.runSpeed(t.Context(), io.Discard); err != nil {
		t.Fatalf("running speed on --data: %v", err)
	}
	if text := readResult(t, o, "speed.txt"); !strings.Contains(text, "BenchmarkSelect/data=my-data/method=variance/rows=400/cols=12/") {
		t.Errorf("no result names the data and its size:\n%s", text)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the data is gone: %v", err)
	}
}

// Points that cannot be measured within the limits are left out and reported.
func TestSpeedSaysWhatItLeavesOut(t *testing.T) {
	o := tinySpeed(t)
	o.methods, o.memoryLimit, o.count = []string{"greedy"}, "1MiB", 1
	if err := o.runSpeed(t.Context(), io.Discard); err != nil {
		t.Fatalf("running speed with little memory: %v", err)
	}
	if _, left, _ := strings.Cut(readResult(t, o, "speed.md"), "Left out"); !strings.Contains(left, "method=greedy") || !strings.Contains(left, "memory") {
		t.Errorf("it does not say what was left out: %s", left)
	}
}

// DuckDB runs if --duckdb names it, and is left out, with a remark, if it is not installed.
func TestSpeedDuckDB(t *testing.T) {
	o := tinySpeed(t)
	o.methods, o.count = []string{"variance"}, 1
	duckDB := filepath.Join(t.TempDir(), "duckdb")
	if err := os.WriteFile(duckDB, []byte("#!/bin/sh\ntest \"$1 $2 $3\" = '-csv -noheader -c' && echo \"$4\"\n"), 0o777); err != nil {
		t.Fatalf("writing a false DuckDB: %v", err)
	}
	o.duckDB = duckDB
	if err := o.runSpeed(t.Context(), io.Discard); err != nil {
		t.Fatalf("running speed with DuckDB: %v", err)
	}
	if text := readResult(t, o, "speed.txt"); !strings.Contains(text, "BenchmarkDuckDB/data=images/rows=300/cols=80/threads=1-1 1 ") {
		t.Errorf("no result of DuckDB:\n%s", text)
	}
	if text := readResult(t, o, "speed.md"); !strings.Contains(text, "| DuckDB's sum | 1 |") || !strings.Contains(text, "by DuckDB SELECT version()") {
		t.Errorf("the summary does not tell of DuckDB:\n%s", text)
	}
	o.duckDB = duckDB + "-absent"
	if err := o.runSpeed(t.Context(), io.Discard); err != nil {
		t.Fatalf("running speed without DuckDB: %v", err)
	}
	if _, left, _ := strings.Cut(readResult(t, o, "speed.md"), "Left out"); !strings.Contains(left, "absent is not installed") {
		t.Errorf("it does not say that DuckDB was left out: %s", left)
	}
}

// An older program that waits is slower than this one, and this one is slower than it if they change places.
func TestSpeedBesideOlder(t *testing.T) {
	o := tinySpeed(t)
	o.methods, o.count = []string{"variance"}, 3
	waiting := filepath.Join(t.TempDir(), "waiting")
	if err := os.WriteFile(waiting, []byte("#!/bin/sh\nsleep 0.3\nexec '"+o.binary+"' \"$@\"\n"), 0o777); err != nil {
		t.Fatalf("writing a slow ufs-stream: %v", err)
	}
	o.older = waiting
	if err := o.runSpeed(t.Context(), io.Discard); err != nil {
		t.Errorf("beside a slower program: %v", err)
	}
	if text := readResult(t, o, "speed.txt"); strings.Count(text, "/method=variance/program=older/") != 3 {
		t.Errorf("the older program was not measured in three turns:\n%s", text)
	}
	if text := readResult(t, o, "speed.md"); !strings.Contains(text, "| images | variance | 1 | ") || !strings.Contains(text, "| variance (older) |") {
		t.Errorf("the summary does not compare:\n%s", text)
	}
	o.older, o.binary = o.binary, waiting
	if err := o.runSpeed(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "variance on 1 threads takes × ") {
		t.Errorf("got %v beside a faster program, want that variance is slower", err)
	}
}

func TestSumStatements(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a'b")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatalf("making the folder: %v", err)
	}
	quoted := strings.ReplaceAll(filepath.Join(dir, "**", "*.parquet"), "'", "''")
	for _, c := range []struct{ label, want string }{
		{"", "SET threads = 3; SELECT sum(COLUMNS(*)) FROM read_parquet(['x.parquet', '" + quoted + "'])"},
		{`the "class"`, `SET threads = 3; SELECT sum(COLUMNS(* EXCLUDE ("the ""class"""))) FROM read_parquet(['x.parquet', '` + quoted + "'])"},
	} {
		if got := sumStatements(3, []string{"x.parquet", dir}, c.label); got != c.want {
			t.Errorf("label %q: %s\nwant %s", c.label, got, c.want)
		}
	}
}

func TestSpeedUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--rows", "0"}, {"--columns", "many"}, {"--columns", "97"}, {"--columns", "63"}, {"--threads", "-1"}, {"--count", "0"},
		{"--give-up", "0s"}, {"--anchors", "0"}, {"--keep"}, {"--name", "a/b"}, {"--older", "absent"}, {"more"},
	} {
		bench.CheckRefusal(t, exit.Usage, "", append([]string{"speed"}, args...)...)
	}
	bench.CheckRefusal(t, exit.Usage, "--give-up", "speed", "--give-up", "-1s")
}

// Threads that share a core do not add up, and every thread's work counts.
func TestRateIsOfAllThreadsTogether(t *testing.T) {
	var core sync.Mutex
	prepare := func() func() {
		return func() {
			core.Lock()
			defer core.Unlock()
			time.Sleep(time.Millisecond)
		}
	}
	if got := operationRate(3, 1, prepare); got <= 0 || got > 1000 {
		t.Errorf("%g operations a second of at least a millisecond each, one at a time", got)
	}
}

func TestImageShape(t *testing.T) {
	for pixels, want := range map[int]string{900: "30x30", 80: "8x10", 64: "8x8", 784: "28x28", 97: "", 63: "", 8000: "80x100", 1000000: "1000x1000", 8 * 1009: ""} {
		if got := imageShape(pixels); got != want {
			t.Errorf("%d pixels: shape %q, want %q", pixels, got, want)
		}
	}
}

func TestOperations(t *testing.T) {
	s := size{20000, 100}
	for method, want := range map[string]float64{
		"greedy": 2e8, "sfufs": 8e9 + 2e8, "graphgreedy": 8e9 + 2e8,
		"eufs":     2e10 + 4e8, // of 10,000 sampled rows
		"variance": 0, "random": 0, bareReading: 0, decoding: 0, duckDBSum: 0,
	} {
		if got := countOperations(method, s, 2000); got != want {
			t.Errorf("%s: %g operations, want %g", method, got, want)
		}
	}
	if got, want := countOperations("eufs", size{100, 10}, 0), 2e5+4e5; got != want {
		t.Errorf("eufs of all rows: %g operations, want %g", got, want)
	}
}

// Of three turns of 2, 4 and 1 seconds the median is 2; 3e9 operations in it are 1.5e9 a
// second.
func TestSpeedCells(t *testing.T) {
	m := measuredPoint{point: point{"images", size{1000, 64}, "greedy", 2, false}, turns: []turnResult{
		{cost: workshop.Cost{Wall: 2 * time.Second, CPU: 3 * time.Second}, read: time.Second},
		{cost: workshop.Cost{Wall: 4 * time.Second, CPU: 3 * time.Second}, read: time.Second},
		{cost: workshop.Cost{Wall: time.Second, CPU: 3 * time.Second}, read: 4 * time.Second},
	}}
	for _, c := range []struct {
		name       string
		change     func(*measuredPoint)
		peak       peakRates
		operations float64
		want       string
	}{
		{"counted", func(*measuredPoint) {}, peakRates{6e9, 12e9, 1e9}, 3e9,
			"images 1e3 64 greedy 2 2.00 (1.00–4.00) 2.00 (0.25–4.00) 3.00 3.00 1.50 25.0 % 12.5 % 150.0 %"},
		{"no whole numbers", func(*measuredPoint) {}, peakRates{6e9, 12e9, 0}, 3e9,
			"images 1e3 64 greedy 2 2.00 (1.00–4.00) 2.00 (0.25–4.00) 3.00 3.00 1.50 25.0 % 12.5 % –"},
		{"not counted", func(*measuredPoint) {}, peakRates{6e9, 12e9, 1e9}, 0,
			"images 1e3 64 greedy 2 2.00 (1.00–4.00) 2.00 (0.25–4.00) 3.00 – – – – –"},
		{"without a reading", func(m *measuredPoint) { m.turns = []turnResult{{cost: workshop.Cost{Wall: time.Second}}} }, peakRates{6e9, 12e9, 1e9}, 3e9,
			"images 1e3 64 greedy 2 1.00 (1.00–1.00) – 0.000 3.00 3.00 50.0 % 25.0 % 300.0 %"},
	} {
		changed := m
		c.change(&changed)
		if got := strings.Join(changed.formatSpeedCells(c.peak, c.operations), " "); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
