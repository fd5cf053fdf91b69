package outofcore

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The selection out of core equals that from G in memory, for every shape of input,
// scale, algorithm and memory.
func TestStreamEqualsMemory(t *testing.T) {
	images := greedytest.SmoothMatrix(30, 150, 90, 40, 0.85).AddNoise(31, 0.05)
	for _, c := range []struct {
		name   string
		x      greedytest.Matrix
		block  int
		weight []float64
	}{
		{"one column", greedytest.RandomMatrix(33, 20, 1, 1), 7, nil},
		{"images", images, 64, nil},
		{"row by row", greedytest.RandomMatrix(34, 30, 12, 1), 1, nil},
		{"wide", greedytest.RandomMatrix(35, 20, 600, 1), 8, nil},
		{"strips", greedytest.RandomMatrix(37, 20, 1500, 1), 8, nil},
		{"weights", images, 64, greedytest.RowWeights(150)},
		{"missing", images.WithHoles(0.1), 64, greedytest.RowWeights(150)},
		{"sparse", greedytest.CountMatrix(36, 200, 60), 64, nil},
		{"sparse, weights", greedytest.CountMatrix(36, 200, 60), 64, greedytest.RowWeights(200)},
	} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleCenter, gram.ScaleMinMax, gram.ScaleUnit, gram.ScaleStandard} {
			for _, fill := range []gram.Fill{gram.FillMean, gram.FillZero} {
				if fill == gram.FillZero && c.name != "missing" {
					continue
				}
				for _, partitioned := range []bool{false, true} {
					name := fmt.Sprintf("%s/%v/%v/partitioned=%v", c.name, scale, fill, partitioned)
					src := greedytest.NewSource(c.x, c.block)
					src.Weight, src.Sparse = c.weight, strings.HasPrefix(c.name, "sparse")
					t.Run(name, func(t *testing.T) { checkStream(t, src, scale, fill, partitioned) })
				}
			}
		}
	}
}

func inMemory(t *testing.T, x greedytest.Matrix, opt selection.Options) *selection.Result {
	t.Helper()
	return must.Get(inmemory.SelectFeatures(t.Context(), gram.Full(x.Gram(), x.D), opt))(t)
}

func mustStream(t *testing.T, src *greedytest.Source, opt selection.StreamOptions) *selection.Result {
	t.Helper()
	r, _, err := SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	return r
}

func checkStream(t *testing.T, src *greedytest.Source, scale gram.Scale, fill gram.Fill, partitioned bool) {
	a := src.StandardizedMatrix(t, scale, fill)
	opt := selection.Options{K: max(min(a.D, a.N, 25)-2, 1), Partitioned: partitioned}
	if partitioned {
		opt.Partitions = min(a.D, 4)
	}
	c := opt.Partitions
	want := inMemory(t, a, opt)
	var first *selection.Result
	least := StreamBytes(a.D, opt.K, c, 0, 0)
	for _, memory := range []int64{least, least * 5 / 4, 1 << 30} {
		src.Passes = 0
		seen := 0
		got := mustStream(t, src, selection.StreamOptions{Options: opt, Scale: scale, Fill: fill, Memory: memory,
			Pass: func(pass int, _ string) { seen = pass }})
		if got.Passes != src.Passes || got.Passes != seen {
			t.Errorf("%d passes reported, %d announced, %d made", got.Passes, seen, src.Passes)
		}
		if lower, err := StreamPasses(a.D, opt.K, c, memory, src.Sparse); err != nil || got.Passes < lower {
			t.Errorf("%d passes, fewer than the lower bound %d (%v)", got.Passes, lower, err)
		}
		greedytest.CompareResults(t, got, want)
		got.Passes = 0
		if first == nil {
			first = got
		} else if !reflect.DeepEqual(first, got) {
			t.Errorf("memory %d changes the result", memory)
		}
	}
}

