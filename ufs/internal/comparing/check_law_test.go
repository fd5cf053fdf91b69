package comparing

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/judging/judge"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/choice"
	"github.com/ufs-stream/ufs-stream/ufs/internal/scanning"
	"github.com/ufs-stream/ufs-stream/ufs/internal/selecting"
	"github.com/ufs-stream/ufs-stream/ufs/internal/settled"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

// scanTable writes a table to a file, and its statistics to another.
func scanTable(t *testing.T, table tabletest.Table) (file, stats string) {
	t.Helper()
	dir := t.TempDir()
	file, stats = filepath.Join(dir, "table.parquet"), filepath.Join(dir, "table.ufs")
	must.Do(t, chunkio.WriteParquet(t.Context(), file, table, chunkio.WriteOptions{}))
	must.Get(scanning.ScanInput(t.Context(), scanning.ScanRequest{Request: request.Request{Input: request.Input{Paths: []string{file}}, Output: stats}}))(t)
	return file, stats
}

// TestCheckNeverSaysFalselyThatAllIsWell: of generated tables half of the chosen columns are replaced by noise of the
// same mean and spread. No check of any method, with a baseline or without, finds that the selection still serves.
// Against the same data and a fresh sample of the same law it serves.
func TestCheckNeverSaysFalselyThatAllIsWell(t *testing.T) {
	const seed = 0
	for _, shape := range []struct {
		kind                         string
		rows, columns, factors, keep int
	}{{"groups", 1000, 12, 4, 6}, {"groups", 600, 30, 5, 4}, {"mixtures", 1000, 20, 4, 5}, {"mixtures", 800, 60, 6, 15}}[:long.CountCases(2, 4)] {
		table := tabletest.NewFactors(shape.kind, seed, 10, shape.rows, shape.columns, shape.factors)
		file, same := scanTable(t, table)
		other := tabletest.NewFactors(shape.kind, seed, 11, shape.rows, shape.columns, shape.factors)
		_, fresh := scanTable(t, other)
		for _, c := range []request.Choice{{}, {Method: "greedy"}, {Method: "laplacian"}, {Method: "mcfs"}, {Method: "mcfs", Scale: "none"}, {Method: "align", Scale: "none"}} {
			c.K = shape.keep
			selection := must.Get(selecting.SelectByRequest(t.Context(), request.Request{Input: request.Input{Paths: []string{file}}, Choice: c}))(t)
			chosen := choice.FeatureNames(selection)
			random := rand.New(rand.NewPCG(seed, 5))
			random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
			replaced := other
			replaced.Cols = slices.Clone(other.Cols)
			for _, name := range chosen[:(len(chosen)+1)/2] {
				j := slices.Index(table.Names, name)
				replaced.Cols[j] = slices.Clone(other.Cols[j])
				random.Shuffle(shape.rows, func(a, b int) {
					replaced.Cols[j][a], replaced.Cols[j][b] = replaced.Cols[j][b], replaced.Cols[j][a]
				})
			}
			_, drifted := scanTable(t, replaced)
			for _, baseline := range []string{"", same} {
				for stats, serves := range map[string]bool{same: true, fresh: true, drifted: false} {
					v, err := CheckSelection(t.Context(), CheckRequest{Selection: selection, Stats: stats, Baseline: baseline})
					refuses := errors.As(err, new(*stream.StaleError)) || errors.As(err, new(*stream.UndecidedError))
					if (err == nil) != serves || err != nil && !refuses {
						t.Errorf("%+v, %+v, %s, baseline %q: error %v, and it serves: %t\n%+v", shape, c, stats, baseline, err, serves, v)
					}
				}
			}
		}
	}
}

// TestBaselineWeightsAreReserved: the weights that a baseline of more columns left in memory count when the second file
// is read.
func TestBaselineWeightsAreReserved(t *testing.T) {
	const columns, before, k = 20, 5000, 4
	file, stats := scanTable(t, tabletest.NewFactors("groups", 0, 10, 300, columns, 4))
	selection := must.Get(selecting.SelectByRequest(t.Context(), request.Request{Input: request.Input{Paths: []string{file}}, Choice: request.Choice{Method: "greedy", K: k}}))(t)
	need := func(mostColumns int) int64 {
		c := &checker{CheckRequest: CheckRequest{Selection: selection}, mostColumns: mostColumns}
		c.request = must.Get(settled.RecordedRequest(selection, nil))(t)
		c.request.Limits.Memory = 1
		_, err := c.loadStats(t.Context(), stats)
		m := (*stream.MemoryError)(nil)
		if !errors.As(err, &m) {
			t.Fatalf("after %d columns, a memory limit of 1 byte: got error %v, want a *stream.MemoryError", mostColumns, err)
		}
		return m.Need
	}
	if got, want := need(before)-need(0), judge.WeightsBytes(before, k)-judge.WeightsBytes(columns, k); got != want {
		t.Errorf("a baseline of %d columns adds %d bytes to the need of %d columns, want %d", before, got, columns, want)
	}
}
