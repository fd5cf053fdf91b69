package survey

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// ThinColumns computes XᵀX of sparse rows with centred columns, one column at a time; it never stores the whole matrix.
// The cost of a column is the number of entries in the rows that have an entry in it, plus d.
type ThinColumns struct {
	Squares        []float64 // d: the diagonal
	rows, byColumn kernel.Compressed
	mean, column   []float64
}

// NewThinColumns returns the ThinColumns of rows, which it keeps and may change. It needs [ThinColumnsBytes] of memory.
func NewThinColumns(rows kernel.Compressed) *ThinColumns {
	d := rows.Cols
	c := &ThinColumns{rows: rows, byColumn: rows.TransposedCopy(), mean: make([]float64, d), Squares: make([]float64, d), column: make([]float64, d)}
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

// ThinColumnsBytes returns the memory of ThinColumns without the rows.
func ThinColumnsBytes(d int, entries int64) int64 { return 12*entries + 40*int64(d) }

// Column returns column j of XᵀX, valid until the next call. For n rows it is Σxxᵀ − n·meanᵢmeanⱼ.
func (c *ThinColumns) Column(j int) []float64 {
	for k, v := range c.mean {
		c.column[k] = -float64(c.rows.Rows) * c.mean[j] * v
	}
	rows, value := c.byColumn.Row(j)
	for e, i := range rows {
		at, other := c.rows.Row(int(i))
		for q, k := range at {
			c.column[k] += value[e] * other[q]
		}
	}
	return c.column
}
