package hygiene

import (
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Facts beside a profile: of 784 columns of pixels, most of which are told apart at once, with and without a
// label of ten classes.
func BenchmarkAdd(b *testing.B) {
	const d, rows = 784, 2048
	r := rand.New(rand.NewPCG(1, 1))
	c := &stream.Chunk{Block: rows, Rows: rows, Cols: d, Stride: rows, Data: make([]float64, d*rows), Target: make([]float64, rows)}
	for i := range c.Data {
		c.Data[i] = float64(r.IntN(256))
	}
	for i := range c.Target {
		c.Target[i] = float64(r.IntN(10))
	}
	labels := c.Target
	for name, add := range map[string]func() func(*stream.Chunk) error{
		"profile":  func() func(*stream.Chunk) error { return gram.NewProfile(d).Add },
		"facts":    func() func(*stream.Chunk) error { return New(d, 1, false).Add },
		"labelled": func() func(*stream.Chunk) error { return New(d, 1, true).Add },
	} {
		b.Run(name, func(b *testing.B) {
			one := add()
			c.Target = labels
			for i := range b.N {
				c.Start = int64(i * rows)
				if err := one(c); err != nil {
					b.Fatalf("adding a chunk: %v", err)
				}
			}
			b.ReportMetric(float64(b.N)*d*rows/b.Elapsed().Seconds()/1e6, "Mvalues/s")
		})
	}
}
