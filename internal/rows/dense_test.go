package rows_test

import (
	"context"
	"iter"
	"runtime"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Dense has every value in its place however the chunks are cut, and refuses sources of other
// lengths and row weights; Within passes by all of it once.
func TestDense(t *testing.T) {
	const n, d = 150, 70
	put := func(dst []float64, ld int, c *stream.Chunk) {
		for j := range d {
			copy(dst[j*ld:][:c.Rows], c.Col(j))
		}
	}
	for _, heights := range [][]int{{n}, {1}, {128, 1, 7}, {64, 65}} {
		src := &rowstest.Source{N: n, D: d, Heights: heights, At: func(i, j int) float64 { return float64(i*1000 + j) }}
		s := rows.Source{Source: src}
		x := must.Get(s.ReadDense(t.Context(), 2, n, d, put))(t)
		for i := range n {
			for j := range d {
				if v := x.Data[i*d+j]; v != float64(i*1000+j) {
					t.Fatalf("blocks of %v: row %d, column %d is %v", heights, i, j, v)
				}
			}
		}
		seen := 0
		must.Do(t, rows.PassInMemory(x)(t.Context(), "", func(first int, part kernel.Matrix[float64]) error {
			if first != seen || part.Data[0] != float64(first*1000) {
				t.Errorf("part from row %d after %d rows", first, seen)
			}
			seen += part.Rows
			return nil
		}))
		if seen != n {
			t.Errorf("%d rows passed by, want %d", seen, n)
		}
		for _, other := range []int{n - 1, n + 1} {
			s := rows.Source{Source: src}
			if _, err := s.ReadDense(t.Context(), 2, other, d, put); err == nil {
				t.Errorf("%d rows for %d are no error", n, other)
			}
		}
	}
	weighted := &rowstest.Source{N: 2, D: d, Heights: []int{2}, At: func(int, int) float64 { return 1 }, Weight: []float64{1, 2}}
	s := rows.Source{Source: weighted}
	_, err := s.ReadDense(t.Context(), 1, 2, d, put)
	rowstest.CheckRefusal(t, err, "weight")
}

// ReadDense allocates no more than DenseBytes, even if a chunk of sparse rows is taller than a block of dense rows.
func TestDenseStaysWithinItsBytes(t *testing.T) {
	const n, d = 4096, 2000
	src := &rowstest.Source{N: n, D: d, Heights: []int{n}, Sparse: true, At: func(i, j int) float64 {
		if j == i%d {
			return float64(i + 1)
		}
		return 0
	}}
	chunk := src.Chunk(0, n)
	s := rows.Source{Source: servedChunk{src, chunk}}
	put := func(dst []float64, ld int, c *stream.Chunk) {
		for j := range d {
			clear(dst[j*ld:][:c.Rows])
		}
		rows.ScatterEntries(dst, ld, nil, c)
	}
	roomtest.CheckLayout(t, "reading sparse rows", rows.DenseBytes(n, d), func() { must.Get(s.ReadDense(t.Context(), 2, n, d, put))(t) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x := must.Get(s.ReadDense(t.Context(), 2, n, d, put))(t)
	runtime.ReadMemStats(&after)
	const slack = 1 << 20 // of the tasks and of rounding to pages
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), rows.DenseBytes(n, d); took > most+slack {
		t.Errorf("reading %d×%d sparse rows allocates %d bytes, want at most %d", n, d, took, most)
	}
	for i := range n {
		if v := x.Data[i*d+i%d]; v != float64(i+1) {
			t.Fatalf("row %d, column %d is %v, want %d", i, i%d, v, i+1)
		}
	}
}

// servedChunk is a source of one chunk that is in memory.
type servedChunk struct {
	stream.Source
	chunk *stream.Chunk
}

func (s servedChunk) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) { yield(s.chunk, nil) }
}
