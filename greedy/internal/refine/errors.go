package refine

import (
	"github.com/ufs-stream/ufs-stream/stream"
)

// ErrNeedsGram returns the error for exchanges among d features whose Gram matrix is not in memory.
func ErrNeedsGram(d int) error {
	return stream.Usagef("{refine} swap works on the Gram matrix, and that of %d features does not fit: raise {memory-limit}, or leave {refine} out", d)
}

// ErrWithSketch returns the error for exchanges of features if a sketch selects them.
func ErrWithSketch() error {
	return stream.Usagef("{refine} swap works on the exact Gram matrix; leave it or {sketch} out")
}
