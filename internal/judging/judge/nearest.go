package judge

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	// nearestRows is the number of rows whose distances to all rows are computed at a time.
	nearestRows = 256
	// nearestTie is a share of the squared lengths of the rows. If two squared distances differ by less, the difference
	// is considered rounding error. An inner product of some thousand numbers has such an error.
	nearestTie = 1e-12
)

// NearestAccuracy returns the leave-one-out accuracy of the nearest neighbour. This is the share of the rows of x, n×k,
// whose nearest other row has the same class. If several rows are equally near to a row, the row counts as the share of
// these that have its class. Equal rows are common if columns are few and discrete. If only the first of equally near
// rows were used, the result would depend on the order of the file, which is often sorted by class. The result is NaN
// for fewer than two rows.
//
// It costs 2·n²·k flops in kernel.Gemm, and needs a copy of x and nearestRows·n numbers.
func NearestAccuracy(team *kernel.Team, x kernel.Matrix[float64], classes []int32) float64 {
	n, k := x.Rows, x.Cols
	if n < 2 {
		return math.NaN()
	}
	// Subtract the first row, so that the squares of columns with large means do not cancel. Integers remain exact.
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
	return sumValues(right) / float64(n)
}

// shareOfNearest returns the share of rows with the class of row i among the other rows that are nearest to row i.
// products contains the inner products of row i with all rows, and squares the squared norms of all rows.
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
