package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ufs-stream/ufs-stream/internal/exit"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// TestUsageErrors: a request that cannot be right says why in the user's words, on
// standard error only.
func TestUsageErrors(t *testing.T) {
	dir := t.TempDir()
	_, in := plant(t, 300, 2)
	stats := make([]string, 2)
	for i, p := range in {
		stats[i] = filepath.Join(dir, fmt.Sprint(i)+".ufs")
		must(t, "scan", p, "-o", stats[i])
	}
	sel := filepath.Join(dir, "sel.json")
	must(t, "select", in[0], "-k", "3", "-o", sel)
	for _, c := range []struct{ args, want string }{
		{"select x -k abc", "-k abc: want a whole number"},
		{"select x --seed -1", "--seed -1: want a whole number from 0 on"},
		{"select x --variance much", "--variance much: want a number"},
		{"select x --checkpoint-every soon", "--checkpoint-every soon: want a duration"},
		{"select x --missing men", "did you mean mean?"},
		{"select x --threads 1000000", "up to 1024"},
		{"help selct", `unknown verb "selct"; did you mean select?`},
		{"completion bash zsh", "one shell at a time"},
		{"select x -o sel.jso", "did you mean json?"},
		{"plan x -o plan.csv", "names no format"},
		{"select " + stats[0], "select from statistics with --stats"},
		{"scan " + stats[0] + " -o " + filepath.Join(dir, "x.ufs"), "add statistics files with merge"},
		{"plan " + stats[0], "is a statistics file"},
		{"inspect " + stats[0] + " " + stats[1], "one at a time"},
		{"select --stats " + stats[0] + " --rows 7", "was scanned without it"},
		{"apply " + in[0] + " --selection " + sel + " -o small.csv", "OUT is Parquet"},
		{"merge " + stats[0] + " " + stats[1] + " " + stats[1] + " -o " + filepath.Join(dir, "all.ufs"), "cannot merge " + stats[1] + " with " + stats[1]},
	} {
		r := invoke(strings.Fields(c.args)...)
		if r.code != exit.Usage || !strings.Contains(r.err, c.want) || strings.Contains(r.err, "strconv") {
			t.Errorf("%s: exit code %d, %q; want %q", c.args, r.code, r.err, c.want)
		}
		if r.out != "" {
			t.Errorf("%s: standard output has %q", c.args, r.out)
		}
	}
	r := invoke("apply", in[0], "--selection", "nosuch.json", "-o", filepath.Join(dir, "x.parquet"))
	if r.code != exit.Data || strings.Count(r.err, "nosuch.json") != 1 {
		t.Errorf("exit code %d, %q: want the path once", r.code, r.err)
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
		if r := invoke(args...); r.code != exit.Usage || !strings.Contains(r.err, "replace the input") {
			t.Errorf("%q: exit code %d, %q", args, r.code, r.err)
		}
	}
	must(t, "select", file, "-k", "3")
	must(t, "select", "--stats", stats, "-k", "3")
}

// TestDeviceOutput: a device is written to, not replaced.
func TestDeviceOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev/null")
	}
	in, _ := plant(t, 300, 1)
	must(t, "select", in, "-k", "3", "-o", os.DevNull)
	if fi, err := os.Stat(os.DevNull); err != nil || fi.Mode().IsRegular() {
		t.Errorf("%v, %v", fi, err)
	}
	if _, err := os.Stat("/dev/full"); err == nil {
		if r := invoke("select", in, "-k", "3", "-o", "/dev/full"); r.code != exit.Fault {
			t.Errorf("a full device: exit code %d, %q", r.code, r.err)
		}
	}
}

// TestScratchFlags: methods that need no scratch space take the flags too.
func TestScratchFlags(t *testing.T) {
	in, _ := plant(t, 300, 1)
	must(t, "select", in, "-k", "3", "--temp-dir", t.TempDir(), "--max-temp-size", "1GiB")
	if r := invoke("select", in, "-k", "3", "--temp-dir", filepath.Join(t.TempDir(), "nosuch")); r.code != exit.Fault {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}
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
	case <-time.After(10 * time.Second):
		t.Fatal("still waiting for standard input")
	}
}

