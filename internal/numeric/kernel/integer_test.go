package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// SyrkWhole gives Syrk's bits on every path, wherever its rows belong, and leaves everything else alone.
func TestSyrkWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 2))
	asBest(t, func(t *testing.T) {
		if best.integer.mul == nil {
			return
		}
		for _, k := range []int{1, 2, 3, 16, 17, 255, 256, 257, 1023, DeepestWhole} {
			most := min(MostWholeOf(k), MostWhole)
			for _, n := range []int{1, 3, 8, 47, 48, 49, 145, 300} {
				if !long.IsOn() && n*k > 145*DeepestWhole {
					continue // most of the time where a processor is emulated
				}
				for _, spread := range []bool{false, true} {
					rows := n
					if spread {
						rows = 2*n + 5
					}
					x := make([]float64, n*k)
					for i := range x {
						x[i] = float64(r.IntN(2*most+1) - most)
						if n == 49 { // the largest sums
							x[i] = float64(most * (1 - 2*(i/k%2)))
						}
					}
					lda := (k + 3) &^ 1
					whole := make([]int16, n*lda)
					for i := range n {
						if ok, _ := ToWholes(x[i*k:][:k], whole[i*lda:][:k]); !ok {
							t.Fatal("not whole")
						}
					}
					var at []int
					if spread {
						for i := range n {
							at = append(at, i+i/60*7)
						}
					}
					big := make([]float64, rows*rows)
					for i := range big {
						big[i] = r.NormFloat64() * 1e9
					}
					want := slices.Clone(big)
					sums := make([]float64, n*n)
					Syrk(NewTeam(1), 1, RowMajor(x, n, k, k), RowMajor(sums, n, n, n))
					for i := range n {
						for j := i; j < n; j++ {
							p, q := i, j
							if spread {
								p, q = at[i], at[j]
							}
							want[p*rows+q] += sums[i*n+j]
						}
					}
					SyrkWhole(NewTeam(3), whole, n, k, lda, at, RowMajor(big, rows, rows, rows))
					if !slices.Equal(big, want) {
						t.Errorf("%d×%d, spread %v: other bits", n, k, spread)
					}
				}
			}
		}
	})
}

// Wholes takes whole numbers up to its limit and nothing else, wherever it stands.
func TestWholes(t *testing.T) {
	asBest(t, func(t *testing.T) {
		if best.integer.mul == nil {
			return
		}
		for _, n := range []int{1, 15, 16, 17, 64, 100} {
			for _, c := range []struct {
				x  float64
				ok bool
			}{
				{0, true}, {math.Copysign(0, -1), true}, {MostWhole, true}, {-MostWhole, true}, {MostWhole + 1, false}, {-MostWhole - 1, false},
				{0.5, false}, {-2.5, false}, {1e-300, false}, {32767, false}, {-32768, false}, {32768, false}, {65536, false}, {1 << 31, false}, {-(1 << 31), false},
				{1 << 32, false}, {1e300, false}, {math.NaN(), false}, {math.Inf(1), false}, {math.Inf(-1), false},
			} {
				for at := range n {
					x, dst := make([]float64, n), make([]int16, n)
					for i := range x {
						x[i] = float64(i - 7)
					}
					x[at] = c.x
					if ok, zero := ToWholes(x, dst); ok != c.ok || zero != (ok && slices.Max(x) == 0 && slices.Min(x) == 0) {
						t.Fatalf("%v at %d of %d: %v, zero %v", c.x, at, n, ok, zero)
					}
					clear(x)
					x[at] = c.x
					if ok, zero := ToWholes(x, dst); ok != c.ok || zero != (ok && c.x == 0) {
						t.Fatalf("%v at %d of %d zeros: zero %v", c.x, at, n, zero)
					}
					for i, v := range x {
						if c.ok && float64(dst[i]) != v {
							t.Fatalf("%d is written for %v", dst[i], x[i])
						}
					}
				}
			}
		}
	})
}

// Sums of k products of the largest numbers fit an int32, and of larger ones do not.
func TestMostWholeOf(t *testing.T) {
	if MostWholeOf(depth) != MostWhole {
		t.Errorf("%d, want %d", MostWholeOf(depth), MostWhole)
	}
	for k := 1; k <= DeepestWhole; k++ {
		if v := MostWholeOf(k); k*v*v > math.MaxInt32 || k*(v+1)*(v+1) <= math.MaxInt32 {
			t.Errorf("%d products of %d", k, v)
		}
	}
}

// BenchmarkSyrkWhole compares with Syrk: 256 rows of 896 columns.
func BenchmarkSyrkWhole(b *testing.B) {
	const n, k = 896, 256
	x, whole := make([]float64, n*k), make([]int16, n*k)
	for i := range x {
		x[i] = float64(i % 251)
	}
	c := RowMajor(make([]float64, n*n), n, n, n)
	for _, path := range availableSets {
		if path.integer.mul == nil {
			continue
		}
		team := newTeam(1, path)
		b.Run(path.name+"/whole", func(b *testing.B) {
			for b.Loop() {
				SyrkWhole(team, whole, n, k, k, nil, c)
			}
		})
		b.Run(path.name+"/float64", func(b *testing.B) {
			for b.Loop() {
				Syrk(team, 1, RowMajor(x, n, k, k), c)
			}
		})
		b.Run(path.name+"/wholes", func(b *testing.B) {
			for b.Loop() {
				for j := range n {
					ToWholes(x[j*k:][:k], whole[j*k:][:k])
				}
			}
		})
	}
}
