package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every path turns one row after the other by the formula, fused on paths that fuse, and writes no other row.
func TestRotate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 40
	asBest(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 7, 33} {
			for _, back := range []bool{false, true} {
				first, step := 3, 1
				if back {
					first, step = 36, -1
				}
				c, s := make([]float64, n), make([]float64, n)
				for i := range c {
					s[i], c[i] = math.Sincos(r.Float64() * 7)
				}
				got := make([]float64, rows*RotateWidth)
				for i := range got {
					got[i] = r.NormFloat64()
				}
				want := slices.Clone(got)
				for i := range n {
					x, y := want[(first+i*step)*RotateWidth:][:RotateWidth], want[(first+(i+1)*step)*RotateWidth:][:RotateWidth]
					for j := range x {
						x[j], y[j] = fma(best, c[i], x[j], float64(s[i]*y[j])), fma(best, c[i], y[j], -float64(s[i]*x[j]))
					}
				}
				RotateRows(c, s, got, first, back)
				for i, v := range got {
					if v != want[i] {
						t.Fatalf("%d rotations, back %v, row %d: %v, want %v", n, back, i/RotateWidth, v, want[i])
					}
				}
			}
		}
	})
}
