package outofcore

import (
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Duplicates, exact ties and rank are settled as in memory, though the tied columns
// have to be fetched for it; the seed of the sketch does not matter.
func TestStreamTies(t *testing.T) {
	x := greedytest.RandomMatrix(40, 60, 40, 0)
	for _, j := range []int{5, 9, 21, 33} {
		copy(x.Col[j], x.Col[2])
	}
	copy(x.Col[30], x.Col[29])
	src := greedytest.NewSource(x, 32)
	want := inMemory(t, x, selection.Options{K: 40, Keep: []int{7, 30, 29}})
	if len(want.Ties) == 0 || len(want.Layers) == 0 {
		t.Fatalf("no ties or full rank: %+v", want)
	}
	for seed := range uint64(3) {
		got := mustStream(t, src, selection.StreamOptions{
			Options: selection.Options{K: 40, Keep: []int{7, 30, 29}, Seed: seed}, Memory: StreamBytes(40, 40, 0, 0, 0)})
		greedytest.CompareResults(t, got, want)
	}
}

// Far more features tie than a batch holds: f is computed again for all.
func TestStreamManyTies(t *testing.T) {
	x := greedytest.RandomMatrix(41, 30, 600, 0)
	for j := range x.Col {
		copy(x.Col[j], x.Col[j%4])
	}
	src := greedytest.NewSource(x, 32)
	renewed := 0
	got := mustStream(t, src, selection.StreamOptions{
		Options: selection.Options{K: 10}, Memory: StreamBytes(600, 10, 0, 0, 0),
		Pass: func(_ int, what string) {
			if strings.HasPrefix(what, "renewing") {
				renewed++
			}
		}})
	greedytest.CompareResults(t, got, inMemory(t, x, selection.Options{K: 10}))
	if renewed == 0 {
		t.Error("f was not renewed: the test has lost its point")
	}
}

func TestStreamHugeColumn(t *testing.T) {
	x := greedytest.RandomMatrix(42, 50, 30, 0.5)
	for i := range x.Col[7] {
		x.Col[7][i] *= 1e25
	}
	src := greedytest.NewSource(x, 16)
	got := mustStream(t, src, selection.StreamOptions{Options: selection.Options{K: 20}})
	greedytest.CompareResults(t, got, inMemory(t, x, selection.Options{K: 20}))
}

// Few factors explain most features nearly, far from exactly enough to exhaust them,
// and the rest is noise. The recursion's error then makes contenders of the nearly
// explained, which are fetched once to be ruled out and not again every turn.
func TestStreamNearlyDependent(t *testing.T) {
	x := greedytest.SmoothMatrix(46, 520, 400, 12, 0.9).AddNoise(47, 3e-4)
	noise := greedytest.RandomMatrix(48, 520, 200, 0)
	x.Col, x.D = append(x.Col, noise.Col...), 600
	for _, col := range noise.Col {
		for i := range col {
			col[i] *= 0.01
		}
	}
	src := greedytest.NewSource(x, 256)
	opt := selection.Options{K: 60}
	got := mustStream(t, src, selection.StreamOptions{Options: opt})
	if want := inMemory(t, x, opt); !slices.Equal(got.Order, want.Order) {
		t.Errorf("order %v, want %v", got.Order, want.Order)
	}
	t.Logf("%d passes", got.Passes)
	if got.Passes > 20 {
		t.Errorf("%d passes for %d features", got.Passes, opt.K)
	}
}

// Where the rows are no more than the buckets, the sketch foresees every choice.
func TestStreamFewRows(t *testing.T) {
	src := greedytest.NewSource(greedytest.SmoothMatrix(49, 200, 400, 120, 0.97).AddNoise(50, 0.05), 64)
	for _, partitioned := range []bool{false, true} {
		opt := selection.Options{K: 60, Partitioned: partitioned}
		got := mustStream(t, src, selection.StreamOptions{Options: opt})
		greedytest.CompareResults(t, got, inMemory(t, src.Matrix, opt))
		t.Logf("%d passes", got.Passes)
		if got.Passes > 10 {
			t.Errorf("partitioned %v: %d passes for %d features", partitioned, got.Passes, opt.K)
		}
	}
}

func TestStreamLeftOut(t *testing.T) {
	x := greedytest.RandomMatrix(45, 40, 8, 0)
	for i := range x.Col[3] {
		x.Col[3][i] = 7 // constant
	}
	src := greedytest.NewSource(x, 16)
	opt := selection.StreamOptions{Scale: gram.ScaleStandard}
	opt.Options = selection.Options{K: 4, Keep: []int{6}}
	r, std, err := SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	if len(std.LeftOut) != 1 || std.Columns[r.Order[0]] != 6 || len(r.Explained) != 7 {
		t.Errorf("left out %v, first %d, %d features", std.LeftOut, std.Columns[r.Order[0]], len(r.Explained))
	}
	opt.Keep = []int{3}
	_, _, err = SelectStream(t.Context(), src, opt)
	rowstest.CheckRefusal(t, err, `"x3" cannot be kept`)
	// Explicit groups number the source's columns.
	opt.Options = selection.Options{K: 4, Partitioned: true, Groups: []int{2, 2, 0, 1, 0, 2, 0, 2}}
	r, _, err = SelectStream(t.Context(), src, opt)
	must.Do(t, err)
	a := src.StandardizedMatrix(t, gram.ScaleStandard, gram.FillMean)
	greedytest.CompareResults(t, r, inMemory(t, a, selection.Options{K: 4, Partitioned: true, Groups: []int{0, 0, 1, 1, 0, 1, 0}}))
	opt.Options = selection.Options{K: 8}
	_, _, err = SelectStream(t.Context(), src, opt)
	rowstest.CheckRefusal(t, err, "k = 8 is more than the 7 features")
}
