package judge

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Table holds the rows that are used to judge selections, in memory, column by column. It is a stream.Adder.
// [Table.FillMissing] and [Table.ScaleColumns] change its values in place to prepare clustering and reconstruction.
type Table struct {
	Rows       int
	Classes    []int32 // class of each row; nil if the chunks have no classes
	Unlabelled int64   // number of rows left out because they have no class

	data    []float64 // column j starts at j·stride
	missing []stream.MissingCount
	stride  int
	cols    int
	workers int
	limit   int64 // largest memory in bytes
}

// AllRows describes the work in the MemoryError for a table that would exceed its memory limit.
const AllRows = "judging all rows at once"

// NewTable returns an empty table with the given number of columns and space for the given number of rows. If more rows
// are added, the table is copied to a larger one of at most limit bytes.
func NewTable(cols, rows, workers int, limit int64) *Table {
	return &Table{data: make([]float64, cols*rows), missing: make([]stream.MissingCount, cols), stride: rows, cols: cols, workers: workers, limit: limit}
}

// TableBytes returns the size of a table of n rows and d columns.
func TableBytes(n, d int) int64 { return 8*int64(n)*int64(d) + 4*int64(n) + 24*int64(d) }

// Bytes returns the size of t, including unused space.
func (t *Table) Bytes() int64 { return TableBytes(t.stride, t.cols) }

// Add copies the rows of c to the table. If c has classes, rows without a class are left out.
func (t *Table) Add(c *stream.Chunk) error {
	if c.Cols != t.cols {
		return fmt.Errorf("judge: chunk of %d columns, want %d", c.Cols, t.cols)
	}
	rows := make([]int, 0, c.Rows)
	for i := range c.Rows {
		if c.Class == nil || c.Class[i] >= 0 {
			rows = append(rows, i)
		}
	}
	if err := t.growRows(t.Rows + len(rows)); err != nil {
		return err
	}
	t.Unlabelled += int64(c.Rows - len(rows))
	for j, n := range c.Missing {
		t.missing[j] = t.missing[j].Plus(n)
	}
	if c.Class != nil {
		for _, i := range rows {
			t.Classes = append(t.Classes, c.Class[i])
		}
	}
	if c.Sparse != nil {
		for at, i := range rows {
			for e := c.Sparse.RowPtr[i]; e < c.Sparse.RowPtr[i+1]; e++ {
				t.data[int(c.Sparse.Index[e])*t.stride+t.Rows+at] = c.Sparse.Value[e]
			}
		}
	} else {
		kernel.Each(t.workers, t.cols, func(j int) {
			col, to := c.Col(j), t.data[j*t.stride+t.Rows:]
			for at, i := range rows {
				to[at] = col[i]
			}
		})
	}
	t.Rows += len(rows)
	return nil
}

func (t *Table) growRows(rows int) error {
	if rows <= t.stride {
		return nil
	}
	height := max(rows, t.stride*3/2)
	// While the rows are copied, the old and the new table exist at the same time.
	if need := TableBytes(height, t.cols) + TableBytes(t.stride, t.cols); need > t.limit {
		return &stream.MemoryError{What: AllRows, Need: need, Limit: t.limit}
	}
	data := make([]float64, height*t.cols)
	for j := range t.cols {
		copy(data[j*height:], t.data[j*t.stride:][:t.Rows])
	}
	t.data, t.stride = data, height
	return nil
}

// Matrix returns all rows and columns of t without copying them.
func (t *Table) Matrix() kernel.Matrix[float64] {
	return kernel.ColMajor(t.data, t.Rows, t.cols, t.stride)
}

// GatherColumns returns a copy of the given columns, in the given order.
func (t *Table) GatherColumns(columns []int) kernel.Matrix[float64] {
	data := make([]float64, t.Rows*len(columns))
	for k, j := range columns {
		copy(data[k*t.Rows:][:t.Rows], t.data[j*t.stride:])
	}
	return kernel.ColMajor(data, t.Rows, len(columns), t.Rows)
}

// Profile returns the statistics of the current values.
func (t *Table) Profile() *gram.Profile {
	p := gram.NewProfile(t.cols)
	c := &stream.Chunk{Block: t.Rows, Rows: t.Rows, Cols: t.cols, Data: t.data, Stride: t.stride, Missing: t.missing}
	if err := p.Add(c); err != nil {
		panic(err) // impossible, because the numbers of columns agree
	}
	return p
}

// FillMissing replaces every missing entry by the mean of its column's observed entries, or by 0, depending on fill.
// If the mean is not finite, 0 is used.
func (t *Table) FillMissing(fill gram.Fill) {
	p := t.Profile()
	kernel.Each(t.workers, t.cols, func(j int) {
		c, value := &p.Columns[j], 0.0
		if c.Observed == p.Rows {
			return
		}
		if mean := c.Pilot + c.Sum/c.Weight; fill == gram.FillMean && mean-mean == 0 {
			value = mean
		}
		col := t.data[j*t.stride:][:t.Rows]
		for i, v := range col {
			if math.IsNaN(v) {
				col[i] = value
			}
		}
	})
	clear(t.missing)
}

// ScaleColumns scales the columns by the statistics of the table. It returns the columns that cannot be features
// (constant or overflowing), and sets them to 0, because a selection also leaves them out.
func (t *Table) ScaleColumns(scale gram.Scale, cols []stream.Column) ([]stream.LeftOut, error) {
	s, err := gram.NewStandardizer(t.Profile(), cols, scale, gram.FillMean)
	if err != nil {
		return nil, err
	}
	at := make([]int, t.cols) // for each column of the table, its index in the standardizer s plus 1
	for k, j := range s.Columns {
		at[j] = k + 1
	}
	kernel.Each(t.workers, t.cols, func(j int) {
		col := t.data[j*t.stride:][:t.Rows]
		k := at[j] - 1
		if k < 0 {
			clear(col)
			return
		}
		shift, factor := s.Shift[k], s.Factor[k]
		for i, v := range col {
			col[i] = (v - shift) * factor
		}
	})
	return s.LeftOut, nil
}
