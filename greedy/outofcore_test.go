package greedy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// holed makes a share of the entries missing.
func (x matrix) holed(share float64) matrix {
	r := rand.New(rand.NewPCG(31, 1))
	y := x.clone()
	for _, col := range y.col {
		for i := range col {
			if r.Float64() < share {
				col[i] = math.NaN()
			}
		}
	}
	return y
}

// counts are sparse word counts: most entries 0.
func counts(seed uint64, n, d int) matrix {
	r := rand.New(rand.NewPCG(seed, 1))
	x := newMatrix(n, d)
	for j, col := range x.col {
		for i := range col {
			if r.Float64() < 0.1+0.2*float64(j%5)/5 {
				col[i] = float64(1 + r.IntN(4))
			}
		}
	}
	return x
}

func weights(n int) []float64 {
	r := rand.New(rand.NewPCG(32, 1))
	w := make([]float64, n)
	for i := range w {
		w[i] = 0.2 + 3*r.Float64()
	}
	return w
}

// The selection out of core equals that from G in memory, for every shape of input,
// scale, algorithm and memory.
func TestStreamEqualsMemory(t *testing.T) {
	images := smooth(30, 150, 90, 40, 0.85).noisy(31, 0.05)
	for _, c := range []struct {
		name   string
		x      matrix
		block  int
		weight []float64
	}{
		{"one column", random(33, 20, 1, 1), 7, nil},
		{"images", images, 64, nil},
		{"row by row", random(34, 30, 12, 1), 1, nil},
		{"wide", random(35, 20, 600, 1), 8, nil},
		{"strips", random(37, 20, 1500, 1), 8, nil},
		{"weights", images, 64, weights(150)},
		{"missing", images.holed(0.1), 64, weights(150)},
		{"sparse", counts(36, 200, 60), 64, nil},
		{"sparse, weights", counts(36, 200, 60), 64, weights(200)},
	} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleCenter, gram.ScaleMinMax, gram.ScaleUnit, gram.ScaleStandard} {
			for _, fill := range []gram.Fill{gram.FillMean, gram.FillZero} {
				if fill == gram.FillZero && c.name != "missing" {
					continue
				}
				for _, partitioned := range []bool{false, true} {
					name := fmt.Sprintf("%s/%v/%v/partitioned=%v", c.name, scale, fill, partitioned)
					src := serve(c.x, c.block)
					src.Weight, src.Sparse = c.weight, strings.HasPrefix(c.name, "sparse")
					t.Run(name, func(t *testing.T) { checkStream(t, src, scale, fill, partitioned) })
				}
			}
		}
	}
}

func mustStream(t *testing.T, src *source, opt StreamOptions) *Result {
	t.Helper()
	r, _, err := SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	return r
}

func checkStream(t *testing.T, src *source, scale gram.Scale, fill gram.Fill, partitioned bool) {
	a := src.standardized(t, scale, fill)
	opt := Options{K: max(min(a.d, a.n, 25)-2, 1), Partitioned: partitioned}
	if partitioned {
		opt.Partitions = min(a.d, 4)
	}
	c := opt.Partitions
	want := mustSelect(t, a, opt)
	var first *Result
	least := StreamBytes(a.d, opt.K, c, 0, 0)
	for _, memory := range []int64{least, least * 5 / 4, 1 << 30} {
		src.Passes = 0
		seen := 0
		got := mustStream(t, src, StreamOptions{Options: opt, Scale: scale, Fill: fill, Memory: memory,
			Pass: func(pass int, _ string) { seen = pass }})
		if got.Passes != src.Passes || got.Passes != seen {
			t.Errorf("%d passes reported, %d announced, %d made", got.Passes, seen, src.Passes)
		}
		if lower, err := StreamPasses(a.d, opt.K, c, memory, src.Sparse); err != nil || got.Passes < lower {
			t.Errorf("%d passes, fewer than the lower bound %d (%v)", got.Passes, lower, err)
		}
		compareResults(t, got, want)
		got.Passes = 0
		if first == nil {
			first = got
		} else if !reflect.DeepEqual(first, got) {
			t.Errorf("memory %d changes the result", memory)
		}
	}
}

