package chunkio

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sparseTable plants rows of some of d features, in any order, with explicit zeros,
// as lists and densely.
func sparseTable(rng *rand.Rand, rows, d int, share float64) (sparse, dense *table) {
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
	sparse = newTable(rows).addScalar("other", make([]float64, rows)).addList("ix", 0, indices).addList("values", 0, values)
	return sparse, newTable(rows).addList("values", d, full)
}

func TestSparseRowsEqualDenseRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for round := range 20 {
		rows := 1 + rng.IntN(20_000)
		sparse, dense := sparseTable(rng, rows, 1+rng.IntN(9), []float64{0, 0.001, 0.2}[rng.IntN(2+round/2%2)])
		opt := Options{
			Missing: []stream.MissingPolicy{stream.MissingDropRow, stream.MissingZero}[round/2%2], Sample: []int64{0, 1 + int64(rows)/3}[rng.IntN(2)],
			Threads: 1 + rng.IntN(3), Exclude: []string{"values[0]"}, LeaveOut: []stream.LeftOut{{Name: "other"}},
		}
		if len(dense.list["values"][0]) == 1 {
			opt.Exclude = nil
		}
		disk, paths := plant(dense, 2, 1+rng.Int64N(9000), 1)
		want, err := collect(disk.dataset(t, paths, opt), stream.Range{})
		formattest.Must(t, err)
		opt.Sparse = "ix,values"
		if round%2 == 1 {
			opt.Sparse = "values"
			sparse = newTable(rows).addScalar("other", make([]float64, rows)).addMap("values", sparse.list["ix"], sparse.list["values"])
		}
		disk, paths = plant(sparse, 3, 1+rng.Int64N(9000), 1)
		ds := disk.dataset(t, paths, opt)
		for _, memory := range []int64{ds.MinMemory(), 1 << 30} {
			opt.Memory = memory
			ds, err := ds.With(opt)
			formattest.Must(t, err)
			got, err := collect(ds, stream.Range{})
			formattest.Must(t, err)
			if d := diff(got, want); d != "" {
				t.Fatalf("round %d: %s", round, d)
			}
		}
		disk.checkClosed(t)
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
		tab := newTable(3).addList("ix", 0, [][]float64{good, good, bad[0]}).addList("v", 0, [][]float64{good, good, bad[1]})
		disk, paths := plant(tab, 1, 3, 1)
		err := passError(disk.dataset(t, paths, Options{Sparse: "ix,v,5"}))
		if !isData(err) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("%s: error %v", name, err)
		}
		disk.checkClosed(t)
	}
}

func TestBadSparseOptions(t *testing.T) {
	sparse, _ := sparseTable(rand.New(rand.NewPCG(1, 1)), 10, 3, 0)
	disk, paths := plant(sparse, 1, 10, 1)
	ds := disk.dataset(t, paths, Options{})
	for spec, words := range map[string]string{
		"ix": "want INDICES", "ix,ix": "want INDICES", "iy,values": "did you mean ix?", "ix,other": "not lists",
		"ix,values,0": "number of features", "ix,values,x": "want INDICES", "ix,values,99999999": "number of features",
	} {
		if _, err := ds.With(Options{Sparse: spec}); !isUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", spec, err, words)
		}
	}
	maps, mapPaths := plant(newTable(2).addMap("m", [][]float64{{1}, nil}, [][]float64{{2}, nil}), 1, 10, 1)
	for spec, words := range map[string]string{
		"m,m": "number of features", "m,2,3": "MAP[,FEATURES]", "m,0": "number of features", "mm": "want INDICES",
	} {
		if _, err := maps.dataset(t, mapPaths, Options{}).With(Options{Sparse: spec}); !isUsage(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %q", spec, err, words)
		}
	}
	if err := passError(maps.dataset(t, mapPaths, Options{Sparse: "m"})); err == nil || !strings.Contains(err.Error(), "null map") || !strings.Contains(err.Error(), "row 1") {
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
	tab := newTable(rows).addList("ix", 0, indices).addList("v", 0, values)
	disk, paths := plant(tab, 1, rows, 1)
	ds := disk.dataset(t, paths, Options{Sparse: "ix,v,400"})
	opt := Options{Sparse: "ix,v,400", Memory: ds.MinMemory()}
	tight, err := ds.With(opt)
	formattest.Must(t, err)
	short, ok := errors.AsType[*stream.MemoryError](passError(tight))
	if !ok || short.Limit != opt.Memory {
		t.Fatalf("error %v, want a MemoryError", short)
	}
	opt.Memory = short.Need
	ds, err = ds.With(opt)
	formattest.Must(t, err)
	if err := passError(ds); err != nil {
		t.Errorf("with the memory that was asked for: %v", err)
	}
}
