package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/planted"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scanShards scans n shards of the input, with one profile of all, and merges their statistics.
func scanShards(t *testing.T, n int, args ...string) (all string) {
	t.Helper()
	var shards [][]string
	for i := range n {
		shards = append(shards, append([]string{"--shard", fmt.Sprintf("%d/%d", i+1, n)}, args...))
	}
	return scanParts(t, shards)
}

// scanParts scans each part, with one profile of all, and merges their statistics.
func scanParts(t *testing.T, parts [][]string) (all string) {
	t.Helper()
	at := folder(t)
	profile, all := at("profile.ufs"), at("all.ufs")
	for _, step := range [][]string{{profile, "--profile-only"}, {all, "--profile", profile}} {
		merge := []string{"merge", "-o", step[0]}
		for i, part := range parts {
			out := fmt.Sprintf("%s-%d.ufs", step[0], i)
			must(t, slices.Concat([]string{"scan", "-o", out}, step[1:], part)...)
			merge = append(merge, out)
		}
		must(t, merge...)
	}
	return all
}

// rankingOf is the answer without the numbers that rounding may change.
func rankingOf(s *stream.Selection) string {
	var b strings.Builder
	for _, f := range s.Selected {
		fmt.Fprintf(&b, "%s ", f.Name)
	}
	fmt.Fprintf(&b, "of %d, %d rows of %d, seed %d, left out", s.Features, s.RowsUsed, s.Rows, s.Seed)
	for _, l := range s.LeftOut {
		fmt.Fprintf(&b, " %s", l.Name)
	}
	return b.String()
}

// TestGraphShards: merged shards, one scan, and the input itself give the same ranking, for
// every method and missing policy.
func TestGraphShards(t *testing.T) {
	in, _ := plantSource(t, riddled(planted.New(planted.Options{Rows: 600, GroupRow: 100})), 2)
	for _, c := range []struct {
		shape, methods string
		shards         int
	}{
		{"--missing drop-row --scale standard --anchors 150", "graphgreedy,sfufs,fufs,laplacian,mcfs,spec,jelsr,ndfs,u2fs,socfs", 7},
		{"--missing mean --anchor-method kmeans --anchors 30", "graphgreedy,sfufs", 2},
		{"--missing zero --seed 7 --neighbors 3 --anchors 150", "graphgreedy,laplacian", 3},
		{"--exclude x002,x003,x004 --scale unit", "sfufs,mcfs", 2},
		{"--exclude x002,x003 --scale minmax --anchors 150", "graphgreedy,mcfs", 4}, // x004 has no value at all
	} {
		shape := strings.Fields(c.shape)
		all := scanShards(t, c.shards, slices.Concat(shape, []string{in, "--method", "sfufs"})...)
		one := filepath.Join(t.TempDir(), "one.ufs")
		must(t, slices.Concat(shape, []string{"scan", in, "--method", "mcfs", "-o", one})...)
		sameGraph(t, all, one)
		for i, method := range strings.Split(c.methods, ",") {
			if !long.TakesCase(i, 3) {
				continue
			}
			want := rankingOf(selection(t, slices.Concat(shape, []string{in, "--method", method, "-k", "9"})...))
			for _, stats := range []string{all, one} {
				if got := rankingOf(selection(t, "--stats", stats, "--method", method, "-k", "9")); got != want {
					t.Errorf("%s, %s: %s\nwant %s", c.shape, method, got, want)
				}
			}
		}
	}
}

// sameGraph wants the statistics in two files to agree. Sums of 900 rows in another order
// differ by at most 900 roundings of 2⁻⁵³ of the sum of absolute values, which is 1e-13 of
// the largest entry of each matrix.
func sameGraph(t *testing.T, a, b string) {
	t.Helper()
	x, y := graphOfFile(t, a), graphOfFile(t, b)
	if x.Rows != y.Rows || x.M != y.M || x.D != y.D {
		t.Fatalf("%d rows, %d anchors, %d features; want %d, %d, %d", x.Rows, x.M, x.D, y.Rows, y.M, y.D)
	}
	for i, pair := range [][2][]float64{{x.Delta, y.Delta}, {x.G.Sym, y.G.Sym}, {x.C, y.C}, {x.S, y.S}} {
		largest, off := 0.0, 0.0
		for j, v := range pair[0] {
			largest, off = max(largest, math.Abs(v)), max(off, math.Abs(v-pair[1][j]))
		}
		if !(off <= 1e-12*largest) {
			t.Errorf("matrix %d is off by %g of %g", i, off, largest)
		}
	}
}

