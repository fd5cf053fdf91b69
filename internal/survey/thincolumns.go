package survey

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// ThinColumns is XᵀX of thin rows with their columns centred, a column at a time: it is never all there. A column
// costs the entries of the rows that have one in it, and d.
type ThinColumns struct {
	Squares        []float64 // d: the diagonal
	rows, byColumn kernel.Compressed
	mean, with     []float64
}

// NewThinColumns takes the rows over; it holds [ThinColumnsBytes].
func NewThinColumns(rows kernel.Compressed) *ThinColumns {
	d := rows.Cols
	c := &ThinColumns{rows: rows, byColumn: rows.Transposed(), mean: make([]float64, d), Squares: make([]float64, d), with: make([]float64, d)}
	for j := range d {
		_, value := c.byColumn.Row(j)
		for _, v := range value {
			c.mean[j] += 1 / float64(rows.Rows) * v
		}
		c.Squares[j] = float64(rows.Rows-len(value)) * c.mean[j] * c.mean[j]
		for _, v := range value {
			v -= c.mean[j]
			c.Squares[j] += v * v
		}
	}
	return c
}

// ThinColumnsBytes is the memory that it holds for the entries, without the rows.
func ThinColumnsBytes(d int, entries int64) int64 { return 12*entries + 40*int64(d) }

// Column is column j of XᵀX, until the next call: with n rows Σxxᵀ less n·meanᵢmeanⱼ.
func (c *ThinColumns) Column(j int) []float64 {
	for k, v := range c.mean {
		c.with[k] = -float64(c.rows.Rows) * c.mean[j] * v
	}
	rows, value := c.byColumn.Row(j)
	for e, i := range rows {
		at, other := c.rows.Row(int(i))
		for q, k := range at {
			c.with[k] += value[e] * other[q]
		}
	}
	return c.with
}
