package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// TestExitCodes: every bad request and input has a clear error, in the user's words and on
// standard error only, and its exit code.
func TestExitCodes(t *testing.T) {
	dir, paths := plant(t, 300, 1)
	good := paths[0]
	at := func(name string) string { return filepath.Join(dir, "bad", name) }
	if err := os.MkdirAll(at("nofiles"), 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	loop := at("loop.parquet")
	if err := os.Symlink("loop.parquet", loop); err != nil {
		t.Fatalf("linking a file: %v", err)
	}
	whole := read(t, good)
	empty := write(t, at("empty.parquet"), "")
	truncated := write(t, at("truncated.parquet"), whole[:len(whole)/2])
	broken := write(t, at("flipped.parquet"), damaged(whole, 4, 4000, 7))
	text := write(t, at("text.parquet"), "this is no Parquet file, whatever its name")
	other := columnsFile(t, at("other.parquet"), []string{"x000", "stranger"}, []float64{1, 2}, []float64{3, 4})
	constant := columnsFile(t, at("constant.parquet"), []string{"a", "b"}, []float64{1, 1}, []float64{3, 3})
	holes := columnsFile(t, at("holes.parquet"), []string{"a", "b"}, []float64{1, nan, 2, nan, 3, nan}, []float64{nan, 1, nan, 2, nan, 3})
	stats, profile, first, second := at("all.ufs"), at("profile.ufs"), at("1.ufs"), at("2.ufs")
	must(t, "scan", good, "-o", stats)
	must(t, "scan", good, "-o", profile, "--profile-only")
	must(t, "scan", good, "-o", first, "--shard", "1/2")
	must(t, "scan", good, "-o", second, "--shard", "2/2")
	chosen := at("sel.json")
	must(t, "select", good, "-k", "2", "-o", chosen)
	all := read(t, stats)
	badStats := write(t, at("damaged.ufs"), damaged(all, len(all)/2, len(all)/2+1, 1))
	checkAll(t, []outcome{
		{"help", exit.Done, ""},
		{"select --help", exit.Done, ""},
		{"version", exit.Done, ""},
		{"completion bash", exit.Done, ""},

		{"select", exit.Usage, "no INPUT"},
		{"slect " + good, exit.Usage, "did you mean select?"},
		{"select --lable x " + good, exit.Usage, "did you mean --label?"},
		{"path --lambda 1e-3..1e3 " + good, exit.Usage, "unknown flag: --lambda"},
		{"select --method greddy " + good, exit.Usage, "did you mean greedy?"},
		{"select --method cpufsn " + good, exit.Usage, "did you mean cpufs"},
		{"select --scale standart " + good, exit.Usage, "did you mean standard?"},
		{"select --missing men " + good, exit.Usage, "did you mean mean?"},
		{"help selct", exit.Usage, `unknown verb "selct"; did you mean select?`},
		{"select --format jsn " + good, exit.Usage, "did you mean json?"},
		{"select --columns x00O " + good, exit.Usage, "did you mean x000?"},
		{"select --label lable " + good, exit.Usage, "no column has this name"},
		{"select --keep y000 " + good, exit.Usage, "did you mean x000?"},
		{"completion bsh", exit.Usage, "did you mean bash?"},
		{"completion bash zsh", exit.Usage, "one shell at a time"},
		{"select x -k abc", exit.Usage, "-k abc: want a whole number"},
		{"select x --seed -1", exit.Usage, "--seed -1: want a whole number from 0 on"},
		{"select x --variance much", exit.Usage, "--variance much: want a number"},
		{"select --method greedy --sketch 64 --passes 0 " + good, exit.Usage, "--passes 0: want 1 or more"},
		{"select --checkpoint-every 0s " + good, exit.Usage, "--checkpoint-every 0s: want a time above 0"},
		{"select x --checkpoint-every soon", exit.Usage, "--checkpoint-every soon: want a duration"},
		{"select x --threads 1000000", exit.Usage, "up to 1024"},
		{"select x -o sel.jso", exit.Usage, "did you mean json?"},
		{"plan x -o plan.csv", exit.Usage, "names no format"},
		{"select --memory-limit much " + good, exit.Usage, "512MiB"},
		{"scan --shard 3/2 -o x.ufs " + good, exit.Usage, "I/N"},
		{"select --variance 95 " + good, exit.Usage, "share"},
		{"select --variance 0.9 -k 3 " + good, exit.Usage, "not both"},
		{"select -k 0 " + good, exit.Usage, "want 1 or more"},
		{"select -k 49 " + good, exit.Usage, "more than the 48 features"},
		{"select -k 49 --stats " + stats, exit.Usage, "more than the 48 features"},
		{"select --method random --weight x000 " + good, exit.Usage, "not for method random"},
		{"select --method fsfs --keep x000 " + good, exit.Usage, "not for method fsfs"},
		{"select --partitions 3 " + good, exit.Usage, "partgreedy only"},
		{"path --method variance " + good, exit.Usage, "no curve"},
		{"select --stats " + stats + " " + good, exit.Usage, "not both"},
		{"select --stats " + profile, exit.Usage, "ufs-stream scan INPUT"},
		{"select --label x000 --stats " + stats, exit.Usage, "has it as a feature"},
		{"select --weight x000 --stats " + stats, exit.Usage, "scan again"},
		{"merge " + stats + " " + stats + " -o " + at("m.ufs"), exit.Usage, "both cover rows 0 to 299"},
		{"merge " + stats + " " + profile + " -o " + at("m.ufs"), exit.Usage, "one kind"},
		{"merge " + first + " " + second + " " + second + " -o " + at("m.ufs"), exit.Usage, "cannot merge " + second + " with " + second},
		{"select " + stats, exit.Usage, "select from statistics with --stats"},
		{"scan " + stats + " -o " + at("x.ufs"), exit.Usage, "add statistics files with merge"},
		{"plan " + stats, exit.Usage, "is a statistics file"},
		{"inspect " + stats + " " + first, exit.Usage, "one at a time"},
		{"select --stats " + stats + " --rows 7", exit.Usage, "was scanned without it"},
		{"scan " + good, exit.Usage, "-o FILE.ufs"},
		{"apply " + good + " --selection " + chosen + " -o -", exit.Usage, "rows go to a file"},
		{"convert " + good + " -o -", exit.Usage, "rows go to a file"},
		{"apply " + good + " --selection " + chosen + " -o small.tsv", exit.Usage, "OUT is Parquet, Arrow or CSV"},
		{"apply " + good + " -o " + at("a.parquet"), exit.Usage, "--selection"},
		{"version 2", exit.Usage, "no argument"},

		{"select " + at("nothing.parquet"), exit.Data, "nothing.parquet"},
		{"select " + empty, exit.Data, "empty"},
		{"select " + truncated, exit.Data, "truncated.parquet"},
		{"select " + broken, exit.Data, "flipped.parquet"},
		{"select " + text, exit.Data, "neither a Parquet file"},
		{"select " + loop, exit.Data, "loop.parquet"},
		{"select " + filepath.Join(good, "x.parquet"), exit.Data, "x.parquet"},
		{"select " + at("nofiles"), exit.Data, "nofiles"},
		{"select " + good + " " + other, exit.Data, "other.parquet"},
		{"select " + constant, exit.Data, "constant"},
		{"select --missing error " + holes, exit.Data, "missing value"},
		{"select --missing drop-row " + holes, exit.Data, "all dropped"},
		{"select --stats " + badStats, exit.Data, "damaged.ufs"},
		{"merge " + good + " " + stats + " -o " + at("m.ufs"), exit.Data, "statistics"},
		{"apply " + good + " --selection " + text + " -o " + at("a.parquet"), exit.Data, "the selected column is not in the input"},
		{"apply " + good + " --selection " + at("none.json") + " -o " + at("a.parquet"), exit.Data, "none.json"},

		{"select --memory-limit 10MiB " + good, exit.Memory, "--memory-limit"},
		{"plan --memory-limit 10MiB " + good, exit.Memory, "--memory-limit"},
		{"select --memory-limit 10MiB --stats " + stats, exit.Memory, "--memory-limit"},
		{"merge --memory-limit 48MiB -o " + at("m.ufs") + " " + first + " " + second, exit.Memory, "--memory-limit 52MiB"},

		{"select " + good + " -k 2 -o " + at("none/sel.json"), exit.Fault, "create the folder"},
		{"select " + good + " -k 2 -o " + at("nofiles"), exit.Fault, "cannot write"},
		{"select " + good + " -k 2 -o /dev/full", exit.Fault, "cannot write /dev/full"},
		{"scan " + good + " -o " + at("none/s.ufs"), exit.Fault, "create the folder"},
		{"apply " + good + " --selection " + chosen + " -o " + at("none/a.parquet"), exit.Fault, "cannot write"},
	}, dir)
}

// TestOddFiles: select refuses files without rows or numeric columns and clashing names.
func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	none := columnsFile(t, filepath.Join(dir, "none.parquet"), []string{"a", "b"}, nil, nil)
	ends(t, exit.Data, "no rows", "select", none)
	ends(t, exit.Done, "", "inspect", none)
	clash := filepath.Join(dir, "x=1")
	if err := os.MkdirAll(clash, 0o777); err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	columnsFile(t, filepath.Join(clash, "a.parquet"), []string{"x", "y"}, []float64{1, 2}, []float64{2, 1})
	ends(t, exit.Data, `"x"`, "select", clash)
	messy := fixtures.DatasetPath(t, "messy.parquet")
	r := invoke("select", messy, "--columns", "category")
	if r.code == exit.Done || !strings.Contains(r.err, "category") {
		t.Errorf("no numeric column: exit code %d: %s", r.code, r.err)
	}
	ends(t, exit.Data, "no numeric column", "select", messy, "--exclude", "*")
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

// TestHelpTellsExitCodes: the program's help has all codes, each once.
func TestHelpTellsExitCodes(t *testing.T) {
	help := must(t, "help")
	for _, code := range []int{exit.Done, exit.Fault, exit.Usage, exit.Data, exit.Memory, exit.Unconverged, exit.Stale, exit.TryAgain, exit.Interrupted} {
		if n := strings.Count(help, fmt.Sprintf("\n  %-5d", code)); n != 1 {
			t.Errorf("exit code %d is told %d times", code, n)
		}
	}
}
