package judge

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

const (
	// nearestRows is the number of rows whose distances to all rows are computed at a time.
	nearestRows = 256
	// nearestTie is the share of two rows' squared lengths below which a difference of squared distances is considered
	// rounding error. It is the error of an inner product of some thousand numbers.
	nearestTie = 1e-12
)

// NearestAccuracy returns the leave-one-out accuracy of the nearest neighbour. This is the mean over the rows of x,
// n×k, of the chance that the nearest other row has the same class, if one of several equally near rows is drawn at
// random. Equal rows are common if columns are few and discrete, and files are often sorted by class, so that using the
// first of these rows would measure the order. The result is NaN for fewer than two rows.
//
// It costs 2·n²·k flops in kernel.Gemm, and needs a copy of x and nearestRows·n numbers.
func NearestAccuracy(team *kernel.Team, x kernel.Matrix[float64], classes []int32) float64 {
	n, k := x.Rows, x.Cols
	if n < 2 {
		return math.NaN()
	}
	// After the first row is subtracted, squares in columns with large means do not cancel. Whole numbers remain exact.
	data := make([]float64, n*k)
	kernel.Each(team.Threads(), k, func(j int) {
		from, to := x.Data[j*x.ColStride:][:n], data[j*n:][:n]
		for i, v := range from {
			to[i] = v - from[0]
		}
	})
	squares := make([]float64, n)
	for j := range k {
		for i, v := range data[j*n:][:n] {
			squares[i] += v * v
		}
	}
	rows := kernel.ColMajor(data, n, k, n)
	products := make([]float64, min(nearestRows, n)*n)
	right := make([]float64, n)
	for from := 0; from < n; from += nearestRows {
		to := min(from+nearestRows, n)
		clear(products)
		kernel.Gemm(team, 1, rows.Sub(from, 0, to-from, k), rows.Trans(), kernel.RowMajor(products[:(to-from)*n], to-from, n, n))
		kernel.Each(team.Threads(), to-from, func(r int) {
			right[from+r] = shareOfNearest(products[r*n:][:n], squares, classes, from+r)
		})
	}
	return sum(right) / float64(n)
}

// shareOfNearest returns the share of rows with the class of row i among the rows nearest to it, without row i itself.
func shareOfNearest(products, squares []float64, classes []int32, i int) float64 {
	nearest := math.Inf(1)
	for j, p := range products {
		if d := squares[i] + squares[j] - 2*p; j != i && d < nearest {
			nearest = d
		}
	}
	same, all := 0.0, 0.0
	for j, p := range products {
		if whole := squares[i] + squares[j]; j != i && whole-2*p <= nearest+nearestTie*whole {
			all++
			if classes[j] == classes[i] {
				same++
			}
		}
	}
	return same / all
}
