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
					if got := p.firstNotAbove(c, slack, 2, 1, from, n); got != want {
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

// Every path has Go's bits of the lowest bounds, keeps upper bounds that are lower, and writes nothing else.
func TestLowest(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(19, 1))
		tile := p.f32.nr
		if p.coarse.mul != nil {
			tile = min(tile, p.coarse.nr)
		}
		for n := tile; n <= group; n += tile {
			for rows := 1; rows <= 9; rows++ {
				const groups = 3
				c, slack := newGuarded[float32](r, rows, n, false), newGuarded[float32](r, n, 1, true)
				loose, uppers := make([]float32, rows), make([][upperSets]float32, rows+1)
				for i := range loose {
					loose[i] = r.Float32()
					c.Data[i*c.RowStride+r.IntN(n)] = float32(math.Inf(1))
					for j := range uppers[i] {
						uppers[i][j] = float32(2 * r.NormFloat64())
					}
				}
				lowers := make([]float32, rows*groups)
				wantUppers, wantLowers := slices.Clone(uppers), slices.Clone(lowers)
				lowestBoundsGo(rows, &c.Data[0], c.RowStride, &slack.Data[0], n, &loose[0], &wantUppers[0], &wantLowers[0], groups)
				for i := range rows {
					low := float32(math.MaxFloat32)
					for j := range n {
						low = min(low, c.at(i, j)-float32(loose[i]*slack.Data[j]))
					}
					if wantLowers[i*groups] != low {
						t.Fatalf("%d anchors, row %d: %v, want %v", n, i, wantLowers[i*groups], low)
					}
				}
				p.lowestBounds(rows, &c.Data[0], c.RowStride, &slack.Data[0], n, &loose[0], &uppers[0], &lowers[0], groups)
				if !slices.Equal(uppers, wantUppers) || !slices.Equal(lowers, wantLowers) {
					t.Fatalf("%d anchors, %d rows: %v and %v, want %v and %v", n, rows, uppers, lowers, wantUppers, wantLowers)
				}
			}
		}
	})
}

// Every path finds all that are not above the limit, in order, in groups of which that holds too.
func TestFind(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(19, 6))
		tile := p.f32.nr
		for _, groups := range []int{1, 2, foundGroups - 1, foundGroups} {
			for _, n := range []int{groups * group, groups*group - group + tile} {
				for _, share := range []float64{0, 0.01, 0.5, 1} {
					c, slack := make([]float32, n+readBeyond), make([]float32, n+readBeyond)
					lowers := make([]float32, groups)
					var want []int32
					for g := range lowers {
						lowers[g] = float32(r.IntN(3))
					}
					for j := range c {
						slack[j] = float32(r.IntN(9))
						c[j] = 3*slack[j] + 2
						if r.Float64() < share {
							c[j] -= float32(1 + r.IntN(2))
							if j < n && lowers[j/group] <= 1 {
								want = append(want, int32(j))
							}
						}
					}
					var found foundAnchors
					if got := p.findAnchors(n, c, slack, lowers, 3, 1, &found); !slices.Equal(found[:got], want) {
						t.Fatalf("%d anchors: %v, want %v", n, found[:got], want)
					}
				}
			}
		}
	})
}

// The candidates that are kept are those up to the limit, in order, however many there are.
func TestSortCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 5))
	for n := range 70 {
		var s nearestScratch
		var want []float64
		for j := range n {
			lower := float64(r.IntN(40))
			if s.candidates = append(s.candidates, candidate{int32(j), lower}); lower <= 35 {
				want = append(want, lower)
			}
		}
		all := slices.Clone(s.candidates)
		s.sortCandidates(35)
		slices.Sort(want)
		for k, c := range s.candidates {
			if len(s.candidates) != len(want) || c.lower != want[k] || all[c.index] != c {
				t.Fatalf("of %v: %v, want %v", all, s.candidates, want)
			}
		}
	}
}

// Every path copies and narrows 4 rows to the bit, adds their squares, and writes nothing else.
func TestNarrow(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		if p.narrowRows == nil {
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
			p.narrowRows(k, &x.Data[0], x.ColStride, &shift.Data[0], scale, &dst[0], width, &raw[0], long, &squares)
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
			xy, xz := p.squaredDistances(blocks, v[0], v[1], v[2], v[1], v[2])
			if wantY, wantZ := squaredDistancesGo(blocks, v[0], v[1], v[2], nil, nil); xy != wantY || xz != wantZ {
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
			if got := nthLowest(&all, count); got != sorted[count-1] {
				t.Fatalf("lowest %d of %v is %v, want %v", count, all, got, sorted[count-1])
			}
		}
	}
}