// compareResults allows for the rounding of two ways to the same G.
func compareResults(t *testing.T, got, want *Result) {
	t.Helper()
	if !slices.Equal(got.Order, want.Order) {
		t.Fatalf("order %v, want %v", got.Order, want.Order)
	}
	for j := range want.Order {
		if math.Abs(got.Scores[j]/want.Scores[j]-1) > 1e-8 || math.Abs(got.Error[j]-want.Error[j]) > 1e-11 {
			t.Errorf("turn %d: score %v, error %v; want %v, %v", j, got.Scores[j], got.Error[j], want.Scores[j], want.Error[j])
		}
	}
	for i := range want.Explained {
		if math.Abs(got.Explained[i]-want.Explained[i]) > 1e-10 || got.Nearest[i] != want.Nearest[i] {
			t.Errorf("feature %d: explained %v by %d, want %v by %d", i,
				got.Explained[i], got.Nearest[i], want.Explained[i], want.Nearest[i])
		}
	}
	if !reflect.DeepEqual(got.Ties, want.Ties) || !reflect.DeepEqual(got.Redundant, want.Redundant) ||
		!reflect.DeepEqual(got.Warnings, want.Warnings) || got.Exhausted != want.Exhausted || !slices.Equal(got.Layers, want.Layers) {
		t.Errorf("ties %v, redundant %v, warnings %q; want %v, %v, %q",
			got.Ties, got.Redundant, got.Warnings, want.Ties, want.Redundant, want.Warnings)
	}
}

func TestStreamAnyWorkers(t *testing.T) {
	sparse := serve(counts(39, 200, 150), 64)
	sparse.Sparse = true
	for _, src := range []*source{serve(smooth(37, 200, 150, 60, 0.9).noisy(38, 0.05), 64), sparse} {
		for _, partitioned := range []bool{false, true} {
			opt := StreamOptions{Scale: gram.ScaleStandard, Options: Options{K: 40, Partitioned: partitioned, Threads: 1}}
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
	src := serve(smooth(43, 600, 400, 120, 0.96).noisy(44, 0.05), 256)
	for _, partitioned := range []bool{false, true} {
		r := mustStream(t, src, StreamOptions{Options: Options{K: 100, Partitioned: partitioned}})
		t.Logf("partitioned %v: %d passes for 100 features", partitioned, r.Passes)
		if r.Passes > 24 {
			t.Errorf("partitioned %v: %d passes for 100 features", partitioned, r.Passes)
		}
	}
}

// A profile taken before saves its pass and changes nothing else.
func TestStreamProfile(t *testing.T) {
	src := serve(random(50, 40, 12, 1), 16)
	opt := StreamOptions{Options: Options{K: 5}, Scale: gram.ScaleStandard}
	want := mustStream(t, src, opt)
	opt.Profile = gram.NewProfile(src.d)
	must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, opt.Profile))
	got := mustStream(t, src, opt)
	if got.Passes++; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestStreamMemory(t *testing.T) {
	src := serve(random(46, 40, 30, 0), 16)
	var memory *stream.MemoryError
	least := StreamBytes(30, 5, 0, 0, 0)
	_, _, err := SelectStream(t.Context(), src, StreamOptions{Options: Options{K: 5}, Memory: least - 1})
	if !errors.As(err, &memory) || memory.Need != least {
		t.Errorf("%v, want the need of %d", err, least)
	}
}

// The memory held stays within Memory, for little and for plenty of it.
func TestStreamHolds(t *testing.T) {
	const d, k = 300, 20
	x := smooth(48, 100, d, 50, 0.9).noisy(49, 0.05)
	for _, c := range []int{0, 6} {
		for _, memory := range []int64{StreamBytes(d, k, c, 0, 0), 2 * StreamBytes(d, k, c, 0, 0)} {
			src, peak, before := serve(x, 100), int64(0), rowstest.HeapBytes()
			src.Block = func(_, _ int) error { peak = max(peak, rowstest.HeapBytes()); return nil }
			mustStream(t, src, StreamOptions{Options: Options{K: k, Partitioned: c > 0, Partitions: c}, Memory: memory})
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
		src := serve(random(47, 40, 30, 0), 16)
		src.Block = func(pass, block int) error {
			if pass == n && block == 2 {
				return fault
			}
			return nil
		}
		r, _, err := SelectStream(t.Context(), src, StreamOptions{Options: Options{K: 5}})
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
