package kernel

import "sync"

// Gemv adds A·x to y. A is m×n row-major. It costs 2·m·n flops and reads A once. workers is the
// number of goroutines, as for [Each].
func Gemv(workers, m, n int, a []float64, lda int, x, y []float64) {
	const rows = 64
	if n == 0 {
		return
	}
	Each(workers, panelCount(m, rows), func(t int) {
		for i := t * rows; i < min(m, (t+1)*rows); i++ {
			y[i] += Dot(a[i*lda:i*lda+n], x[:n])
		}
	})
}

// MirrorUpper copies the upper triangle of the square row-major matrix a to the lower triangle. It copies square
// blocks, so that both sides stay in cache. workers is the number of goroutines, as for [Each].
func MirrorUpper(workers int, a Matrix[float64]) {
	const block = 64
	n, ld := a.Rows, a.RowStride
	Each(workers, panelCount(n, block), func(t int) {
		first, end := t*block, min(n, (t+1)*block)
		for left := 0; left <= first; left += block {
			for i := first; i < end; i++ {
				for j := left; j < min(left+block, i); j++ {
					a.Data[i*ld+j] = a.Data[j*ld+i]
				}
			}
		}
	})
}

// columnEnds saves an allocation in each ShiftColumn, a third of its time: arguments of isa.shiftColumn escape.
var columnEnds = sync.Pool{New: func() any { return new([8]float64) }}

// ShiftColumn writes x − by to dst. It returns the smallest value of lo and x, and the largest value of hi and x, both
// ignoring NaN. next is a column that the caller will pass soon, which is prefetched, or x again.
func ShiftColumn(dst, x []float64, by, lo, hi float64, next []float64) (least, most float64) {
	dst = dst[:len(x)]
	whole := 0
	if best.shiftColumn != nil && len(x) >= 16 && len(next) >= len(x) {
		ends := columnEnds.Get().(*[8]float64)
		*ends = [8]float64{lo, lo, lo, lo, hi, hi, hi, hi}
		best.shiftColumn(len(x)/16, &dst[0], &x[0], by, &next[0], ends)
		for i := range 4 {
			lo, hi = smallerOf(lo, ends[i]), largerOf(hi, ends[4+i])
		}
		columnEnds.Put(ends)
		whole = len(x) / 16 * 16
	}
	for i, v := range x[whole:] {
		dst[whole+i] = v - by
		lo, hi = smallerOf(lo, v), largerOf(hi, v)
	}
	return lo, hi
}

// Standardize writes (x − shift)·factor to dst, and missing for each NaN in x. dst may be x. next is a column that the
// caller will pass soon, which is prefetched, or x again.
func Standardize(dst, x []float64, shift, factor, missing float64, next []float64) {
	dst = dst[:len(x)]
	whole := 0
	if best.standardize != nil && len(x) >= 16 && len(next) >= len(x) {
		best.standardize(len(x)/16, &dst[0], &x[0], shift, factor, missing, &next[0])
		whole = len(x) / 16 * 16
	}
	for i, v := range x[whole:] {
		if v != v {
			dst[whole+i] = missing
		} else {
			dst[whole+i] = float64((v - shift) * factor)
		}
	}
}

// smallerOf returns v if v < lo, otherwise lo. If lo is the minimum of many rows, the processor can predict the branch.
func smallerOf(lo, v float64) float64 {
	if v < lo {
		return v
	}
	return lo
}

func largerOf(hi, v float64) float64 {
	if v > hi {
		return v
	}
	return hi
}

// Dot returns Σ x[i]·y[i]. y must be as long as x.
func Dot(x, y []float64) float64 { return best.dot(x, y) }

// Axpy adds alpha·x to y, which must be as long as x.
func Axpy(alpha float64, x, y []float64) { best.axpy(alpha, x, y) }

// SquaresBlock is the number by which the length of vectors for [SquaredDistances] must be divisible.
const SquaresBlock = squaresBlock

// SquaredDistances returns ‖x − y‖² and ‖x − z‖² with the same bits as [Nearest]. The vectors must be padded with zeros
// to a multiple of SquaresBlock.
func SquaredDistances(x, y, z []float64) (xy, xz float64) {
	if len(x)%squaresBlock != 0 || len(y) < len(x) || len(z) < len(x) {
		panic("kernel: Squares of vectors that are not whole blocks")
	}
	return best.squaredDistances(len(x)/squaresBlock, x, y, z, y, z)
}
