package cpufs

import (
	"context"
	"fmt"
	"iter"

	"github.com/ufs-stream/ufs-stream/stream"
)

// source serves rows in blocks of the given height.
type source struct {
	rows   [][]float64
	names  []string // nil: x0, x1, …
	block  int
	sparse bool
	passes int
	fail   func(pass, block int) error
}

func (s *source) Columns() []stream.Column {
	cols := make([]stream.Column, len(s.rows[0]))
	for j := range cols {
		cols[j] = stream.Column{Name: fmt.Sprintf("x%d", j), Type: "double"}
		if s.names != nil {
			cols[j].Name = s.names[j]
		}
	}
	return cols
}

func (s *source) Rows() int64   { return int64(len(s.rows)) }
func (s *source) Cuts() []int64 { return []int64{0, int64(len(s.rows))} }

func (s *source) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		s.passes++
		for from, k := 0, 0; from < len(s.rows); from, k = from+s.block, k+1 {
			err := ctx.Err()
			if err == nil && s.fail != nil {
				err = s.fail(s.passes, k)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(s.chunk(from, min(from+s.block, len(s.rows))), nil) {
				return
			}
		}
	}
}

func (s *source) chunk(from, to int) *stream.Chunk {
	n, d := to-from, len(s.rows[0])
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: d, Stride: n}
	if s.sparse {
		c.Sparse = &stream.CSR{RowPtr: []int{0}}
		for _, row := range s.rows[from:to] {
			for j, v := range row {
				if v != 0 {
					c.Sparse.Index = append(c.Sparse.Index, int32(j))
					c.Sparse.Value = append(c.Sparse.Value, v)
				}
			}
			c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Value))
		}
		return c
	}
	c.Data = make([]float64, n*d)
	for i, row := range s.rows[from:to] {
		for j, v := range row {
			c.Data[j*n+i] = v
			if v != v {
				if c.Missing == nil {
					c.Missing = make([]stream.MissingCount, d)
				}
				c.Missing[j].NaNs++
			}
		}
	}
	return c
}
