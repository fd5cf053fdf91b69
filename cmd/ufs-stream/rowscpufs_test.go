package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/stream"
)

// picture is a table of small pictures; its columns are named by pixel. A picture has a
// bright patch in one of three places, noise, and a constant border.
func picture(rows, h, w int) (names []string, columns [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	columns = make([][]float64, h*w)
	for r := range h {
		for c := range w {
			names = append(names, fmt.Sprintf("px_%d_%d", r, c))
		}
	}
	for i := range rows {
		for p := range columns {
			r, c := p/w, p%w
			x := 7.0
			if r > 0 {
				x = 3 * rng.Float64()
				if c/2 == i%3 && r < 4 {
					x += 9 + float64(r)
				}
			}
			columns[p] = append(columns[p], x)
		}
	}
	return names, columns
}

// TestPixelsColumnOrder: columns in another order are the same picture, and give the same
// scores to the last bit; constant pixels count among the features and rank last.
func TestPixelsColumnOrder(t *testing.T) {
	dir := t.TempDir()
	names1, columns := picture(240, 6, 7)
	one := columnsFile(t, filepath.Join(dir, "one.parquet"), names1, columns...)
	order := rand.New(rand.NewPCG(3, 4)).Perm(len(names1))
	var names2 []string
	var shuffled [][]float64
	for _, j := range order {
		names2, shuffled = append(names2, names1[j]), append(shuffled, columns[j])
	}
	two := columnsFile(t, filepath.Join(dir, "two.parquet"), names2, shuffled...)
	for _, method := range []string{"cpufs", "cpufsnn"} {
		flags := []string{"--method", method, "--clusters", "3", "-k", "42", "--max-iter", "20"}
		a := selection(t, append(flags, one)...)
		b := selection(t, append(flags, two, "--shape", "6x7")...)
		score := make(map[string]stream.Number)
		for _, s := range a.Scores {
			score[s.Name] = s.Score
		}
		for _, s := range b.Scores {
			if score[s.Name] != s.Score {
				t.Errorf("%s: %s has score %v, in another order %v", method, s.Name, score[s.Name], s.Score)
			}
		}
		positive := 0
		for i, f := range a.Selected {
			if f.Score > 0 {
				positive++
				// The 18 pixels of the patches; scores of noise may tie, which column order breaks.
				if i < 18 && b.Selected[i].Name != f.Name {
					t.Errorf("%s: rank %d: %s, in another order %s", method, i+1, f.Name, b.Selected[i].Name)
				}
			}
		}
		if a.Features != 42 || len(a.Columns) != 42 || len(a.Scores) != 42 || len(a.LeftOut) != 0 || a.Options["shape"] != "6x7" {
			t.Errorf("%s: %d features, left out %v, options %v", method, a.Features, a.LeftOut, a.Options)
		}
		for i, f := range a.Selected[35:] {
			if f.Name != fmt.Sprintf("px_0_%d", i) || f.Score != 0 || f.Error != a.Selected[34].Error {
				t.Errorf("%s: constant pixel: %+v", method, f)
			}
		}
		if c := a.Columns[2]; c.Mean != 7 || c.Std != 0 || c.Nearest != "" {
			t.Errorf("%s: constant pixel: %+v", method, c)
		}
		if w := strings.Join(a.Warnings, "\n"); !strings.Contains(w, fmt.Sprintf("ranks %d to 42 have a score of 0", positive+1)) || !strings.Contains(w, fmt.Sprintf("-k %d takes", positive)) {
			t.Errorf("%s: %d scores above 0, warnings %q", method, positive, a.Warnings)
		}
		if !(a.Selected[0].Error < 1 && a.Selected[34].Error <= a.Selected[0].Error) {
			t.Errorf("%s: errors %v to %v", method, a.Selected[0].Error, a.Selected[34].Error)
		}
	}
}

// TestPixelsWithBands: names px_R_C_B and {shape} RxCxB are the same tensor; both methods tell the band with the
// patches from the one with noise alone.
func TestPixelsWithBands(t *testing.T) {
	dir := t.TempDir()
	_, patches := picture(240, 6, 7)
	random := rand.New(rand.NewPCG(5, 6))
	var names, plain []string
	var columns [][]float64
	for p, x := range patches {
		noise := make([]float64, len(x))
		for i := range noise {
			noise[i] = 3 * random.Float64()
		}
		columns = append(columns, x, noise)
		for band := range 2 {
			names = append(names, fmt.Sprintf("px_%d_%d_%d", p/7, p%7, band))
			plain = append(plain, fmt.Sprintf("x%d", 2*p+band))
		}
	}
	named := columnsFile(t, filepath.Join(dir, "named.parquet"), names, columns...)
	unnamed := columnsFile(t, filepath.Join(dir, "unnamed.parquet"), plain, columns...)
	for _, method := range []string{"cpufs", "cpufsnn"} {
		flags := []string{"--method", method, "--clusters", "3", "-k", "12", "--max-iter", "20"}
		a := selection(t, append(flags, named)...)
		b := selection(t, append(flags, unnamed, "--shape", "6x7x2")...)
		if a.Options["shape"] != "6x7x2" {
			t.Errorf("%s: shape %v, want 6x7x2", method, a.Options["shape"])
		}
		for j := range a.Scores {
			if a.Scores[j].Score != b.Scores[j].Score {
				t.Errorf("%s: %s scores %v, as %s %v", method, a.Scores[j].Name, a.Scores[j].Score, b.Scores[j].Name, b.Scores[j].Score)
			}
		}
		for _, f := range a.Selected {
			if !strings.HasSuffix(f.Name, "_0") {
				t.Errorf("%s: rank %d is %s, want the band of the patches", method, f.Rank, f.Name)
			}
		}
	}
}
