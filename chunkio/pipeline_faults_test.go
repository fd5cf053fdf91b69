package chunkio

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/internal/testing/leaktest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestFirstFaultInTheDataIsReported(t *testing.T) {
	defer leaktest.CheckGoroutines(t)()
	tab := chunkiotest.RandomTable(rand.New(rand.NewPCG(9, 1)), 20_000, 30, 0)
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		disk, paths := PlantTable(tab, 3, 2000, seed)
		file, group := rng.IntN(3), rng.IntN(3)
		bad := []string{fmt.Sprintf("a%d", rng.IntN(30)), fmt.Sprintf("a%d", rng.IntN(30)), "emb"}
		broken := errors.New("broken page")
		f := disk.ByPath[paths[file]]
		f.Fault = func(g int, leaf string, from, to int64) error {
			if g == group && slices.Contains(bad, leaf) {
				return broken
			}
			return nil
		}
		ds := disk.OpenDataset(t, paths, Options{Threads: 4})
		got, err := chunkiotest.CollectRows(ds, stream.Range{})
		disk.CheckClosed(t)
		e, ok := errors.AsType[*stream.DataError](err)
		if !ok || !errors.Is(err, broken) {
			t.Fatalf("error %v, want the planted one", err)
		}
		first := slices.IndexFunc(ds.Columns(), func(c stream.Column) bool { return slices.Contains(bad, c.Name) })
		if e.Path != paths[file] || e.RowGroup != group || e.Column != ds.Columns()[first].Name {
			t.Errorf("error at %v, want file %d, group %d, column %s", err, file, group, ds.Columns()[first].Name)
		}
		if want := f.From + int64(group)*2000; int64(len(got.Rows)) != want {
			t.Errorf("%d rows before the error, want the %d before the row group", len(got.Rows), want)
		}
	}
}

func TestMissingValueBeforeADecodeErrorIsReported(t *testing.T) {
	x := make([]float64, 1000)
	x[10] = format.Null
	tab := chunkiotest.NewTable(1000).AddScalar("a", make([]float64, 1000)).AddScalar("b", x)
	disk, paths := PlantTable(tab, 1, 1000, 1)
	disk.ByPath[paths[0]].Fault = func(_ int, leaf string, _, _ int64) error {
		if leaf == "a" {
			return &stream.DataError{RowGroup: -1, Row: 500, Err: errors.New("broken")}
		}
		return nil
	}
	if _, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, Options{}), stream.Range{}); !errors.Is(err, stream.ErrMissing) {
		t.Errorf("error %v, want the missing value of the lower row", err)
	}
}

func TestFileThatChangedIsRefused(t *testing.T) {
	disk, paths := PlantTable(chunkiotest.NewTable(10).AddScalar("a", make([]float64, 10)), 2, 10, 1)
	ds := disk.OpenDataset(t, paths, Options{})
	disk.ByPath[paths[1]].Digest++
	got, err := chunkiotest.CollectRows(ds, stream.Range{})
	if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), paths[1]) || len(got.Rows) != 5 {
		t.Errorf("%d rows, error %v", len(got.Rows), err)
	}
	disk.CheckClosed(t)
}

func TestBadWeightsAreErrors(t *testing.T) {
	for _, w := range []float64{-1, math.NaN(), math.Inf(1), format.Null} {
		tab := chunkiotest.NewTable(3).AddScalar("a", make([]float64, 3)).AddScalar("w", []float64{1, 0, w})
		disk, paths := PlantTable(tab, 1, 3, 1)
		_, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, Options{Weight: "w", Missing: stream.MissingKeep}), stream.Range{})
		if e, ok := errors.AsType[*stream.DataError](err); !ok || e.Column != "w" || e.Row != 2 {
			t.Errorf("weight %v: error %v", w, err)
		}
		disk.CheckClosed(t)
	}
}
