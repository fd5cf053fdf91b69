package corpora

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/duckdbtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// bench is the program with the verbs that these tests run.
var bench = benchtest.Program{New, gen.New}

// playing is set in the environment of a test binary that plays ufs-stream.
const playing = "UFS_STREAM_TEST_PLAYS"

func TestMain(m *testing.M) {
	if os.Getenv(playing) != "" {
		os.Exit(play(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// play simulates the ufs-stream command: the file's name decides its behaviour, else the library does.
func play(args []string) int {
	if args[0] == "version" {
		fmt.Println("played")
		return exit.Done
	}
	verb, path := args[0], args[1]
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	switch {
	case name == "hang":
		time.Sleep(time.Hour)
	case name == "panics" && verb == "convert":
		panic("as it is to")
	case name == "killed":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		time.Sleep(time.Hour)
	case name == "gotext":
		fmt.Fprintf(os.Stderr, "a warning\nufs-stream: %s: damaged: runtime error: index out of range [0]\n", path)
		return exit.Data
	case name == "fault":
		return exit.Fault
	}
	var err error
	if verb == "convert" {
		_, err = chunkio.Convert(context.Background(), []string{path}, args[len(args)-1], chunkio.ApplyOptions{})
	} else {
		_, err = readFile(context.Background(), path)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "ufs-stream: %v\n", err)
	}
	return exit.CodeOf(err)
}

// pinned is a file of the project's own selection.
func pinned(name string) string {
	return filepath.Join("..", "..", "..", "testdata", "corpora", filepath.FromSlash(name))
}

// suite makes a suite of pinned files, by the names that they are to have.
func suite(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for to, from := range files {
		path := filepath.Join(dir, to)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, must.Get(os.ReadFile(pinned(from)))(t), 0o600))
	}
	return dir
}

const (
	plain     = "hyparquet/test/files/signs.parquet"
	encrypted = "parquet-testing/data/uniform_encryption.parquet.encrypted"
	corrupt   = "parquet-testing/data/rle-dict-uncompressed-corrupt-checksum.parquet"
	ipcStream = "arrow-testing/data/arrow-ipc-stream/integration/2.0.0-compression/generated_uncompressible_zstd.stream"
	cutOff    = "duckdb/test/sql/copy/parquet/broken/missingmagicatend.parquet"
)

// runs runs the verb with this test binary as ufs-stream, and returns its lines by file, and corpora.md.
func runs(t *testing.T, want int, args ...string) (lines map[string]map[string]string, text string) {
	t.Helper()
	t.Setenv(playing, "1")
	t.Setenv("TMPDIR", t.TempDir())
	to := t.TempDir()
	code, out, said := bench.Run(t.Context(), append([]string{"corpora", "--binary", os.Args[0], "--duckdb", duckdbtest.ModuleFolder(t), "--results", to}, args...)...)
	if code != want {
		t.Fatalf("exit code %d, want %d: %s", code, want, said)
	}
	text = benchtest.ReadText(t, filepath.Join(to, "corpora.md"))
	if text != out {
		t.Error("corpora.md is not what was printed")
	}
	benchtest.CheckTables(t, text)
	benchtest.CheckNoScratch(t)
	rows := must.Get(csv.NewReader(strings.NewReader(benchtest.ReadText(t, filepath.Join(to, "corpora.csv")))).ReadAll())(t)
	lines = make(map[string]map[string]string)
	for _, row := range rows[1:] {
		line := make(map[string]string)
		for i, column := range rows[0] {
			line[column] = row[i]
		}
		lines[line["suite"]+"/"+line["file"]] = line
	}
	return lines, text
}

// TestSuites: files are found by their endings and by their first bytes, and each is read, or refused with its
// message; DuckDB is asked about Parquet, and about the copies of other formats.
func TestSuites(t *testing.T) {
	one := suite(t, "one", map[string]string{"day=1/plain.parquet": plain, "no ending": plain, "README.md": "README.md", "x.stream": ipcStream})
	two := suite(t, "two", map[string]string{"locked": encrypted, "flipped.parquet": corrupt, "cut.parquet": cutOff})
	lines, text := runs(t, exit.Done, one, two)
	if len(lines) != 6 {
		t.Errorf("%d files, want 6", len(lines))
	}
	const whole = "read, 4 rows, 8 features, duckdb read, 8 leaves of 32 values"
	for file, want := range map[string]string{
		"one/day=1/plain.parquet": whole,
		"one/no ending":           whole,
		"one/x.stream":            "read, 4 rows, 1 features, duckdb , 1 leaves of 4 values",
		"two/locked":              "refused,  rows,  features, duckdb refused, 0 leaves of 0 values",
		"two/cut.parquet":         "refused,  rows,  features, duckdb refused, 0 leaves of 0 values",
	} {
		l := lines[file]
		if got := fmt.Sprintf("%s, %s rows, %s features, duckdb %s, %s leaves of %s values",
			l["outcome"], l["rows"], l["features"], l["duckdb"], l["leaves_compared"], l["values_compared"]); got != want {
			t.Errorf("%s: %s\nwant %s", file, got, want)
		}
		if (l["message"] != "") != (l["outcome"] == "refused") || strings.Contains(l["message"], file) {
			t.Errorf("%s: it says %q", file, l["message"])
		}
	}
	if l := lines["two/flipped.parquet"]; l["outcome"] != "refused" || l["duckdb"] != "read" || !strings.Contains(l["message"], "checksum") {
		t.Errorf("a flipped bit: %v", l)
	}
	for _, want := range []string{"| one | 3 | 3 | 0 | 0 | 0 |", "| two | 3 | 0 | 3 | 0 | 0 |", "| all | 6 | 3 | 3 | 0 | 0 |", "## Refused, though DuckDB reads it", "checksum does not match; copy or write the file again, or leave the column out | two/flipped.parquet | 1 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

// TestFailures: a panic, a signal, an exit code 1 and words of Go's runtime are errors, one row of the table each,
// and the run fails.
func TestFailures(t *testing.T) {
	dir := suite(t, "bad", map[string]string{"panics.parquet": plain, "killed.parquet": plain, "gotext.parquet": plain, "fault.parquet": plain, "good.stream": ipcStream})
	lines, text := runs(t, exit.Fault, dir)
	for file, want := range map[string]string{
		"panics": "read, ; error, panic: as it is to", "gotext": "error, damaged: runtime error: index out of range [0]; error, damaged: runtime error: index out of range [0]",
		"killed": "error, it said nothing; error, it said nothing", "fault": "error, it said nothing; error, it said nothing",
	} {
		l := lines["bad/"+file+".parquet"]
		if got := fmt.Sprintf("%s, %s; %s, %s", l["outcome"], l["message"], l["copy"], l["copy_message"]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
	if !strings.Contains(text, "| bad | 5 | 1 | 0 | 4 | 0 |") || !strings.Contains(text, "## Errors and hangs\n\n- bad/fault.parquet: convert: error: it said nothing\n") {
		t.Errorf("it says:\n%s", text)
	}
}

// TestHang: the deadline ends a slow run, and the results report it.
func TestHang(t *testing.T) {
	lines, text := runs(t, exit.Fault, suite(t, "slow", map[string]string{"hang.parquet": plain}), "--give-up", "300ms")
	if l := lines["slow/hang.parquet"]; l["outcome"] != "hang" || l["message"] != "no end after 300ms" {
		t.Errorf("a run that hangs is %v, want a hang and its deadline", l)
	}
	if !strings.Contains(text, "| slow | 1 | 0 | 0 | 0 | 1 |") {
		t.Errorf("it says:\n%s", text)
	}
}

// TestDifferences: one bit of one value, a null for a NaN, and a missing row are reported with their places.
func TestDifferences(t *testing.T) {
	path := must.Get(filepath.Abs(pinned("parquet-testing/data/float16_nonzeros_and_nans.parquet")))(t)
	o := &duckReader{module: duckdbtest.ModuleFolder(t), giveUp: time.Minute}
	defer o.endSession()
	for change, want := range map[string]func(r *reading){
		"": func(*reading) {},
		"x (float16): 1 of 8 values, row 1: 1.0000000000000002, to DuckDB 1": func(r *reading) { r.leaves[0].values[1] = 1.0000000000000002 },
		"x (float16): 1 of 8 values, row 3: null, to DuckDB NaN":             func(r *reading) { r.leaves[0].values[3] = r.leaves[0].values[0] },
		"7 rows, to DuckDB 8":                               func(r *reading) { r.rows, r.leaves[0].values = 7, r.leaves[0].values[:7] },
		"its columns are read and cannot be found again: ":  func(r *reading) { r.leaves[0].Name = "y" },
		"x (float16): 2 of 8 values, row 1: 0, to DuckDB 1": func(r *reading) { r.leaves[0].values[1], r.leaves[0].values[2] = 0, 0 },
	} {
		r := must.Get(readFile(t.Context(), path))(t)
		want(r)
		c, err := o.compareLeaves(t.Context(), path, path, r)
		if got := strings.Join(c.differences, "; "); err != nil || !strings.HasPrefix(got, change) || change == "" && got != "" {
			t.Errorf("%s, %v; want %s", got, err, change)
		}
	}
	// A copy of other rows.
	c, err := o.compareCopy(t.Context(), path, must.Get(filepath.Abs(pinned("parquet-testing/data/float16_zeros_and_nans.parquet")))(t))
	if err != nil || len(c.differences) != 1 || !strings.HasPrefix(c.differences[0], "convert: ") {
		t.Errorf("a copy of other rows: got %+v, %v, want one difference of convert", c, err)
	}
}

// TestUsage: impossible flags are refused before anything runs.
func TestUsage(t *testing.T) {
	empty := t.TempDir()
	module := t.TempDir()
	one := suite(t, "one", map[string]string{"x.parquet": plain})
	bench.CheckRefusal(t, exit.Usage, "no FOLDER given", "corpora")
	bench.CheckRefusal(t, exit.Usage, "npm ci --prefix", "corpora", one, "--duckdb", filepath.Join(empty, "none"))
	bench.CheckRefusal(t, exit.Usage, "has no file that", "corpora", empty, "--duckdb", module)
	bench.CheckRefusal(t, exit.Usage, "suites of one name", "corpora", one, one, "--duckdb", module)
	bench.CheckRefusal(t, exit.Usage, "--give-up", "corpora", one, "--give-up", "0s")
	bench.CheckRefusal(t, exit.Data, "cannot be listed", "corpora", filepath.Join(empty, "none"), "--duckdb", module)
}

// TestInterrupted: an interruption ends the run and leaves nothing.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no interrupt for one process")
	}
	t.Setenv(playing, "1")
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	o := &flags{folders: []string{suite(t, "slow", map[string]string{"hang.parquet": plain})}, binary: os.Args[0], module: t.TempDir(), giveUp: time.Hour, progress: io.Discard, results: t.TempDir()}
	if err := o.runCorpora(ctx, io.Discard); err == nil || ctx.Err() == nil {
		t.Errorf("got %v, want an interruption", err)
	}
	benchtest.CheckNoScratch(t)
}
