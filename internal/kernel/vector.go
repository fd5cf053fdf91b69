package kernel

// Gemv adds A·x to y; a is m×n row-major, and for a symmetric matrix stored in full
// this is Symv. Costs 2·m·n flops and one reading of a; workers as in [Each].
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

// Dot returns Σ x[i]·y[i]; y is as long as x.
func Dot(x, y []float64) float64 { return best.dot(x, y) }

// Axpy adds alpha·x to y, which is as long as x.
func Axpy(alpha float64, x, y []float64) { best.axpy(alpha, x, y) }
