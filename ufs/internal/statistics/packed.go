package statistics

import (
	"context"
	"iter"

	"github.com/ufs-stream/ufs-stream/stream"
)

// PackedSource yields the rows that a sample draws from a source, packed into full blocks. In the blocks of the source
// itself only a few rows are drawn if the sample is small.
type PackedSource struct {
	source stream.Source
	rows   int64 // number of drawn rows
}

func NewPackedSource(source stream.Source, rows int64) *PackedSource {
	return &PackedSource{source, rows}
}

func (p *PackedSource) Columns() []stream.Column { return p.source.Columns() }

func (p *PackedSource) Rows() int64 { return p.rows }

func (p *PackedSource) Cuts() []int64 { return []int64{0, p.rows} }

func (p *PackedSource) blockRows() int {
	return int(min(int64(stream.BlockRows(len(p.Columns()))), p.rows))
}

func (p *PackedSource) BlockBytes() int64 {
	return 8 * int64(p.blockRows()) * int64(len(p.Columns())+1)
}

// Chunks implements stream.Source. The range r must be that of all rows.
func (p *PackedSource) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		h, d := p.blockRows(), len(p.Columns())
		out := &stream.Chunk{Cols: d, Stride: h, Data: make([]float64, h*d), Positions: make([]int64, 0, h)}
		flush := func() bool {
			out.Block, out.Rows = len(out.Positions), len(out.Positions)
			if !yield(out, nil) {
				return false
			}
			out.Start += int64(out.Block)
			out.Positions = out.Positions[:0]
			return true
		}
		for c, err := range p.source.Chunks(ctx, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			for at := 0; at < c.Rows; {
				n := min(c.Rows-at, h-len(out.Positions))
				p.copyRows(out, c, at, n)
				at += n
				if len(out.Positions) == h && !flush() {
					return
				}
			}
		}
		if len(out.Positions) > 0 {
			flush()
		}
	}
}

// copyRows appends n rows of c, beginning with row at, to out. The chunk c may be sparse; out is dense.
func (p *PackedSource) copyRows(out, c *stream.Chunk, at, n int) {
	filled := len(out.Positions)
	for i := range n {
		out.Positions = append(out.Positions, c.Position(at+i))
	}
	for j := range out.Cols {
		column := out.Data[j*out.Stride+filled:][:n]
		if c.Sparse == nil {
			copy(column, c.Col(j)[at:])
		} else {
			clear(column)
		}
	}
	if c.Sparse == nil {
		return
	}
	for i := range n {
		for e := c.Sparse.RowPtr[at+i]; e < c.Sparse.RowPtr[at+i+1]; e++ {
			out.Data[int(c.Sparse.Index[e])*out.Stride+filled+i] = c.Sparse.Value[e]
		}
	}
}
