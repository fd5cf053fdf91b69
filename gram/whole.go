package gram

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// wholeNumbers is the current strip as small whole numbers, for the columns that hold small whole numbers. Pixels,
// counts, flags and codes are whole numbers in any file type, and so are their differences from a pilot. Their
// products are summed as integers, exactly. float64 sums of such products are exact too and have the same bits, so
// each strip and column may use either way.
type wholeNumbers struct {
	numbers []int16 // d columns of stripRows, filled for small columns
	isSmall []bool  // by column
	isZero  []bool  // by column: all values are 0, and so have no effect
	index   []int   // the small columns, then the others
	rows    []float64
	product []float64
}

// wideRows is the number of columns that are not small and are multiplied at a time.
const wideRows = 32

func newWholeNumbers(d int) wholeNumbers {
	return wholeNumbers{
		numbers: make([]int16, d*stripRows), isSmall: make([]bool, d), isZero: make([]bool, d), index: make([]int, 0, d),
		rows: make([]float64, min(wideRows, d)*stripRows), product: make([]float64, min(wideRows, d)*d),
	}
}

// wholeNumbersBytes returns the memory of wholeNumbers for d columns, including the packed panels of their product.
func wholeNumbersBytes(d int) int64 {
	n := int64(d)
	return (2*stripRows+10+8*wideRows)*n + 8*wideRows*stripRows + kernel.WholeBytes(d)
}

// noteColumn records column j of the strip. Several columns may be recorded at once.
func (w *wholeNumbers) noteColumn(j int, x []float64) {
	to := w.numbers[j*stripRows:][:stripRows]
	w.isSmall[j], w.isZero[j] = kernel.ToWholes(x, to[:len(x)])
	if len(x) < stripRows {
		to[len(x)] = 0 // numbers are multiplied in pairs
	}
}

// addSquares adds xt·xtᵀ to the upper triangle of g, xt being the columns of the strip. Small whole numbers are
// multiplied as integers, without columns of 0; then each other column is multiplied by all columns. If more than a
// third of the columns are not small, float64 alone is as fast.
func (w *wholeNumbers) addSquares(team *kernel.Team, xt, g kernel.Matrix[float64]) {
	d := xt.Rows
	w.index = w.index[:0]
	zeros := 0
	for j, small := range w.isSmall {
		switch {
		case w.isZero[j]:
			zeros++
		case small:
			// Move a small column to the front if columns that are not small precede it.
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
	for others := w.index[n:]; len(others) > 0; others = others[min(wideRows, len(others)):] {
		w.addOthers(team, others[:min(wideRows, len(others))], xt, g)
	}
}

// addOthers adds the products of the listed columns, which are not small, with all columns. The product of two such
// columns is added with the first of the two.
func (w *wholeNumbers) addOthers(team *kernel.Team, others []int, xt, g kernel.Matrix[float64]) {
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
