package cpufs

import (
	"context"
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rows delivers X, block by block, scaled and with its columns in the order of the cells.
// Blocks are those of the source, so that what is summed over them is the same to the
// last bit wherever they are kept.
type rows struct {
	src     stream.Source
	columns []stream.Column
	grid    Grid
	scaling *Scaling
	workers int
	meter   *stream.Meter
	onPass  func(pass int, what string)
	passes  int

	keep   bool // in memory, from the first pass on
	kept   [][]float64
	first  []int // rows before each block
	height []int // rows of each block
	n      int   // all rows

	buf []float64
}

// block is one block of X, lent until the next: h×d, column-major.
type block struct {
	number int
	first  int // rows before it
	x      kernel.Matrix[float64]
	chunk  *stream.Chunk // as read; nil after the first pass where rows are kept
}

type adderFunc func(*stream.Chunk) error

func (f adderFunc) Add(c *stream.Chunk) error { return f(c) }

// pass goes through all blocks once; those without rows do not count.
func (r *rows) pass(ctx context.Context, what string, do func(*block) error) error {
	if r.keep && r.kept != nil {
		for k, data := range r.kept {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(r.block(k, data, nil)); err != nil {
				return err
			}
		}
		return nil
	}
	r.passes++
	if r.onPass != nil {
		r.onPass(r.passes, what)
	}
	scan := r.passes == 1
	number := 0
	err := stream.Fold(ctx, r.src, stream.FoldOptions{Meter: r.meter}, adderFunc(func(c *stream.Chunk) error {
		if c.Rows == 0 {
			return nil
		}
		if scan {
			r.first = append(r.first, r.n)
			r.height = append(r.height, c.Rows)
			r.n += c.Rows
		} else if number >= len(r.height) || r.height[number] != c.Rows {
			return r.changed()
		}
		data := r.buffer(c.Rows)
		if err := r.place(data, c); err != nil {
			return err
		}
		if r.keep {
			r.kept = append(r.kept, data)
		}
		err := do(r.block(number, data, c))
		number++
		return err
	}))
	if err == nil && number != len(r.height) {
		return r.changed()
	}
	return err
}

func (r *rows) changed() error {
	return stream.Dataf("", "the rows are not those of the first pass: the input has changed")
}

// buffer is room for a block.
func (r *rows) buffer(height int) []float64 {
	need := height * len(r.columns)
	if r.keep {
		return make([]float64, need)
	}
	if cap(r.buf) < need {
		r.buf = make([]float64, need)
	}
	return r.buf[:need]
}

func (r *rows) block(k int, data []float64, c *stream.Chunk) *block {
	h := r.height[k]
	return &block{number: k, first: r.first[k], x: kernel.ColMajor(data, h, len(r.columns), h), chunk: c}
}

// runColumns is the number of columns that a worker scales at a time.
const runColumns = 16

// place writes the rows of c, scaled and in the order of the cells. The error is a
// *stream.DataError that names the place of a value that the model cannot take.
func (r *rows) place(dst []float64, c *stream.Chunk) error {
	d, h := len(r.columns), c.Rows
	if c.Cols != d {
		return fmt.Errorf("cpufs: chunk of %d columns, want %d", c.Cols, d)
	}
	if c.Weight != nil {
		return stream.Usagef("{weight}: cpufs has no row weights; leave it out, or choose {method} greedy")
	}
	if c.Sparse != nil {
		clear(dst)
		for i := range h {
			for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
				dst[r.grid.Cell[c.Sparse.Index[e]]*h+i] = c.Sparse.Value[e]
			}
		}
	}
	errs := make([]error, (d+runColumns-1)/runColumns)
	kernel.Each(r.workers, len(errs), func(t int) {
		for j := t * runColumns; j < min(d, (t+1)*runColumns); j++ {
			out := dst[r.grid.Cell[j]*h:][:h]
			if c.Sparse == nil {
				copy(out, c.Col(j))
			}
			if i := r.scale(out, j); i >= 0 {
				errs[t] = r.misfit(c, j, i)
				return
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// scale scales a column's values, and returns the first row with one that is then
// missing or negative, or -1.
func (r *rows) scale(x []float64, j int) int {
	lo, span, fill := 0.0, 1.0, math.NaN()
	if s := r.scaling; s != nil {
		if s.Min != nil {
			lo, span = s.Min[j], s.Range[j]
		}
		if !(span > 0) { // divided by an infinite range a constant is 0
			span = math.Inf(1)
		}
		if s.Fill != nil {
			fill = s.Fill[j]
		}
	}
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

// misfit is the error for the value of column j in row i.
func (r *rows) misfit(c *stream.Chunk, j, i int) error {
	x := 0.0
	if c.Sparse == nil {
		x = c.Col(j)[i]
	} else {
		for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
			if int(c.Sparse.Index[e]) == j {
				x = c.Sparse.Value[e]
			}
		}
	}
	filled := r.scaling != nil && r.scaling.Fill != nil
	if x != x && filled {
		x = r.scaling.Fill[j]
	}
	at := c.Position(i)
	err := &stream.DataError{RowGroup: -1, Column: r.columns[j].Name, Row: -1,
		Err: fmt.Errorf("row at position %d: the tensor model takes no negative values, and this is %v", at, x), Remedy: stream.Textf("choose {scale} minmax")}
	switch {
	case x != x:
		err.Err, err.Remedy = fmt.Errorf("row at position %d: %w", at, stream.ErrMissing), stream.Textf("choose {missing} mean or zero")
	case r.scaling != nil && r.scaling.Min != nil:
		err.Err = fmt.Errorf("row at position %d: %v is below the minimum that the profile found", at, x)
		err.Remedy = stream.Textf("the input has changed, or the profile is another's")
	}
	return err
}
