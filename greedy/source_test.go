package greedy

import (
	"context"
	"fmt"
	"iter"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// source serves a matrix in blocks of the given height. NaN is a missing entry.
type source struct {
	matrix
	block  int
	weight []float64
	sparse bool
	passes int
}

func (s *source) Columns() []stream.Column {
	cols := make([]stream.Column, s.d)
	for j := range cols {
		cols[j] = stream.Column{Name: fmt.Sprintf("x%d", j), Type: "double"}
	}
	return cols
}

func (s *source) Rows() int64   { return int64(s.n) }
func (s *source) Cuts() []int64 { return []int64{0, int64(s.n)} }

func (s *source) Chunks(ctx context.Context, r stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		s.passes++
		for from := 0; from < s.n; from += s.block {
			if !yield(s.chunk(from, min(from+s.block, s.n)), ctx.Err()) {
				return
			}
		}
	}
}

func (s *source) chunk(from, to int) *stream.Chunk {
	n := to - from
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: s.d, Stride: n}
	if s.weight != nil {
		c.Weight = s.weight[from:to]
	}
	if s.sparse {
		c.Sparse = &stream.CSR{RowPtr: []int{0}}
		for i := from; i < to; i++ {
			for j, col := range s.col {
				if col[i] != 0 {
					c.Sparse.Index = append(c.Sparse.Index, int32(j))
					c.Sparse.Value = append(c.Sparse.Value, col[i])
				}
			}
			c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Value))
		}
		return c
	}
	c.Data = make([]float64, n*s.d)
	for j, col := range s.col {
		copy(c.Col(j), col[from:to])
		for _, v := range col[from:to] {
			if v != v {
				if c.Missing == nil {
					c.Missing = make([]stream.MissingCount, s.d)
				}
				c.Missing[j].NaNs++
			}
		}
	}
	return c
}

// standardized is the whole A of a source, by the definition.
func (s *source) standardized(t testing.TB, scale gram.Scale, fill gram.Fill) matrix {
	t.Helper()
	profile := gram.NewProfile(s.d)
	if err := stream.Fold(context.Background(), s, stream.FoldOptions{}, profile); err != nil {
		t.Fatal(err)
	}
	std, err := gram.NewStandardizer(profile, s.Columns(), scale, fill)
	if err != nil {
		t.Fatal(err)
	}
	a := newMatrix(s.n, len(std.Columns))
	for k, j := range std.Columns {
		for i, x := range s.col[j] {
			if x != x {
				x = std.Fill[k]
			}
			w := 1.0
			if s.weight != nil {
				w = s.weight[i]
			}
			a.col[k][i] = (x - std.Shift[k]) * std.Factor[k] * math.Sqrt(w)
		}
	}
	return a
}
