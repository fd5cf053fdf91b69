package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// WholeRange takes whole numbers of an int32 and nothing else, to the bit, wherever they stand.
func TestWholeRange(t *testing.T) {
	asBest(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 64, 100} {
			for _, c := range []struct {
				x  float64
				ok bool
			}{
				{0, true}, {math.Copysign(0, -1), false}, {255, true}, {-128, true}, {math.MaxInt32, true}, {math.MinInt32, true},
				{math.MaxInt32 + 1, false}, {math.MinInt32 - 1, false}, {1 << 32, false}, {-(1 << 33), false}, {1 << 63, false}, {0.5, false},
				{math.MaxInt32 - 0.5, false}, {1e-300, false}, {1e300, false}, {math.NaN(), false}, {math.Inf(1), false}, {math.Inf(-1), false},
			} {
				for at := range n {
					x := make([]float64, n)
					for i := range x {
						x[i] = float64(i%7 - 3)
					}
					x[at] = c.x
					least, most, ok := WholeRange(x)
					if ok != c.ok || ok && (float64(least) != slices.Min(x) || float64(most) != slices.Max(x)) {
						t.Fatalf("%v at %d of %d: %d to %d, %v", c.x, at, n, least, most, ok)
					}
				}
			}
		}
	})
}

// LowBytes is the conversion of each number, and writes nothing else.
func TestLowBytes(t *testing.T) {
	asBest(t, func(t *testing.T) {
		for n := range 70 {
			for _, from := range []int{-128, -1, 0, 200, 1 << 20, math.MinInt32, math.MaxInt32 - 100} {
				x, got := make([]float64, n), make([]byte, n+1)
				want := slices.Clone(got)
				for i := range x {
					x[i] = float64(from + i)
					want[i] = byte(from + i)
				}
				if ToLowBytes(x, got[:n]); !slices.Equal(got, want) {
					t.Fatalf("%d from %d on: %v, want %v", n, from, got, want)
				}
			}
		}
	})
}

// OfBytes is the conversion of each byte, and writes nothing else.
func TestOfBytes(t *testing.T) {
	asBest(t, func(t *testing.T) {
		for n := range 300 {
			x, got, want := make([]byte, n), make([]float64, n+1), make([]float64, n+1)
			for i := range x {
				x[i] = byte(7*i + n)
				want[i] = float64(x[i])
			}
			if FromBytes(x, got[:n]); !slices.Equal(got, want) {
				t.Fatalf("%d: %v, want %v", n, got, want)
			}
		}
	})
}

// OfSingles keeps NaN, in blocks and after them.
func TestOfSinglesKeepsNaN(t *testing.T) {
	asBest(t, func(t *testing.T) {
		x, got := make([]float32, 37), make([]float64, 37)
		x[3], x[36] = float32(math.NaN()), float32(math.NaN())
		FromSingles(x, got)
		for i, v := range got {
			if math.IsNaN(v) != (i == 3 || i == 36) {
				t.Errorf("%d is %v", i, v)
			}
		}
	})
}

// AllSingles takes what a float32 holds and nothing else, wherever it stands, Singles writes it, and OfSingles
// reads it.
func TestSingles(t *testing.T) {
	asBest(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 15, 16, 17, 32, 33, 100} {
			for _, c := range []struct {
				x  float64
				ok bool
			}{
				{0, true}, {math.Copysign(0, -1), true}, {0.5, true}, {float64(float32(0.1)), true}, {0.1, false}, {1 << 24, true}, {1<<24 + 1, false},
				{math.SmallestNonzeroFloat32, true}, {math.SmallestNonzeroFloat32 / 2, false}, {math.MaxFloat32, true}, {math.MaxFloat64, false},
				{math.Inf(1), true}, {math.Inf(-1), true}, {math.NaN(), false}, {float64(float32(math.NaN())), false},
			} {
				for at := range n {
					x, got := make([]float64, n), make([]float32, n+1)
					for i := range x {
						x[i] = float64(i) - 0.25
					}
					if x[at] = c.x; AllSingles(x) != c.ok {
						t.Fatalf("%v at %d of %d: %v", c.x, at, n, !c.ok)
					}
					if !c.ok {
						continue
					}
					ToSingles(x, got[:n])
					back := make([]float64, n+1)
					FromSingles(got[:n], back[:n])
					for i, v := range x {
						if math.Float64bits(back[i]) != math.Float64bits(v) || back[n] != 0 {
							t.Fatalf("%v comes back as %v", v, back[i])
						}
						if math.Float64bits(float64(got[i])) != math.Float64bits(v) || got[n] != 0 {
							t.Fatalf("%v is written for %v", got[i], v)
						}
					}
				}
			}
		}
	})
}

// BenchmarkNarrow finds the narrowest form of a column, and writes it.
func BenchmarkNarrow(b *testing.B) {
	const n = 8192
	x, dst, singles := make([]float64, n), make([]byte, n), make([]float32, n)
	for i := range x {
		x[i] = float64(i % 251)
	}
	before := best
	defer func() { best = before }()
	for _, path := range availableSets {
		best = path
		for name, do := range map[string]func(){"range": func() { WholeRange(x) }, "bytes": func() { ToLowBytes(x, dst) },
			"all": func() { AllSingles(x) }, "singles": func() { ToSingles(x, singles) }, "ofsingles": func() { FromSingles(singles, x) }} {
			b.Run(fmt.Sprintf("%s/%s", path.name, name), func(b *testing.B) {
				b.SetBytes(8 * n)
				for b.Loop() {
					do()
				}
			})
		}
	}
}
