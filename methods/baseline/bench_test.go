package baseline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
)

// BenchmarkMCFS includes the eigenpairs of an m×m matrix.
func BenchmarkMCFS(b *testing.B) {
	for _, m := range []int{200, 500} {
		g := randomDense(1, 1000, m, 300, 1).graph()
		for _, k := range []int{20, 100} {
			b.Run(fmt.Sprintf("m=%d/d=%d/k=%d", m, g.D, k), func(b *testing.B) {
				for b.Loop() {
					if _, err := MCFS(g, MCFSOptions{K: k}); err != nil {
						b.Fatalf("MCFS of m = %d, k = %d: %v", m, k, err)
					}
				}
			})
		}
	}
}

// BenchmarkFollow takes the lasso paths of ten targets through a factor of few rows.
func BenchmarkFollow(b *testing.B) {
	const rows, d, targets, k = 200, 20000, 10, 50
	random := rand.New(rand.NewPCG(1, 1))
	r, u := make([]float64, d*rows), make([]float64, targets*rows)
	for i := range r {
		r[i] = random.NormFloat64() / math.Sqrt(rows)
	}
	for i := range u {
		u[i] = random.NormFloat64() / math.Sqrt(rows)
	}
	g, products := gram.FromFactor(r, d, rows), make([]float64, targets*d)
	g.AddUps(0, targets, u, products)
	squares := g.Diagonal(0)
	for b.Loop() {
		paths := make([]*lasso, targets)
		for i := range paths {
			paths[i] = newLasso(g, squares, products[i*d:(i+1)*d])
		}
		followPaths(g, 0, k, paths)
	}
	b.ReportMetric(4*targets*k*rows*d*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
