package pipeline

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/chunkio/internal/format"
)

// Rows are scaled by Options.RowScale once, after missing values were settled and dropped rows were removed. So all
// consumers of chunks see scaled rows, and the columns in Options.Keep remain as in the file. The squares of a row, or
// its values if it is scaled to a total, are added in the order of its columns, so that the sum depends neither on blocks
// nor on threads.

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

func divisorOfSum(t *Table, sum float64) float64 {
	switch total := t.Options.RowScale.Total; {
	case sum == 0:
		return 1 // a row of zeros stays one
	case total > 0:
		return sum / total
	}
	return math.Sqrt(sum)
}

func addendOfValue(t *Table, x float64) float64 {
	if t.Options.RowScale.Total > 0 {
		return x
	}
	return x * x
}

func scaleValue(t *Table, x, divisor float64) float64 {
	if x /= divisor; t.Options.RowScale.Log {
		return math.Log1p(x)
	}
	return x
}

func setNegativeFailure(s *span, row, col int, x float64) {
	err := fmt.Errorf("%v is negative, and rows are scaled to a total", x)
	s.setFailure(failure{
		row: s.start + int64(row), column: col,
		err: s.errAtRow(row, s.table.Features.ColumnName(col), "{rows-scale} cp10k is for counts; leave it out for values that are normalized or centred, or {exclude} the column", err),
	})
}

func isNegativeInTotal(t *Table, x float64) bool {
	return x < 0 && x-x == 0 && t.Options.RowScale.Total > 0
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
	if addSumsOfRows(s, s.norms, lo, hi); s.failure.err != nil {
		return
	}
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
			addSumsOfRows(s, s.norms[i:i+1], lo+i, lo+i+1)
		}
		s.norms[i] = divisorOfSum(s.table, s.norms[i])
	}
	for col := range s.table.Features.Columns {
		factor, values := columnFactor(s.table, col), s.valuesOfColumn(col)[lo:hi]
		for i, x := range values {
			if x-x == 0 { // missing values keep their bits
				values[i] = scaleValue(s.table, x*factor, s.norms[i])
			}
		}
	}
}

func addSumsOfRows(s *span, sums []float64, lo, hi int) {
	for col := range s.table.Features.ColumnCount() {
		factor := columnFactor(s.table, col)
		for i, x := range s.valuesOfColumn(col)[lo:hi] {
			if isNegativeInTotal(s.table, x) {
				setNegativeFailure(s, indexBeforeRemoval(s, lo+i), col, x)
				break
			}
			if x-x == 0 {
				sums[i] += addendOfValue(s.table, x*factor)
			}
		}
	}
}

func indexBeforeRemoval(s *span, row int) int {
	b := row / s.blockRows
	if lo, hi := s.blockBounds(b); s.remaining[b] < hi-lo {
		return int(s.positions[row] - s.start)
	}
	return row
}

// scaleSparseRow scales row i, whose entries begin at an index, and removes the entries of hidden columns. It returns
// false if it fails the span because of a negative value.
func scaleSparseRow(s *span, i, begin int) bool {
	b := &s.sparse
	index, value := b.index[begin:], b.value[begin:]
	for k, x := range value {
		if isNegativeInTotal(s.table, x) {
			setNegativeFailure(s, i, int(index[k]), x)
			return false
		}
	}
	sum := sumEntries(s.table, index, value)
	if !isPrecise(sum) {
		reduceRow(value)
		sum = sumEntries(s.table, index, value)
	}
	divisor, kept := divisorOfSum(s.table, sum), 0
	for k, x := range value {
		if x-x == 0 {
			x = scaleValue(s.table, x*columnFactor(s.table, int(index[k])), divisor)
		}
		if int(index[k]) < len(s.table.Features.Columns) && x != 0 {
			index[kept], value[kept] = index[k], x
			kept++
		}
	}
	b.index, b.value = b.index[:begin+kept], b.value[:begin+kept]
	return true
}

func sumEntries(t *Table, index []int32, value []float64) (sum float64) {
	for k, x := range value {
		if x-x == 0 {
			sum += addendOfValue(t, x*columnFactor(t, int(index[k])))
		}
	}
	return sum
}
