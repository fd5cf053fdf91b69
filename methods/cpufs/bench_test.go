package cpufs

import (
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// BenchmarkIteration is an iteration on rows in memory, by the number of features: its
// cost for each should not grow with them. With 256 rows XᵀX does not pay beyond 512.
func BenchmarkIteration(b *testing.B) {
	for _, side := range []int{16, 32, 64} {
		f := problem(1, 256, 5, side, side)
		b.Run(fmt.Sprintf("features=%d", side*side), func(b *testing.B) {
			s := f.solver(b, Options{Clusters: 5})
			for b.Loop() {
				s.updateFactors()
				must.Do(b, s.graph.updateCAndF(b.Context()))
				must.Do(b, s.takeGradientSteps(b.Context()))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(side*side), "ns/feature")
		})
	}
}