func graphOfFile(t *testing.T, path string) *anchor.Graph {
	t.Helper()
	r, err := chunkio.OpenStats(t.Context(), path, chunkio.FetchOptions{})
	if err != nil {
		t.Fatalf("opening the statistics: %v", err)
	}
	defer r.Close()
	columns := r.Header.Columns
	moments := gram.NewMoments(len(columns), gram.Options{})
	states, err := anchor.NewStatistics(nil, anchor.Options{})
	if err != nil {
		t.Fatalf("making graph statistics: %v", err)
	}
	for name, to := range map[string]io.ReaderFrom{"moments": moments, "graph": states} {
		section, err := r.SectionReader(name)
		if err != nil {
			t.Fatalf("opening a section of the statistics: %v", err)
		}
		if _, err := to.ReadFrom(section); err != nil {
			t.Fatalf("reading the statistics: %v", err)
		}
	}
	m, err := moments.Finish(columns, gram.FinishOptions{Scale: gram.ScaleCenter})
	if err != nil {
		t.Fatalf("finishing the moments: %v", err)
	}
	g, err := states.Graph(m)
	if err != nil {
		t.Fatalf("building the graph: %v", err)
	}
	return g
}

// TestGraphSeparateFiles: the statistics of files that are scanned separately add up if the
// scans share one profile of all files, with enough anchors for all rows together.
func TestGraphSeparateFiles(t *testing.T) {
	_, paths := plant(t, 600, 3)
	var parts [][]string
	for _, path := range paths {
		parts = append(parts, []string{path, "--method", "sfufs"})
	}
	s := selection(t, "--stats", scanParts(t, parts), "--method", "graphgreedy", "-k", "6")
	if s.RowsUsed != 600 || fmt.Sprint(s.Options["anchors"]) != "600" {
		t.Errorf("%d rows, %v anchors; want 600 and 600", s.RowsUsed, s.Options["anchors"])
	}
}

// TestGraphGreedyOfNoRound: graphgreedy without smoothing is greedy on centred data.
func TestGraphGreedyOfNoRound(t *testing.T) {
	in, _ := plant(t, 900, 2)
	for _, scale := range []string{"standard", "center"} {
		want := selection(t, in, "-k", "12", "--method", "greedy", "--scale", scale)
		s := selection(t, in, "-k", "12", "--method", "graphgreedy", "--smooth", "0", "--scale", scale)
		if got := names(s); !slices.Equal(got, names(want)) {
			t.Errorf("%s: %v, want %v", scale, got, names(want))
		}
		for i, f := range s.Selected {
			// 900 rows in 50 columns: roundings of about 2⁻⁵³·50 in each of 12 updates.
			if !near(float64(f.Error), float64(want.Selected[i].Error), 1e-11) {
				t.Errorf("%s: rank %d: error %v, want %v", scale, i+1, f.Error, want.Selected[i].Error)
			}
		}
	}
}

// TestAnchorsFile: a file of the rows that would have been drawn gives the same answer.
// Further columns in that file do not matter.
func TestAnchorsFile(t *testing.T) {
	table := planted.New(planted.Options{Rows: 900, GroupRow: 100})
	in, _ := plantSource(t, table, 2)
	sampler := anchor.NewSampler(len(table.Columns()), anchor.SamplerOptions{Rows: 60, Seed: 1})
	if err := stream.Fold(t.Context(), table, stream.FoldOptions{}, sampler); err != nil {
		t.Fatalf("sampling the rows: %v", err)
	}
	rows := sampler.Draw(60)
	file := filepath.Join(t.TempDir(), "anchors.parquet")
	cols := append(slices.Clone(table.Columns()), stream.Column{Name: "class", Type: "double"})
	data := append(slices.Clone(rows.Data), make([]float64, 60)...)
	writeSource(t, file, memory{cols, 60, data}, chunkio.WriteOptions{})
	want := selection(t, in, "--method", "sfufs", "-k", "9", "--anchors", "60")
	got := selection(t, in, "--method", "sfufs", "-k", "9", "--anchors-file", file)
	if x, y := fmt.Sprint(got.Scores), fmt.Sprint(want.Scores); x != y || rankingOf(got) != rankingOf(want) {
		t.Errorf("scores %s\nwant %s", x, y)
	}
	if fmt.Sprint(got.Options["anchors"]) != "60" || got.Options["anchors-file"] != file {
		t.Errorf("options %v", got.Options)
	}
	one := filepath.Join(t.TempDir(), "one.ufs")
	must(t, "scan", in, "--anchors-file", file, "--method", "sfufs", "-o", one)
	all := scanShards(t, 3, in, "--anchors-file", file, "--method", "sfufs")
	sameGraph(t, all, one)
	if s := selection(t, "--stats", all, "--method", "sfufs", "-k", "9"); !slices.Equal(names(s), names(want)) {
		t.Errorf("from statistics %v, want %v", names(s), names(want))
	}
}

// riddled is table without some values of two columns, and without all of a third.
func riddled(table stream.Source) stream.Source {
	return editedTable{table, func(c *stream.Chunk, i int) {
		switch row := c.Position(i); {
		case row%5 == 0:
			c.Col(2)[i] = math.NaN()
		case row%11 == 0:
			c.Col(3)[i] = math.NaN()
		}
		c.Col(4)[i] = math.NaN()
	}}
}
