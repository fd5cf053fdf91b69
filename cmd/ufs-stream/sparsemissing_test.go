package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
)

// TestSparseMissingZero: a missing entry of a sparse row is absent under zero, for methods of every
// kind and by way of statistics.
func TestSparseMissingZero(t *testing.T) {
	dir := t.TempDir()
	holes, full := filepath.Join(dir, "holes.parquet"), filepath.Join(dir, "full.parquet")
	src := sparseCounts(300, true).(memory)
	writeSource(t, full, src, chunkio.WriteOptions{RowGroupRows: 100, Sparse: true})
	src.data = slices.Clone(src.data)
	for i := range src.data {
		if i%7 == 3 && src.data[i] == 0 {
			src.data[i] = math.NaN()
		}
	}
	writeSource(t, holes, src, chunkio.WriteOptions{RowGroupRows: 100, Sparse: true})
	sparse := []string{"--sparse", "indices,values,12", "-k", "5"}
	for _, method := range []string{"greedy", "laplacian", "eufs --clusters 2 --max-iter 2", "greedy --scale rank"} {
		args := slices.Concat(sparse, strings.Fields("--method "+method))
		sameScores(t, selection(t, append(args, holes, "--missing", "zero")...), selection(t, append(args, full)...))
	}
	stats := filepath.Join(dir, "zero.ufs")
	must(t, "scan", holes, "--sparse", "indices,values,12", "--missing", "zero", "-o", stats)
	sameScores(t, selection(t, "--stats", stats, "--method", "greedy", "-k", "5"), selection(t, append(sparse, full, "--method", "greedy")...))
	ends(t, exit.Usage, "acted on the rows", "select", "--stats", stats, "--method", "greedy", "--missing", "mean")
	ends(t, exit.Data, "missing value", append([]string{"select", holes, "--missing", "error"}, sparse...)...)
	sel := filepath.Join(dir, "s.json")
	must(t, append([]string{"select", holes, "--missing", "zero", "-o", sel}, sparse...)...)
	must(t, "eval", holes, "--selection", sel, "--resamples", "2")
}

// TestSparseMissingMean: a missing entry of a sparse row is the mean of its column, over what is absent
// too: as in a dense file of the same rows, for methods of every kind, in and out of core, and by way
// of statistics.
func TestSparseMissingMean(t *testing.T) {
	dir := t.TempDir()
	sparse, dense := filepath.Join(dir, "sparse.parquet"), filepath.Join(dir, "dense.parquet")
	src := sparseCounts(300, true).(memory)
	src.data = slices.Clone(src.data)
	for i := range src.data {
		if i%11 == 3 {
			src.data[i] = math.NaN()
		}
	}
	for j := range src.columns { // the names of sparse features
		src.columns[j].Name = fmt.Sprintf("values[%d]", j)
	}
	writeSource(t, sparse, src, chunkio.WriteOptions{RowGroupRows: 100, Sparse: true})
	writeSource(t, dense, src, chunkio.WriteOptions{RowGroupRows: 100})
	lists := []string{"--sparse", "indices,values,12", sparse}
	for _, method := range []string{
		"greedy", "greedy --missing pairwise", "partgreedy --partitions 3", "greedy --scale none", "greedy --scale minmax", "variance", "laplacian --anchors 40",
		"graphgreedy --anchors 40", "sfufs --anchors 40 --clusters 3", "sfesa --anchors 40", "eufs --clusters 2 --max-iter 2", "hufs --clusters 2 --max-iter 2", "fsfs", "fspca", "spcafs --max-iter 3", "cdlfs --max-iter 3", "udfs --clusters 2", "rsfs --clusters 2", "sogfs --clusters 2 --max-iter 3",
		"u2fs --anchors 40 --clusters 2", "greedy --scale rank", "greedy --rows 120",
	} {
		t.Run(method, func(t *testing.T) {
			args := strings.Fields("-k 5 --missing mean --method " + method)
			sameScores(t, selection(t, append(args, lists...)...), selection(t, append(args, dense)...))
		})
	}
	stats := filepath.Join(dir, "mean.ufs")
	must(t, append([]string{"scan", "--missing", "mean", "-o", stats}, lists...)...)
	sameScores(t, selection(t, "--stats", stats, "--method", "greedy", "-k", "5"), selection(t, dense, "--missing", "mean", "--method", "greedy", "-k", "5"))
	rows := filepath.Join(dir, "rows.ufs")
	must(t, append([]string{"scan", "--profile-only", "--sample-rows", "300", "-o", rows}, lists...)...)
	sameScores(t, selection(t, "--stats", rows, "--method", "eufs", "--clusters", "2", "--max-iter", "2", "--missing", "mean", "-k", "5"),
		selection(t, dense, "--missing", "mean", "--method", "eufs", "--clusters", "2", "--max-iter", "2", "-k", "5"))
	sel := filepath.Join(dir, "s.json")
	must(t, append([]string{"select", "--missing", "mean", "-k", "3", "-o", sel}, lists...)...)
	must(t, append([]string{"eval", "--selection", sel, "--resamples", "2"}, lists...)...)
}
