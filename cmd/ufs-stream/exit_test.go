package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/exit"
)

// outcome is a command line, its exit code, and words that it says on standard error.
type outcome struct {
	args string
	code int
	says string
}

// check runs the command. One that fails without a result must print nothing.
func (c outcome) check(t *testing.T) {
	r := invoke(strings.Fields(c.args)...)
	if r.code != c.code || !strings.Contains(r.err, c.says) {
		t.Errorf("%s: exit code %d, want %d and something of %q:\n%s", c.args, r.code, c.code, c.says, r.err)
	}
	if c.code != exit.Done && c.code != exit.Unconverged && r.out != "" {
		t.Errorf("%s: failed, yet wrote to standard output: %q", c.args, r.out)
	}
}

// TestExitCodes: every bad input has a clear error and its exit code.
func TestExitCodes(t *testing.T) {
	dir, paths := plant(t, 300, 1)
	good := paths[0]
	at := func(name string) string { return filepath.Join(dir, "bad", name) }
	if err := os.MkdirAll(at("nofiles"), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name string, b []byte) string {
		t.Helper()
		if err := os.WriteFile(at(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	for i := 4; i < 4000; i += 7 {
		flipped[i] ^= 0x55
	}
	loop := at("loop.parquet")
	if err := os.Symlink("loop.parquet", loop); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	empty := write("empty.parquet", nil)
	truncated := write("truncated.parquet", whole[:len(whole)/2])
	broken := write("flipped.parquet", flipped)
	text := write("text.parquet", []byte("this is no Parquet file, whatever its name"))
	other := columnsFile(t, at("other.parquet"), []string{"x000", "stranger"}, []float64{1, 2}, []float64{3, 4})
	constant := columnsFile(t, at("constant.parquet"), []string{"a", "b"}, []float64{1, 1}, []float64{3, 3})
	holes := columnsFile(t, at("holes.parquet"), []string{"a", "b"}, []float64{1, nan, 2, nan, 3, nan}, []float64{nan, 1, nan, 2, nan, 3})
	stats, profile := at("all.ufs"), at("profile.ufs")
	must(t, "scan", good, "-o", stats)
	must(t, "scan", good, "-o", profile, "--profile-only")
	must(t, "scan", good, "-o", at("1.ufs"), "--shard", "1/2")
	must(t, "scan", good, "-o", at("2.ufs"), "--shard", "2/2")
	chosen := at("sel.json")
	must(t, "select", good, "-k", "2", "-o", chosen)
	damaged, err := os.ReadFile(stats)
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)/2] ^= 1
	badStats := write("damaged.ufs", damaged)

	for _, c := range []struct {
		name string
		args string
		code int
		says string // part of the message
	}{
		{"help", "help", exit.Done, ""},
		{"verb help", "select --help", exit.Done, ""},
		{"version", "version", exit.Done, ""},
		{"completion", "completion bash", exit.Done, ""},

		{"no input", "select", exit.Usage, "no INPUT"},
		{"unknown verb", "slect " + good, exit.Usage, "did you mean select?"},
		{"unknown flag", "select --lable x " + good, exit.Usage, "did you mean --label?"},
		{"flag of no method", "path --lambda 1e-3..1e3 " + good, exit.Usage, "unknown flag: --lambda"},
		{"unknown method", "select --method greddy " + good, exit.Usage, "did you mean greedy?"},
		{"method of no paper", "select --method cpufsn " + good, exit.Usage, "did you mean cpufs"},
		{"unknown scale", "select --scale standart " + good, exit.Usage, "did you mean standard?"},
		{"unknown policy", "select --missing men " + good, exit.Usage, "did you mean mean?"},
		{"unknown format", "select --format jsn " + good, exit.Usage, "did you mean json?"},
		{"unknown column", "select --columns x00O " + good, exit.Usage, "did you mean x000?"},
		{"unknown label", "select --label lable " + good, exit.Usage, "no column has this name"},
		{"unknown keep", "select --keep y000 " + good, exit.Usage, "did you mean x000?"},
		{"unknown shell", "completion bsh", exit.Usage, "did you mean bash?"},
		{"bad memory limit", "select --memory-limit much " + good, exit.Usage, "512MiB"},
		{"bad shard", "scan --shard 3/2 -o x.ufs " + good, exit.Usage, "I/N"},
		{"bad variance", "select --variance 95 " + good, exit.Usage, "share"},
		{"variance and k", "select --variance 0.9 -k 3 " + good, exit.Usage, "not both"},
		{"k of zero", "select -k 0 " + good, exit.Usage, "want 1 or more"},
		{"k above features", "select -k 49 " + good, exit.Usage, "more than the 48 features"},
		{"k above features of statistics", "select -k 49 --stats " + stats, exit.Usage, "more than the 48 features"},
		{"weight for random", "select --method random --weight x000 " + good, exit.Usage, "not for method random"},
		{"keep for variance", "select --method variance --keep x000 " + good, exit.Usage, "not for method variance"},
		{"partitions for greedy", "select --partitions 3 " + good, exit.Usage, "partgreedy only"},
		{"curve of variance", "path --method variance " + good, exit.Usage, "no curve"},
		{"input and statistics", "select --stats " + stats + " " + good, exit.Usage, "not both"},
		{"greedy from a profile", "select --stats " + profile, exit.Usage, "ufs-stream scan INPUT"},
		{"label that is a feature", "select --label x000 --stats " + stats, exit.Usage, "has it as a feature"},
		{"weights from statistics", "select --weight x000 --stats " + stats, exit.Usage, "scan again"},
		{"merge of itself", "merge " + stats + " " + stats + " -o " + at("m.ufs"), exit.Usage, "both cover rows 0 to 299"},
		{"merge of kinds", "merge " + stats + " " + profile + " -o " + at("m.ufs"), exit.Usage, "one kind"},
		{"scan without output", "scan " + good, exit.Usage, "-o FILE.ufs"},
		{"apply without selection", "apply " + good + " -o " + at("a.parquet"), exit.Usage, "--selection"},
		{"argument of version", "version 2", exit.Usage, "no argument"},

		{"missing file", "select " + at("nothing.parquet"), exit.Data, "nothing.parquet"},
		{"empty file", "select " + empty, exit.Data, "empty"},
		{"truncated file", "select " + truncated, exit.Data, "truncated.parquet"},
		{"flipped bytes", "select " + broken, exit.Data, "flipped.parquet"},
		{"no Parquet", "select " + text, exit.Data, "neither a Parquet file"},
		{"unreadable file", "select " + loop, exit.Data, "loop.parquet"},
		{"below a file", "select " + filepath.Join(good, "x.parquet"), exit.Data, "x.parquet"},
		{"directory without files", "select " + at("nofiles"), exit.Data, "nofiles"},
		{"schema mismatch", "select " + good + " " + other, exit.Data, "other.parquet"},
		{"constant columns only", "select " + constant, exit.Data, "constant"},
		{"missing values", "select " + holes, exit.Data, "missing value"},
		{"all rows dropped", "select --missing drop-row " + holes, exit.Data, "all dropped"},
		{"damaged statistics", "select --stats " + badStats, exit.Data, "damaged.ufs"},
		{"no statistics", "merge " + good + " " + stats + " -o " + at("m.ufs"), exit.Data, "statistics"},
		{"no selection", "apply " + good + " --selection " + text + " -o " + at("a.parquet"), exit.Data, "not a selection"},
		{"missing selection", "apply " + good + " --selection " + at("none.json") + " -o " + at("a.parquet"), exit.Data, "none.json"},

		{"memory", "select --memory-limit 10MiB " + good, exit.Memory, "--memory-limit"},
		{"memory of plan", "plan --memory-limit 10MiB " + good, exit.Memory, "--memory-limit"},
		{"memory of statistics", "select --memory-limit 10MiB --stats " + stats, exit.Memory, "--memory-limit"},
		{"memory of merge", "merge --memory-limit 48MiB -o " + at("m.ufs") + " " + at("1.ufs") + " " + at("2.ufs"), exit.Memory, "--memory-limit 50MiB"},

		{"output folder missing", "select " + good + " -k 2 -o " + at("none/sel.json"), exit.Fault, "create the folder"},
		{"output is a folder", "select " + good + " -k 2 -o " + at("nofiles"), exit.Fault, "cannot write"},
		{"output device", "select " + good + " -k 2 -o /dev/full", exit.Fault, "cannot write /dev/full"},
		{"statistics folder missing", "scan " + good + " -o " + at("none/s.ufs"), exit.Fault, "create the folder"},
		{"applied folder missing", "apply " + good + " --selection " + chosen + " -o " + at("none/a.parquet"), exit.Fault, "cannot write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			outcome{c.args, c.code, c.says}.check(t)
		})
	}
}

