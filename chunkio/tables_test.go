package chunkio

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/settings"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// NormalTable returns a table with columns c00, c01, … of normal random numbers, the same in every run.
func NormalTable(rows, columns int) *chunkiotest.FakeTable {
	t := chunkiotest.NewTable(rows)
	rng := rand.New(rand.NewPCG(1, 2))
	for c := range columns {
		x := make([]float64, rows)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		t.AddScalar(fmt.Sprintf("c%02d", c), x)
	}
	return t
}

// PutFile writes a file at a path below dir.
func PutFile(t *testing.T, dir, key string, content []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(key))
	formattest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	formattest.Must(t, os.WriteFile(path, content, 0o644))
}

// CollectFrom opens inputs and collects their rows.
func CollectFrom(t *testing.T, opt settings.Options, inputs ...string) (*dataset.Dataset, chunkiotest.Delivered) {
	t.Helper()
	ds, err := dataset.OpenInputs(t.Context(), inputs, opt)
	formattest.Must(t, err)
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	formattest.Must(t, err)
	return ds, got
}

// OpenReal opens the test data sets with these names, which are files of real data, as one Dataset.
func OpenReal(t testing.TB, opt settings.Options, names ...string) *dataset.Dataset {
	t.Helper()
	var paths []string
	for _, name := range names {
		paths = append(paths, fixtures.DatasetPath(t, name))
	}
	ds, err := dataset.OpenInputs(context.Background(), paths, opt)
	formattest.Must(t, err)
	return ds
}

// SparseTable returns the same random rows of d features twice: as lists of indices, in any order, and values, some of
// them zero, and as dense lists. The given share of the values is null, NaN or infinite.
func SparseTable(rng *rand.Rand, rows, d int, share float64) (sparse, dense *chunkiotest.FakeTable) {
	indices, values := make([][]float64, rows), make([][]float64, rows)
	full := make([][]float64, rows)
	for i := range rows {
		indices[i], values[i], full[i] = []float64{}, []float64{}, make([]float64, d)
		for _, j := range rng.Perm(d)[:rng.IntN(d+1)] {
			v := []float64{0, rng.NormFloat64(), rng.NormFloat64()}[rng.IntN(3)]
			if rng.Float64() < share {
				v = []float64{format.Null, math.NaN(), math.Inf(1)}[rng.IntN(3)]
			}
			indices[i] = append(indices[i], float64(j))
			values[i] = append(values[i], v)
			full[i][j] = v
		}
	}
	indices[0] = append(indices[0][:0], float64(d-1)) // so that d can be told
	values[0] = append(values[0][:0], 1)
	full[0] = append(make([]float64, d-1), 1)
	sparse = chunkiotest.NewTable(rows).AddScalar("other", make([]float64, rows)).AddList("ix", 0, indices).AddList("values", 0, values)
	return sparse, chunkiotest.NewTable(rows).AddList("values", d, full)
}

// ColumnNames returns the names of the features.
func ColumnNames(ds *dataset.Dataset) (names []string) {
	for _, c := range ds.Columns() {
		names = append(names, c.Name)
	}
	return names
}
