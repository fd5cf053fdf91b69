package linalg

import (
	"math"
	"slices"
	"testing"
)

// Numbers are rounded to a neighbour, whole ones to themselves, up with their fraction as frequency, and whatever
// their neighbours are.
func TestRoundAtRandom(t *testing.T) {
	const draws = 1 << 14
	src := []float64{0, 3, -3, 1 << 14, -1 << 14, 0.25, -0.25, 2.5, -2.5, 1e-9, -1e-9, 16383.75, -16383.75, 0.001, 7.999}
	for _, by := range []float64{1, 0.5, -1} {
		sums, squares := make([]float64, len(src)), 0.0
		for seed := range uint64(draws) {
			dst := make([]int16, len(src)+1)
			roundAtRandom(dst[:len(src)], src, by, seed)
			again := make([]int16, 6)
			if roundAtRandom(again, src[:6], by, seed); !slices.Equal(again, dst[:6]) || dst[len(src)] != 0 {
				t.Fatal("other numbers for the same seed, or more of them")
			}
			for i, v := range src {
				got, want := float64(dst[i]), v*by
				if got != math.Floor(want) && got != math.Ceil(want) {
					t.Fatalf("%v becomes %v", want, got)
				}
				sums[i] += got - want
			}
			squares += (float64(dst[7]) - src[7]*by) * (float64(dst[8]) - src[8]*by)
		}
		for i, v := range src {
			f := v*by - math.Floor(v*by)
			if off, bound := math.Abs(sums[i]), 5*math.Sqrt(draws*f*(1-f))+draws*0x1p-16; off > bound {
				t.Errorf("%v is %v off after %d draws, want at most %v", v*by, off, draws, bound)
			}
		}
		if math.Abs(squares) > 5*math.Sqrt(draws)/4 {
			t.Errorf("neighbours' errors are %v together", squares/draws)
		}
	}
}
