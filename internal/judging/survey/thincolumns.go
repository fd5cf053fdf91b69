package survey

import "github.com/ufs-stream/ufs-stream/internal/numeric/kernel"

// ThinColumns computes columns of the d×d matrix XᵀX, X being sparse rows with centred columns. It computes one column
// at a time and never stores the whole matrix. Column j costs d operations, and one for each entry of each row that has
// an entry in column j.
type ThinColumns struct {
	Squares        []float64 // the diagonal of XᵀX, d numbers
	rows, byColumn kernel.Compressed
	mean, column   []float64
}

// NewThinColumns returns the ThinColumns of rows, which it keeps and may change. It needs the memory given by
// [ThinColumnsBytes].
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

// ThinColumnsBytes returns the memory of a ThinColumns, without its rows, which have the given number of entries.
func ThinColumnsBytes(d int, entries int64) int64 { return 12*entries + 40*int64(d) }

// Column returns column j of XᵀX, valid until the next call. Entry i is Σxᵢxⱼ − n·meanᵢmeanⱼ, the sum being over n
// rows.
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
