package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// TestStatsServeEverySetting: a file and its statistics give the same selection under
// any scale, method and subset of columns, also where the statistics hold a graph.
func TestStatsServeEverySetting(t *testing.T) {
	in, _ := plant(t, 900, 2)
	stats, graph := filepath.Join(t.TempDir(), "all.ufs"), filepath.Join(t.TempDir(), "graph.ufs")
	must(t, "scan", in, "-o", stats)
	must(t, "scan", in, "--method", "laplacian", "--scale", "unit", "-o", graph)
	if out := must(t, "inspect", graph); !strings.Contains(out, "graph statistics") || !strings.Contains(out, "--anchors 900") {
		t.Errorf("inspect said:\n%s", out)
	}
	for i, args := range []string{
		"-k 9 --method partgreedy --scale none", "-k 9 --method variance", "-k 9 --method greedy", "-k 9 --method greedy --scale none", "-k 9 --method greedy --scale center",
		"-k 9 --method greedy --scale minmax", "-k 9 --method greedy --scale unit", "-k 9 --method greedy --scale pareto",
		"--variance 0.9", "-k 14 --method greedy --keep x040,x00*", "-k 9 --method partgreedy --partitions 4", "-k 9 --method partgreedy --seed 5",
		"-k 5 --method variance", "-k 5 --method variance --scale minmax", "-k 5 --method random --seed 7",
		"-k 5 --method greedy --exclude x01*,x020", "-k 5 --method greedy --columns x0[0-3]*", "-k 5 --columns x0[0-3]* --method variance", "-k 9 --method greedy --missing mean",
	} {
		if !long.TakesCase(i, 2) {
			continue
		}
		a := selection(t, append(strings.Fields(args), in)...)
		for _, from := range []string{stats, graph} {
			if from == graph && (strings.Contains(args, "columns") || strings.Contains(args, "exclude")) {
				continue // its distances are between rows of all columns
			}
			b := selection(t, append(strings.Fields(args), "--stats", from)...)
			if x, y := rankingOf(a), rankingOf(b); x != y {
				t.Errorf("%s: from the files %s, from %s %s", args, x, from, y)
			}
			if a.Features != b.Features || len(a.Columns) != len(b.Columns) || len(a.LeftOut) != len(b.LeftOut) || fmt.Sprint(a.Options) != fmt.Sprint(b.Options) {
				t.Errorf("%s: %d features, %d left out, %v; from %s %d, %d, %v", args, a.Features, len(a.LeftOut), a.Options, from, b.Features, len(b.LeftOut), b.Options)
			}
			for j := range a.Columns {
				if x, y := asJSON(t, a.Columns[j]), asJSON(t, b.Columns[j]); !reflect.DeepEqual(x, y) {
					t.Errorf("%s: column report %v, from %s %v", args, x, from, y)
				}
			}
		}
	}
}

// TestStatsAndMissing: how the scan treated missing values limits the policies that the
// statistics can serve.
func TestStatsAndMissing(t *testing.T) {
	in, _ := plantHoled(t, 900, 2)
	dir := t.TempDir()
	mean, drop := filepath.Join(dir, "mean.ufs"), filepath.Join(dir, "drop.ufs")
	must(t, "scan", in, "-o", mean, "--missing", "mean", "--label", "x001")
	must(t, "scan", in, "-o", drop, "--missing", "drop-row", "--label", "x001")
	for _, c := range []struct {
		stats, missing string
		code           int
	}{
		{mean, "", exit.Done}, {mean, "mean", exit.Done}, {mean, "zero", exit.Done}, {mean, "drop-row", exit.Usage}, {mean, "error", exit.Usage},
		{drop, "", exit.Done}, {drop, "drop-row", exit.Done}, {drop, "mean", exit.Usage},
	} {
		args := []string{"select", "--method", "greedy", "--stats", c.stats, "-k", "4"}
		if c.missing != "" {
			args = append(args, "--missing", c.missing)
		}
		ends(t, c.code, "", args...)
	}
	for _, missing := range []string{"mean", "zero"} {
		a := selection(t, in, "--method", "greedy", "--missing", missing, "--label", "x001", "-k", "9")
		b := selection(t, "--stats", mean, "--missing", missing, "--label", "x001", "-k", "9")
		if x, y := names(a), names(b); !slices.Equal(x, y) {
			t.Errorf("%s: %v, from statistics %v", missing, x, y)
		}
		if f := a.Columns[1]; f.Filled != 10 || f.Nulls != 10 { // rows 0, 97, …, 873
			t.Errorf("%s: filled %d of %d nulls, want 10: %+v", missing, f.Filled, f.Nulls, f)
		}
	}
	ends(t, exit.Usage, "dropped rows", "select", "--stats", drop, "--exclude", "x003")
}

