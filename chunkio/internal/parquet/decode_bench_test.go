package parquet_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	pqfile "github.com/apache/arrow/go/v15/parquet/file"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/formattest"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/parquet"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/stream"
)

// BenchmarkDecode decodes all of MNIST's columns: ours to float64, and bare as the
// library's own readers do, to their physical type.
func BenchmarkDecode(b *testing.B) {
	path := fixtures.DatasetPath(b, "mnist70k.parquet")
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("ours/threads=%d", threads), func(b *testing.B) { benchDecode(b, path, threads, ourReading) })
		b.Run(fmt.Sprintf("bare/threads=%d", threads), func(b *testing.B) { benchDecode(b, path, threads, bareReading) })
	}
}

func benchDecode(b *testing.B, path string, threads int, read func(testing.TB, string, int) int64) {
	b.ReportAllocs()
	var values int64
	for b.Loop() {
		values += read(b, path, threads)
	}
	b.ReportMetric(float64(values)/b.Elapsed().Seconds(), "values/s")
}

// BenchmarkGram is the whole job but for selecting: open, fold into moments, finish.
// x-bare is its time in terms of bare readings of the same file on as many threads,
// made in turn with it: the median of either.
func BenchmarkGram(b *testing.B) {
	for _, name := range []string{"mnist70k.parquet", "coil20.parquet", "isolet.parquet", "usps.parquet"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", name, threads), func(b *testing.B) {
				path := fixtures.DatasetPath(b, name)
				var jobs, bare []time.Duration
				for b.Loop() {
					start := time.Now()
					gramOf(b, path, threads)
					jobs = append(jobs, time.Since(start))
					b.StopTimer()
					start = time.Now()
					bareReading(b, path, threads)
					bare = append(bare, time.Since(start))
					b.StartTimer()
				}
				b.ReportMetric(median(jobs).Seconds()/median(bare).Seconds(), "x-bare")
			})
		}
	}
}

func median(x []time.Duration) time.Duration {
	slices.Sort(x)
	return x[len(x)/2]
}

func gramOf(tb testing.TB, path string, threads int) {
	tb.Helper()
	ds, err := chunkio.Open(tb.Context(), []string{path}, chunkio.Options{Threads: threads})
	formattest.Must(tb, err)
	defer ds.Close()
	m := gram.NewMoments(len(ds.Columns()), gram.Options{Threads: threads})
	formattest.Must(tb, stream.Fold(tb.Context(), ds, stream.FoldOptions{}, m))
	if _, err := m.Finish(ds.Columns(), gram.FinishOptions{Scale: gram.ScaleStandard}); err != nil {
		tb.Fatalf("finishing the Gram matrix: %v", err)
	}
}

// ourReading decodes every column, a row group at a time, and throws the values away.
func ourReading(tb testing.TB, path string, threads int) (values int64) {
	f, err := parquet.Open(formattest.OpenFile(tb, path), 1<<30)
	formattest.Must(tb, err)
	defer f.Close()
	dst := make([][]float64, threads)
	for w := range dst {
		dst[w] = make([]float64, slices.Max(f.GroupRows()))
	}
	for g, n := range f.GroupRows() {
		group, err := f.Open(tb.Context(), g, nil)
		formattest.Must(tb, err)
		shareColumns(threads, len(f.Leaves()), func(worker, i int) {
			if err := group.Decode(context.Background(), i, 0, n, [][]float64{dst[worker][:n]}); err != nil {
				tb.Errorf("decoding leaf %d: %v", i, err)
			}
		})
		values += n * int64(len(f.Leaves()))
	}
	return values
}

// bareReading is the least that reading a file of numbers with arrow v15 costs: every
// column through the library's reader for its type, into buffers used again and again.
func bareReading(tb testing.TB, path string, threads int) int64 {
	r, err := pqfile.OpenParquetFile(path, false)
	formattest.Must(tb, err)
	defer r.Close()
	workers := make([]bareWorker, threads)
	for g := range r.NumRowGroups() {
		rg := r.RowGroup(g)
		shareColumns(threads, rg.NumColumns(), func(worker, i int) {
			c, err := rg.Column(i)
			if err == nil {
				err = workers[worker].read(c)
			}
			if err != nil {
				tb.Errorf("reading column %d with the library: %v", i, err)
			}
		})
	}
	var values int64
	for i := range workers {
		values += workers[i].values
	}
	return values
}

// bareWorker is a thread's buffers.
type bareWorker struct {
	ints    []int32
	longs   []int64
	floats  []float32
	doubles []float64
	levels  []int16
	values  int64
}

func (w *bareWorker) read(c pqfile.ColumnChunkReader) error {
	switch r := c.(type) {
	case *pqfile.Int32ColumnChunkReader:
		return bareColumn(w, r, &w.ints)
	case *pqfile.Int64ColumnChunkReader:
		return bareColumn(w, r, &w.longs)
	case *pqfile.Float32ColumnChunkReader:
		return bareColumn(w, r, &w.floats)
	case *pqfile.Float64ColumnChunkReader:
		return bareColumn(w, r, &w.doubles)
	}
	return fmt.Errorf("a column of %T", c)
}

func bareColumn[T any](w *bareWorker, r parquet.TypedReader[T], buf *[]T) error {
	// The library is fastest with batches of 8,192 values or more.
	const batch = 16384
	*buf, w.levels = slices.Grow((*buf)[:0], batch)[:batch], slices.Grow(w.levels[:0], batch)[:batch]
	for r.HasNext() {
		_, n, err := r.ReadBatch(batch, *buf, w.levels, nil)
		if err != nil {
			return err
		}
		w.values += int64(n)
	}
	return r.Err()
}

// shareColumns calls column(worker, i) for every column i, on that many goroutines.
func shareColumns(threads, columns int, column func(worker, i int)) {
	var work sync.WaitGroup
	for w := range threads {
		work.Go(func() {
			for i := w; i < columns; i += threads {
				column(w, i)
			}
		})
	}
	work.Wait()
}
