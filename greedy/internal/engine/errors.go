package engine

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrBadEntry refuses a matrix because of its entry x at (i, j).
func ErrBadEntry(matrix string, i, j int, x float64) error {
	return stream.Dataf("", "entry (%d, %d) of %s is %v", i, j, matrix, x)
}
