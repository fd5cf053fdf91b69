package cache

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
)

// Every form converts back to the same bits, wherever a value stands and wherever one begins.
func TestNarrowFormsChangeNoBit(t *testing.T) {
	found := map[valueForm]bool{}
	check := func(x []float64) {
		t.Helper()
		f, _ := narrowestForm(x)
		found[f] = true
		held := f.convertValues(x)
		for _, from := range []int{0, 1, len(x) / 2, len(x) - 1} {
			got := make([]float64, len(x)-from)
			held.copyTo(got, from)
			for i, v := range got {
				if math.Float64bits(v) != math.Float64bits(x[from+i]) {
					t.Fatalf("form %d: %x is %x", f, math.Float64bits(x[from+i]), math.Float64bits(v))
				}
			}
		}
	}
	for _, n := range []int{1, 2, 15, 16, 17, 64, 100} {
		for _, base := range formattest.HardValues {
			for _, hard := range formattest.HardValues {
				for _, v := range hard {
					for _, at := range []int{0, n / 2, n - 1} {
						x := make([]float64, n)
						for i := range x {
							x[i] = base[i%len(base)]
						}
						x[at] = v
						check(x)
					}
				}
			}
		}
	}
	if len(found) != int(asDoubles)+1 {
		t.Errorf("forms %v came up", found)
	}
}

// BenchmarkKeep converts a column of a span, from the form and back.
func BenchmarkKeep(b *testing.B) {
	const n = 8192
	rng := rand.New(rand.NewPCG(1, 1))
	for name, value := range map[string]func() float64{
		"uint8":  func() float64 { return float64(rng.IntN(256)) },
		"int16":  func() float64 { return float64(rng.IntN(5000) - 2500) },
		"single": func() float64 { return float64(rng.Float32()) },
		"double": rng.Float64,
	} {
		x, dst := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = value()
		}
		b.Run(name+"/hold", func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				f, _ := narrowestForm(x)
				f.convertValues(x)
			}
		})
		f, _ := narrowestForm(x)
		held := f.convertValues(x)
		b.Run(name+"/to", func(b *testing.B) {
			b.SetBytes(8 * n)
			for b.Loop() {
				held.copyTo(dst, 0)
			}
		})
	}
}
