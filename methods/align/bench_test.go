package align

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// BenchmarkChoose measures turns of a choice from G in memory, each one reading of a row of it.
func BenchmarkChoose(b *testing.B) {
	const n, d, k = 100, 4000, 400
	r := rand.New(rand.NewPCG(1, 1))
	x, g := make([]float64, d*n), make([]float64, d*d)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	kernel.Syrk(kernel.NewTeam(0), 1, kernel.RowMajor(x, d, n, n), kernel.RowMajor(g, d, d, d))
	kernel.MirrorUpper(0, kernel.RowMajor(g, d, d, d))
	p := Problem{A: make([]float64, d), Norm: 1, Squares: make([]float64, d), Column: func(j int) []float64 { return g[j*d:][:d] }}
	for j := range d {
		p.A[j], p.Squares[j] = r.Float64(), g[j*d+j]
	}
	for b.Loop() {
		if _, err := Choose(b.Context(), p, Options{K: k}); err != nil {
			b.Fatalf("choosing %d of %d features: %v", k, d, err)
		}
	}
	b.ReportMetric(float64(k*b.N)/b.Elapsed().Seconds(), "turns/s")
}
