package cpufs

import "github.com/ufs-stream/ufs-stream/internal/rows/rowstest"

// serve makes a source of rows in blocks.
func serve(x [][]float64, block int) *rowstest.Source {
	return &rowstest.Source{N: len(x), D: len(x[0]), Heights: []int{block}, At: func(i, j int) float64 { return x[i][j] }}
}
