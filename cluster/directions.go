package cluster

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// rowNormalizer scales rows to length 1, for spherical k-means.
type rowNormalizer struct {
	team   *kernel.Team
	data   []float64 // rows×k, column by column
	rows   int
	isZero []bool // whether each row of the last call is all zeros
}

func newRowNormalizer(team *kernel.Team, rows, columns int) *rowNormalizer {
	return &rowNormalizer{team: team, data: make([]float64, rows*columns), rows: rows, isZero: make([]bool, rows)}
}

// stripe is the number of consecutive rows that a worker scales to length 1 together.
const stripe = 64

// normalizeRows returns the rows of x scaled to length 1. x has at most d.rows rows. The result is valid until the next
// call. Rows of zeros stay zeros; rows with a NaN or an infinity become NaN.
func (d *rowNormalizer) normalizeRows(x matrix) matrix {
	to := kernel.ColMajor(d.data, x.Rows, x.Cols, d.rows)
	kernel.Each(d.team.Threads(), (x.Rows+stripe-1)/stripe, func(t int) {
		var largest, squares [stripe]float64
		from := t * stripe
		rows := min(stripe, x.Rows-from)
		// Divide a row by its largest entry first, so that no square overflows and not all squares vanish.
		for j := range x.Cols {
			for i := range rows {
				v := math.Abs(x.Data[(from+i)*x.RowStride+j*x.ColStride])
				largest[i] = max(largest[i], v) // max keeps a NaN
			}
		}
		for i := range rows {
			d.isZero[from+i] = largest[i] == 0
			if d.isZero[from+i] {
				largest[i] = 1
			}
		}
		for j := range x.Cols {
			for i := range rows {
				v := x.Data[(from+i)*x.RowStride+j*x.ColStride] / largest[i]
				squares[i] += v * v
				to.Data[from+i+j*d.rows] = v
			}
		}
		for i := range rows {
			if squares[i] = math.Sqrt(squares[i]); d.isZero[from+i] {
				squares[i] = 1
			}
		}
		for j := range x.Cols {
			col := to.Data[from+j*d.rows:][:rows]
			for i := range col {
				col[i] /= squares[i]
			}
		}
	})
	return to
}

func vectorLength(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }
