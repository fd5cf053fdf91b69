package rowstest

import "math/rand/v2"

// RingRows returns X, n rows of d features around m anchors, and Z, their n×m weights on the anchors. The anchors form
// a ring, and each row has weights on three adjacent anchors, so that the graph is connected but not complete.
func RingRows(seed uint64, n, m, d int) (x, z [][]float64) {
	r := rand.New(rand.NewPCG(seed, 5))
	anchors := ZeroRows(m, d)
	for a := range m {
		for j := range d {
			anchors[a][j] = r.NormFloat64()
		}
	}
	x, z = ZeroRows(n, d), ZeroRows(n, m)
	for i := range n {
		total := 0.0
		for range 3 {
			w := 0.1 + r.Float64()
			z[i][(i+r.IntN(3))%m] += w
			total += w
		}
		for a := range m {
			z[i][a] /= total
			for j := range d {
				x[i][j] += z[i][a] * anchors[a][j]
			}
		}
		for j := range d {
			x[i][j] += 0.2 * r.NormFloat64()
		}
	}
	return x, z
}

// InvertMatrix inverts a by Gaussian elimination with the largest pivot.
func InvertMatrix(a [][]float64) [][]float64 {
	n := len(a)
	b := ZeroRows(n, 2*n)
	for i := range n {
		copy(b[i], a[i])
		b[i][n+i] = 1
	}
	for c := range n {
		pivot := c
		for r := c; r < n; r++ {
			if b[r][c]*b[r][c] > b[pivot][c]*b[pivot][c] {
				pivot = r
			}
		}
		b[c], b[pivot] = b[pivot], b[c]
		for r := range n {
			if f := b[r][c] / b[c][c]; r != c {
				for j := range b[r] {
					b[r][j] -= f * b[c][j]
				}
			}
		}
	}
	out := ZeroRows(n, n)
	for i := range n {
		for j := range n {
			out[i][j] = b[i][n+j] / b[i][i]
		}
	}
	return out
}