// TestStatsKeepWarnings: what a scan warns of is said again by whoever uses its file, with
// options spelled as flags.
func TestStatsKeepWarnings(t *testing.T) {
	in := columnsFile(t, filepath.Join(t.TempDir(), "t.parquet"), []string{"a", "label"}, []float64{1, 2, 4, 8}, []float64{0, 1, 1, 0})
	stats := filepath.Join(t.TempDir(), "all.ufs")
	warned := invoke("scan", in, "-o", stats)
	again := invoke("select", "--stats", stats, "-k", "1")
	if !strings.Contains(warned.err, "--label label or --exclude label") || !strings.HasPrefix(again.err, warned.err) {
		t.Errorf("scan: %q\nselect --stats: %q", warned.err, again.err)
	}
}

// TestStatsAgainstDefaults: a flag is refused that asks for its default where the file
// records something else.
func TestStatsAgainstDefaults(t *testing.T) {
	in, _ := plant(t, 300, 1)
	stats := filepath.Join(t.TempDir(), "some.ufs")
	must(t, "scan", in, "-o", stats, "--rows", "100")
	for flag, code := range map[string]int{"--rows=0": exit.Usage, "--rows=100": exit.Done, "--weight=": exit.Done, "--on-error=fail": exit.Usage} {
		for _, verb := range []string{"select", "path"} {
			if r := invoke(verb, "--stats", stats, "-k", "3", flag); r.code != code {
				t.Errorf("%s %s: exit code %d, want %d: %s", verb, flag, r.code, code, r.err)
			}
		}
	}
}

