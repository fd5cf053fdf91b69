package hvg

import (
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/stream"
)

// clippedSquares adds up the squared differences of the values of columns from their means. Values above a limit count as
// the limit, and missing values as the mean.
type clippedSquares struct {
	std     *gram.Standardizer
	limits  []float64 // of the columns that std keeps
	kept    []int     // by column of the source: its index in std, or -1
	squares []float64
	counts  []int64 // values of sparse rows that are not 0
	rows    int64
}

func newClippedSquares(std *gram.Standardizer, columns int, limits []float64) *clippedSquares {
	c := &clippedSquares{std: std, limits: limits, kept: make([]int, columns), squares: make([]float64, len(limits)), counts: make([]int64, len(limits))}
	for j := range c.kept {
		c.kept[j] = -1
	}
	for k, j := range std.Columns {
		c.kept[j] = k
	}
	return c
}

// Add implements stream.Adder.
func (c *clippedSquares) Add(chunk *stream.Chunk) error {
	if chunk.Sparse == nil {
		for k, j := range c.std.Columns {
			for _, x := range chunk.Col(j) {
				c.addValue(k, x)
			}
		}
		return nil
	}
	c.rows += int64(chunk.Rows)
	for i, j := range chunk.Sparse.Index {
		if k := c.kept[j]; k >= 0 {
			c.addValue(k, chunk.Sparse.Value[i])
			c.counts[k]++
		}
	}
	return nil
}

func (c *clippedSquares) addValue(k int, x float64) {
	if x-x != 0 {
		x = c.std.Fill[k]
	}
	d := math.Min(x, c.limits[k]) - c.std.Mean[k]
	c.squares[k] += d * d
}

func (c *clippedSquares) addOmittedZeros() []float64 {
	if c.rows > 0 {
		for k, n := range c.counts {
			c.squares[k] += float64(c.rows-n) * c.std.Mean[k] * c.std.Mean[k]
		}
	}
	return c.squares
}
