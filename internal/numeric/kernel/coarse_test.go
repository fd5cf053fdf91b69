package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/long"
)

// clustered are rows about some centres, of columns whose scales differ a thousandfold.
func clustered(r *rand.Rand, rows, d int, spread float64) Matrix[float64] {
	at := rand.New(rand.NewPCG(5, 5)) // the same for all
	const centres = 40
	c := make([]float64, centres*d)
	for i := range c {
		c[i] = at.NormFloat64() * math.Pow(10, float64(i%d%4)-1)
	}
	x := make([]float64, rows*d)
	for i := range rows {
		from := c[r.IntN(centres)*d:][:d]
		for l, v := range from {
			x[i*d+l] = v + spread*r.NormFloat64()*math.Pow(10, float64(l%4)-1)
		}
	}
	return RowMajor(x, rows, d, d)
}

// onBytePaths runs a test on the paths that screen in bytes.
func onBytePaths(t *testing.T, test func(t *testing.T, p *isa)) {
	onPaths(t, func(t *testing.T, p *isa) {
		if p.coarse.mul == nil {
			t.Skip("this path screens in float32 alone")
		}
		test(t, p)
	})
}

// The products of bytes are exact, also of the largest numbers, and only the tile is written.
func TestCoarseMul(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		u := p.coarse
		r := rand.New(rand.NewPCG(1, 1))
		for _, quads := range []int{1, 2, 3, 33} {
			for _, number := range []func() (int, int){
				func() (int, int) {
					return r.IntN(2*u.maxNumber+1) - u.maxNumber, r.IntN(2*maxAnchorNumber+1) - maxAnchorNumber
				},
				func() (int, int) { return u.maxNumber, maxAnchorNumber },
				func() (int, int) { return -u.maxNumber, maxAnchorNumber },
				func() (int, int) { return u.maxNumber, -maxAnchorNumber },
			} {
				a, b := make([]byte, 4*lanes*quads), make([]byte, 4*u.nr*quads)
				for i := range a {
					x, _ := number()
					a[i] = byte(int8(x))
				}
				for i := range b {
					_, y := number()
					b[i] = byte(int8(y)) + u.offset
				}
				half, factor := make([]float32, u.nr), make([]float32, u.nr)
				for j := range half {
					half[j], factor[j] = float32(j), 1/float32(1+j%3)
				}
				var step [lanes]float32
				var shift [lanes]int32
				for i := range step {
					step[i], shift[i] = float32(1+i), r.Int32N(1000)
				}
				ldc := u.nr + 5
				c := make([]float32, lanes*ldc)
				u.mul(quads, &a[0], &b[0], &step, &shift, &half[0], &factor[0], &c[0], ldc)
				for i := range lanes {
					for j := range ldc {
						want, off := 0.0, 0.0
						if j < u.nr {
							sum := int32(0)
							for l := range 4 * quads {
								sum += int32(int8(a[l/4*4*lanes+4*i+l%4])) * (int32(int8(b[l/4*4*u.nr+4*j+l%4]-u.offset)) + int32(u.offset))
							}
							product := float64(factor[j]) * float64(step[i]) * float64(sum-shift[i])
							want, off = float64(half[j])-product, 0x1p-22*(math.Abs(product)+1)
						}
						if got := float64(c[i*ldc+j]); math.Abs(got-want) > off {
							t.Fatalf("%d quads, [%d,%d]: %g, want %g", quads, i, j, got, want)
						}
					}
				}
			}
		}
	})
}

