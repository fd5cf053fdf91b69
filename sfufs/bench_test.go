package sfufs

import (
	"fmt"
	"testing"
)

// BenchmarkFurther is the cost of a further setting: M for another α, the iteration for
// another γ.
func BenchmarkFurther(b *testing.B) {
	const d, m = 784, 1000
	g := large(4000, d, m)
	for _, constraint := range []Constraint{Identity, Scatter} {
		e, err := newEngine(g, Options{Constraint: constraint}.WithDefaults(d))
		if err != nil {
			b.Fatal(err)
		}
		if err := e.load(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("alpha/d=%d/m=%d/%v", d, m, constraint), func(b *testing.B) {
			for b.Loop() {
				if err := e.load(b.Context(), 2); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("gamma/d=%d/%v", d, constraint), func(b *testing.B) {
			var r *Result
			for b.Loop() {
				if r, err = e.solve(b.Context(), e.opt.Gamma); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Iterations()), "updates")
		})
	}
}