// TestStatsAreNoRows: eval refuses statistics before it looks for the selection.
func TestStatsAreNoRows(t *testing.T) {
	in, _ := plant(t, 300, 1)
	stats := filepath.Join(t.TempDir(), "all.ufs")
	must(t, "scan", in, "-o", stats)
	if r := invoke("eval", stats, "--selection", "nothing.json"); r.code != exit.Usage || !strings.Contains(r.err, "statistics file") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// TestShards: shards in any order, and a shard without rows, add up to the whole.
func TestShards(t *testing.T) {
	in, _ := plant(t, 900, 2)
	dir := t.TempDir()
	want := names(selection(t, in, "--method", "greedy", "-k", "9"))
	var shards []string
	for _, part := range []string{"7/12", "1/12", "2/12", "12/12", "3/12", "4/12", "11/12", "5/12", "6/12", "8/12", "10/12", "9/12"} {
		out := filepath.Join(dir, strings.Replace(part, "/", "-", 1)+".ufs")
		must(t, "scan", in, "--shard", part, "-o", out)
		shards = append(shards, out)
	}
	all := filepath.Join(dir, "all.ufs")
	must(t, append(append([]string{"merge"}, shards...), "-o", all)...)
	s := selection(t, "--stats", all, "-k", "9")
	if got := names(s); !slices.Equal(got, want) || s.Rows != 900 {
		t.Errorf("%v of %d rows, want %v of 900", got, s.Rows, want)
	}
	ends(t, exit.Usage, "", "merge", all, shards[0], "-o", filepath.Join(dir, "twice.ufs"))
	if s := selection(t, "--stats", shards[0], "-k", "1"); !strings.Contains(strings.Join(s.Warnings, "\n"), "of 900 rows") {
		t.Errorf("no warning that shards are missing: %q", s.Warnings)
	}
	if out := must(t, "inspect", all); !strings.Contains(out, "2 files") || !strings.Contains(out, "900 rows") {
		t.Errorf("inspect said:\n%s", out)
	}
}

// TestSharedProfile: parts with different useless columns can be merged if they were
// scanned with one profile of all parts.
func TestSharedProfile(t *testing.T) {
	at := folder(t)
	var a, b, c, d []float64
	for i := range 40 {
		x := float64(i * i % 17)
		a, b = append(a, x), append(b, float64(i%5)+x)
		c, d = append(c, nan), append(d, float64(i%3))
	}
	for i := 0; i < 40; i += 7 {
		d[i] = nan
	}
	first := columnsFile(t, at("1.parquet"), []string{"a", "b", "late", "d"}, a, b, c, d)
	second := columnsFile(t, at("2.parquet"), []string{"a", "b", "late", "d"}, b, a, d, a)
	must(t, "scan", first, "--missing", "drop-row", "-o", at("1.ufs"))
	must(t, "scan", second, "--missing", "drop-row", "-o", at("2.ufs"))
	ends(t, exit.Usage, "--profile", "merge", at("1.ufs"), at("2.ufs"), "-o", at("all.ufs"))
	all := scanParts(t, [][]string{{first, "--missing", "drop-row"}, {second, "--missing", "drop-row"}})
	want := selection(t, first, second, "--method", "greedy", "--missing", "drop-row", "-k", "2")
	got := selection(t, "--stats", all, "--method", "greedy", "-k", "2")
	if x, y := names(got), names(want); !slices.Equal(x, y) || got.RowsUsed != want.RowsUsed {
		t.Errorf("%v of %d rows, want %v of %d", x, got.RowsUsed, y, want.RowsUsed)
	}
}

// TestSkipFile: a file with a bad footer, or with data that turn out bad in any pass, is left
// out of all passes with a warning; the answer is the one without that file.
func TestSkipFile(t *testing.T) {
	in, paths := plant(t, 3000, 3)
	at := folder(t)
	whole := read(t, paths[1])
	texts := map[string]string{"footer": whole[:len(whole)/2], "data": damaged(whole, 8, len(whole)/2, 11)} // the footer stays
	for _, method := range []string{"greedy", "sfufs"} {
		setting := []string{"--method", method}
		if method == "sfufs" {
			setting = append(setting, "--anchors", "200")
		}
		write(t, paths[1], whole)
		want := selection(t, append(setting, paths[0], paths[2], "-k", "9")...)
		for part, text := range texts {
			write(t, paths[1], text)
			ends(t, exit.Data, paths[1], append(setting, "select", in)...)
			s := selection(t, append(setting, in, "-k", "9", "--on-error", "skip-file")...)
			if fmt.Sprint(asJSON(t, s.Selected)) != fmt.Sprint(asJSON(t, want.Selected)) || fmt.Sprint(s.Scores) != fmt.Sprint(want.Scores) || s.Rows != 2000 {
				t.Errorf("%s, %s: %v of %d rows, want %v of 2000", part, method, names(s), s.Rows, names(want))
			}
			if len(s.Inputs) != 2 || !strings.Contains(strings.Join(s.Warnings, "\n"), paths[1]) {
				t.Errorf("%s, %s: inputs %v, warnings %q", part, method, s.Inputs, s.Warnings)
			}
		}
		if method == "greedy" {
			continue
		}
		write(t, paths[1], texts["data"])
		scan := func(args ...string) result { return invoke(slices.Concat([]string{"scan"}, setting, args)...) }
		scan(paths[0], paths[2], "--profile-only", "-o", at("profile.ufs"))
		r := scan(in, "--profile", at("profile.ufs"), "--on-error", "skip-file", "-o", at("stats.ufs"))
		if r.code != exit.Done || strings.Contains(r.err, "made without") {
			t.Errorf("exit code %d: %s", r.code, r.err)
		}
		if s := selection(t, "--stats", at("stats.ufs"), "--method", method, "-k", "9"); fmt.Sprint(s.Scores) != fmt.Sprint(want.Scores) {
			t.Errorf("by a profile: %v, want %v", names(s), names(want))
		}
		scan(paths[0], "--profile-only", "--shard", "1/2", "--anchors", "100", "-o", at("part.ufs"))
		r = scan(paths[0], paths[2], "--anchors", "100", "--profile", at("part.ufs"), "-o", at("stats.ufs"))
		if r.code != exit.Done || !strings.Contains(r.err, "some shards are missing") || !strings.Contains(r.err, "made without "+paths[2]) {
			t.Errorf("a profile of some rows: exit code %d: %s", r.code, r.err)
		}
	}
}