// Turning keeps products, up to rounding, and every path turns and quantises as Go does.
func TestCoarseTurns(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, d := range []int{64, 67, 100, 127, 128, 129, 255, 256, 300, 512, 790, 1025} {
			y := clustered(r, minCoarseAnchors, d, 1)
			n := NewNearest(newTeam(1, p), y, 3)
			turn := func(code *coarseCode) (panel []float32, numbers []byte, l laneScales, sq [lanes]float64) {
				c := *n.coarse
				c.code = code
				panel, numbers = make([]float32, lanes*c.dims), make([]byte, lanes*c.dims)
				for i := range lanes - 1 {
					for k, v := range y.Data[i*d:][:d] {
						panel[k*lanes+i] = float32(v)
						sq[i] += float64(float32(v)) * float64(float32(v))
					}
				}
				c.rotateAndQuantise(panel, &sq, 64, numbers, &l)
				return panel, numbers, l, sq
			}
			panel, numbers, l, sq := turn(&p.coarse)
			twin, twinNumbers, twinL, _ := turn(&coarseGo)
			if !slices.Equal(panel, twin) || !slices.Equal(numbers, twinNumbers) || l.step != twinL.step || l.sums != twinL.sums {
				t.Fatalf("%d dimensions: other numbers than Go's", d)
			}
			for i := range lanes {
				length, lost, sum := 0.0, 0.0, int32(0)
				for k := range n.coarse.dims {
					v := float64(panel[k*lanes+i])
					q := int8(numbers[k/4*4*lanes+4*i+k%4])
					left := v - float64(l.step[i])*float64(q)
					length, lost, sum = length+v*v, lost+left*left, sum+int32(q)
				}
				if math.Abs(length-sq[i]) > 1e-5*sq[i] {
					t.Fatalf("%d dimensions: a row of squared length %g has %g when turned", d, sq[i], length)
				}
				if math.Sqrt(lost) > l.lost[i] || l.lost[i] > 0.05*math.Sqrt(sq[i]) || sum != l.sums[i] {
					t.Fatalf("%d dimensions: loses %g of %g, said %g; sums to %d, said %d", d, math.Sqrt(lost), math.Sqrt(sq[i]), l.lost[i], sum, l.sums[i])
				}
			}
		}
	})
}

// The bounds hold: every anchor is between its lower and its upper one; equal points have a bound of nearly 0.
func TestCoarseBound(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		const m, d = 150, 170
		for _, spread := range []float64{1e-6, 0.3, 30} {
			y := clustered(rand.New(rand.NewPCG(3, 3)), m, d, spread)
			for l := range 5 * d {
				y.Data[l] *= []float64{0, 1e-20, 1, 1e6, 1e12}[l/d] // the last makes the others about nothing
			}
			n := NewNearest(newTeam(1, p), y, 6)
			n.SearchTo(make([]int32, m*6), make([]float64, m*6), y.Sub(0, 0, 1, d))
			if n.coarse == nil {
				t.Fatal("not in bytes")
			}
			s := &n.scratch[0]
			for i := range m {
				n.screenRowsInBytes(s, y.Sub(i, 0, 1, d))
				norm, loose := s.norms[0], float64(s.loose[0])
				for j := range m {
					lower := 2*(float64(s.half[j])-loose*float64(n.slack[j])) + norm*norm
					upper := lower + 4*loose*float64(n.slack[j]) + 2*n.boundGap[j]
					is, _ := SquaredDistances(n.paddedPoint(int32(i)), n.paddedPoint(int32(j)), n.paddedPoint(int32(j)))
					is *= n.scale * n.scale
					rounding := 1e-13 * (norm*norm + 1)
					if lower > is+rounding || upper < is-rounding {
						t.Fatalf("%s: spread %g, %d to %d: %g to %g, is %g", p.name, spread, i, j, lower, upper, is)
					}
				}
			}
		}
	})
}

// Bytes serve as long as they exclude enough; what comes after has the same neighbours, costs no more memory than
// was said, and a steady search allocates nothing.
func TestCoarseServes(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		const rows, m, count, workers = 100, 1000, 6, 2
		for _, c := range []struct {
			d      int
			serves bool
		}{{256, true}, {1500, false}} {
			if !c.serves && !long.IsOn() {
				continue // 31 s where a processor is emulated
			}
			r := rand.New(rand.NewPCG(4, 4))
			x, y := clustered(r, rows, c.d, 0.1), clustered(r, m, c.d, 0.1)
			if !c.serves { // distances that hardly differ
				for _, v := range [][]float64{x.Data, y.Data} {
					for i := range v {
						v[i] = math.Copysign(1, r.NormFloat64())
					}
				}
			}
			checkNearest(t, newTeam(workers, p), x, y, count)
			n := NewNearest(newTeam(workers, p), y, count)
			index, distance := make([]int32, rows*count), make([]float64, rows*count)
			n.SearchTo(index, distance, x)
			if got := n.coarse != nil; got != c.serves {
				t.Fatalf("%d dimensions: bytes serve: %v", c.d, got)
			}
			n.SearchTo(index, distance, x)
			if a := testing.AllocsPerRun(2, func() { n.SearchTo(index, distance, x) }); a != 0 {
				t.Errorf("%g allocations a search", a)
			}
		}
	})
}
