// Package rowstest has helpers for the tests of methods: a source, scratch files, the anchor graph computed
// by its definition, and comparisons.
package rowstest

import (
	"context"
	"fmt"
	"iter"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Source serves a matrix in blocks of rows. NaN represents a missing entry.
type Source struct {
	N, D    int
	At      func(i, j int) float64
	Heights []int // numbers of rows of the blocks; after the last the list starts again
	Sparse  bool
	Weight  []float64 // row weights, or nil
	Passes  int       // number of passes begun
	// Block, if not nil, is called before each block with the numbers of the pass and of the block, counted from 1.
	// If it returns an error, reading fails with that error.
	Block func(pass, block int) error
}

// Columns returns columns with the names x0, x1, …
func (s *Source) Columns() []stream.Column {
	cols := make([]stream.Column, s.D)
	for j := range cols {
		cols[j] = stream.Column{Name: fmt.Sprintf("x%d", j), Type: "double"}
	}
	return cols
}

// Rows implements stream.Source. It returns N.
func (s *Source) Rows() int64 { return int64(s.N) }

// Cuts implements stream.Source. The rows form a single group.
func (s *Source) Cuts() []int64 { return []int64{0, int64(s.N)} }

// Chunks implements stream.Source. It begins a pass, and delivers all rows in blocks of the given Heights.
func (s *Source) Chunks(ctx context.Context, _ stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		s.Passes++
		for from, k := 0, 0; from < s.N; k++ {
			err := ctx.Err()
			if err == nil && s.Block != nil {
				err = s.Block(s.Passes, k+1)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			to := min(from+s.Heights[k%len(s.Heights)], s.N)
			if !yield(s.Chunk(from, to), nil) {
				return
			}
			from = to
		}
	}
}

// Chunk returns rows [from, to).
func (s *Source) Chunk(from, to int) *stream.Chunk {
	n := to - from
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: s.D, Stride: n}
	if s.Weight != nil {
		c.Weight = s.Weight[from:to]
	}
	if s.Sparse {
		c.Sparse = &stream.CSR{RowPtr: []int{0}}
	} else {
		c.Data = make([]float64, n*s.D)
	}
	for i := range n {
		for j := range s.D {
			v := s.At(from+i, j)
			if v != v {
				if c.Missing == nil {
					c.Missing = make([]stream.MissingCount, s.D)
				}
				c.Missing[j].NaNs++
			}
			if !s.Sparse {
				c.Data[j*n+i] = v
			} else if v != 0 {
				c.Sparse.Index, c.Sparse.Value = append(c.Sparse.Index, int32(j)), append(c.Sparse.Value, v)
			}
		}
		if s.Sparse {
			c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Value))
		}
	}
	return c
}
