package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every path finds the first that is not above the limit, NaN included, wherever it stands.
func TestBelow(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		const most = 50
		for n := range most {
			for from := range n + 1 {
				c, slack := make([]float32, most+readBeyond), make([]float32, most+readBeyond)
				for j := range c {
					c[j], slack[j] = 5, 1
				}
				check := func(want int) {
					t.Helper()
					if got := p.below(c, slack, 2, 1, from, n); got != want {
						t.Fatalf("%d to %d: %d, want %d", from, n, got, want)
					}
				}
				check(n)
				for j := most - 1; j >= from; j-- {
					for _, v := range []float32{3, 2, float32(math.NaN())} {
						c[j] = v
						check(min(j, n))
					}
				}
			}
		}
	})
}

// Every path lowers each of 16 to the least of its set, and leaves what is lower.
func TestLowest(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		if p.lowest == nil {
			t.Skip("this path has none")
		}
		r := rand.New(rand.NewPCG(19, 1))
		for n := 0; n <= 72; n += 8 {
			c, slack := make([]float32, n+1), make([]float32, n+1)
			for j := range c {
				c[j], slack[j] = float32(r.IntN(1000)), float32(r.IntN(1000))
			}
			var got, want [16]float32
			for i := range got {
				got[i] = float32(500 * (r.IntN(3) - 1))
			}
			want = got
			for j := range n {
				want[j%16] = min(want[j%16], c[j]-3*slack[j])
			}
			p.lowest(&c[0], &slack[0], 3, n, &got)
			if got != want {
				t.Fatalf("%d: %v, want %v", n, got, want)
			}
		}
	})
}

// Every path copies and narrows 4 rows to the bit, adds their squares, and writes nothing else.
func TestNarrow(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		if p.narrow == nil {
			t.Skip("this path has none")
		}
		r := rand.New(rand.NewPCG(19, 2))
		for k := 1; k <= 13; k++ {
			const width, scale, long = 7, 0.3, 20
			x, shift := newGuarded[float64](r, 4, k, true), newGuarded[float64](r, k, 1, true)
			dst, raw := make([]float32, k*width), make([]float64, 4*long)
			var squares [4]float64
			for i := range squares {
				squares[i] = float64(i)
			}
			wantDst, wantRaw, want := slices.Clone(dst), slices.Clone(raw), squares
			for l := range k {
				for i := range 4 {
					v := float64((x.at(i, l) - shift.Data[l]) * scale)
					wantRaw[i*long+l], wantDst[l*width+i] = x.at(i, l), float32(v)
					want[i] += v * v
				}
			}
			p.narrow(k, &x.Data[0], x.ColStride, &shift.Data[0], scale, &dst[0], width, &raw[0], long, &squares)
			if !slices.Equal(dst, wantDst) || !slices.Equal(raw, wantRaw) {
				t.Fatalf("%d columns: other rows", k)
			}
			for i, v := range squares {
				if math.Abs(v-want[i]) > 1e-14*want[i] {
					t.Fatalf("%d columns: squares %v, want %v", k, squares, want)
				}
			}
		}
	})
}

// Every path has Go's bits of squares.
func TestSquares(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(19, 3))
		for _, blocks := range []int{0, 1, 2, 7, 47, 48, 49, 120} {
			var v [3][]float64
			for i := range v {
				v[i] = newGuarded[float64](r, squaresBlock*blocks, 1, true).Data
			}
			xy, xz := p.squares(blocks, v[0], v[1], v[2], v[1], v[2])
			if wantY, wantZ := squaresGo(blocks, v[0], v[1], v[2], nil, nil); xy != wantY || xz != wantZ {
				t.Fatalf("%d blocks: %v and %v, want %v and %v", blocks, xy, xz, wantY, wantZ)
			}
		}
	})
}

func TestLowestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 1))
	some := []float32{0, float32(math.Copysign(0, -1)), -1, 1, math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), 0x1p-140, -0x1p-140}
	for range 1000 {
		var all [16]float32
		for i := range all {
			if all[i] = float32(r.NormFloat64()); r.IntN(2) == 0 {
				all[i] = some[r.IntN(len(some))]
			}
		}
		sorted := slices.Sorted(slices.Values(all[:]))
		for count := 1; count <= len(all); count++ {
			if got := lowestOf(&all, count); got != sorted[count-1] {
				t.Fatalf("lowest %d of %v is %v, want %v", count, all, got, sorted[count-1])
			}
		}
	}
}
