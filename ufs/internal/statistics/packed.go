package statistics

import (
	"context"
	"errors"
	"iter"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/rows"
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

func (p *PackedSource) layOutBlock(l *room.Layout) *stream.Chunk {
	h, d := p.blockRows(), len(p.Columns())
	return &stream.Chunk{Cols: d, Stride: h, Data: room.Slice[float64](l, h*d), Positions: room.Slice[int64](l, h)[:0]}
}

func (p *PackedSource) BlockBytes() int64 {
	return room.Measure(func(l *room.Layout) { p.layOutBlock(l) })
}

// Chunks implements stream.Source: it yields the drawn rows in full blocks. The range must be that of all rows.
func (p *PackedSource) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		out := p.layOutBlock(nil)
		source := rows.Source{Source: p.source}
		err := source.ReadRows(ctx, rows.Pass{Height: out.Stride, Place: func(b rows.Block, c *stream.Chunk) error {
			copyRows(out, b.Rows, c)
			return nil
		}, Visit: func(b rows.Block, _ [][]byte) error {
			out.Start, out.Block, out.Rows = int64(b.First), b.Rows, b.Rows
			if !yield(out, nil) {
				return errStopped
			}
			out.Positions = out.Positions[:0]
			return nil
		}})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// errStopped ends a pass whose caller needs no further blocks.
var errStopped = errors.New("stopped")

func copyRows(out *stream.Chunk, firstRow int, from *stream.Chunk) {
	for i := range from.Rows {
		out.Positions = append(out.Positions, from.Position(i))
	}
	for j := range out.Cols {
		column := out.Data[j*out.Stride+firstRow:][:from.Rows]
		if from.Sparse == nil {
			copy(column, from.Col(j))
		} else {
			clear(column)
		}
	}
	if from.Sparse != nil {
		rows.ScatterEntries(out.Data[firstRow:], out.Stride, nil, from)
	}
}
