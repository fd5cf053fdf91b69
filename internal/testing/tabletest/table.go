// Package tabletest has a small table in memory, to test statistics that are computed from chunks.
package tabletest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Table has columns of equal length. NaN represents a missing entry. Table is a stream.Source.
type Table struct {
	Names  []string // names of the columns; nil means c0, c1, …
	Cols   [][]float64
	Weight []float64 // weights of the rows; nil if rows have no weights
	Sparse bool      // chunks are sparse
}

// MapEntries returns a copy of the table in which f(i, j, x) replaces the entry x in row i and column j.
func (t Table) MapEntries(f func(i, j int, x float64) float64) Table {
	t.Cols = slices.Clone(t.Cols)
	for j, col := range t.Cols {
		t.Cols[j] = make([]float64, len(col))
		for i, x := range col {
			t.Cols[j][i] = f(i, j, x)
		}
	}
	return t
}

// PermuteColumns returns a copy of the table in which column j is at position order[j].
func (t Table) PermuteColumns(order []int) Table {
	from, names := t.Cols, t.Names
	t.Cols = make([][]float64, len(from))
	if names != nil {
		t.Names = make([]string, len(names))
	}
	for j, to := range order {
		if t.Cols[to] = from[j]; names != nil {
			t.Names[to] = names[j]
		}
	}
	return t
}

// N returns the number of rows.
func (t Table) N() int { return len(t.Cols[0]) }

// Rows implements stream.Source. It returns the length of the columns.
func (t Table) Rows() int64 { return int64(t.N()) }

// Cuts implements stream.Source. The rows form a single group.
func (t Table) Cuts() []int64 { return []int64{0, t.Rows()} }

// Columns implements stream.Source. All columns have type double.
func (t Table) Columns() []stream.Column {
	out := make([]stream.Column, len(t.Cols))
	for j := range out {
		out[j] = stream.Column{Name: fmt.Sprint("c", j), Type: "double"}
		if t.Names != nil {
			out[j].Name = t.Names[j]
		}
	}
	return out
}

// Chunks implements stream.Source. It delivers the rows in several chunks.
func (t Table) Chunks(context.Context, stream.Range) iter.Seq2[*stream.Chunk, error] {
	return func(yield func(*stream.Chunk, error) bool) {
		const height = 7
		for from := 0; from < t.N() && yield(t.Chunk(from, min(from+height, t.N())), nil); {
			from += height
		}
	}
}

// Chunk returns the rows [from, to). In a dense chunk there is a NaN before and after each column, so that code that
// reads one row too many finds a missing entry.
func (t Table) Chunk(from, to int) *stream.Chunk {
	n := to - from
	c := &stream.Chunk{Start: int64(from), Block: n, Rows: n, Cols: len(t.Cols)}
	if t.Weight != nil {
		c.Weight = t.Weight[from:to]
	}
	if t.Sparse {
		c.Sparse = &stream.CSR{RowPtr: []int{0}}
		for i := from; i < to; i++ {
			for j, col := range t.Cols {
				if col[i] != col[i] {
					if c.Missing == nil {
						c.Missing = make([]stream.MissingCount, c.Cols)
					}
					c.Missing[j].Nulls++
				}
				if col[i] != 0 {
					c.Sparse.Index, c.Sparse.Value = append(c.Sparse.Index, int32(j)), append(c.Sparse.Value, col[i])
				}
			}
			c.Sparse.RowPtr = append(c.Sparse.RowPtr, len(c.Sparse.Index))
		}
		return c
	}
	c.Stride = n + 2
	c.Data, c.Missing = slices.Repeat([]float64{math.NaN()}, c.Cols*c.Stride), make([]stream.MissingCount, c.Cols)
	for j, col := range t.Cols {
		copy(c.Data[j*c.Stride:], col[from:to])
		for _, x := range col[from:to] {
			if x != x {
				c.Missing[j].Nulls++
			}
		}
	}
	return c
}

// AddRows adds the rows [from, to) to a, in chunks of `height` rows each.
func (t Table) AddRows(tb testing.TB, a stream.Adder, from, to, height int) {
	tb.Helper()
	for ; from < to; from += height {
		must.Do(tb, a.Add(t.Chunk(from, min(from+height, to))))
	}
}

// NewFactors returns a table of factors: each column has one of them (kind "groups") or a mixture of all (kind
// "mixtures"), and noise. The loadings depend on seed alone, the rows also on draw.
func NewFactors(kind string, seed, draw uint64, rows, columns, factors int) (t Table) {
	loadings, random := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, draw))
	weights := make([][]float64, columns)
	for j := range weights {
		weights[j] = make([]float64, factors)
		for f := range factors {
			switch {
			case kind == "mixtures":
				weights[j][f] = loadings.NormFloat64()
			case f == j%factors:
				weights[j][f] = 0.7 + 0.3*loadings.Float64()
			}
		}
		t.Names, t.Cols = append(t.Names, fmt.Sprintf("x%02d", j)), append(t.Cols, make([]float64, rows))
	}
	own := make([]float64, factors)
	for i := range rows {
		for f := range own {
			own[f] = random.NormFloat64()
		}
		for j := range weights {
			for f, w := range weights[j] {
				t.Cols[j][i] += w * own[f]
			}
			t.Cols[j][i] += 20 + 0.5*random.NormFloat64()
		}
	}
	return t
}
