package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/exit"
)

// TestSparseMissingZero: a missing entry of a sparse row is absent under zero, for methods of every
// kind and by way of statistics; mean is refused.
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
	ends(t, exit.Usage, "drop-row and zero only", append([]string{"select", holes, "--missing", "mean"}, sparse...)...)
	ends(t, exit.Data, "missing value", append([]string{"select", holes}, sparse...)...)
	sel := filepath.Join(dir, "s.json")
	must(t, append([]string{"select", holes, "--missing", "zero", "-o", sel}, sparse...)...)
	must(t, "eval", holes, "--selection", sel, "--resamples", "2")
}
