package eufs

import (
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio/scratch"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pixels is n rows of whole numbers from 0 to 255: ten kinds of rows, with noise.
func pixels(n, d, block int) *rowstest.Source {
	hash := func(x int) int { return int(uint64(x) * 0x9e3779b97f4a7c15 >> 40) }
	return &rowstest.Source{N: n, D: d, Heights: []int{block},
		At: func(i, j int) float64 { return float64(hash(i*7%10*d+j)%200 + hash((i+10)*d+j)%56) }}
}

func standardizer(t testing.TB, src stream.Source, scale gram.Scale) *gram.Standardizer {
	return rowstest.Standardizer(t, src, scale, gram.FillMean)
}

// BenchmarkIteration is an iteration of 20,000 rows of 784 pixels, in units that a
// reading of the rows can be compared with.
func BenchmarkIteration(b *testing.B) {
	src := pixels(20_000, 784, 2048)
	std := standardizer(b, src, gram.ScaleUnit)
	for _, c := range []struct {
		name    string
		files   bool
		float32 bool
		hufs    bool
	}{{"memory", false, false, false}, {"files", true, false, false}, {"files32", true, true, false}, {"hufs", false, false, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := Setup{Seed: 1, Graph: GraphAnchor, Anchors: 1000}
			if c.files {
				space := scratch.New(scratch.Options{Dir: b.TempDir()})
				defer space.Close()
				s.Scratch = space
			}
			if c.hufs {
				s.Graph = GraphNone
			}
			p := must.Get(Prepare(b.Context(), src, std, s))(b)
			defer p.Close()
			opt := Options{Alpha: Weight{Value: 0.1, Share: true}, Beta: Weight{Value: 0.1}, MaxIter: b.N, Tol: -1, Float32: c.float32}
			if c.hufs {
				opt.Method = HUFS
			}
			b.ResetTimer()
			if _, err := p.Solve(b.Context(), opt); err != nil {
				b.Fatalf("solving: %v", err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(src.N*src.D), "ns/value")
		})
	}
}
