package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// phased writes a table of n rows in row groups of 100 whose column phase counts from 0 to
// 99 in each, and the same table of its rows below phase 40 alone, in row groups of 40.
// Rows of phase 40 and more hold what would spoil everything.
func phased(t *testing.T, n int) (whole, part string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 3))
	names := []string{"phase", "a", "b", "c", "d", "e", "f"}
	all, some := make([][]float64, len(names)), make([][]float64, len(names))
	for i := range n {
		row := []float64{float64(i % 100)}
		for j := 1; j < len(names); j++ {
			row = append(row, rng.NormFloat64()+float64(j)*row[max(j-2, 1)%j]/50)
		}
		if i%100 >= 40 {
			row[1], row[2] = nan, 1e300
		}
		for j, x := range row {
			all[j] = append(all[j], x)
			if i%100 < 40 {
				some[j] = append(some[j], x)
			}
		}
	}
	at := folder(t)
	for _, f := range []struct {
		path    string
		columns [][]float64
		height  int
	}{{at("whole.parquet"), all, 100}, {at("part.parquet"), some, 40}} {
		src := memory{rows: len(f.columns[0]), data: slices.Concat(f.columns...)}
		for _, name := range names {
			src.columns = append(src.columns, stream.Column{Name: name, Type: "double"})
		}
		writeSource(t, f.path, src, chunkio.WriteOptions{RowGroupRows: f.height})
	}
	return at("whole.parquet"), at("part.parquet")
}

// TestWhereIsTheRowsThatMatch: selecting under a condition is selecting from a file of the
// rows that match, to the last bit where row groups are cut alike; what other rows hold is
// not complained about.
func TestWhereIsTheRowsThatMatch(t *testing.T) {
	whole, part := phased(t, 2000)
	for _, method := range []string{
		"greedy", "greedy --scale none", "partgreedy --partitions 2", "variance", "eufs --clusters 3 --graph none --sample 0 --max-iter 5", "greedy --missing drop-row",
	} {
		args := append([]string{"-k", "3", "--exclude", "phase", "--method"}, strings.Fields(method)...)
		got := selection(t, append([]string{whole, "--where", "phase < 40"}, args...)...)
		want := selection(t, append([]string{part}, args...)...)
		if a, b := marshal(t, got.Selected), marshal(t, want.Selected); a != b {
			t.Errorf("%s: %s\nwant %s", method, a, b)
		}
		if got.RowsUsed != 800 || got.Rows != 2000 {
			t.Errorf("%s: %d of %d rows", method, got.RowsUsed, got.Rows)
		}
		if got.Options["where"] != "phase < 40" || got.Filled != want.Filled { // what is missing elsewhere takes no part
			t.Errorf("%s records %v and %q, want %q", method, got.Options, got.Filled, want.Filled)
		}
	}
	ends(t, exit.Data, "missing value", "select", whole, "--exclude", "phase", "-k", "3", "--missing", "error")
	ends(t, exit.Data, "no row is left: --where phase > 100", "select", whole, "--where", "phase > 100", "-k", "3")
	ends(t, exit.Usage, "--where: two constants are compared", "select", whole, "--where", "1 = 2", "-k", "3")
}

// TestWhereInShards: shards under a condition add up to the whole under it, in a
// file that says so and serves no other condition.
func TestWhereInShards(t *testing.T) {
	whole, _ := phased(t, 1200)
	at := folder(t)
	args := []string{"--where", "phase < 40", "--exclude", "phase"}
	want := selection(t, append([]string{whole, "-k", "4"}, args...)...)
	var shards []string
	for i := range 4 {
		out := at(fmt.Sprintf("%d.ufs", i))
		must(t, append([]string{"scan", whole, "--shard", fmt.Sprintf("%d/4", i+1), "-o", out}, args...)...)
		shards = append(shards, out)
	}
	all := at("all.ufs")
	must(t, append(append([]string{"merge"}, shards...), "-o", all)...)
	for _, more := range [][]string{nil, {"--where", "phase < 40"}} {
		s := selection(t, append([]string{"--stats", all, "-k", "4"}, more...)...)
		if !slices.Equal(names(s), names(want)) || s.RowsUsed != want.RowsUsed {
			t.Errorf("%v of %d rows, want %v of %d", names(s), s.RowsUsed, names(want), want.RowsUsed)
		}
	}
	ends(t, exit.Usage, "was scanned with --where phase < 40", "select", "--stats", all, "-k", "4", "--where", "phase < 50")
	other := at("other.ufs")
	must(t, "scan", whole, "--where", "phase < 30", "--exclude", "phase", "-o", other)
	ends(t, exit.Usage, "--where", "merge", all, other, "-o", at("no.ufs"))
}

// TestWhereAndPartitions: plan, path, inspect and eval leave out files like select, whatever is
// in them.
func TestWhereAndPartitions(t *testing.T) {
	dir := t.TempDir()
	_, paths := plant(t, 400, 4)
	for i, path := range paths {
		to := filepath.Join(dir, fmt.Sprintf("day=2026-01-0%d", i+1), "x.parquet")
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatalf("making a folder: %v", err)
		}
		content := read(t, path)
		if i == 0 {
			content = damaged(content, len(content)-40, len(content)-10, 1)
		}
		write(t, to, content)
	}
	condition := []string{"--where", "day > '2026-01-01' and day <> '2026-01-03'"}
	with := func(args ...string) []string { return append(append(slices.Clone(args), dir), condition...) }
	ends(t, exit.Data, "day=2026-01-01", "select", dir, "-k", "3")
	sel := filepath.Join(t.TempDir(), "sel.json")
	must(t, with("select", "-k", "3", "-o", sel)...)
	if s := readSelection(t, sel); s.Rows != 200 || len(s.Inputs) != 2 {
		t.Errorf("%d rows of %v", s.Rows, s.Inputs)
	}
	if f := forecastOf(t, with("-k", "3")...); f.Rows != 200 || f.Files != 2 {
		t.Errorf("plan: %d rows in %d files", f.Rows, f.Files)
	}
	for verb, args := range map[string][]string{
		"path": {"-k", "3"}, "inspect": {"--scan"}, "eval": {"--selection", sel, "--resamples", "2"},
	} {
		must(t, with(append([]string{verb}, args...)...)...)
	}
	small := filepath.Join(t.TempDir(), "small")
	if out := must(t, append([]string{"apply", dir, "--selection", sel, "-o", small}, condition...)...); !strings.Contains(out, "2 files, 200 rows") {
		t.Errorf("apply said %s", out)
	}
	ends(t, exit.Data, "there are day = 2026-01-01, 2026-01-02, 2026-01-03, 2026-01-04", "select", dir, "--where", "day > '2027'", "-k", "3")
}

// TestWhereOnRealTypes: what people keep in tables (days, words, flags, prices) chooses rows,
// and none of it need be a feature.
func TestWhereOnRealTypes(t *testing.T) {
	in := fixtures.DatasetPath(t, "messy.parquet")
	s := selection(t, in, "--where", "ts >= '2023-07-01' AND category IN ('gamma', '東京') AND NOT flag AND price > 0", "--missing", "mean",
		"--columns", "d_clean,emb", "-k", "3")
	if s.RowsUsed != 262 { // DuckDB's count
		t.Errorf("%d rows", s.RowsUsed)
	}
}
