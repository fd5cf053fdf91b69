package chunkio

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// delivered holds the results of a pass, row by row.
type delivered struct {
	rows      [][]float64
	positions []int64
	weights   []float64
	missing   []stream.MissingCount
	blocks    [][3]int64 // start, height, rows
}

// collect runs a pass and checks the laws of a chunk on the way.
func collect(ds *Dataset, r stream.Range) (delivered, error) {
	cols := len(ds.Columns())
	out := delivered{missing: make([]stream.MissingCount, cols)}
	next := r.From
	for c, err := range ds.Chunks(context.Background(), r) {
		if err != nil {
			return out, err
		}
		if c.Start != next || c.Cols != cols || c.Rows > c.Block || c.Block > stream.SparseBlockRows(cols) || c.Sparse == nil && c.Block > stream.BlockRows(cols) {
			return out, fmt.Errorf("chunk at %d, %d×%d in a block of %d, want it at %d", c.Start, c.Rows, c.Cols, c.Block, next)
		}
		next += int64(c.Block)
		if c.Sparse == nil && len(c.Col(cols-1)) != c.Rows {
			return out, fmt.Errorf("last column of %d values in a chunk of %d rows", len(c.Col(cols-1)), c.Rows)
		}
		out.blocks = append(out.blocks, [3]int64{c.Start, int64(c.Block), int64(c.Rows)})
		for i := range c.Rows {
			row := make([]float64, cols)
			if c.Sparse == nil {
				for j := range row {
					row[j] = c.Col(j)[i]
				}
			} else {
				last := int32(-1)
				for k := c.Sparse.RowPtr[i]; k < c.Sparse.RowPtr[i+1]; k++ {
					if c.Sparse.Index[k] <= last {
						return out, fmt.Errorf("row %d: columns not ascending", i)
					}
					last = c.Sparse.Index[k]
					row[last] = c.Sparse.Value[k]
				}
			}
			out.rows = append(out.rows, row)
			out.positions = append(out.positions, c.Position(i))
			weight := 1.0
			if c.Weight != nil {
				weight = c.Weight[i]
			}
			out.weights = append(out.weights, weight)
		}
		for j, m := range c.Missing {
			out.missing[j] = out.missing[j].Plus(m)
		}
	}
	return out, nil
}

// diff describes the first difference of two deliveries in rows, positions, weights or counts.
func diff(got, want delivered) string {
	if len(got.rows) != len(want.rows) {
		return fmt.Sprintf("%d rows, want %d", len(got.rows), len(want.rows))
	}
	for i := range got.rows {
		if got.positions[i] != want.positions[i] || got.weights[i] != want.weights[i] {
			return fmt.Sprintf("row %d: position %d, weight %v, want %d, %v", i,
				got.positions[i], got.weights[i], want.positions[i], want.weights[i])
		}
		for j := range got.rows[i] {
			if math.Float64bits(got.rows[i][j]) != math.Float64bits(want.rows[i][j]) {
				return fmt.Sprintf("row %d, column %d: %v, want %v", i, j, got.rows[i][j], want.rows[i][j])
			}
		}
	}
	if !slices.Equal(got.missing, want.missing) {
		return fmt.Sprintf("missing %v, want %v", got.missing, want.missing)
	}
	return ""
}

// randomTable has scalars a0.., a list of three, a text and the given share of
// missing entries of every kind.
func randomTable(rng *rand.Rand, rows, scalars int, share float64) *table {
	value := func() float64 {
		if rng.Float64() >= share {
			return rng.NormFloat64()
		}
		return []float64{format.Null, math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(4)]
	}
	column := func() []float64 {
		x := make([]float64, rows)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	t := newTable(rows)
	for j := range scalars {
		t.addScalar(fmt.Sprintf("a%d", j), column())
	}
	lists := make([][]float64, rows)
	for i := range lists {
		lists[i] = []float64{value(), value(), value()}
	}
	return t.addList("emb", 3, lists).addText("name")
}
