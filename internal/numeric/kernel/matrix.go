package kernel

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

// Float constrains the element type of matrices and products.
type Float interface{ float32 | float64 }

// Matrix is a view of a rows×cols matrix in a slice: element (i, j) is Data[i*RowStride+j*ColStride]. Packing can read
// any strides, and is fastest if one of them is 1. Making or transposing a view does not copy elements.
type Matrix[T Float] struct {
	Data                 []T
	Rows, Cols           int
	RowStride, ColStride int
}

// RowMajor returns a view of a rows×cols matrix that is stored row by row, with rows `stride` ≥ cols apart.
func RowMajor[T Float](data []T, rows, cols, stride int) Matrix[T] {
	return Matrix[T]{data, rows, cols, stride, 1}
}

// ColMajor returns a view of a rows×cols matrix that is stored column by column, with columns stride ≥ rows apart.
func ColMajor[T Float](data []T, rows, cols, stride int) Matrix[T] {
	return Matrix[T]{data, rows, cols, 1, stride}
}

// NewMatrix takes a rows×cols matrix of zeros from l, stored row by row without gaps.
func NewMatrix[T Float](l *room.Layout, rows, cols int) Matrix[T] {
	return RowMajor(room.Slice[T](l, rows*cols), rows, cols, cols)
}

// Trans returns the transposed view.
func (m Matrix[T]) Trans() Matrix[T] {
	return Matrix[T]{m.Data, m.Cols, m.Rows, m.ColStride, m.RowStride}
}

// Sub returns the view of rows×cols elements from (i, j) on.
func (m Matrix[T]) Sub(i, j, rows, cols int) Matrix[T] {
	if rows == 0 || cols == 0 {
		return Matrix[T]{nil, rows, cols, m.RowStride, m.ColStride}
	}
	return Matrix[T]{m.Data[i*m.RowStride+j*m.ColStride:], rows, cols, m.RowStride, m.ColStride}
}

// Copy copies src to dst, which must have the same shape. Each may have any layout.
func Copy[T Float](dst, src Matrix[T]) {
	if src.Cols == 0 {
		return
	}
	for i := range src.Rows {
		to, from := dst.Data[i*dst.RowStride:], src.Data[i*src.RowStride:]
		if step, next := dst.ColStride, src.ColStride; step == 1 && next == 1 {
			copy(to[:src.Cols], from)
		} else {
			for j := range src.Cols {
				to[j*step] = from[j*next]
			}
		}
	}
}

// checkBounds panics if the view exceeds its data, because assembly does not check indices.
func (m Matrix[T]) checkBounds(name string) {
	if m.Rows < 0 || m.Cols < 0 || m.RowStride < 0 || m.ColStride < 0 {
		panic(fmt.Sprintf("kernel: %s is %d×%d with strides %d, %d", name, m.Rows, m.Cols, m.RowStride, m.ColStride))
	}
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	// Compare quotients first: the sum of products of large strides could overflow, and pass the check by mistake.
	last := len(m.Data) - 1
	exceeds := func(count, stride int) bool { return stride > 0 && count-1 > last/stride }
	if last < 0 || exceeds(m.Rows, m.RowStride) || exceeds(m.Cols, m.ColStride) || (m.Rows-1)*m.RowStride+(m.Cols-1)*m.ColStride > last {
		panic(fmt.Sprintf("kernel: %s is %d×%d with strides %d, %d in %d values",
			name, m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data)))
	}
}
