package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rankMethods are of all kinds: on the Gram matrix, the profile, the anchor graph, and rows.
var rankMethods = []string{
	"--method greedy -k 8", "--method partgreedy -k 8", "--method variance -k 8",
	"--method sfufs -k 8 --anchors 50", "--method laplacian -k 8 --anchors 50", "--method eufs -k 8",
}

// mapped is a table whose columns go through strictly increasing functions, and some of whose
// largest values are moved far out, which keeps their order.
func mapped(table stream.Source, far bool) stream.Source {
	return editedTable{table, func(c *stream.Chunk, i int) {
		for j := range c.Cols {
			x := &c.Data[j*c.Stride+i]
			switch j % 4 {
			case 1:
				*x = math.Exp(*x)
			case 2:
				*x = *x * *x * *x
			case 3:
				*x = 1e6**x + 3e5
			}
			if far && j%5 == 0 && c.Position(i) == farRow {
				*x = 1e300
			}
		}
	}}
}

// farRow is a row whose values are the largest of their columns.
const farRow = 77

// TestRankOfIncreasingMaps: no strictly increasing map of columns changes a selection, nor does a
// value at 1e300: sums of squares that float64 cannot hold have ranks.
func TestRankOfIncreasingMaps(t *testing.T) {
	top := editedTable{planted.New(planted.Options{Rows: 600, GroupRow: 100}), func(c *stream.Chunk, i int) {
		for j := range c.Cols {
			if c.Position(i) == farRow {
				c.Data[j*c.Stride+i] = 50 // beyond all others, and exp of it is a number
			}
		}
	}}
	at := folder(t)
	paths := []string{at("plain.parquet"), at("mapped.parquet"), at("far.parquet")}
	for i, src := range []stream.Source{top, mapped(top, false), mapped(top, true)} {
		writeSource(t, paths[i], src, chunkio.WriteOptions{RowGroupRows: 100})
	}
	for _, m := range rankMethods {
		args := append(strings.Fields(m), "--scale", "rank")
		want := rankingOf(selection(t, append(slices.Clone(args), paths[0])...))
		for _, path := range paths[1:] {
			s := selection(t, append(slices.Clone(args), path)...)
			if got := rankingOf(s); got != want {
				t.Errorf("%s: %s of %s, %s of the table itself", m, got, filepath.Base(path), want)
			}
		}
	}
}

// TestRankFromStatistics: a file, its statistics, and its shards with a round for the ranks give
// one selection with the same reports, which are of the values; any other scale is refused, and
// ranks from statistics without them.
func TestRankFromStatistics(t *testing.T) {
	for turn, missing := range []string{"error", "mean", "zero", "pairwise", "drop-row"} {
		t.Run(missing, func(t *testing.T) {
			table := plantHoled
			if missing == "error" {
				table = plant
			}
			in, _ := table(t, 900, 2)
			scanned := map[string][]string{} // statistics files of a shape
			for i, m := range rankMethods {
				if !long.TakesCase(turn+i, 3) {
					continue // every method and every policy takes part
				}
				if missing == "pairwise" && strings.ContainsAny(m, "0") || strings.Contains(m, "eufs") {
					continue // of rows and graphs: they need whole rows; and rows are in no statistics
				}
				shape := []string{"--scale", "rank", "--missing", missing}
				graph := strings.Contains(m, "anchors")
				if graph {
					shape = append(shape, strings.Fields(strings.Replace(m, "-k 8", "", 1))...)
				} else {
					shape = append(shape, "--method", "greedy")
				}
				args := append(strings.Fields(m), "--missing", missing)
				want := selection(t, append(slices.Clone(args), "--scale", "rank", in)...)
				plain := selection(t, append(slices.Clone(args), in)...)
				for j := range want.Columns {
					if x, y := want.Columns[j], plain.Columns[j]; !alikeReports(x, y) {
						t.Fatalf("%s: the report %v is not of the values, %v", m, x, y)
					}
				}
				key := strings.Join(shape, " ")
				if scanned[key] == nil {
					dir := folder(t)
					must(t, append(slices.Clone(shape), "scan", in, "-o", dir("all.ufs"))...)
					scanned[key] = []string{dir("all.ufs")}
					if missing != "drop-row" {
						scanned[key] = append(scanned[key], mergedOfProfiles(t, dir, shape, in))
					}
				}
				for _, file := range scanned[key] {
					got := selection(t, append(slices.Clone(args), "--stats", file)...)
					if x, y := rankingOf(want), rankingOf(got); x != y {
						t.Errorf("%s: from the table %s, from %s %s", m, x, filepath.Base(file), y)
					}
					if fmt.Sprint(got.Options) != fmt.Sprint(want.Options) || len(got.LeftOut) != len(want.LeftOut) {
						t.Errorf("%s: options %v and %v", m, want.Options, got.Options)
					}
					for j := range want.Columns {
						x, y := want.Columns[j], got.Columns[j]
						if !alikeReports(x, y) {
							t.Fatalf("%s: %v, from %s %v", m, x, filepath.Base(file), y)
						}
					}
				}
				ends(t, exit.Usage, "scanned with --scale rank", append(slices.Clone(args), "select", "--stats", scanned[key][0], "--scale", "standard")...)
			}
		})
	}
}

