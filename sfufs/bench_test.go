package sfufs

import (
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// BenchmarkFurther is the cost of a further setting: M for another α, the iteration for
// another γ.
func BenchmarkFurther(b *testing.B) {
	const d, m = 784, 1000
	g := rowstest.BuildGraph(sample(4000, d, m, 3, 8))
	for _, constraint := range []Constraint{Identity, Scatter} {
		e := must.Get(newSettingSolver(g, Options{Constraint: constraint}.WithDefaults(d)))(b)
		must.Do(b, e.loadAlpha(b.Context(), 1))
		b.Run(fmt.Sprintf("alpha/d=%d/m=%d/%v", d, m, constraint), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, e.loadAlpha(b.Context(), 2))
			}
		})
		b.Run(fmt.Sprintf("gamma/d=%d/%v", d, constraint), func(b *testing.B) {
			var r *Result
			for b.Loop() {
				r = must.Get(e.solveGamma(b.Context(), e.opt.Gamma))(b)
			}
			b.ReportMetric(float64(len(r.Objective)), "updates")
		})
	}
}
