package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/app/screen"
)

// TestMissingSelection: the message has the path once.
func TestMissingSelection(t *testing.T) {
	_, in := plant(t, 300, 1)
	r := invoke("apply", in[0], "--selection", "nosuch.json", "-o", filepath.Join(t.TempDir(), "x.parquet"))
	if r.code != exit.Data || strings.Count(r.err, "nosuch.json") != 1 {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
}

// TestHelpTellsOfLakes: every verb with INPUT says which places it may be in, or where that is
// said, and how a part of a table is chosen.
func TestHelpTellsOfLakes(t *testing.T) {
	for _, verb := range []string{"select", "inspect", "plan", "scan", "apply", "eval"} {
		help := must(t, verb, "--help")
		for _, want := range []string{"--where", "--version", "--as-of", "--anonymous"} {
			if !strings.Contains(help, want) {
				t.Errorf("%s --help lacks %s", verb, want)
			}
		}
		if verb != "select" && !strings.Contains(help, "INPUT is as in select") || strings.Contains(help, "(default -1)") {
			t.Errorf("the help of %s should refer to select for INPUT and show no default of -1:\n%s", verb, help)
		}
	}
	for _, help := range []string{must(t, "--help"), must(t, "select", "--help")} {
		for _, want := range []string{"s3://", "gs://", "azblob://", "https://", "Delta table"} {
			if !strings.Contains(help, want) {
				t.Errorf("%q is missing in %s", want, help)
			}
		}
	}
}

// TestInputIsNotReplaced: no output replaces a file that it is made from.
func TestInputIsNotReplaced(t *testing.T) {
	dir, in := plant(t, 300, 1)
	file := in[0]
	stats := filepath.Join(t.TempDir(), "s.ufs")
	must(t, "scan", file, "-o", stats)
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, "select", file, "-k", "3", "-o", sel)
	for _, args := range [][]string{
		{"select", dir, "-k", "3", "-o", file},
		{"select", file, "-k", "3", "-o", file},
		{"path", file, "-k", "3", "--format", "csv", "-o", file},
		{"plan", file, "--format", "json", "-o", file},
		{"inspect", file, "--format", "json", "-o", file},
		{"inspect", stats, "--format", "json", "-o", stats},
		{"scan", file, "-o", file},
		{"apply", file, "--selection", sel, "-o", file},
		{"select", "--stats", stats, "-k", "3", "--format", "json", "-o", stats},
	} {
		ends(t, exit.Usage, "replace the input", args...)
	}
	must(t, "select", file, "-k", "3")
	must(t, "select", "--stats", stats, "-k", "3")
}

// TestOutputIsNoInput: no verb writes data where its own input takes it in the next time.
func TestOutputIsNoInput(t *testing.T) {
	dir, in := plant(t, 300, 1)
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, "select", dir, "-k", "3", "-o", at("sel.json"))
	must(t, "scan", dir, "-o", at("s.ufs"))
	must(t, "convert", dir, "-o", at("_kept"))
	must(t, "apply", dir, "--selection", at("sel.json"), "-o", at(".kept"))
	seen := must(t, "inspect", dir)
	for _, args := range [][]string{
		{"convert", dir, "-o", at("parquet")},
		{"convert", filepath.Join(dir, "*.parquet"), "-o", at("all.parquet")},
		{"apply", dir, "--selection", at("sel.json"), "-o", at("sub")},
		{"select", dir, "-k", "3", "-o", at("sel.csv")},
		{"path", dir, "-k", "3", "-o", at("path.csv")},
		{"eval", dir, "--selection", at("sel.json"), "-o", at("eval.csv")},
		{"redundancy", dir, "-o", at("r.csv")},
		{"inspect", dir, "-o", at("i.csv")},
	} {
		ends(t, exit.Usage, "would take it in the next time", args...)
	}
	ends(t, exit.Usage, "as "+at("_parquet"), "convert", dir, "-o", at("parquet"))
	if again := must(t, "inspect", dir); again != seen {
		t.Errorf("%d files, then\n%s\nwas\n%s", len(in), again, seen)
	}
}

// TestDeviceOutput: a device is written to, not replaced.
func TestDeviceOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null")
	}
	in, _ := plant(t, 300, 1)
	must(t, "select", in, "-k", "3", "-o", os.DevNull)
	if fi, err := os.Stat(os.DevNull); err != nil || fi.Mode().IsRegular() {
		t.Errorf("%s after it was an output: got %v (%v), want a device", os.DevNull, fi, err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		ends(t, exit.Fault, "", "select", in, "-k", "3", "-o", "/dev/full")
	}
}

// TestScratchFlags: methods that need no scratch space take the flags too.
func TestScratchFlags(t *testing.T) {
	in, _ := plant(t, 300, 1)
	must(t, "select", in, "-k", "3", "--temp-dir", t.TempDir(), "--max-temp-size", "1GiB")
	ends(t, exit.Fault, "", "select", in, "-k", "3", "--temp-dir", filepath.Join(t.TempDir(), "nosuch"))
}

