package kernel

// Gemv adds A·x to y; a is m×n row-major. Costs 2·m·n flops and one reading of a; workers
// as in [Each].
func Gemv(workers, m, n int, a []float64, lda int, x, y []float64) {
	const rows = 64
	if n == 0 {
		return
	}
	Each(workers, panels(m, rows), func(t int) {
		for i := t * rows; i < min(m, (t+1)*rows); i++ {
			y[i] += Dot(a[i*lda:i*lda+n], x[:n])
		}
	})
}

// Mirror copies the upper triangle of the square row-major matrix a to the lower, in
// square blocks so that both sides stay in cache; workers as in [Each].
func Mirror(workers int, a Matrix[float64]) {
	const block = 64
	n, ld := a.Rows, a.RowStride
	Each(workers, panels(n, block), func(t int) {
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

// Dot returns Σ x[i]·y[i]; y is as long as x.
func Dot(x, y []float64) float64 { return best.dot(x, y) }

// Axpy adds alpha·x to y, which is as long as x.
func Axpy(alpha float64, x, y []float64) { best.axpy(alpha, x, y) }