// TestOddFiles: select refuses files without rows or numeric columns and clashing names.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	none := columnsFile(t, filepath.Join(dir, "none.parquet"), []string{"a", "b"}, nil, nil)
	if r := invoke("select", none); r.code != exit.Data || !strings.Contains(r.err, "no rows") {
		t.Errorf("zero rows: exit code %d: %s", r.code, r.err)
	}
	if r := invoke("inspect", none); r.code != exit.Done {
		t.Errorf("inspect of zero rows: exit code %d: %s", r.code, r.err)
	}
	clash := filepath.Join(dir, "x=1")
	if err := os.MkdirAll(clash, 0o777); err != nil {
		t.Fatal(err)
	}
	columnsFile(t, filepath.Join(clash, "a.parquet"), []string{"x", "y"}, []float64{1, 2}, []float64{2, 1})
	if r := invoke("select", clash); r.code != exit.Data || !strings.Contains(r.err, `"x"`) {
		t.Errorf("duplicate names: exit code %d: %s", r.code, r.err)
	}
	messy := dataset(t, "messy.parquet")
	r := invoke("select", messy, "--columns", "category")
	if r.code == exit.Done || !strings.Contains(r.err, "category") {
		t.Errorf("no numeric column: exit code %d: %s", r.code, r.err)
	}
	if r := invoke("select", messy, "--exclude", "*"); r.code != exit.Data || !strings.Contains(r.err, "no numeric column") {
		t.Errorf("no numeric column: exit code %d: %s", r.code, r.err)
	}
}

// TestStandardOutputFull: results that cannot be written are exit code 1.
func TestStandardOutputFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full here: %v", err)
	}
	defer full.Close()
	_, paths := plant(t, 300, 1)
	for _, args := range [][]string{
		{"version"}, {"help"}, {"completion", "bash"}, {"inspect", paths[0]}, {"plan", paths[0]}, {"demo"},
		{"select", paths[0]}, {"select", paths[0], "--format", "json"}, {"select", paths[0], "--format", "csv"},
		{"select", paths[0], "--format", "names"}, {"select", paths[0], "--format", "parquet"}, {"path", paths[0]},
	} {
		var errw bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), full, &errw); code != exit.Fault {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, exit.Fault, errw.String())
		}
	}
}
