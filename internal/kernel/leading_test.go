package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// mixtures are rows of a few factors and noise.
func mixtures(r *rand.Rand, rows, d, factors int, noise float64) Matrix[float64] {
	loads := rand.New(rand.NewPCG(5, 5)) // the same for all
	weights := make([]float64, factors*d)
	for i := range weights {
		weights[i] = loads.NormFloat64()
	}
	x := make([]float64, rows*d)
	for i := range rows {
		row := x[i*d:][:d]
		for f := range factors {
			Axpy(r.NormFloat64(), weights[f*d:][:d], row)
		}
		for l := range row {
			row[l] += 3 + noise*r.NormFloat64()
		}
	}
	return RowMajor(x, rows, d, d)
}

// Leading directions are taken where they pay, change no bit, and cost no memory from then on beyond
// what was said. Rows that tell nothing decide nothing, and equal anchors are in nobody's way.
func TestNearestLeads(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		const rows, m, d, count, workers = 500, 1000, 256, 6, 2
		r := rand.New(rand.NewPCG(11, 11))
		for _, c := range []struct {
			factors int
			noise   float64
			leads   bool
		}{{12, 0.3, true}, {5, 0, true}, {1, 100, false}} {
			x, y := mixtures(r, rows, d, c.factors, c.noise), mixtures(r, m, d, c.factors, c.noise)
			copy(y.Data[4*d:5*d], y.Data[:d])
			n := NewNearest(newTeam(workers, p), y, count)
			n.Lead()
			index, distance := make([]int32, rows*count), make([]float64, rows*count)
			n.To(index, distance, x)
			if n.lead != nil || !n.undecided {
				t.Fatalf("noise %g: decided after %d rows of %d", c.noise, n.searched, n.leadRowsNeeded())
			}
			n.searched = n.leadRowsNeeded()
			again, far := make([]int32, rows*count), make([]float64, rows*count)
			nan := RowMajor(slices.Repeat([]float64{math.NaN()}, 50*d), 50, d, d)
			n.To(again, far, nan)
			n.To(again, far, x.Sub(0, 0, leastSample-1, d))
			if n.lead != nil || !n.undecided {
				t.Fatalf("noise %g: decided by rows that tell nothing", c.noise)
			}
			n.To(again, far, x)
			if got := n.lead != nil; got != c.leads || n.undecided {
				t.Fatalf("noise %g: leads: %v", c.noise, got)
			}
			if a := testing.AllocsPerRun(2, func() { n.To(again, far, x) }); a != 0 {
				t.Errorf("%g allocations a search", a)
			}
			if !slices.Equal(index, again) || !slices.Equal(distance, far) {
				t.Errorf("noise %g: other neighbours", c.noise)
			}
			if a := n.lead; a != nil {
				held := 4 * (cap(a.axes) + cap(a.packed) + cap(a.half) + cap(a.slack))
				for _, s := range n.scratch {
					held += 4 * (cap(s.coords) + cap(s.points))
				}
				if most := LeadBytes(workers, m, d); int64(held) > most {
					t.Errorf("holds %d bytes, LeadBytes says %d", held, most)
				}
			}
		}
	})
}

// The bound is one: no anchor is nearer than it says, and of equal points it says next to nothing.
func TestLeadingBound(t *testing.T) {
	onPaths(t, func(t *testing.T, p *isa) {
		const m, d = 60, 150
		r := rand.New(rand.NewPCG(12, 12))
		y := mixtures(r, m, d, 5, 0.5)
		n := NewNearest(newTeam(1, p), y, 6)
		for _, dims := range []int{1, 5, 40} {
			v := n.directions(dims)
			of, lengths := n.coordinates(v, n.m)
			n.lead = n.leadBy(dims, v, of, lengths)
			n.To(make([]int32, m*6), make([]float64, m*6), y)
			s := &n.scratch[0]
			for from := 0; from < m; from += n.rows {
				rows := min(n.rows, m-from)
				n.narrow(s, y.Sub(from, 0, rows, d))
				n.leadRows(s, rows)
				for i := range rows {
					norm := s.norms[i]
					for j := range m {
						half, slack := float64(s.half[i*n.wide+j]), norm*float64(n.lead.slack[j])
						lower := 2*(half-slack) + norm*norm
						is, _ := n.team.isa.squares(n.padded/squaresBlock, n.point(int32(from+i)), n.point(int32(j)), n.point(int32(j)))
						if is *= n.scale * n.scale; lower > is {
							t.Fatalf("%s: %d directions, %d to %d: at least %g, is %g", p.name, dims, from+i, j, lower, is)
						}
						if from+i == j && lower < -1e-2*norm*norm {
							t.Errorf("%d directions, %d to itself: at least %g of %g", dims, j, lower, norm*norm)
						}
					}
				}
			}
		}
	})
}
