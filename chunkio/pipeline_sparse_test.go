package chunkio

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/chunkiotest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func TestSparseRowsEqualDenseRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 20 {
		rows := 1 + rng.IntN(20_000)
		sparse, dense := SparseTable(rng, rows, 1+rng.IntN(9), []float64{0, 0.001, 0.2}[rng.IntN(2+round/2%2)])
		opt := Options{
			Missing: []stream.MissingPolicy{stream.MissingDropRow, stream.MissingZero}[round/2%2], Sample: []int64{0, 1 + int64(rows)/3}[rng.IntN(2)],
			Threads: 1 + rng.IntN(3), Exclude: []string{"values[0]"}, LeaveOut: []stream.LeftOut{{Name: "other"}},
		}
		if len(dense.List["values"][0]) == 1 {
			opt.Exclude = nil
		}
		disk, paths := PlantTable(dense, 2, 1+rng.Int64N(9000), 1)
		want, err := chunkiotest.CollectRows(disk.OpenDataset(t, paths, opt), stream.Range{})
		formattest.Must(t, err)
		opt.Sparse = "ix,values"
		if round%2 == 1 {
			opt.Sparse = "values"
			sparse = chunkiotest.NewTable(rows).AddScalar("other", make([]float64, rows)).AddMap("values", sparse.List["ix"], sparse.List["values"])
		}
		disk, paths = PlantTable(sparse, 3, 1+rng.Int64N(9000), 1)
		ds := disk.OpenDataset(t, paths, opt)
		for _, memory := range []int64{ds.MinMemory(), 1 << 30} {
			opt.Memory = memory
			ds, err := ds.With(opt)
			formattest.Must(t, err)
			got, err := chunkiotest.CollectRows(ds, stream.Range{})
			formattest.Must(t, err)
			if d := chunkiotest.DescribeDiff(got, want); d != "" {
				t.Fatalf("round %d: %s", round, d)
			}
		}
		disk.CheckClosed(t)
	}
}

func TestBadSparseRows(t *testing.T) {
	good := []float64{0, 1}
	for name, bad := range map[string][2][]float64{
		"occurs twice":    {{1, 1}, {2, 2}},
		"1 indices but":   {{1}, {2, 2}},
		"index 5":         {{0, 5}, good},
		"index -1":        {{0, -1}, good},
		"index 0.5":       {{0, 0.5}, good},
		"index null":      {{0, format.Null}, good},
		"index NaN":       {{0, math.NaN()}, good},
		"null list":       {nil, good},
		"missing value":   {{0, 1}, {1, format.Null}},
		"value: +Inf":     {{0, 1}, {1, math.Inf(1)}},
		"lists in sparse": {good, nil},
	} {
		name = strings.Replace(name, "lists in sparse", "null list in sparse", 1)
		tab := chunkiotest.NewTable(3).AddList("ix", 0, [][]float64{good, good, bad[0]}).AddList("v", 0, [][]float64{good, good, bad[1]})
		disk, paths := PlantTable(tab, 1, 3, 1)
		err := chunkiotest.PassError(disk.OpenDataset(t, paths, Options{Sparse: "ix,v,5"}))
		if !chunkiotest.IsData(err) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("%s: error %v", name, err)
		}
		disk.CheckClosed(t)
	}
}

func TestBadSparseOptions(t *testing.T) {
	sparse, _ := SparseTable(rand.New(rand.NewPCG(1, 1)), 10, 3, 0)
	disk, paths := PlantTable(sparse, 1, 10, 1)
	ds := disk.OpenDataset(t, paths, Options{})
	for spec, words := range map[string]string{
		"ix": "want INDICES", "ix,ix": "want INDICES", "iy,values": "did you mean ix?", "ix,other": "not lists",
		"ix,values,0": "number of features", "ix,values,x": "want INDICES", "ix,values,99999999": "number of features",
	} {
		if _, err := ds.With(Options{Sparse: spec}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", spec, err, words)
		}
	}
	maps, mapPaths := PlantTable(chunkiotest.NewTable(2).AddMap("m", [][]float64{{1}, nil}, [][]float64{{2}, nil}), 1, 10, 1)
	for spec, words := range map[string]string{
		"m,m": "number of features", "m,2,3": "MAP[,FEATURES]", "m,0": "number of features", "mm": "want INDICES",
	} {
		if _, err := maps.OpenDataset(t, mapPaths, Options{}).With(Options{Sparse: spec}); !chunkiotest.IsUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", spec, err, words)
		}
	}
	if err := chunkiotest.PassError(maps.OpenDataset(t, mapPaths, Options{Sparse: "m"})); err == nil || !strings.Contains(err.Error(), "null map") || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a null map: error %v", err)
	}
	wide := Options{Sparse: "ix,values,16777216", Memory: 1 << 30}
	if _, err := ds.With(wide); !errors.As(err, new(*stream.MemoryError)) {
		t.Errorf("more features than fit: error %v", err)
	}
	sp, err := ds.With(Options{Sparse: "ix,values"})
	formattest.Must(t, err)
	if left := sp.LeftOut(); len(left) != 2 || left[0].Why != "beside the sparse lists" || left[1].Name != "ix" {
		t.Errorf("left out %v", left)
	}
}

func TestSparseRowsTooDenseForTheMemory(t *testing.T) {
	const rows, d = 8192, 400
	indices, values := make([][]float64, rows), make([][]float64, rows)
	full := make([]float64, d)
	for j := range full {
		full[j] = float64(j)
	}
	for i := range rows {
		indices[i], values[i] = full, full
	}
	tab := chunkiotest.NewTable(rows).AddList("ix", 0, indices).AddList("v", 0, values)
	disk, paths := PlantTable(tab, 1, rows, 1)
	ds := disk.OpenDataset(t, paths, Options{Sparse: "ix,v,400"})
	opt := Options{Sparse: "ix,v,400", Memory: ds.MinMemory()}
	tight, err := ds.With(opt)
	formattest.Must(t, err)
	short, ok := errors.AsType[*stream.MemoryError](chunkiotest.PassError(tight))
	if !ok || short.Limit != opt.Memory {
		t.Fatalf("error %v, want a MemoryError", short)
	}
	opt.Memory = short.Need
	ds, err = ds.With(opt)
	formattest.Must(t, err)
	if err := chunkiotest.PassError(ds); err != nil {
		t.Errorf("with the memory that was asked for: %v", err)
	}
}
