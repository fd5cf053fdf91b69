package anchor

import (
	"fmt"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// BenchmarkAdd is the accumulation pass with 784 features and K = 5, a chunk at a time: the
// graph alone, the graph with the Gram matrix, and its parts. GFLOP/s counts only the
// 2·m·d flops a row of the distances.
func BenchmarkAdd(b *testing.B) {
	const d = 784
	n := stream.BlockRows(d)
	tab := clusters(n, d, 1)
	c := tab.Chunk(0, n)
	c.Missing = nil
	for _, m := range []int{1000, 2000} {
		a := must.Get(Random(tab.sampler(b, m), m, tab.standardizer(b, gram.ScaleStandard), 2))(b)
		for _, workers := range []int{1, 2} {
			run := func(name string, fn func(b *testing.B)) {
				b.Run(fmt.Sprintf("%s/m=%d/workers=%d", name, m, workers), func(b *testing.B) {
					fn(b)
					perRow := float64(b.Elapsed()) / float64(b.N) / float64(n)
					b.ReportMetric(perRow, "ns/row")
					b.ReportMetric(2*float64(m)*d/perRow, "GFLOP/s")
				})
			}
			run("graph", func(b *testing.B) {
				s := must.Get(NewStatistics(a, Options{Threads: workers}))(b)
				add(b, c, s)
			})
			run("graph+gram", func(b *testing.B) {
				s := must.Get(NewStatistics(a, Options{Threads: workers}))(b)
				add(b, c, s, gram.NewMoments(d, gram.Options{Threads: workers}))
			})
		}
	}
}

func add(b *testing.B, c *stream.Chunk, adders ...stream.Adder) {
	for b.Loop() {
		for _, a := range adders {
			must.Do(b, a.Add(c))
		}
	}
}

// BenchmarkSampler is the profile pass's share of a sample of 2,000 rows.
func BenchmarkSampler(b *testing.B) {
	const d = 784
	n := stream.BlockRows(d)
	c := clusters(n, d, 1).Chunk(0, n)
	s := NewSampler(d, SamplerOptions{Seed: 1})
	for b.Loop() {
		must.Do(b, s.Add(c))
		c.Start += int64(n)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(n), "ns/row")
}

// BenchmarkGraph makes a graph and its smoothed target from statistics of 2,000 anchors and
// 784 features.
func BenchmarkGraph(b *testing.B) {
	const d, m = 784, 2000
	tab := clusters(2*m, d, 1)
	g := tab.graph(b, tab.random(b, m, gram.ScaleStandard), Options{})
	for b.Loop() {
		g.Smooth(0, 2)
	}
	b.ReportMetric(2*2*float64(m)*float64(m)*d*float64(b.N)/float64(b.Elapsed()), "GFLOP/s")
}
