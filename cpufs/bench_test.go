package cpufs

import (
	"fmt"
	"testing"
)

// BenchmarkIteration is an iteration on rows in memory, by the number of features: its
// cost for each should not grow with them. With 256 rows XᵀX does not pay beyond 512.
func BenchmarkIteration(b *testing.B) {
	for _, side := range []int{16, 32, 64} {
		f := problem(1, side, side, 256, 5)
		b.Run(fmt.Sprintf("features=%d", side*side), func(b *testing.B) {
			g, err := NewGrid(make([]string, side*side), f.Shape)
			if err != nil {
				b.Fatal(err)
			}
			s, plan, err := newSolver(serve(f.X, 256), g, Options{Clusters: 5})
			if err == nil {
				err = s.prepare(b.Context(), plan)
			}
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				s.a, s.b = s.nextAB()
				if err := s.graph.advance(b.Context()); err != nil {
					b.Fatal(err)
				}
				if err := s.steps(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(side*side), "ns/feature")
		})
	}
}
