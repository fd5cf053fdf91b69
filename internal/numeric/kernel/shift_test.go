package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every path gives the differences, and the bounds that comparing one number after the other does, the
// signs of zeros included.
func TestShift(t *testing.T) {
	asBest(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 16))
		odd := []float64{math.NaN(), 0, math.Copysign(0, -1), math.MaxFloat64, -5e-324}
		for n := range 70 {
			for round := range 20 {
				x := make([]float64, n)
				for i := range x {
					if x[i] = r.NormFloat64(); r.IntN(10) < round {
						x[i] = odd[r.IntN(len(odd))]
					}
				}
				lo, hi := odd[1+r.IntN(2)], odd[1+r.IntN(2)]
				wantLo, wantHi, want := lo, hi, make([]float64, n)
				for i, v := range x {
					want[i] = v - 0.5
					if v < wantLo {
						wantLo = v
					}
					if v > wantHi {
						wantHi = v
					}
				}
				got := make([]float64, n)
				lo, hi = ShiftColumn(got, x, 0.5, lo, hi, x)
				same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
				if !same(lo, wantLo) || !same(hi, wantHi) || !slices.EqualFunc(got, want, same) {
					t.Fatalf("%v: %v to %v, want %v to %v\n%v\n%v", x, lo, hi, wantLo, wantHi, got, want)
				}
			}
		}
	})
}

// Every path gives the bits of the formula, in place too.
func TestStandardize(t *testing.T) {
	asBest(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 16))
		for n := range 70 {
			x, want := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = r.NormFloat64()
				want[i] = float64(x[i]-0.1) * 3.7
				if r.IntN(4) == 0 {
					x[i], want[i] = math.NaN(), -7
				}
			}
			got := make([]float64, n)
			Standardize(got, x, 0.1, 3.7, -7, x)
			Standardize(x, x, 0.1, 3.7, -7, nil)
			if !slices.Equal(got, want) || !slices.Equal(x, want) {
				t.Fatalf("%v and %v, want %v", got, x, want)
			}
		}
	})
}