// mergedOfProfiles scans three shards of in, in two rounds, and merges them.
func mergedOfProfiles(t *testing.T, at func(string) string, shape []string, in string) string {
	t.Helper()
	for _, i := range []string{"1", "2", "3"} {
		must(t, append(slices.Clone(shape), "scan", in, "--shard", i+"/3", "--profile-only", "-o", at("profile"+i+".ufs"))...)
	}
	must(t, "merge", at("profile3.ufs"), at("profile1.ufs"), at("profile2.ufs"), "-o", at("profile.ufs"))
	for _, i := range []string{"1", "2", "3"} {
		must(t, append(slices.Clone(shape), "scan", in, "--shard", i+"/3", "--profile", at("profile.ufs"), "-o", at("part"+i+".ufs"))...)
	}
	must(t, "merge", at("part1.ufs"), at("part2.ufs"), at("part3.ufs"), "-o", at("merged.ufs"))
	return at("merged.ufs")
}

// alikeReports compares what two reports say of a column's values. Sums of moments and of profiles, and
// over shards, are rounded in other orders: 900 terms lose some 1e-13 of mean and spread.
func alikeReports(x, y stream.ColumnReport) bool {
	near := func(a, b stream.Number) bool { return math.Abs(float64(a-b)) <= 1e-12*float64(x.Std+1) }
	return x.Name == y.Name && near(x.Mean, y.Mean) && near(x.Std, y.Std) && x.Nulls == y.Nulls && x.NaNs == y.NaNs && x.Infs == y.Infs && x.Filled == y.Filled
}

// TestRankRefusals: an input without ranks is refused, with a remedy.
func TestRankRefusals(t *testing.T) {
	in, _ := plant(t, 600, 2)
	other, _ := plantHoled(t, 600, 2)
	at := folder(t)
	must(t, "scan", in, "-o", at("plain.ufs"))
	must(t, "scan", in, "--profile-only", "-o", at("profile.ufs"))
	must(t, "scan", other, "--missing", "mean", "--scale", "rank", "--method", "greedy", "-o", at("zero.ufs"))
	for _, c := range []struct{ want, args string }{
		{"scanned without ranks; scan again with --scale rank", "select --method greedy --scale rank --stats " + at("plain.ufs")},
		{"profile of the values", "select --method variance --scale rank --stats " + at("profile.ufs")},
		{"has no ranks; make it with --profile-only --scale rank", "scan --method greedy --scale rank --profile " + at("profile.ufs") + " -o " + at("x.ufs") + " " + in},
		{"does not know the ranks of all rows", "scan --method greedy --scale rank --shard 1/2 -o " + at("x.ufs") + " " + in},
		{"--scale rank", "select --method cpufs --scale rank " + in},
		{"ranks of " + at("zero.ufs") + " were taken under --missing mean", "select --method greedy --missing zero --stats " + at("zero.ufs")},
	} {
		ends(t, exit.Usage, c.want, strings.Fields(c.args)...)
	}
	must(t, "select", "--method", "greedy", "--scale", "rank", "-k", "5", "--label", "x001", in, "-o", at("s.json"))
	ends(t, exit.Usage, "choose --scale standard", "eval", in, "--selection", at("s.json"), "--scale", "rank", "--label", "x001")
}

// TestRankWithoutRoom: greedy out of core, threads and limits have the selection of memory.
func TestRankWithoutRoom(t *testing.T) {
	const n, d = 800, 1000
	r := rand.New(rand.NewPCG(2, 15))
	names, columns := make([]string, d), make([][]float64, d)
	for j := range d {
		names[j], columns[j] = fmt.Sprintf("x%04d", j), make([]float64, n)
		for i := range n {
			columns[j][i] = math.Exp(math.Sin(float64(i*(j%7+1))) + r.NormFloat64())
		}
	}
	in := columnsFile(t, filepath.Join(t.TempDir(), "wide.parquet"), names, columns...)
	args := []string{"--method", "greedy", "-k", "12", "--scale", "rank", in}
	want := selection(t, append(slices.Clone(args), "--threads", "1")...)
	for _, more := range []string{"--threads 3", fmt.Sprintf("--memory-limit %d", forecastOf(t, args...).Memory.Smallest)} {
		got := selection(t, append(slices.Clone(args), strings.Fields(more)...)...)
		if x, y := rankingOf(want), rankingOf(got); x != y {
			t.Errorf("%s: %s, want %s", more, y, x)
		}
		if strings.Contains(more, "memory") && got.Passes <= want.Passes {
			t.Errorf("%d passes: the matrix was in memory", got.Passes)
		}
	}
}
