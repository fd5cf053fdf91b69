package greedy

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// Products of dense rows have the same bits for any strips in which the features are standardized and any number of
// workers, and the triangle is AᵀA's.
func TestStripProducts(t *testing.T) {
	x := random(53, 300, 700, 1).holed(0.05)
	for i := range x.col[30] { // left out
		x.col[30][i] = 1
	}
	for _, weight := range [][]float64{nil, weights(300)} {
		src := serve(x, 280)
		src.Weight = weight
		a, std := src.standardized(t, gram.ScaleStandard, gram.FillMean), rowstest.Standardizer(t, src, gram.ScaleStandard, gram.FillMean)
		d := a.d
		features, groups, vs := []int{0, d - 1, 600, 7}, make([]int, d), slices.Concat(random(54, d, 3, 1).col...)
		for i := range groups {
			groups[i] = i%6 - 1
		}
		sums := func(strip, workers int) passSums {
			r := newReader(src, std, &StreamOptions{Options: Options{Threads: workers}})
			r.strip = strip
			return sumsOf(t, r, features, groups, vs)
		}
		want := sums(d, 1)
		for _, strip := range []int{256, 512, 768} {
			for _, workers := range []int{1, 3} {
				if names := sums(strip, workers).differ(want); names != nil {
					t.Errorf("strips of %d, %d workers: other bits: %v", strip, workers, names)
				}
			}
		}
		for k, g := range a.gram() {
			if i, j := k/d, k%d; i <= j && math.Abs(want.triangle[k]-g) > 1e-12*float64(a.n)*4 {
				t.Fatalf("entry %d, %d: %v, want %v", i, j, want.triangle[k], g)
			}
		}
	}
}

// Blocks are standardized in strips near the smallest memory, and whole where it is plenty.
func TestStripPlan(t *testing.T) {
	for _, d := range []int{1500, 4863, 100_000} {
		least := StreamBytes(d, 20, 0, 0, 1000)
		if p := must.Get(planStream(d, 20, 0, least, 0, 1000))(t); p.strip != stripFeatures {
			t.Errorf("%d features in %d bytes: %d at a time", d, least, p.strip)
		}
		if p := must.Get(planStream(d, 20, 0, 10*least, 0, 1000))(t); p.strip != d {
			t.Errorf("%d features in %d bytes: %d at a time", d, 10*least, p.strip)
		}
	}
}
