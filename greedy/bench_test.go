package greedy

import (
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
)

// BenchmarkSelect measures the turns of a selection from G in memory; "turns" past
// the first are 2d² + 4d·turn flops and one reading of G.
func BenchmarkSelect(b *testing.B) {
	for _, size := range []struct{ d, k int }{{1000, 100}, {1000, 900}} {
		x := smooth(1, 400, size.d, 60, 0.9).noisy(2, 0.05)
		if size.k > 400 {
			x = smooth(1, 1200, size.d, 60, 0.9).noisy(2, 0.05)
		}
		sym := x.gram()
		for _, partitioned := range []bool{false, true} {
			b.Run(fmt.Sprintf("d=%d/k=%d/partitioned=%v", size.d, size.k, partitioned), func(b *testing.B) {
				for b.Loop() {
					if _, err := Select(b.Context(), gram.Full(sym, size.d), Options{K: size.k, Partitioned: partitioned}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(size.k*b.N)/b.Elapsed().Seconds(), "turns/s")
			})
		}
	}
}
