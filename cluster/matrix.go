package cluster

import "github.com/ufs-stream/ufs-stream/internal/kernel"

// Matrix is a view of Rows×Cols numbers: element (i, j) is Data[i*RowStride+j*ColStride].
// Functions of this package panic where an element lies outside Data.
type Matrix struct {
	Data                 []float64
	Rows, Cols           int
	RowStride, ColStride int
}

type matrix = kernel.Matrix[float64]
