package gram

import (
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// BenchmarkAdd reports the rate of the whole step (profile, packing, product), counting
// only the n·d² flops of the product.
func BenchmarkAdd(b *testing.B) {
	const d, rows = 256, 1024
	for _, c := range []struct {
		missing, weighted bool
	}{{}, {weighted: true}, {missing: true}} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("dense/missing=%v/weighted=%v/workers=%d", c.missing, c.weighted, workers), func(b *testing.B) {
				tab := wide(d, rows, c.missing)
				if !c.weighted {
					tab.Weight = nil
				}
				bench(b, tab.Chunk(0, rows), workers)
				b.ReportMetric(float64(rows)*d*d*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
	b.Run("sparse", func(b *testing.B) { bench(b, wide(d, rows, false).sparse(0, rows), 1) })
}

func bench(b *testing.B, c *stream.Chunk, workers int) {
	m := NewMoments(c.Cols, Options{Threads: workers})
	for b.Loop() {
		must.Do(b, m.Add(c))
	}
	b.ReportMetric(float64(c.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
