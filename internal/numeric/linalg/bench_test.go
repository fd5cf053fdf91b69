package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// BenchmarkSmallestEigen: cold, warm from the pairs of a matrix in which one diagonal
// entry in ten differs by up to 1 %, and all pairs by gonum on gonum's own BLAS.
func BenchmarkSmallestEigen(b *testing.B) {
	const n, l = 900, 10
	a := seeded("gram", n)
	near := slices.Clone(a)
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		if rnd.IntN(10) == 0 {
			near[i*n+i] *= 1 + 0.01*rnd.Float64()
		}
	}
	s := NewSmallest(kernel.NewTeam(0), n, l, EigenOptions{})
	first := must.Get(s.Solve(square(a, n), cold))(b)
	for name, warm := range map[string]kernel.Matrix[float64]{"cold": cold, "warm": first.Basis} {
		b.Run(fmt.Sprintf("n=%d/l=%d/%s", n, l, name), func(b *testing.B) {
			var e Eigen
			for b.Loop() {
				e = must.Get(s.Solve(square(near, n), warm))(b)
			}
			b.ReportMetric(float64(e.Steps), "steps")
			b.ReportMetric(float64(e.Factors), "factors")
		})
	}
	gonums := func(b *testing.B) {
		for b.Loop() {
			var e mat.EigenSym
			e.Factorize(mat.NewSymDense(n, slices.Clone(near)), true)
		}
	}
	b.Run(fmt.Sprintf("n=%d/l=%d/gonum", n, l), gonums)
	b.Run(fmt.Sprintf("n=%d/l=%d/gonum-on-kernel", n, l), func(b *testing.B) { using(b, 0, func() { gonums(b) }) })
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{900, 2000} {
		a := gramLike(n, n+100, rand.New(rand.NewPCG(1, 1)))
		flops := float64(n) * float64(n) * float64(n) / 3
		b.Run(fmt.Sprintf("n=%d/kernel", n), func(b *testing.B) {
			var c Cholesky
			team := kernel.NewTeam(0)
			for b.Loop() {
				must.Do(b, c.Factor(team, square(a, n)))
			}
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
		b.Run(fmt.Sprintf("n=%d/gonum", n), func(b *testing.B) {
			sym := mat.NewSymDense(n, a)
			for b.Loop() {
				var c mat.Cholesky
				c.Factorize(sym)
			}
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkCholeskySolve(b *testing.B) {
	const n = 900
	a := positive(n, rand.New(rand.NewPCG(1, 1)))
	var c Cholesky
	team := kernel.NewTeam(0)
	must.Do(b, c.Factor(team, square(a, n)))
	for _, m := range []int{1, 16, 2000} {
		b.Run(fmt.Sprintf("n=%d/m=%d", n, m), func(b *testing.B) {
			x := kernel.RowMajor(make([]float64, n*m), n, m, m)
			for b.Loop() {
				c.SolveTo(team, x, x)
			}
			b.ReportMetric(2*n*n*float64(m)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkPolar(b *testing.B) {
	const h, l = 8192, 10
	chunk := random(kernel.RowMajor(make([]float64, h*l), h, l, l), rand.New(rand.NewPCG(1, 1)))
	b.Run("Add", func(b *testing.B) {
		for b.Loop() {
			p := NewPolar(l)
			must.Do(b, p.Add(chunk))
		}
		b.ReportMetric(h*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("RowsTo", func(b *testing.B) {
		p := NewPolar(l)
		must.Do(b, p.Add(chunk))
		must.Do(b, p.Factor())
		dst := kernel.RowMajor(make([]float64, h*l), h, l, l)
		for b.Loop() {
			p.RowsTo(0, dst, chunk)
		}
		b.ReportMetric(h*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}

// BenchmarkPencil finds ten pairs if features outnumber rows, for a diagonal like that of a sparse
// projection: most features cost a lot.
func BenchmarkPencil(b *testing.B) {
	const n, d, l = 200, 10000, 10
	r, team := rand.New(rand.NewPCG(1, 1)), kernel.NewTeam(0)
	u := random(kernel.RowMajor(make([]float64, d*n), d, n, n), r)
	dual, h := kernel.RowMajor(make([]float64, n*n), n, n, n), kernel.RowMajor(make([]float64, n*n), n, n, n)
	kernel.Gemm(team, 1, u.Trans(), u, dual)
	for i := range n {
		h.Data[i*n+i] = math.Sqrt(r.Float64())
	}
	a := NewPencil(team, memoryColumns(u), d, n, 1/math.Sqrt(n), squaresOf(u), func() []float64 { return dual.Data }, 1e-3)
	must.Do(b, a.SetSmooth(0.5, h))
	diagonal := make([]float64, d)
	for i := range diagonal {
		diagonal[i] = 0.1 * math.Pow(10, 3*r.Float64())
	}
	a.SetDiagonal(diagonal)
	s := NewSmallest(team, a.Length(), l, EigenOptions{})
	var e Eigen
	for b.Loop() {
		e = must.Get(s.SolveForm(a, kernel.Matrix[float64]{}))(b)
	}
	b.ReportMetric(float64(e.Steps), "steps")
	b.ReportMetric(float64(e.Factors), "factors")
}