// TestInterruptible: an interruptible reader gives the bytes and the error of the reader
// beneath, whatever their number.
func TestInterruptible(t *testing.T) {
	for _, n := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 18} {
		text := strings.Repeat("x", n)
		got, err := io.ReadAll(interruptible(context.Background(), strings.NewReader(text)))
		if err != nil || string(got) != text {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
	}
}

// TestPlanSmallestOutOfCore: plan names the limit for going out of core as the smallest, if
// it is the lower one, also where the planned run stays in memory.
func TestPlanSmallestOutOfCore(t *testing.T) {
	path := dataset(t, "warppie10p.parquet")
	plan := func(limit string) (f ufs.Forecast) {
		t.Helper()
		if err := json.Unmarshal([]byte(must(t, "plan", path, "-k", "4", "--label", "label", "--memory-limit", limit, "--format", "json")), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	in := plan("2GiB").Memory
	if in.OutOfCore || in.Smallest >= in.InMemory {
		t.Fatalf("%+v: want the smallest limit below the one for staying in memory", in)
	}
	if m := plan(fmt.Sprint(in.InMemory)).Memory; m.OutOfCore {
		t.Errorf("at %d bytes: %+v", in.InMemory, m)
	}
	if m := plan(fmt.Sprint(in.InMemory - 1)).Memory; !m.OutOfCore || m.Smallest != in.Smallest || m.InMemory != in.InMemory {
		t.Errorf("below: %+v, want the limits of %+v", m, in)
	}
	want := names(selection(t, path, "-k", "4", "--label", "label"))
	r := invoke("select", path, "-k", "4", "--label", "label", "--memory-limit", fmt.Sprint(in.Smallest), "--format", "names", "--progress", "json")
	if got := strings.Fields(r.out); r.code != exit.Done || !slices.Equal(got, want) {
		t.Fatalf("exit code %d, %v, want %v\n%s", r.code, got, want, r.err)
	}
	if r := invoke("select", path, "--label", "label", "--memory-limit", fmt.Sprint(in.Smallest-1)); r.code != exit.Memory {
		t.Errorf("one byte less: exit code %d", r.code)
	}
	// Every line of the progress says how many passes are to come.
	for line := range strings.Lines(r.err) {
		var s snapshot
		if strings.HasPrefix(line, "warning:") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if s.Passes < max(s.Pass, 2) || s.Most < s.Passes {
			t.Errorf("pass %d of %d to %d", s.Pass, s.Passes, s.Most)
		}
	}
}

// TestVerboseNote: -v tells the passes and the memory.
func TestVerboseNote(t *testing.T) {
	in, _ := plant(t, 300, 1)
	r := invoke("select", in, "-k", "3", "-v")
	if !strings.Contains(r.err, "1 pass, ") || !strings.Contains(r.err, "of 2.0 GiB") {
		t.Errorf("standard error: %q", r.err)
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
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestStandardInput: a stream is selected from and inspected like a file. A limit below the
// program's own size is refused, and the message names a limit above it.
func TestStandardInput(t *testing.T) {
	in := arrowStream(t, []float64{1, 2, 3, 5}, []float64{2, 1, 4, 4}, []float64{7, 7, 7, 8})
	ufsIn := func(args ...string) result {
		var out, errw bytes.Buffer
		code := run(context.Background(), args, bytes.NewReader(in), &out, &errw)
		return result{code, out.String(), errw.String()}
	}
	if r := ufsIn("select", "-", "-k", "2", "--format", "names"); r.code != exit.Done || strings.Count(r.out, "\n") != 2 {
		t.Errorf("select: exit code %d, %q, %q", r.code, r.out, r.err)
	}
	if r := ufsIn("inspect", "-", "--scan"); r.code != exit.Done || !strings.Contains(r.out, "4 rows") {
		t.Errorf("inspect: exit code %d, %q, %q", r.code, r.out, r.err)
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
		(&cli{err: &b}).warn(make([]string, c.given))
		if n := strings.Count(b.String(), "\n"); n != c.shown {
			t.Errorf("%d warnings: %d lines, want %d", c.given, n, c.shown)
		}
	}
}
