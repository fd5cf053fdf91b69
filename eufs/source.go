package eufs

import (
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// reader reads a source as blocks of the layout, raw values row by row, however its
// chunks are cut.
type reader struct {
	t     *table
	src   stream.Source
	std   *gram.Standardizer
	meter *stream.Meter
}

// sourcePass is a run over the source, a stream.ScratchPass.
type sourcePass struct {
	*reader
	next  func() (*stream.Chunk, error, bool)
	stop  func()
	chunk *stream.Chunk
	from  int // rows of the chunk that are taken
	block int
	rec   []byte
}

func (f *reader) pass(ctx context.Context) *sourcePass {
	f.t.passes.Add(1)
	p := &sourcePass{reader: f}
	p.next, p.stop = iter.Pull2(f.src.Chunks(ctx, stream.Range{}))
	p.rec = make([]byte, f.t.block*f.t.d*f.t.element.bytes()) // large, hence aligned
	return p
}

func (p *sourcePass) Close() error {
	p.stop()
	return nil
}

// Next fills a block.
func (p *sourcePass) Next() ([]byte, error) {
	t := p.t
	h := t.rows(p.block)
	rec := p.rec[:h*t.d*t.element.bytes()]
	for at := 0; at < h; {
		if p.chunk == nil || p.from == p.chunk.Rows {
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		rows := min(h-at, p.chunk.Rows-p.from)
		if !p.put(rec, at, rows) {
			return nil, errNarrow
		}
		at, p.from = at+rows, p.from+rows
	}
	p.block++
	if p.block == t.blocks { // what is left must have no rows
		for {
			c, err, ok := p.next()
			if !ok {
				break
			}
			if err != nil {
				return nil, err
			}
			if c.Rows > 0 {
				return nil, stream.Dataf("", "the input has more rows than when it was profiled, %d; it must not change during a run", t.n)
			}
		}
	}
	return rec, nil
}

// advance takes the next chunk.
func (p *sourcePass) advance() error {
	c, err, ok := p.next()
	switch {
	case !ok:
		return stream.Dataf("", "the input has fewer rows than when it was profiled, %d; it must not change during a run", p.t.n)
	case err != nil:
		return err
	case c.Weight != nil:
		return stream.Usagef("{weight}: these methods have no row weights; leave it out, or choose {method} greedy")
	}
	if p.meter != nil {
		p.meter.Rows.Add(int64(c.Block))
	}
	p.chunk, p.from = c, 0
	return nil
}

// put writes rows of the chunk to the record, and reports whether all fit exactly.
func (p *sourcePass) put(rec []byte, at, rows int) bool {
	d := p.t.d
	switch p.t.element {
	case asUint8:
		return put(p, view[uint8](rec)[at*d:], rows, func(x float64) bool { return x >= 0 && x <= math.MaxUint8 })
	case asInt16:
		return put(p, view[int16](rec)[at*d:], rows, func(x float64) bool { return x >= math.MinInt16 && x <= math.MaxInt16 })
	case asFloat32:
		return put(p, view[float32](rec)[at*d:], rows, func(x float64) bool { return math.Abs(x) <= math.MaxFloat32 })
	}
	return put(p, view[float64](rec)[at*d:], rows, func(float64) bool { return true })
}

func put[T uint8 | int16 | float32 | float64](p *sourcePass, dst []T, rows int, fits func(float64) bool) bool {
	const tile = 32 // rows; a tile of columns is then read in runs and written in lines
	d, c := p.t.d, p.chunk
	var kept []int
	if c.Sparse != nil {
		kept = make([]int, c.Cols) // place among the features plus 1
		for k, j := range p.std.Columns {
			kept[j] = k + 1
		}
	}
	var off atomic.Bool
	kernel.Each(p.t.workers, (rows+tile-1)/tile, func(i int) {
		from := i * tile
		h := min(tile, rows-from)
		to := dst[from*d:][:h*d]
		set := func(at, k int, x float64) {
			if x != x {
				x = p.std.Fill[k]
			}
			// The bound comes first: a conversion out of range may give anything.
			if !fits(x) || float64(T(x)) != x {
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
				if k := kept[c.Sparse.Index[e]]; k > 0 {
					set(r*d+k-1, k-1, c.Sparse.Value[e])
				}
			}
		}
	})
	return !off.Load()
}
