package chunkiotest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/dataset"
	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Delivered holds the results of a pass, row by row.
type Delivered struct {
	Rows      [][]float64
	Positions []int64
	Weights   []float64
	Missing   []stream.MissingCount
	Blocks    [][3]int64 // start, height, rows
}

// CollectRows returns the rows of a pass, and checks that chunks are consecutive, complete and not too high.
func CollectRows(ds *dataset.Dataset, r stream.Range) (Delivered, error) {
	cols := len(ds.Columns())
	out := Delivered{Missing: make([]stream.MissingCount, cols)}
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
		out.Blocks = append(out.Blocks, [3]int64{c.Start, int64(c.Block), int64(c.Rows)})
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
			out.Rows = append(out.Rows, row)
			out.Positions = append(out.Positions, c.Position(i))
			weight := 1.0
			if c.Weight != nil {
				weight = c.Weight[i]
			}
			out.Weights = append(out.Weights, weight)
		}
		for j, m := range c.Missing {
			out.Missing[j] = out.Missing[j].Plus(m)
		}
	}
	return out, nil
}

// DescribeDiff describes the first difference of two deliveries in rows, positions, weights or counts.
func DescribeDiff(got, want Delivered) string {
	if len(got.Rows) != len(want.Rows) {
		return fmt.Sprintf("%d rows, want %d", len(got.Rows), len(want.Rows))
	}
	for i := range got.Rows {
		if got.Positions[i] != want.Positions[i] || got.Weights[i] != want.Weights[i] {
			return fmt.Sprintf("row %d: position %d, weight %v, want %d, %v", i,
				got.Positions[i], got.Weights[i], want.Positions[i], want.Weights[i])
		}
		for j := range got.Rows[i] {
			if math.Float64bits(got.Rows[i][j]) != math.Float64bits(want.Rows[i][j]) {
				return fmt.Sprintf("row %d, column %d: %v, want %v", i, j, got.Rows[i][j], want.Rows[i][j])
			}
		}
	}
	if !slices.Equal(got.Missing, want.Missing) {
		return fmt.Sprintf("missing %v, want %v", got.Missing, want.Missing)
	}
	return ""
}

// RandomTable returns a table of random numbers: scalar columns a0, a1, …, lists of three numbers, and a column of
// texts. The given share of the numbers is null, NaN or infinite.
func RandomTable(rng *rand.Rand, rows, scalars int, share float64) *FakeTable {
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
	t := NewTable(rows)
	for j := range scalars {
		t.AddScalar(fmt.Sprintf("a%d", j), column())
	}
	lists := make([][]float64, rows)
	for i := range lists {
		lists[i] = []float64{value(), value(), value()}
	}
	return t.AddList("emb", 3, lists).AddText("name")
}

// IsUsage reports whether an error is a *stream.UsageError.
func IsUsage(err error) bool {
	_, ok := errors.AsType[*stream.UsageError](err)
	return ok
}

// IsData reports whether an error is a *stream.DataError.
func IsData(err error) bool {
	_, ok := errors.AsType[*stream.DataError](err)
	return ok
}
