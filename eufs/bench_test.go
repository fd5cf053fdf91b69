package eufs

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// pixels is n rows of whole numbers from 0 to 255, made on the way: ten kinds of rows,
// with noise.
type pixels struct {
	n, d, block int
}

func (p pixels) Columns() []stream.Column {
	cols := make([]stream.Column, p.d)
	for j := range cols {
		cols[j] = stream.Column{Name: fmt.Sprintf("px_%d_%d", j/28, j%28), Type: "uint8"}
	}
	return cols
}

func (p pixels) Rows() int64   { return int64(p.n) }
func (p pixels) Cuts() []int64 { return []int64{0, int64(p.n)} }

func (p pixels) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		rnd := rand.New(rand.NewPCG(1, 2))
		kinds := make([]float64, 10*p.d)
		for i := range kinds {
			kinds[i] = rnd.Float64() * 200
		}
		data := make([]float64, p.block*p.d)
		for at := 0; at < p.n; at += p.block {
			h := min(p.block, p.n-at)
			for j := range p.d {
				for i := range h {
					data[j*h+i] = float64(int(kinds[(at+i)*7%10*p.d+j]) + int(rnd.Uint32()>>26))
				}
			}
			if !yield(&stream.Chunk{Start: int64(at), Block: h, Rows: h, Cols: p.d, Data: data[:h*p.d], Stride: h}, ctx.Err()) {
				return
			}
		}
	}
}

func standardizer(t testing.TB, src stream.Source, scale gram.Scale) *gram.Standardizer {
	return rowstest.Standardizer(t, src, scale, gram.FillMean)
}

// BenchmarkIteration is an iteration of 20,000 rows of 784 pixels, in units that a
// reading of the rows can be compared with.
func BenchmarkIteration(b *testing.B) {
	src := pixels{20_000, 784, 2048}
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
				scratch := chunkio.NewScratch(chunkio.ScratchOptions{Dir: b.TempDir()})
				defer scratch.Close()
				s.Scratch = scratch
			}
			if c.hufs {
				s.Graph = GraphNone
			}
			p, err := Prepare(b.Context(), src, std, s)
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			opt := Options{Alpha: Weight{Value: 0.1, Share: true}, Beta: Weight{Value: 0.1}, MaxIter: b.N, Tol: -1, Float32: c.float32}
			if c.hufs {
				opt.Method = HUFS
			}
			b.ResetTimer()
			if _, err := p.Solve(b.Context(), opt); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(src.n*src.d), "ns/value")
		})
	}
}
