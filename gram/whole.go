package gram

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// wholes is the strip in work as small whole numbers, where it is: pixels, counts, flags and codes
// are, in whatever type a file has them, less a pilot that is one of them. Their products are summed
// as integers, exactly, which float64 does too, to the same bits: so each strip and column takes
// the way that is open to it.
type wholes struct {
	numbers []int16 // d columns of stripRows, those that are small made so
	small   []bool  // which of the columns are
	zero    []bool  // which of these are 0 throughout, and change nothing
	index   []int   // those that are, then those that are not
	rows    []float64
	product []float64
}

// wideRows is the number of other columns that are multiplied at a time.
const wideRows = 32

func newWholes(d int) wholes {
	return wholes{
		numbers: make([]int16, d*stripRows), small: make([]bool, d), zero: make([]bool, d), index: make([]int, 0, d),
		rows: make([]float64, min(wideRows, d)*stripRows), product: make([]float64, min(wideRows, d)*d),
	}
}

// wholesBytes is what wholes hold for d columns, with the packed panels of their product.
func wholesBytes(d int) int64 {
	n := int64(d)
	return (2*stripRows+10+8*wideRows)*n + 8*wideRows*stripRows + kernel.WholeBytes(d)
}

// narrow notes column j of the strip. Several may be noted at once.
func (w *wholes) narrow(j int, x []float64) {
	to := w.numbers[j*stripRows:][:stripRows]
	w.small[j], w.zero[j] = kernel.Wholes(x, to[:len(x)])
	if len(x) < stripRows {
		to[len(x)] = 0 // numbers are multiplied in pairs
	}
}

// addSquares adds xt·xtᵀ to the upper triangle of g, where xt are the strip's columns: those that are small whole
// numbers in integers, without those that are 0, and the others with all. Beyond a
// third of the columns float64 alone is as fast.
func (w *wholes) addSquares(team *kernel.Team, xt, g kernel.Matrix[float64]) {
	d := xt.Rows
	w.index = w.index[:0]
	zeros := 0
	for j, small := range w.small {
		switch {
		case w.zero[j]:
			zeros++
		case small:
			// Where others lie between, these move together.
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
	for j, small := range w.small {
		if !small {
			w.index = append(w.index, j)
		}
	}
	for others := w.index[n:]; len(others) > 0; others = others[min(wideRows, len(others)):] {
		w.addOthers(team, others[:min(wideRows, len(others))], xt, g)
	}
}

// addOthers adds the products of some columns that are not small whole numbers with all: of two such,
// at the first one's turn.
func (w *wholes) addOthers(team *kernel.Team, others []int, xt, g kernel.Matrix[float64]) {
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
			if w.small[l] {
				g.Data[l*d+j] += row[l]
			}
		}
		for l, v := range row[j:] {
			g.Data[j*d+j+l] += v
		}
	}
}
