package cpufs

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/stream"
)

// gridReader reads the rows X block by block, scaled and with its columns in the order of the cells. Blocks are the
// source's blocks, so that sums over them have the same bits wherever the blocks are kept.
type gridReader struct {
	source  rows.Source
	columns []stream.Column
	grid    Grid
	scaling *Scaling
	workers int

	keepRows   bool // keep the blocks in memory, from the first pass on
	keptBlocks [][]float64
	buf        []float64
}

// rowBlock is a block of rows of X, h×d, column-major. It is valid until the next block is read.
type rowBlock struct {
	number  int // of the block, counted from 0
	first   int // number of rows in earlier blocks
	x       kernel.Matrix[float64]
	chunk   *stream.Chunk // as read; nil after the first pass if rows are kept
	records [][]byte      // the block's records in the files of the pass
}

func (r *gridReader) eachBlock(ctx context.Context, purpose string, visit func(*rowBlock) error, passes ...stream.ScratchPass) error {
	if r.keptBlocks != nil {
		return rows.EachBlock(ctx, len(r.keptBlocks), func(number int, records [][]byte) error {
			return visit(r.newBlock(number, r.keptBlocks[number], records))
		}, passes...)
	}
	var b *rowBlock
	return r.source.ReadRows(ctx, rows.Pass{Purpose: purpose, Files: passes, Place: func(at rows.Block, c *stream.Chunk) error {
		r.buf = rows.ResizeSlice(r.buf, (c.Rows+columnPadding)*len(r.columns))
		b = r.newBlock(at.Number, r.buf, nil)
		b.chunk = c
		return r.placeRows(b.x, c)
	}, Visit: func(_ rows.Block, records [][]byte) error {
		if r.keepRows {
			r.keptBlocks, r.buf = append(r.keptBlocks, r.buf), nil
		}
		b.records = records
		return visit(b)
	}})
}

func (r *gridReader) nearestRows(ctx context.Context, team *kernel.Team, neighbors int, memory int64) ([]rows.Neighbour, error) {
	return rows.FindNearest(ctx, team, r.source.N, len(r.columns), neighbors, memory, func(ctx context.Context, purpose string, visit func(int, kernel.Matrix[float64]) error) error {
		return r.eachBlock(ctx, purpose, func(b *rowBlock) error { return visit(b.first, b.x) })
	})
}

func (r *gridReader) newBlock(number int, data []float64, records [][]byte) *rowBlock {
	h := r.source.Height[number]
	return &rowBlock{number: number, first: r.source.First[number], x: kernel.ColMajor(data, h, len(r.columns), h+columnPadding), records: records}
}

// columnsPerTask is the number of columns of a block that a worker scales at a time.
const columnsPerTask = 16

// columnPadding keeps the columns of a block, whose height is a power of 2, from falling on the same lines of the
// cache. Without it, a run on mnist70k takes a fifth longer.
const columnPadding = 8

// placeRows writes the rows of c, scaled and in the order of the cells, to x, column-major. The error is a
// *stream.DataError that gives the row and column of a value that the model cannot use.
func (r *gridReader) placeRows(x kernel.Matrix[float64], c *stream.Chunk) error {
	d, h := len(r.columns), c.Rows
	if c.Cols != d {
		return fmt.Errorf("cpufs: chunk of %d columns, want %d", c.Cols, d)
	}
	dst, ld := x.Data, x.ColStride
	if c.Sparse != nil {
		clear(dst)
		rows.ScatterEntries(dst, ld, r.grid.Cell, c)
	}
	errs := make([]error, (d+columnsPerTask-1)/columnsPerTask)
	kernel.Each(r.workers, len(errs), func(t int) {
		for j := t * columnsPerTask; j < min(d, (t+1)*columnsPerTask); j++ {
			out := dst[r.grid.Cell[j]*ld:][:h]
			if c.Sparse == nil {
				copy(out, c.Col(j))
			}
			if i := r.scaleColumn(out, j); i >= 0 {
				errs[t] = r.errUnusableValue(c, j, i, out[i])
				return
			}
		}
	})
	return cmp.Or(errs...)
}

// scaleColumn scales a column's values. It returns the first row whose scaled value is missing or negative, or -1.
func (r *gridReader) scaleColumn(x []float64, j int) int {
	lo, span, fill := r.scaling.columnScale(j)
	for i, v := range x {
		if v != v {
			v = fill
		}
		v = (v - lo) / span
		if !(v >= 0 && v <= math.MaxFloat64) {
			return i
		}
		x[i] = v
	}
	return -1
}

func (r *gridReader) errUnusableValue(c *stream.Chunk, column, row int, value float64) error {
	if value != value {
		_, _, value = r.scaling.columnScale(column)
	}
	at := c.Position(row)
	err := &stream.DataError{RowGroup: -1, Column: r.columns[column].Name, Row: -1,
		Err: fmt.Errorf("row at position %d: the tensor model takes no negative values, and this is %v", at, value), Remedy: stream.Textf("choose {scale} minmax")}
	switch {
	case value != value:
		err.Err, err.Remedy = fmt.Errorf("row at position %d: %w", at, stream.ErrMissing), stream.Textf("choose {missing} mean or zero")
	case r.scaling != nil && r.scaling.Min != nil:
		err.Err = fmt.Errorf("row at position %d: %v is below the minimum that the profile found", at, value)
		err.Remedy = stream.Textf("the input has changed, or the profile is another's")
	}
	return err
}
