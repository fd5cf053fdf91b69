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
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s [4]float64
	for len(x) >= 4 {
		s[0] += x[0] * y[0]
		s[1] += x[1] * y[1]
		s[2] += x[2] * y[2]
		s[3] += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s[i] += v * y[i]
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

// Axpy adds alpha·x to y, which is as long as x.
func Axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}
