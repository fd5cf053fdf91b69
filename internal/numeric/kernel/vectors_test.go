package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Dot, Axpy and Gemv against compensated sums, and nothing outside.
func TestVectors(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(12, 12))
		for _, n := range slices.Concat(crossing(16), crossing(4), []int{1000}) {
			x, y := newGuarded[float64](r, n, 1, true), newGuarded[float64](r, n, 1, true)
			a, b := x.Data[:n], y.Data[:n]
			sum, size := 0.0, 0.0
			for i := range n {
				sum, size = math.FMA(a[i], b[i], sum), size+math.Abs(a[i]*b[i])
			}
			if got := p.dot(a, b); !(math.Abs(got-sum) <= float64(2*n+8)*0x1p-53*size) {
				t.Fatalf("dot of %d: %g, want %g", n, got, sum)
			}
			got, want := y.clone(), y.clone()
			for i := range n {
				want.Data[i] = fma(p, -0.3, a[i], b[i])
			}
			p.axpy(-0.3, a, got.Data[:n])
			if !sameBits(got.buf, want.buf) {
				t.Fatalf("axpy of %d: not the specified bits", n)
			}
		}
	})
	const m, n = 130, 77
	r := rand.New(rand.NewPCG(13, 13))
	a, x := newGuarded[float64](r, m, n, false), newGuarded[float64](r, n, 1, true)
	first := make([]float64, m)
	for _, workers := range []int{1, 2, 8} {
		y := make([]float64, m)
		Gemv(workers, m, n, a.Data, a.RowStride, x.Data[:n], y)
		for i := range m {
			if want := Dot(a.Data[i*a.RowStride:][:n], x.Data[:n]); y[i] != want {
				t.Fatalf("%d workers: y[%d] = %g, want %g", workers, i, y[i], want)
			}
		}
		if workers == 1 {
			first = y
		} else if !sameBits(first, y) {
			t.Fatalf("%d workers give other bits than 1", workers)
		}
	}
}

func TestMirror(t *testing.T) {
	for _, n := range crossing(64) {
		a := newGuarded[float64](rand.New(rand.NewPCG(16, 16)), n, n, false)
		got := a.clone()
		MirrorUpper(2, got.Matrix)
		got.intact(t, a)
		for i := range n {
			for j := range n {
				if got.at(i, j) != a.at(min(i, j), max(i, j)) {
					t.Fatalf("order %d: [%d,%d] differs from the upper triangle", n, i, j)
				}
			}
		}
	}
}
