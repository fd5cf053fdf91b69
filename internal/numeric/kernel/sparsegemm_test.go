package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSparseGemm(t *testing.T) {
	onProducts(t, func(t *testing.T, p *isa) {
		r, layout := rand.New(rand.NewPCG(11, 11)), 0
		for _, n := range crossing(stripRows) {
			for _, d := range slices.Concat(crossing(stripColumns), []int{3, 4, 5, 19, 20}) {
				for _, count := range []int{0, 1, 5} {
					layout++
					const m = 40
					x, c := newGuarded[float64](r, n, d, layout&1 != 0), newGuarded[float64](r, m, d, false)
					z := Sparse{n, m, count, make([]int32, n*count), make([]float64, n*count)}
					for e := range z.Index {
						z.Index[e], z.Value[e] = r.Int32N(m), r.NormFloat64()
					}
					want := c.clone()
					addSparse(p, z, x, want)
					for _, team := range teams(p) {
						got := c.clone()
						SparseGemm(team, z, x.Matrix, got.Matrix)
						if !sameBits(got.buf, want.buf) {
							t.Fatalf("%d×%d, %d a row, %d workers: not the specified bits", n, d, count, team.workers)
						}
					}
				}
			}
		}
	})
}

// addSparse is the specification of SparseGemm: one term after the other. The race detector need not see a twin.
//
//go:norace
func addSparse(p *isa, z Sparse, x, c guarded[float64]) {
	for i := range x.Rows {
		for e := i * z.Count; e < (i+1)*z.Count; e++ {
			for l := range x.Cols {
				at := int(z.Index[e])*c.RowStride + l
				c.Data[at] = fma(p, z.Value[e], x.Data[i*x.RowStride+l*x.ColStride], c.Data[at])
			}
		}
	}
}

// TestCompressed: rows without entries, many and few, products in the order of the entries on any number of workers.
func TestCompressed(t *testing.T) {
	asBest(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 13))
		for _, n := range []int{1, 255, 256, 257, 600} {
			for _, w := range []int{1, 4, 31, 32, 37, 64} {
				const m = 40
				x, c := newGuarded[float64](r, m, w, false), newGuarded[float64](r, n, w, false)
				a, want := Compressed{Cols: m}, c.clone()
				for i := range n {
					entries := r.IntN(8)
					if i/256 == 1 {
						entries = 0 // a whole task without any
					}
					for range entries {
						j, v := r.IntN(m), r.NormFloat64()
						a.AddEntry(j, v)
						for l := range w {
							at := i*c.RowStride + l
							want.Data[at] = fma(best, v, x.at(j, l), want.Data[at])
						}
					}
					a.EndRow()
				}
				for _, workers := range []int{1, 3} {
					got := c.clone()
					a.AddProduct(workers, x.Matrix, got.Matrix)
					if !sameBits(got.buf, want.buf) {
						t.Fatalf("%d×%d, %d columns, %d workers: not the specified bits", n, m, w, workers)
					}
				}
			}
		}
	})
}

func BenchmarkSparseGemm(b *testing.B) {
	const n, d, m, k = 8192, 896, 2048, 5
	r := rand.New(rand.NewPCG(15, 15))
	z := Sparse{n, m, k, make([]int32, n*k), filled[float64](n * k)}
	for e := range z.Index {
		z.Index[e] = r.Int32N(m)
	}
	x, c := filled[float64](n*d), make([]float64, m*d)
	onTeams(b, fmt.Sprintf("n=%d/d=%d/m=%d/k=%d", n, d, m, k), 2*n*d*k, func(t *Team) func() {
		return func() { SparseGemm(t, z, ColMajor(x, n, d, n), RowMajor(c, m, d, d)) }
	})
}
