package gram

import (
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// wholeNumbers contains the columns of the current strip that consist of small integers, as int16. Pixels, counts,
// flags and codes are integers in any file type, and so are their differences from a pilot. Products of such columns
// are summed as integers, which is exact. float64 sums of such products are exact too and have the same bits, so each
// strip and column may use either way.
type wholeNumbers struct {
	numbers []int16 // d columns of stripRows numbers, filled for columns with isSmall
	isSmall []bool  // for each column, whether it consists of small integers
	isZero  []bool  // for each column, whether all values are 0, so that its products are 0
	index   []int   // indices of the small columns, then of the other columns
	rows    []float64
	product []float64
}

// maxOtherColumns is the largest number of columns that are multiplied at a time if they do not consist of small
// integers.
const maxOtherColumns = 32

func (w *wholeNumbers) layOutNumbers(l *room.Layout, d int) {
	w.numbers, w.isSmall, w.isZero, w.index = room.Slice[int16](l, d*stripRows), room.Slice[bool](l, d), room.Slice[bool](l, d), room.Slice[int](l, d)
	others := min(maxOtherColumns, d)
	w.rows, w.product = room.Slice[float64](l, others*stripRows), room.Slice[float64](l, others*d)
	l.Add(kernel.WholeBytes(d)) // packed panels of the products
}

// storeColumnIfSmall stores column j of the strip if it is small. Several goroutines may call it for different columns.
func (w *wholeNumbers) storeColumnIfSmall(j int, x []float64) {
	to := w.numbers[j*stripRows:][:stripRows]
	w.isSmall[j], w.isZero[j] = kernel.ToWholes(x, to[:len(x)])
	if len(x) < stripRows {
		to[len(x)] = 0 // pad with 0, because numbers are multiplied in pairs
	}
}

// addSquares adds xt·xtᵀ to the upper triangle of g, xt being the columns of the strip. It multiplies columns of small
// integers as integers, and leaves out columns of 0. Then it multiplies each other column by all columns. If more than
// a third of the columns are not small, it uses float64 for all, which is as fast.
func (w *wholeNumbers) addSquares(team *kernel.Team, xt, g kernel.Matrix[float64]) {
	d := xt.Rows
	w.index = w.index[:0]
	zeros := 0
	for j, small := range w.isSmall {
		switch {
		case w.isZero[j]:
			zeros++
		case small:
			// Move a small column forward if columns that are not small precede it.
			if to := len(w.index); to < j {
				copy(w.numbers[to*stripRows:][:stripRows], w.numbers[j*stripRows:][:stripRows])
			}
			w.index = append(w.index, j)
		}
	}
	n := len(w.index)
	if 3*(d-zeros-n) > d {
		kernel.Syrk(team, 1, xt, g)
		return
	}
	at := w.index
	if n == d {
		at = nil
	}
	kernel.SyrkWhole(team, w.numbers, n, xt.Cols, stripRows, at, g)
	for j, small := range w.isSmall {
		if !small {
			w.index = append(w.index, j)
		}
	}
	for others := w.index[n:]; len(others) > 0; others = others[min(maxOtherColumns, len(others)):] {
		w.addProductsOfOthers(team, others[:min(maxOtherColumns, len(others))], xt, g)
	}
}

// addProductsOfOthers adds the products of the listed columns, which are not small, with all columns. The product of
// two listed columns is added only once, with the first of these columns.
func (w *wholeNumbers) addProductsOfOthers(team *kernel.Team, others []int, xt, g kernel.Matrix[float64]) {
	d, k := xt.Rows, xt.Cols
	rows, product := kernel.RowMajor(w.rows, len(others), k, k), kernel.RowMajor(w.product, len(others), d, d)
	for i, j := range others {
		copy(rows.Data[i*k:][:k], xt.Data[j*xt.RowStride:])
	}
	clear(product.Data[:len(others)*d])
	kernel.Gemm(team, 1, rows, xt.Trans(), product)
	for i, j := range others {
		row := product.Data[i*d:][:d]
		for l := range j {
			if w.isSmall[l] {
				g.Data[l*d+j] += row[l]
			}
		}
		for l, v := range row[j:] {
			g.Data[j*d+j+l] += v
		}
	}
}
