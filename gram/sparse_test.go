package gram

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// withHoles has entries missing alone, together, and in a whole row.
func withHoles(d, n int) table {
	tab := wide(d, n, true)
	for j, col := range tab.Cols {
		col[17] = math.NaN()
		if j%3 == 0 {
			col[90] = math.NaN()
		}
	}
	return tab
}

// Missing entries of sparse rows count like the same entries of dense rows: the mean that fills them includes the
// zeros, and the matrices are the same for any chunks, and merged.
func TestSparseMissing(t *testing.T) {
	const d, n = 40, 300
	tab := withHoles(d, n)
	thin := tab
	thin.Sparse = true
	for _, scale := range []Scale{ScaleNone, ScaleStandard, ScaleMinMax} {
		for _, fill := range []Fill{FillMean, FillPairwise} {
			want := finish(t, tab.moments(t, Options{}, 100), tab, scale, fill)
			for _, height := range []int{1, 33, n} {
				first, last := NewMoments(d, Options{Threads: 2}), NewMoments(d, Options{})
				thin.AddRows(t, first, 0, 150, height)
				thin.AddRows(t, last, 150, n, height)
				must.Do(t, first.Merge(last))
				for _, m := range []*Moments{thin.moments(t, Options{}, height), first} {
					got := finish(t, m, tab, scale, fill)
					if !slices.Equal(got.Columns, want.Columns) || !slices.Equal(got.Filled, want.Filled) {
						t.Fatalf("%v, %v: columns %v with %v filled, want %v with %v", scale, fill, got.Columns, got.Filled, want.Columns, want.Filled)
					}
					for i := range want.D {
						// Two thirds are zeros, so that sums about 0 and about another value lose no more than
						// a few of their digits, in n roundings.
						if !(math.Abs(got.Mean[i]-want.Mean[i]) <= n*0x1p-50*(want.Std[i]+math.Abs(want.Mean[i]))) {
							t.Fatalf("column %d: mean %v, want %v", i, got.Mean[i], want.Mean[i])
						}
						for j := range want.D {
							size := math.Sqrt(want.At(i, i) * want.At(j, j))
							if x, y := got.At(i, j), want.At(i, j); !(math.Abs(x-y) <= n*0x1p-50*size) {
								t.Fatalf("%v, %v, chunks of %d: [%d,%d] = %v, want %v", scale, fill, height, i, j, x, y)
							}
						}
					}
				}
			}
		}
	}
}

// Sums of a sketch are exact: sums of sparse rows with missing entries have the bits of dense rows.
func TestSparseMissingSketch(t *testing.T) {
	tab := withHoles(11, 200)
	opt := SketchOptions{Rows: 128, Seed: 9, Threads: 3}
	want := tab.sketch(t, opt, 0, 200, 70)
	tab.Sparse = true
	if !bytes.Equal(wordstest.EncodeState(t, tab.sketch(t, opt, 0, 200, 9)), wordstest.EncodeState(t, want)) {
		t.Error("other bytes")
	}
}
