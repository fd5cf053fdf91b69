package kernel

import (
	"math/rand/v2"
	"testing"
)

// The products of one row with many anchors are exact, also of the largest numbers.
func TestDots(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		u := p.coarse
		r := rand.New(rand.NewPCG(1, 2))
		for _, blocks := range []int{1, 2, 5} {
			for _, count := range []int{1, 2, 7} {
				for _, extreme := range []bool{false, true} {
					const anchors, beyond = 9, 3
					size := dotsBlock * blocks
					stride := size + beyond
					x, y := make([]byte, size), make([]byte, anchors*stride)
					for i := range x {
						x[i] = byte(int8(r.IntN(2*u.maxNumber+1) - u.maxNumber))
						if extreme {
							x[i] = byte(int8(u.maxNumber))
						}
					}
					for i := range y {
						y[i] = byte(int8(r.IntN(2*maxAnchorNumber+1)-maxAnchorNumber)) + u.offset
						if extreme {
							y[i] = byte(int8(maxAnchorNumber)) + u.offset
						}
					}
					which, sums := make([]int32, count), make([]int32, count+1)
					for k := range which {
						which[k] = r.Int32N(anchors)
					}
					sums[count] = 77
					u.dotProducts(blocks, &x[0], &y[0], stride, &which[0], count, &sums[0])
					for k, j := range which {
						want := int32(0)
						for l, v := range x {
							want += int32(int8(v)) * (int32(int8(y[int(j)*stride+l]-u.offset)) + int32(u.offset))
						}
						if sums[k] != want {
							t.Fatalf("%d blocks, %d of %d: %d, want %d", blocks, k, count, sums[k], want)
						}
					}
					if sums[count] != 77 {
						t.Fatal("wrote beyond the last sum")
					}
				}
			}
		}
	})
}

// ledPoints are rows near a space of few dimensions.
func ledPoints(r *rand.Rand, rows, d, rank int, noise float64) Matrix[float64] {
	at := rand.New(rand.NewPCG(6, 6)) // the same space for all
	basis := make([]float64, rank*d)
	for i := range basis {
		basis[i] = at.NormFloat64()
	}
	x := RowMajor(make([]float64, rows*d), rows, d, d)
	for i := range rows {
		row := x.Data[i*d:][:d]
		for k := range rank {
			Axpy(r.NormFloat64()*float64(1+k%5), basis[k*d:][:d], row)
		}
		for l := range row {
			row[l] += noise * r.NormFloat64()
		}
	}
	return x
}

// No anchor is nearer than its bound from a lead, and hardly farther if the remainder is small.
func TestLeadBound(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		for _, c := range []struct {
			d, rank     int
			noise, lose float64
		}{{170, 20, 0, 0.04}, {170, 40, 0.3, 0.05}, {64, 30, 1, 0.1}, {333, 80, 1e-9, 0.04}, {200, 200, 1, 1}} {
			const m = 150
			y := ledPoints(rand.New(rand.NewPCG(3, 3)), m, c.d, c.rank, c.noise)
			for i := range m {
				for l := range c.d { // anchors of any length, one of them 0
					y.Data[i*c.d+l] *= []float64{0, 1e-20, 1e-3, 30}[min(i, 3)]
				}
			}
			n := NewNearest(newTeam(1, p), y, 6)
			n.coarse.leadRejected = true
			n.coarse.lead = n.newLeadScreen(coordinateStep, 0)
			f := n.coarse.lead
			if f == nil {
				t.Fatalf("%d dimensions, rank %d: no lead", c.d, c.rank)
			}
			n.SearchTo(make([]int32, m*6), make([]float64, m*6), y.Sub(0, 0, 1, c.d))
			s := &n.scratch[0]
			for i := range m {
				n.screenRowsInBytes(s, y.Sub(i, 0, 1, c.d))
				norm, loose := s.norms[0], float64(s.lead.loose[0])
				for j := range m {
					lower := 2*(float64(s.half[j])-loose*float64(f.slack[j])) + norm*norm
					is, _ := SquaredDistances(n.paddedPoint(int32(i)), n.paddedPoint(int32(j)), n.paddedPoint(int32(j)))
					is *= n.scale * n.scale
					if lower > is+1e-13*(norm*norm+1) {
						t.Fatalf("%d dimensions, rank %d, %d to %d: at least %g, is %g", c.d, c.rank, i, j, lower, is)
					}
					if c.rank < coordinateStep && i > 2 && j > 2 && lower < is-4*c.lose*max(norm*norm, 1) {
						t.Fatalf("%d dimensions, rank %d, %d to %d: at least %g of %g, of length %g", c.d, c.rank, i, j, lower, is, norm)
					}
				}
			}
		}
	})
}

// A lead is taken after some rows, where there are leading directions, and dropped when rows have none; neighbours
// stay the same, memory within the plan, and a steady search allocates nothing.
func TestLeadServes(t *testing.T) {
	onBytePaths(t, func(t *testing.T, p *isa) {
		const m, d, rank, rows, count, workers = 1200, 300, 12, 70, 5, 2
		r := rand.New(rand.NewPCG(8, 8))
		y, x := ledPoints(r, m, d, rank, 5), ledPoints(r, rows, d, rank, 0.1)
		wild := ledPoints(r, rows, d, rank, 20) // far outside the space
		n, twin := NewNearest(newTeam(workers, p), y, count), NewNearest(newTeam(workers, p), y, count)
		search := func(x Matrix[float64]) {
			t.Helper()
			index, distance := make([]int32, rows*count), make([]float64, rows*count)
			other, far := make([]int32, rows*count), make([]float64, rows*count)
			n.SearchTo(index, distance, x)
			twin.coarse = nil
			twin.prepareScreen(twin.squaredLengths())
			twin.SearchTo(other, far, x)
			for k, j := range other {
				if index[k] != j || bits(distance[k]) != bits(far[k]) {
					t.Fatalf("neighbour %d of row %d: %d at %g, want %d at %g", k%count, k/count, index[k], distance[k], j, far[k])
				}
			}
		}
		search(x)
		if n.coarse == nil || n.coarse.lead != nil {
			t.Fatal("a lead from the beginning")
		}
		n.coarse.rows = rowsBeforeLead
		search(x)
		if n.coarse.lead == nil {
			t.Fatal("no lead")
		}
		search(x)
		index, distance := make([]int32, rows*count), make([]float64, rows*count)
		if a := testing.AllocsPerRun(2, func() { n.SearchTo(index, distance, x) }); a != 0 {
			t.Errorf("%g allocations a search", a)
		}
		if size, most := nearestSize(n), NearestBytes(workers, m, d); size > most {
			t.Errorf("holds %d bytes, NearestBytes says %d", size, most)
		}
		search(wild)
		if n.coarse == nil || n.coarse.lead != nil {
			t.Fatal("a lead that excludes next to nothing stays")
		}
		n.coarse.rows = rowsBeforeLead
		search(x)
		if n.coarse.lead != nil {
			t.Error("a lead that was dropped comes back")
		}
	})
}
