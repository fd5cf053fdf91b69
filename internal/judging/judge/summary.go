package judge

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Summary is the mean and the standard deviation of the results of several runs.
type Summary struct {
	Mean, Std float64 // Std has the divisor Runs-1; it is NaN for fewer than two runs, and Mean is NaN for no runs
	Runs      int
}

// Summarize returns the mean and standard deviation of the results x.
func Summarize(x []float64) Summary {
	s := Summary{Mean: math.NaN(), Std: math.NaN(), Runs: len(x)}
	if len(x) == 0 {
		return s
	}
	// The first value is subtracted from all values, so that equal values have a standard deviation of exactly 0.
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	s.Mean = x[0] + sum/float64(len(x))
	if len(x) > 1 {
		squares := 0.0
		for _, v := range x {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.Std = math.Sqrt(squares / float64(len(x)-1))
	}
	return s
}

// Test is the result of a two-sided t-test for equality of two means.
type Test struct {
	T, Freedom float64 // the statistic and its degrees of freedom
	P          float64 // the probability of a |T| at least this large if the means are equal
}

// WelchTest tests whether the samples a and b come from distributions with equal means. Their variances are unknown
// and may differ: Welch, "The generalization of Student's problem when several different population variances are
// involved", Biometrika 34 (1947). If neither sample varies, P is 1 for equal means, otherwise 0. If a sample has
// fewer than two values, all results are NaN.
func WelchTest(a, b []float64) Test {
	if len(a) < 2 || len(b) < 2 {
		return Test{math.NaN(), math.NaN(), math.NaN()}
	}
	sa, sb := Summarize(a), Summarize(b)
	// The squared standard errors of the means.
	ea, eb := sa.Std*sa.Std/float64(len(a)), sb.Std*sb.Std/float64(len(b))
	gap := sa.Mean - sb.Mean
	if ea+eb == 0 {
		t := Test{Freedom: float64(len(a) + len(b) - 2), P: 1}
		if gap != 0 {
			t.T, t.P = math.Copysign(math.Inf(1), gap), 0
		}
		return t
	}
	t := Test{T: gap / math.Sqrt(ea+eb)}
	// The squared errors are divided by their sum, so that squares of tiny errors do not underflow.
	u, v := ea/(ea+eb), eb/(ea+eb)
	t.Freedom = 1 / (u*u/float64(len(a)-1) + v*v/float64(len(b)-1))
	// 2·P(T > |t|) as an incomplete beta function is precise even if the result is tiny.
	t.P = mathext.RegIncBeta(t.Freedom/2, 0.5, t.Freedom/(t.Freedom+t.T*t.T))
	return t
}

// OneSided returns the probability of a T at least as large if the means are equal. It is half of P if the first mean is
// the larger one.
func (t Test) OneSided() float64 {
	if t.T > 0 {
		return t.P / 2
	}
	return 1 - t.P/2
}

// significance is the level of the t-tests, as in Table 2 of the paper of package greedy.
const significance = 0.05

// MarkBest compares the runs of several selections. p[i] is the P of Welch's test of selection i against the selection
// with the largest mean, whose own P is 1. best[i] is true if selection i has the largest mean, or is not significantly
// worse at the level of 5 %. If several selections have the largest mean, all of them are best. A selection without
// runs has P NaN and is not best.
func MarkBest(runs [][]float64) (p []float64, best []bool) {
	p, best = make([]float64, len(runs)), make([]bool, len(runs))
	top := -1
	means := make([]float64, len(runs))
	for i, r := range runs {
		means[i] = Summarize(r).Mean
		if len(r) > 0 && (top < 0 || means[i] > means[top]) {
			top = i
		}
	}
	for i, r := range runs {
		switch {
		case len(r) == 0:
			p[i] = math.NaN()
		case i == top:
			p[i], best[i] = 1, true
		default:
			p[i] = WelchTest(r, runs[top]).P
			best[i] = p[i] >= significance || means[i] == means[top]
		}
	}
	return p, best
}

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
