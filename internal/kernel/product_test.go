package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// sizes cross the tile's edge: 0, 1, b-1, b, b+1, 2b+5.
var sizes = []int{0, 1, tile - 1, tile, tile + 1, 2*tile + 5}

// guarded is a rows×cols row-major matrix inside NaN: whoever reads between the rows
// spoils his result, whoever writes there is found by intact.
type guarded struct {
	data           []float64
	rows, cols, ld int
}

func newGuarded(r *rand.Rand, rows, cols int) guarded {
	m := guarded{nil, rows, cols, cols + 3}
	m.data = make([]float64, rows*m.ld+1)
	for i := range m.data {
		m.data[i] = math.NaN()
	}
	for i := range rows {
		for j := range cols {
			m.data[i*m.ld+j] = r.NormFloat64()
		}
	}
	return m
}

func (m guarded) at(i, j int) float64 { return m.data[i*m.ld+j] }

func (m guarded) clone() guarded {
	m.data = slices.Clone(m.data)
	return m
}

func (m guarded) intact(t *testing.T) {
	t.Helper()
	for p, v := range m.data {
		if i, j := p/m.ld, p%m.ld; (i >= m.rows || j >= m.cols) && !math.IsNaN(v) {
			t.Fatalf("wrote %g outside the matrix at %d", v, p)
		}
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// check runs product with 1, 2 and 8 workers on copies of c and compares with the
// naive sums. A sum of k+1 terms in any order is off by at most (k+1)·eps·Σ|terms|.
func check(t *testing.T, c guarded, k int, product func(workers int, c guarded), term func(i, j, k int) float64, upper bool) {
	t.Helper()
	var first guarded
	for _, workers := range []int{1, 2, 8} {
		got := c.clone()
		product(workers, got)
		got.intact(t)
		if workers == 1 {
			first = got
		} else if !sameBits(first.data, got.data) {
			t.Fatalf("%d workers give other bits than 1", workers)
		}
	}
	for i := range c.rows {
		for j := range c.cols {
			want, size := c.at(i, j), math.Abs(c.at(i, j))
			if !upper || i <= j {
				for l := range k {
					want += term(i, j, l)
					size += math.Abs(term(i, j, l))
				}
			}
			if got := first.at(i, j); !(math.Abs(got-want) <= float64(k+1)*0x1p-52*size) {
				t.Fatalf("[%d,%d] = %g, want %g", i, j, got, want)
			}
		}
	}
}

func TestSyrk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, d := range sizes {
		for _, rows := range []int{0, 1, 63, 65, 256} {
			t.Run(fmt.Sprintf("%dx%d", rows, d), func(t *testing.T) {
				x, g := newGuarded(r, d, rows), newGuarded(r, d, d)
				check(t, g, rows, func(w int, g guarded) {
					Syrk(w, rows, d, x.data, x.ld, g.data, g.ld)
				}, func(i, j, k int) float64 { return x.at(i, k) * x.at(j, k) }, true)
			})
		}
	}
}

func TestGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range []int{0, 1, 67, 300} {
				a, b, bt, c := newGuarded(r, m, k), newGuarded(r, k, n), newGuarded(r, n, k), newGuarded(r, m, n)
				check(t, c, k, func(w int, c guarded) {
					Gemm(w, m, n, k, a.data, a.ld, b.data, b.ld, c.data, c.ld)
				}, func(i, j, l int) float64 { return a.at(i, l) * b.at(l, j) }, false)
				check(t, c, k, func(w int, c guarded) {
					GemmNT(w, m, n, k, a.data, a.ld, bt.data, bt.ld, c.data, c.ld)
				}, func(i, j, l int) float64 { return a.at(i, l) * bt.at(j, l) }, false)
			}
		}
	}
}

func TestGemv(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, m := range sizes {
		for _, n := range sizes {
			a, x, y := newGuarded(r, m, n), newGuarded(r, n, 1), newGuarded(r, m, 1)
			x.ld, y.ld = 1, 1
			x.data, y.data = x.data[:n], y.data[:m]
			for i := range x.data {
				x.data[i] = r.NormFloat64()
			}
			for i := range y.data {
				y.data[i] = r.NormFloat64()
			}
			check(t, y, n, func(w int, y guarded) { Gemv(w, m, n, a.data, a.ld, x.data, y.data) },
				func(i, _, k int) float64 { return a.at(i, k) * x.data[k] }, false)
		}
	}
}

// One column of NaN and one that overflows spoil their own rows and columns only,
// even against columns of zeros.
func TestSyrkConfinesNaN(t *testing.T) {
	const d, rows, nan, inf, zero = 2*tile + 5, 70, tile + 3, 2, 5
	r := rand.New(rand.NewPCG(4, 4))
	x := newGuarded(r, d, rows)
	for k := range rows {
		x.data[nan*x.ld+k], x.data[inf*x.ld+k], x.data[zero*x.ld+k] = math.NaN(), 1e300, 0
	}
	g := make([]float64, d*d)
	Syrk(2, rows, d, x.data, x.ld, g, d)
	for i := range d {
		for j := i; j < d; j++ {
			v := g[i*d+j]
			finite := !math.IsNaN(v) && !math.IsInf(v, 0)
			bad := i == nan || j == nan || i == inf && j == inf
			if finite == bad {
				t.Fatalf("g[%d,%d] = %g", i, j, v)
			}
		}
	}
}

func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		for _, n := range []int{0, 1, 2, 1000} {
			calls := make([]atomic.Int32, n)
			Each(workers, n, func(i int) { calls[i].Add(1) })
			for i := range calls {
				if calls[i].Load() != 1 {
					t.Fatalf("%d workers: fn(%d) called %d times", workers, i, calls[i].Load())
				}
			}
		}
	}
}

func flops(b *testing.B, each float64) {
	b.ReportMetric(each*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkSyrk(b *testing.B) {
	const rows = 256
	for _, d := range []int{64, 784, 2048} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("d=%d/workers=%d", d, workers), func(b *testing.B) {
				x := newGuarded(rand.New(rand.NewPCG(5, 5)), d, rows)
				g := make([]float64, d*d)
				for b.Loop() {
					Syrk(workers, rows, d, x.data, x.ld, g, d)
				}
				flops(b, rows*float64(d)*float64(d))
			})
		}
	}
}

func BenchmarkGemv(b *testing.B) {
	const d = 2048
	a := newGuarded(rand.New(rand.NewPCG(6, 6)), d, d)
	y := make([]float64, d)
	for b.Loop() {
		Gemv(1, d, d, a.data, a.ld, a.data[:d], y)
	}
	flops(b, 2*d*d)
}

func BenchmarkGemm(b *testing.B) {
	const m, n, k = 256, 256, 4096
	r := rand.New(rand.NewPCG(7, 7))
	x, y, z := newGuarded(r, m, k), newGuarded(r, k, n), newGuarded(r, m, n)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				Gemm(workers, m, n, k, x.data, x.ld, y.data, y.ld, z.data, z.ld)
			}
			flops(b, 2*m*n*k)
		})
	}
}
