package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// pack writes numbers of some width from position bit on, with random bits around them.
func pack(r *rand.Rand, numbers []uint32, bit, width, more int) []byte {
	packed := make([]byte, (bit+len(numbers)*width+7)/8+more)
	for i := range packed {
		packed[i] = byte(r.Uint32())
	}
	for i, v := range numbers {
		for k := range width {
			at := bit + i*width + k
			packed[at/8] = packed[at/8]&^(1<<(at%8)) | byte(v>>k&1)<<(at%8)
		}
	}
	return packed
}

// Numbers of every width, from every bit of a byte on, are looked up wherever the packed bytes end,
// and nothing is written after them.
func TestLookup(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 4))
	asBest(t, func(t *testing.T) {
		for width := range 33 {
			table := make([]float64, 1+r.IntN(min(1<<width, 1000)))
			for i := range table {
				table[i] = r.NormFloat64()
			}
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 64, 203} {
				for bit := range 17 {
					numbers, want := make([]uint32, n), make([]float64, n)
					for i := range numbers {
						numbers[i] = uint32(r.IntN(len(table)))
						want[i] = table[numbers[i]]
					}
					packed := pack(r, numbers, bit, width, r.IntN(40)*r.IntN(2))
					got := make([]float64, n+8)
					if m := Lookup(got[:n], table, packed, bit, width); m != n || !slices.Equal(got[:n], want) || slices.Max(got[n:]) != 0 || slices.Min(got[n:]) != 0 {
						t.Fatalf("width %d: other values of %d numbers from bit %d on, of which %d were found", width, n, bit, m)
					}
				}
			}
		}
	})
}

// The first number that is no index of the table ends it, wherever it stands and however large it
// is; so do an empty table and the end of the bytes.
func TestLookupStops(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 5))
	asBest(t, func(t *testing.T) {
		for width := range 33 {
			for range 100 {
				n, bit := 1+r.IntN(70), r.IntN(8)
				table := make([]float64, 1+r.IntN(min(1<<width, 300)))
				numbers := make([]uint32, n)
				for i := range numbers {
					numbers[i] = uint32(r.IntN(len(table)))
				}
				most, first := uint64(1)<<width-1, n
				if uint64(len(table)) <= most {
					first = r.IntN(n)
					for i := first; i < n; i++ {
						if i == first || r.IntN(2) == 0 {
							numbers[i] = []uint32{uint32(len(table)), uint32(most)}[r.IntN(2)]
						}
					}
				}
				packed := pack(r, numbers, bit, width, r.IntN(40))
				if m := Lookup(make([]float64, n), table, packed, bit, width); m != first {
					t.Fatalf("width %d: %d numbers before the first beyond the table, want %d", width, m, first)
				}
				if m := Lookup(make([]float64, n), nil, packed, bit, width); m != 0 {
					t.Fatalf("width %d: %d numbers found in nothing", width, m)
				}
				if width > 0 {
					short := packed[:r.IntN(len(packed)+1)]
					if m := Lookup(make([]float64, n), table, short, bit, width); m != max(0, min(first, (8*len(short)-bit)/width)) {
						t.Fatalf("width %d: %d numbers found in %d bytes from bit %d on", width, m, len(short), bit)
					}
				}
			}
		}
	})
}

// A value that is not finite is found wherever it stands; the largest and the smallest are finite.
func TestFinite(t *testing.T) {
	asBest(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 4, 15, 16, 17, 47, 64, 100} {
			x := make([]float64, n)
			for i := range x {
				x[i] = []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, math.Copysign(0, -1), 1}[i%6]
			}
			if !AllFinite(x) {
				t.Errorf("%d finite values are not", n)
			}
			for i := range x {
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Float64frombits(0xFFF0000000000001)} {
					before := x[i]
					x[i] = bad
					if AllFinite(x) {
						t.Errorf("%g, value %d of %d, is finite", bad, i, n)
					}
					x[i] = before
				}
			}
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(16, 6))
	dst, numbers := make([]float64, 2048), make([]uint32, 2048)
	for _, width := range []int{1, 4, 8, 12, 17} {
		table := make([]float64, 1<<width)
		for i := range numbers {
			numbers[i] = uint32(r.IntN(len(table)))
		}
		packed := pack(r, numbers, 0, width, 0)
		for _, p := range availableSets {
			b.Run(fmt.Sprintf("width=%d/path=%s", width, p.name), func(b *testing.B) {
				before := best
				best = p
				defer func() { best = before }()
				for b.Loop() {
					Lookup(dst, table, packed, 0, width)
				}
				b.ReportMetric(float64(b.N)*float64(len(dst))/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}

func BenchmarkFinite(b *testing.B) {
	x := make([]float64, 2048)
	b.SetBytes(int64(8 * len(x)))
	for b.Loop() {
		if !AllFinite(x) {
			b.Fatal("zeros are finite")
		}
	}
}
