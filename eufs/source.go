package eufs

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (t *table) eachSourceBlock(ctx context.Context, visit func(b int, records [][]byte) error, passes ...stream.ScratchPass) error {
	t.passes.Add(1)
	size := t.d * t.element.byteSize()
	record := t.newRecord(nil, t.element.byteSize())
	src := rows.Source{Source: t.source, Meter: t.meter}
	return src.ReadRows(ctx, rows.Pass{
		Rows: t.n, Height: t.block, Files: append([]stream.ScratchPass{nil}, passes...),
		Place: func(b rows.Block, c *stream.Chunk) error { return elements[t.element].put(t, record[b.Rows*size:], c) },
		Visit: func(b rows.Block, records [][]byte) error {
			records[0] = record[:b.Rows*size]
			return visit(b.Number, records)
		},
	})
}

func storeRows[T storedNumber](t *table, record []byte, c *stream.Chunk) error {
	const tile = 32 // rows of a task: it reads runs of a column, and writes to the same cache lines for the next columns
	d, dst := t.d, rows.ViewNumbers[T](record)
	lowest, highest := numberRange[T]()
	var places []int
	if c.Sparse != nil {
		places = make([]int, c.Cols) // place among the features, plus 1
		for k, j := range t.std.Columns {
			places[j] = k + 1
		}
	}
	var off atomic.Bool
	kernel.Each(t.workers, (c.Rows+tile-1)/tile, func(i int) {
		from := i * tile
		h := min(tile, c.Rows-from)
		to := dst[from*d:][:h*d]
		set := func(at, k int, x float64) {
			if x != x {
				x = t.std.Fill[k]
			}
			// Compare first: converting a number outside the range of T has an undefined result.
			if !(x >= lowest && x <= highest) || float64(T(x)) != x {
				off.Store(true)
				return
			}
			to[at] = T(x)
		}
		if c.Sparse == nil {
			for k, j := range t.std.Columns {
				for r, x := range c.Col(j)[from:][:h] {
					set(r*d+k, k, x)
				}
			}
			return
		}
		clear(to)
		for r := range h {
			for e := c.Sparse.RowPtr[from+r]; e < c.Sparse.RowPtr[from+r+1]; e++ {
				if k := places[c.Sparse.Index[e]]; k > 0 {
					set(r*d+k-1, k-1, c.Sparse.Value[e])
				}
			}
		}
	})
	if off.Load() {
		return errTypeTooNarrow
	}
	return nil
}

func numberRange[T storedNumber]() (lowest, highest float64) {
	switch any(T(0)).(type) {
	case uint8:
		return 0, math.MaxUint8
	case int16:
		return math.MinInt16, math.MaxInt16
	case float32:
		return -math.MaxFloat32, math.MaxFloat32
	}
	return math.Inf(-1), math.Inf(1)
}
