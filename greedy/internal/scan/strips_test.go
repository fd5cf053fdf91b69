package scan

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// Products of dense rows have the same bits for any strips in which the features are standardized and any number of
// workers, and the triangle is AᵀA's.
func TestStripProducts(t *testing.T) {
	x := greedytest.RandomMatrix(53, 300, 700, 1).WithHoles(0.05)
	for i := range x.Col[30] { // left out
		x.Col[30][i] = 1
	}
	for _, weight := range [][]float64{nil, greedytest.RowWeights(300)} {
		src := greedytest.NewSource(x, 280)
		src.Weight = weight
		a, std := src.StandardizedMatrix(t, gram.ScaleStandard, gram.FillMean), rowstest.Standardizer(t, src, gram.ScaleStandard, gram.FillMean)
		d := a.D
		features, groups, vs := []int{0, d - 1, 600, 7}, make([]int, d), slices.Concat(greedytest.RandomMatrix(54, d, 3, 1).Col...)
		for i := range groups {
			groups[i] = i%6 - 1
		}
		sums := func(strip, workers int) passSums {
			r := NewReader(src, std, &selection.StreamOptions{Options: selection.Options{Threads: workers}})
			r.Strip = strip
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
		for k, g := range a.Gram() {
			if i, j := k/d, k%d; i <= j && math.Abs(want.triangle[k]-g) > 1e-12*float64(a.N)*4 {
				t.Fatalf("entry %d, %d: %v, want %v", i, j, want.triangle[k], g)
			}
		}
	}
}
