package greedy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// BenchmarkSelect measures the turns of a selection from G in memory; "turns" past
// the first are 2d² + 4d·turn flops and one reading of G.
func BenchmarkSelect(b *testing.B) {
	for _, size := range []struct{ d, k int }{{1000, 100}, {1000, 900}} {
		x := greedytest.SmoothMatrix(1, 400, size.d, 60, 0.9).AddNoise(2, 0.05)
		if size.k > 400 {
			x = greedytest.SmoothMatrix(1, 1200, size.d, 60, 0.9).AddNoise(2, 0.05)
		}
		sym := x.Gram()
		for _, partitioned := range []bool{false, true} {
			b.Run(fmt.Sprintf("d=%d/k=%d/partitioned=%v", size.d, size.k, partitioned), func(b *testing.B) {
				for b.Loop() {
					if _, err := Select(b.Context(), gram.Full(sym, size.d), Options{K: size.k, Partitioned: partitioned}); err != nil {
						b.Fatalf("selecting from G: %v", err)
					}
				}
				b.ReportMetric(float64(size.k*b.N)/b.Elapsed().Seconds(), "turns/s")
			})
		}
	}
}

// BenchmarkBlocks compares choosing 10 of 100 blocks of 10 features with choosing 100 features one by one.
func BenchmarkBlocks(b *testing.B) {
	x := greedytest.RandomMatrix(1, 400, 1000, 0)
	g := gram.Full(x.Gram(), x.D)
	for name, opt := range map[string]Options{
		"features": {K: 100, Threads: 1},
		"blocks":   {K: 10, Threads: 1, Choice: method.Choice{Blocks: blocksBy(slices.Repeat([]int{10}, 100)...)}},
		"whole":    {K: 50, Threads: 1, Choice: method.Choice{Blocks: blocksBy(slices.Repeat([]int{10}, 100)...)}},
		"all":      {K: 500, Threads: 1},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must.Get(Select(b.Context(), g, opt))(b)
			}
		})
	}
}
