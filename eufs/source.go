package eufs

import (
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// blockReader reads a source as blocks of the layout with raw values, row after row. The source may be cut into chunks
// of other sizes.
type blockReader struct {
	t     *table
	src   stream.Source
	std   *gram.Standardizer
	meter *stream.Meter
}

// sourcePass is a pass over the source. It implements stream.ScratchPass.
type sourcePass struct {
	*blockReader
	next  func() (*stream.Chunk, error, bool)
	stop  func()
	chunk *stream.Chunk
	from  int // rows of the chunk that have been read
	block int
	rec   []byte
}

func (f *blockReader) newPass(ctx context.Context) *sourcePass {
	f.t.passes.Add(1)
	p := &sourcePass{blockReader: f}
	p.next, p.stop = iter.Pull2(f.src.Chunks(ctx, stream.Range{}))
	p.rec = make([]byte, f.t.block*f.t.d*f.t.element.byteSize()) // large allocations are aligned
	return p
}

func (p *sourcePass) Close() error {
	p.stop()
	return nil
}

func (p *sourcePass) Next() ([]byte, error) {
	t := p.t
	h := t.rowsOfBlock(p.block)
	rec := p.rec[:h*t.d*t.element.byteSize()]
	for at := 0; at < h; {
		if p.chunk == nil || p.from == p.chunk.Rows {
			if err := p.nextChunk(); err != nil {
				return nil, err
			}
			continue
		}
		count := min(h-at, p.chunk.Rows-p.from)
		if !elements[t.element].put(p, rec, at, count) {
			return nil, errTypeTooNarrow
		}
		at, p.from = at+count, p.from+count
	}
	p.block++
	if p.block == t.blocks { // the rest of the source must have no rows
		for {
			c, err, ok := p.next()
			if !ok {
				break
			}
			if err != nil {
				return nil, err
			}
			if c.Rows > 0 {
				return nil, rows.ErrRowsChanged()
			}
		}
	}
	return rec, nil
}

func (p *sourcePass) nextChunk() error {
	c, err, ok := p.next()
	switch {
	case !ok:
		return rows.ErrRowsChanged()
	case err != nil:
		return err
	}
	if err := rows.RefuseWeights(c); err != nil {
		return err
	}
	if p.meter != nil {
		p.meter.Rows.Add(int64(c.Block))
	}
	p.chunk, p.from = c, 0
	return nil
}

func storeRows[T storedNumber](p *sourcePass, record []byte, at, count int) bool {
	const tile = 32 // rows of a task: it reads runs of a column, and writes to the same cache lines for the next columns
	d, c := p.t.d, p.chunk
	dst := rows.ViewNumbers[T](record)[at*d:]
	lowest, highest := numberRange[T]()
	var places []int
	if c.Sparse != nil {
		places = make([]int, c.Cols) // place among the features, plus 1
		for k, j := range p.std.Columns {
			places[j] = k + 1
		}
	}
	var off atomic.Bool
	kernel.Each(p.t.workers, (count+tile-1)/tile, func(i int) {
		from := i * tile
		h := min(tile, count-from)
		to := dst[from*d:][:h*d]
		set := func(at, k int, x float64) {
			if x != x {
				x = p.std.Fill[k]
			}
			// Compare first: converting a number outside the range of T has an undefined result.
			if !(x >= lowest && x <= highest) || float64(T(x)) != x {
				off.Store(true)
				return
			}
			to[at] = T(x)
		}
		if c.Sparse == nil {
			for k, j := range p.std.Columns {
				for r, x := range c.Col(j)[p.from+from:][:h] {
					set(r*d+k, k, x)
				}
			}
			return
		}
		clear(to)
		for r := range h {
			row := p.from + from + r
			for e := c.Sparse.RowPtr[row]; e < c.Sparse.RowPtr[row+1]; e++ {
				if k := places[c.Sparse.Index[e]]; k > 0 {
					set(r*d+k-1, k-1, c.Sparse.Value[e])
				}
			}
		}
	})
	return !off.Load()
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
