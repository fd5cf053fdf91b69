package pipeline

import (
	"math"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Rows are scaled by Options.RowScale once, after missing values were settled and dropped rows were removed. So all
// consumers of chunks see scaled rows, and the columns in Options.Keep remain as in the file. The squares of a row are
// added in the order of its columns, so that its norm depends neither on blocks nor on threads.

// leastSquares is the smallest sum of squares that has not lost digits because squares underflow.
const leastSquares = 0x1p-900

func isPrecise(squares float64) bool { return squares >= leastSquares && squares <= math.MaxFloat64 }

// reduceRow divides a row by its largest magnitude, unless it is 0, so that the sum of its squares is precise.
func reduceRow(row []float64) {
	largest := 0.0
	for _, x := range row {
		if x-x == 0 {
			largest = max(largest, math.Abs(x))
		}
	}
	for k, x := range row {
		if x-x == 0 && largest > 0 {
			row[k] = x / largest
		}
	}
}

func normOfSquares(squares float64) float64 {
	if squares == 0 {
		return 1 // a row of zeros stays one
	}
	return math.Sqrt(squares)
}

func columnFactor(t *Table, col int) float64 {
	if t.factors == nil {
		return 1
	}
	return t.factors[col]
}

func scaleRowsOfBlock(s *span, b int) {
	lo, _ := s.blockBounds(b)
	hi, row := lo+s.remaining[b], []float64(nil)
	s.norms = zeroSlice(s.norms, hi-lo)
	addSquaresOfRows(s, s.norms, lo, hi)
	for i, squares := range s.norms {
		if !isPrecise(squares) {
			row = format.Resize(row, s.table.Features.ColumnCount())
			for col := range row {
				row[col] = s.valuesOfColumn(col)[lo+i]
			}
			reduceRow(row)
			for col, x := range row {
				s.valuesOfColumn(col)[lo+i] = x
			}
			s.norms[i] = 0
			addSquaresOfRows(s, s.norms[i:i+1], lo+i, lo+i+1)
		}
		s.norms[i] = normOfSquares(s.norms[i])
	}
	for col := range s.table.Features.Columns {
		factor, values := columnFactor(s.table, col), s.valuesOfColumn(col)[lo:hi]
		for i, x := range values {
			if x-x == 0 { // missing values keep their bits
				values[i] = x * factor / s.norms[i]
			}
		}
	}
}

func addSquaresOfRows(s *span, squares []float64, lo, hi int) {
	for col := range s.table.Features.ColumnCount() {
		factor := columnFactor(s.table, col)
		for i, x := range s.valuesOfColumn(col)[lo:hi] {
			if x-x == 0 {
				x *= factor
				squares[i] += x * x
			}
		}
	}
}

// scaleSparseRow scales the row whose entries begin at an index, and removes the entries of hidden columns.
func scaleSparseRow(s *span, begin int) {
	b := &s.sparse
	index, value := b.index[begin:], b.value[begin:]
	squares := sumSquaresOfEntries(s.table, index, value)
	if !isPrecise(squares) {
		reduceRow(value)
		squares = sumSquaresOfEntries(s.table, index, value)
	}
	norm, kept := normOfSquares(squares), 0
	for k, x := range value {
		if x-x == 0 {
			x = x * columnFactor(s.table, int(index[k])) / norm
		}
		if int(index[k]) < len(s.table.Features.Columns) && x != 0 {
			index[kept], value[kept] = index[k], x
			kept++
		}
	}
	b.index, b.value = b.index[:begin+kept], b.value[:begin+kept]
}

func sumSquaresOfEntries(t *Table, index []int32, value []float64) (squares float64) {
	for k, x := range value {
		if x-x == 0 {
			x *= columnFactor(t, int(index[k]))
			squares += x * x
		}
	}
	return squares
}
