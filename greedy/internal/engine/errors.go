package engine

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrBadEntry returns the error for a matrix whose entry x at (i, j) is not finite.
func ErrBadEntry(matrix string, i, j int, x float64) error {
	return stream.Dataf("", "entry (%d, %d) of %s is %v", i, j, matrix, x)
}
