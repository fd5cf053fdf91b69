package cluster

import "github.com/ufs-stream/ufs-stream/internal/numeric/kernel"

// Matrix is a view of Rows×Cols numbers: element (i, j) is Data[i*RowStride+j*ColStride]. Functions of this package
// panic if an element lies outside Data.
type Matrix struct {
	Data                 []float64
	Rows, Cols           int
	RowStride, ColStride int
}

type matrix = kernel.Matrix[float64]

// squaredDistance returns ‖x − y‖². It is faster than [kernel.Nearest], but may round differently.
func squaredDistance(x, y []float64) float64 {
	whole := len(x) / kernel.SquaresBlock * kernel.SquaresBlock
	sum, _ := kernel.SquaredDistances(x[:whole], y[:whole], y[:whole])
	for l := whole; l < len(x); l++ {
		v := x[l] - y[l]
		sum += float64(v * v) // float64 prevents a fused operation, which would round differently
	}
	return sum
}