func TestStreamAnyWorkers(t *testing.T) {
	sparse := greedytest.NewSource(greedytest.CountMatrix(39, 200, 150), 64)
	sparse.Sparse = true
	for _, src := range []*greedytest.Source{greedytest.NewSource(greedytest.SmoothMatrix(37, 200, 150, 60, 0.9).AddNoise(38, 0.05), 64), sparse} {
		for _, partitioned := range []bool{false, true} {
			opt := selection.StreamOptions{Scale: gram.ScaleStandard, Options: selection.Options{K: 40, Partitioned: partitioned, Threads: 1}}
			want := mustStream(t, src, opt)
			opt.Threads = 8
			if r := mustStream(t, src, opt); !reflect.DeepEqual(r, want) {
				t.Errorf("partitioned %v: 8 workers differ from one", partitioned)
			}
		}
	}
}

// Passes stay far below k on correlated data, which is the point of it all.
func TestStreamFewPasses(t *testing.T) {
	src := greedytest.NewSource(greedytest.SmoothMatrix(43, 600, 400, 120, 0.96).AddNoise(44, 0.05), 256)
	for _, partitioned := range []bool{false, true} {
		r := mustStream(t, src, selection.StreamOptions{Options: selection.Options{K: 100, Partitioned: partitioned}})
		t.Logf("partitioned %v: %d passes for 100 features", partitioned, r.Passes)
		if r.Passes > 24 {
			t.Errorf("partitioned %v: %d passes for 100 features", partitioned, r.Passes)
		}
	}
}

// A profile taken before saves its pass and changes nothing else.
func TestStreamProfile(t *testing.T) {
	src := greedytest.NewSource(greedytest.RandomMatrix(50, 40, 12, 1), 16)
	opt := selection.StreamOptions{Options: selection.Options{K: 5}, Scale: gram.ScaleStandard}
	want := mustStream(t, src, opt)
	opt.Profile = gram.NewProfile(src.D)
	must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, opt.Profile))
	got := mustStream(t, src, opt)
	if got.Passes++; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestStreamMemory(t *testing.T) {
	src := greedytest.NewSource(greedytest.RandomMatrix(46, 40, 30, 0), 16)
	var memory *stream.MemoryError
	least := StreamBytes(30, 5, 0, 0, 0)
	_, _, err := SelectStream(t.Context(), src, selection.StreamOptions{Options: selection.Options{K: 5}, Memory: least - 1})
	if !errors.As(err, &memory) || memory.Need != least {
		t.Errorf("%v, want the need of %d", err, least)
	}
}

// The memory held stays within Memory, for little and for plenty of it.
func TestStreamHolds(t *testing.T) {
	const d, k = 300, 20
	x := greedytest.SmoothMatrix(48, 100, d, 50, 0.9).AddNoise(49, 0.05)
	for _, c := range []int{0, 6} {
		for _, memory := range []int64{StreamBytes(d, k, c, 0, 0), 2 * StreamBytes(d, k, c, 0, 0)} {
			src, peak, before := greedytest.NewSource(x, 100), int64(0), rowstest.HeapBytes()
			src.Block = func(_, _ int) error { peak = max(peak, rowstest.HeapBytes()); return nil }
			mustStream(t, src, selection.StreamOptions{Options: selection.Options{K: k, Partitioned: c > 0, Partitions: c}, Memory: memory})
			chunk := int64(8 * d * 100)
			if held := peak - before - chunk; held > memory {
				t.Errorf("c = %d: holds %d bytes of %d", c, held, memory)
			}
		}
	}
}

func TestStreamFaults(t *testing.T) {
	fault := errors.New("torn cable")
	for n := 1; ; n++ {
		src := greedytest.NewSource(greedytest.RandomMatrix(47, 40, 30, 0), 16)
		src.Block = func(pass, block int) error {
			if pass == n && block == 2 {
				return fault
			}
			return nil
		}
		r, _, err := SelectStream(t.Context(), src, selection.StreamOptions{Options: selection.Options{K: 5}})
		if err == nil {
			if n <= 3 {
				t.Errorf("pass %d: no error", n)
			}
			if r.Passes >= n {
				t.Errorf("pass %d of %d failed unnoticed", n, r.Passes)
			}
			return
		}
		if !errors.Is(err, fault) {
			t.Fatalf("pass %d: %v", n, err)
		}
	}
}
