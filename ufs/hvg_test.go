package ufs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/methods/hvg"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// cellTable has counts of 60 genes in 200 cells. One gene has a count so large that seurat_v3 clips it.
func cellTable() (t tabletest.Table) {
	const cells, genes = 200, 60
	rng := rand.New(rand.NewPCG(55, 1))
	for j := range genes {
		col, rate := make([]float64, cells), math.Exp(1.3*rng.NormFloat64())
		for i := range col {
			r := rate
			if j%5 == 0 {
				r *= []float64{4, 0.2, 0.2}[i%3]
			}
			for p := rng.ExpFloat64(); p < r; p += rng.ExpFloat64() {
				col[i]++
			}
		}
		t.Names, t.Cols = append(t.Names, fmt.Sprintf("g%d", j)), append(t.Cols, col)
	}
	t.Cols[7][3] = 900
	return t
}

// naiveVST is the score of seurat_v3 by its definition, from the whole columns.
func naiveVST(cols [][]float64) (scores []float64) {
	var x, y []float64
	for _, col := range cols {
		m, v := stat.MeanVariance(col, nil)
		x, y = append(x, math.Log10(m)), append(y, math.Log10(v))
	}
	fitted, n := hvg.FitLoess(x, y, 0.3, 1), float64(len(cols[0]))
	for j, col := range cols {
		sd, sum := math.Sqrt(math.Pow(10, fitted[j])), 0.0
		for _, count := range col {
			z := min((count-stat.Mean(col, nil))/sd, math.Sqrt(n))
			sum += z * z
		}
		scores = append(scores, sum/(n-1))
	}
	return scores
}

// TestVariableGenes: the three methods give the scores of their definitions on dense rows, sparse rows and a folder of
// CellRanger; the first two also from statistics, of which seurat_v3 needs the rows unless it clips nothing.
func TestVariableGenes(t *testing.T) {
	raw := cellTable()
	folder := filepath.Join(t.TempDir(), "cells")
	writeCells(t, folder, raw)
	inputs := map[string]string{"dense": writeTable(t, raw), "sparse": writeSVM(t, raw), "CellRanger": folder}
	for _, c := range []struct {
		method, scale string
		scores        func(cols [][]float64) []float64
		passes        int
	}{
		{"seurat", "cp10k", func(cols [][]float64) []float64 { return hvg.ScoreSeurat(momentsOf(cols)) }, 1},
		{"cell_ranger", "cp10k", func(cols [][]float64) []float64 { scores, _ := hvg.ScoreCellRanger(momentsOf(cols)); return scores }, 1},
		{"cell_ranger", "cp10k,log1p", func(cols [][]float64) []float64 { scores, _ := hvg.ScoreCellRanger(momentsOf(cols)); return scores }, 1},
		{"seurat_v3", "", naiveVST, 2},
	} {
		cols := raw.Cols
		if c.scale != "" {
			cols = scaleByHand(raw, c.scale).Cols
		}
		want := c.scores(cols)
		for form, path := range inputs {
			for threads := range 2 {
				q := ufs.Request{Input: ufs.Input{Paths: []string{path}}, Columns: ufs.Columns{RowScale: c.scale}, Choice: ufs.Choice{Method: c.method, K: 20}, Limits: ufs.Limits{Threads: 1 + 2*threads}}
				checkScores(t, c.method+" "+c.scale+", "+form, must.Get(ufs.Select(t.Context(), q))(t), want, c.passes)
			}
		}
		q := ufs.Request{Columns: ufs.Columns{RowScale: c.scale}, Choice: ufs.Choice{Method: c.method, K: 20}}
		if c.method == "seurat_v3" {
			file := scan(t, ufs.ScanRequest{Request: q, ProfileOnly: true}, folder)
			if _, err := ufs.Select(t.Context(), ufs.Request{Stats: file, Choice: q.Choice}); err == nil || !strings.Contains(err.Error(), "clips large values of 1 features") {
				t.Errorf("seurat_v3 from statistics: got error %v, want one about a feature that is clipped", err)
			}
			continue
		}
		onFolder := q
		onFolder.Input.Paths = []string{folder}
		for what, stats := range gatheredAlike(t, onFolder, folder) {
			checkScores(t, c.method+" "+c.scale+", "+what, must.Get(ufs.Select(t.Context(), ufs.Request{Stats: stats, Choice: q.Choice}))(t), want, 0)
		}
	}
	calm := cellTable()
	calm.Cols[7][3] = 0
	file := scan(t, ufs.ScanRequest{Request: ufs.Request{Choice: ufs.Choice{Method: "seurat_v3"}}, ProfileOnly: true}, writeTable(t, calm))
	checkScores(t, "seurat_v3 from statistics", must.Get(ufs.Select(t.Context(), ufs.Request{Stats: file, Choice: ufs.Choice{Method: "seurat_v3", K: 20}}))(t), naiveVST(calm.Cols), 0)
}

func momentsOf(cols [][]float64) (mean, variance []float64) {
	for _, col := range cols {
		m, v := stat.MeanVariance(col, nil)
		mean, variance = append(mean, m), append(variance, v)
	}
	return mean, variance
}

// checkScores checks the best features and their scores, and the number of passes.
func checkScores(t *testing.T, what string, s *stream.Selection, want []float64, passes int) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(want))
	for i, f := range s.Selected {
		j := must.Get(strconv.Atoi(strings.Trim(f.Name, "xg[]")))(t)
		if score := float64(f.Score); math.Abs(score-want[j]) > 1e-8*max(1, math.Abs(score)) || math.Abs(score-sorted[len(sorted)-1-i]) > 1e-8*max(1, math.Abs(score)) {
			t.Errorf("%s: %s scores %v at rank %d, want %v, and %v at this rank", what, f.Name, score, i+1, want[j], sorted[len(sorted)-1-i])
		}
	}
	if s.Passes != passes {
		t.Errorf("%s: %d passes, want %d", what, s.Passes, passes)
	}
}

// writeCells writes the rows of a table as CellRanger writes cells.
func writeCells(t *testing.T, folder string, table tabletest.Table) {
	t.Helper()
	var entries, features, barcodes strings.Builder
	count := 0
	for i := range table.N() {
		fmt.Fprintf(&barcodes, "CELL%d-1\n", i)
		for j, col := range table.Cols {
			if col[i] != 0 {
				fmt.Fprintf(&entries, "%d %d %v\n", j+1, i+1, col[i])
				count++
			}
		}
	}
	for _, name := range table.Names {
		fmt.Fprintf(&features, "ENSG%s\t%[1]s\tGene Expression\n", name)
	}
	must.Do(t, os.MkdirAll(folder, 0o755))
	for name, text := range map[string]string{
		"matrix.mtx":   fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n%s", len(table.Cols), table.N(), count, entries.String()),
		"features.tsv": features.String(), "barcodes.tsv": barcodes.String(),
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
}

// TestVariableGenesRefuseNegatives: values below 0 are no counts.
func TestVariableGenesRefuseNegatives(t *testing.T) {
	raw := cellTable()
	raw.Cols[4][9] = -1
	for _, method := range []string{"seurat", "cell_ranger", "seurat_v3"} {
		_, err := ufs.Select(t.Context(), ufs.Request{Input: ufs.Input{Paths: []string{writeTable(t, raw)}}, Choice: ufs.Choice{Method: method, K: 3}})
		if err == nil || !strings.Contains(err.Error(), `"g4"`) || !strings.Contains(err.Error(), "-1") {
			t.Errorf("%s: got error %v, want one about -1 in g4", method, err)
		}
	}
}
