package survey

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

// valueFactor scales the original values of the columns when they are added to the normalized values of the rows. It
// is too small to change the leading digits of a distance.
const valueFactor = 1e-9

// surveyCounts surveys rows that are mostly 0, using only their nonzero entries. If rows are compared by cosine, each
// point has 2d coordinates. The first d are the values of the row normalized to length 1, which determine the
// distances. The last d are the original values, scaled so that they hardly change the distances. They are needed for
// the shares of the original columns: on five sets of texts, choices by the shares of the normalized columns have an
// NMI that is 4 points lower. No surrogate is made, because it would be dense. No column is left out as noise, because
// a rare word is by nature correlated with few other words.
func (l *surveyRun) surveyCounts(ctx context.Context) error {
	d := l.table.Cols
	l.Floor = 0
	if l.Unit == Counts {
		l.Power = countsPower
	}
	points := l.makeSparsePoints(l.scaleFactors(l.table))
	first, width := 0, d
	if l.Cosine {
		first, width = d, 2*d
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	g, err := anchor.AmongThin(points, width, anchor.Options{Neighbors: l.opt.Neighbors, Threads: l.team.Threads(), Limit: l.opt.Limit})
	if err != nil {
		return err
	}
	k, err := spectral.Diffuse(l.team, g, l.opt.Diffusion)
	if err != nil {
		return err
	}
	for j, v := range sumCentredSquares(points, l.m, width)[first:] {
		if v > 0 {
			l.Shares[j] = min(k.A[first+j]/v, 1)
		}
	}
	l.Norm, l.Warnings = k.Norm, k.Warnings
	l.isUnjudged = true
	return nil
}

func (l *surveyRun) makeSparsePoints(columnFactors []float64) *stream.CSR {
	out, largest := &stream.CSR{RowPtr: make([]int, 1, l.m+1)}, 0.0
	for j := range l.table.Columns {
		largest = max(largest, math.Abs(l.table.Columns[j].Min), math.Abs(l.table.Columns[j].Max))
	}
	for i := range l.m {
		from, length := len(out.Value), 0.0
		l.eachEntry(i*l.table.Rows/l.m, func(j int, v float64) {
			if v *= columnFactors[j]; v != 0 {
				out.Index, out.Value = append(out.Index, int32(j)), append(out.Value, v)
				length = math.Hypot(length, v)
			}
		})
		if l.Cosine {
			for e, v := range out.Value[from:] {
				out.Value[from+e] = v / length
				out.Index, out.Value = append(out.Index, int32(l.table.Cols)+out.Index[from+e]), append(out.Value, v/largest*valueFactor)
			}
		}
		out.RowPtr = append(out.RowPtr, len(out.Value))
	}
	return out
}

func (l *surveyRun) eachEntry(row int, visit func(j int, v float64)) {
	if t := l.table.Thin; t != nil {
		for e := t.RowPtr[row]; e < t.RowPtr[row+1]; e++ {
			visit(int(t.Index[e]), t.Value[e])
		}
		return
	}
	for j, v := range l.table.Values[row*l.table.Cols:][:l.table.Cols] {
		if v != 0 {
			visit(j, v)
		}
	}
}

func sumCentredSquares(points *stream.CSR, rows, columns int) []float64 {
	squares, sums := make([]float64, columns), make([]float64, columns)
	for e, j := range points.Index {
		sums[j] += points.Value[e]
		squares[j] += points.Value[e] * points.Value[e]
	}
	for j, s := range sums {
		squares[j] = max(squares[j]-s*s/float64(rows), 0)
	}
	return squares
}

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