// TestSilentPipe: a run that waits for standard input ends when it is interrupted.
func TestSilentPipe(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	code := make(chan int)
	go func() { code <- run(ctx, []string{"select", "-", "-k", "3"}, r, io.Discard, io.Discard) }()
	time.Sleep(20 * time.Millisecond) // let it wait; too short would only make the test easier
	cancel()
	select {
	case got := <-code:
		if got != exit.Interrupted {
			t.Errorf("exit code %d, want %d", got, exit.Interrupted)
		}
	case <-time.After(time.Minute):
		t.Fatal("still waiting for standard input")
	}
}

// TestVerboseNote: -v tells the passes, the memory, and what the threads were busy with.
func TestVerboseNote(t *testing.T) {
	in, _ := plant(t, 300, 1)
	r := invoke("select", in, "-k", "3", "--method", "greedy", "-v")
	demo := invoke("demo", "-v")
	for _, said := range []string{r.err, demo.err} {
		if !strings.Contains(said, "1 pass, ") || !strings.Contains(said, "of 2.0 GiB") {
			t.Errorf("standard error: %q", said)
		}
		if !regexp.MustCompile(`(?m)^busy, over all threads: read \S+ s, decode \S+ s, convert \S+ s, gram \S+ s$`).MatchString(said) {
			t.Errorf("standard error: %q", said)
		}
	}
	path, sel := labelled(t, 300)
	if r := invoke("eval", path, "--selection", sel, "--resamples", "2", "-v"); strings.Contains(r.err, "pass, ") || !strings.Contains(r.err, "peak memory") {
		t.Errorf("eval, which reads for every resample: %q", r.err)
	}
}

// TestInspectWholeNumbers: the least and largest value of an identifier are not rounded.
func TestInspectWholeNumbers(t *testing.T) {
	path := columnsFile(t, filepath.Join(t.TempDir(), "t.parquet"), []string{"id", "x"}, []float64{1000000000000, 1000000000003}, []float64{0.5, 1})
	if out := must(t, "inspect", path, "--scan"); !strings.Contains(out, "1000000000003") {
		t.Errorf("inspect:\n%s", out)
	}
}

// arrowStream is a table of the given columns as an Arrow IPC stream.
func arrowStream(t *testing.T, columns ...[]float64) []byte {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for j, values := range columns {
		b := array.NewFloat64Builder(arrowmemory.DefaultAllocator)
		b.AppendValues(values, nil)
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", j), Type: arrow.PrimitiveTypes.Float64})
		arrays = append(arrays, b.NewArray())
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	if err := w.Write(array.NewRecord(schema, arrays, int64(len(columns[0])))); err != nil {
		t.Fatalf("writing the Arrow record: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("closing the Arrow file: %v", err)
	}
	return out.Bytes()
}

// TestStandardInput: a stream is selected from and inspected like a file. A limit below the
// program's own size is refused, and the message names a limit above it.
func TestStandardInput(t *testing.T) {
	in := arrowStream(t, []float64{1, 2, 3, 5}, []float64{2, 1, 4, 4}, []float64{7, 7, 7, 8})
	ufsIn := func(args ...string) result { return invokeWith(t.Context(), in, args...) }
	if r := ufsIn("select", "-", "-k", "2", "--format", "names"); r.code != exit.Done || strings.Count(r.out, "\n") != 2 {
		t.Errorf("select: exit code %d, %q, %q", r.code, r.out, r.err)
	}
	if r := ufsIn("inspect", "-", "--scan"); r.code != exit.Done || !strings.Contains(r.out, "4 rows") {
		t.Errorf("inspect: exit code %d, %q, %q", r.code, r.out, r.err)
	}
	if r := ufsIn("tree", "-", "--tree", "correlation"); r.code != exit.Done || !strings.Contains(r.out, "children") {
		t.Errorf("tree: exit code %d, %q, %q", r.code, r.out, r.err)
	}
	r := ufsIn("select", "-", "-k", "2", "--memory-limit", "20MiB")
	if r.code != exit.Memory || !strings.Contains(r.err, "the limit is 20.0 MiB") || strings.Contains(r.err, "--memory-limit 1MiB") {
		t.Errorf("20 MiB: exit code %d, %q", r.code, r.err)
	}
}

// TestManyWarnings: a tie of all features gives one warning, and a long list is cut.
func TestManyWarnings(t *testing.T) {
	in, _ := plant(t, 300, 1)
	r := invoke("select", in, "--method", "variance", "--scale", "standard", "-k", "30")
	if n := strings.Count(r.err, "warning:"); r.code != exit.Done || n != 1 {
		t.Errorf("exit code %d, %d warnings:\n%s", r.code, n, r.err)
	}
	for _, c := range []struct{ given, shown int }{{0, 0}, {10, 10}, {11, 11}, {12, 11}, {100, 11}} {
		var b bytes.Buffer
		(&cli{errPage: screen.NewPage(&b)}).warn(make([]string, c.given))
		if n := strings.Count(b.String(), "\n"); n != c.shown {
			t.Errorf("%d warnings: %d lines, want %d", c.given, n, c.shown)
		}
	}
}
