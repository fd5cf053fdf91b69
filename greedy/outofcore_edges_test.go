package greedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// Duplicates, exact ties and rank are settled as in memory, though the tied columns
// have to be fetched for it; the seed of the sketch does not matter.
func TestStreamTies(t *testing.T) {
	x := random(40, 60, 40, 0)
	for _, j := range []int{5, 9, 21, 33} {
		copy(x.col[j], x.col[2])
	}
	copy(x.col[30], x.col[29])
	src := serve(x, 32)
	want := mustSelect(t, x, Options{K: 40, Keep: []int{7, 30, 29}})
	if len(want.Ties) == 0 || len(want.Layers) == 0 {
		t.Fatalf("no ties or full rank: %+v", want)
	}
	for seed := range uint64(3) {
		got := mustStream(t, src, StreamOptions{
			Options: Options{K: 40, Keep: []int{7, 30, 29}, Seed: seed}, Memory: StreamBytes(40, 40, 0, 0, 0)})
		compareResults(t, got, want)
	}
}

// Far more features tie than a batch holds: f is computed again for all.
func TestStreamManyTies(t *testing.T) {
	x := random(41, 30, 600, 0)
	for j := range x.col {
		copy(x.col[j], x.col[j%4])
	}
	src := serve(x, 32)
	renewed := 0
	got := mustStream(t, src, StreamOptions{
		Options: Options{K: 10}, Memory: StreamBytes(600, 10, 0, 0, 0),
		Pass: func(_ int, what string) {
			if strings.HasPrefix(what, "renewing") {
				renewed++
			}
		}})
	compareResults(t, got, mustSelect(t, x, Options{K: 10}))
	if renewed == 0 {
		t.Error("f was not renewed: the test has lost its point")
	}
}

func TestStreamHugeColumn(t *testing.T) {
	x := random(42, 50, 30, 0.5)
	for i := range x.col[7] {
		x.col[7][i] *= 1e25
	}
	src := serve(x, 16)
	got := mustStream(t, src, StreamOptions{Options: Options{K: 20}})
	compareResults(t, got, mustSelect(t, x, Options{K: 20}))
}

// Few factors explain most features nearly, far from exactly enough to exhaust them,
// and the rest is noise. The recursion's error then makes contenders of the nearly
// explained, which are fetched once to be ruled out and not again every turn.
func TestStreamNearlyDependent(t *testing.T) {
	x := smooth(46, 520, 400, 12, 0.9).noisy(47, 3e-4)
	noise := random(48, 520, 200, 0)
	x.col, x.d = append(x.col, noise.col...), 600
	for _, col := range noise.col {
		for i := range col {
			col[i] *= 0.01
		}
	}
	src := serve(x, 256)
	opt := Options{K: 60}
	got := mustStream(t, src, StreamOptions{Options: opt})
	if want := mustSelect(t, x, opt); !slices.Equal(got.Order, want.Order) {
		t.Errorf("order %v, want %v", got.Order, want.Order)
	}
	t.Logf("%d passes", got.Passes)
	if got.Passes > 20 {
		t.Errorf("%d passes for %d features", got.Passes, opt.K)
	}
}

// Where the rows are no more than the buckets, the sketch foresees every choice.
func TestStreamFewRows(t *testing.T) {
	src := serve(smooth(49, 200, 400, 120, 0.97).noisy(50, 0.05), 64)
	for _, partitioned := range []bool{false, true} {
		opt := Options{K: 60, Partitioned: partitioned}
		got := mustStream(t, src, StreamOptions{Options: opt})
		compareResults(t, got, mustSelect(t, src.matrix, opt))
		t.Logf("%d passes", got.Passes)
		if got.Passes > 10 {
			t.Errorf("partitioned %v: %d passes for %d features", partitioned, got.Passes, opt.K)
		}
	}
}

func TestStreamLeftOut(t *testing.T) {
	x := random(45, 40, 8, 0)
	for i := range x.col[3] {
		x.col[3][i] = 7 // constant
	}
	src := serve(x, 16)
	opt := StreamOptions{Scale: gram.ScaleStandard}
	opt.Options = Options{K: 4, Keep: []int{6}}
	r, std, err := SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	if len(std.LeftOut) != 1 || std.Columns[r.Order[0]] != 6 || len(r.Explained) != 7 {
		t.Errorf("left out %v, first %d, %d features", std.LeftOut, std.Columns[r.Order[0]], len(r.Explained))
	}
	opt.Keep = []int{3}
	_, _, err = SelectStream(t.Context(), src, opt)
	rowstest.CheckRefusal(t, err, `"x3" cannot be kept`)
	// Explicit groups number the source's columns.
	opt.Options = Options{K: 4, Partitioned: true, Groups: []int{2, 2, 0, 1, 0, 2, 0, 2}}
	r, _, err = SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	a := src.standardized(t, gram.ScaleStandard, gram.FillMean)
	compareResults(t, r, mustSelect(t, a, Options{K: 4, Partitioned: true, Groups: []int{0, 0, 1, 1, 0, 1, 0}}))
	opt.Options = Options{K: 8}
	_, _, err = SelectStream(t.Context(), src, opt)
	rowstest.CheckRefusal(t, err, "k = 8 is more than the 7 features")
}
