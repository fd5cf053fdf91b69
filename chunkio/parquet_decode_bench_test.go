package chunkio

import (
	"context"
	"sync"
	"testing"

	pqfile "github.com/apache/arrow/go/v15/parquet/file"
)

// BenchmarkDecode decodes all of MNIST's 784 columns on two goroutines: ours to
// float64, and for comparison the library's own readers to their physical type.
func BenchmarkDecode(b *testing.B) {
	path := realFile(b, "mnist70k.parquet")
	const columns, rows = 784, 70_000
	onTwo := func(column func(i, worker int)) {
		var work sync.WaitGroup
		for w := range 2 {
			work.Go(func() {
				for i := w; i < columns; i += 2 {
					column(i, w)
				}
			})
		}
		work.Wait()
	}
	b.Run("ours", func(b *testing.B) {
		f := openTest(b, path)
		dst := [2][]float64{make([]float64, rows), make([]float64, rows)}
		b.ReportAllocs()
		for b.Loop() {
			for g, n := range f.rows {
				group, err := f.open(context.Background(), g, nil)
				if err != nil {
					b.Fatal(err)
				}
				onTwo(func(i, worker int) {
					if err := group.decode(context.Background(), i, 0, n, [][]float64{dst[worker]}); err != nil {
						b.Error(err)
					}
				})
			}
		}
		b.ReportMetric(float64(b.N)*columns*rows/b.Elapsed().Seconds(), "values/s")
	})
	b.Run("library", func(b *testing.B) {
		r, err := pqfile.OpenParquetFile(path, false)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		values := [2][]int32{make([]int32, 4096), make([]int32, 4096)}
		levels := [2][]int16{make([]int16, 4096), make([]int16, 4096)}
		b.ReportAllocs()
		for b.Loop() {
			for g := range r.NumRowGroups() {
				rg := r.RowGroup(g)
				onTwo(func(i, worker int) {
					c, err := rg.Column(i)
					if err != nil {
						b.Error(err)
						return
					}
					for c.HasNext() {
						if _, _, err := c.(*pqfile.Int32ColumnChunkReader).ReadBatch(4096, values[worker], levels[worker], nil); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
		}
		b.ReportMetric(float64(b.N)*columns*rows/b.Elapsed().Seconds(), "values/s")
	})
}
