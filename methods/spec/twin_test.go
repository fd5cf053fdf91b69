package spec

import (
	"math"
	"math/rand/v2"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
)

// sample draws n rows of d features around the m−1 anchors that they use, in so many
// unconnected parts; the last anchor stays unused. Feature 1 repeats feature 0.
func sample(seed uint64, n, d, m, parts int) (x, z [][]float64) {
	rnd := rand.New(rand.NewPCG(seed, 15))
	x, z = rowstest.ZeroRows(n, d), rowstest.ZeroRows(n, m)
	size := (m - 1) / parts
	for i := range n {
		first, total := i%parts*size, 0.0
		for e := range 3 {
			a := first + (i/parts+e*(1+i%2))%size
			w := 0.1 + rnd.Float64()
			z[i][a] += w
			total += w
		}
		for a := range m {
			z[i][a] /= total
			for j := range d {
				x[i][j] += z[i][a] * math.Sin(float64((a+1)*(j+2)))
			}
		}
		for j := range d {
			x[i][j] += 0.3*rnd.NormFloat64() + float64(j%3)
		}
		if d > 1 {
			x[i][1] = x[i][0]
		}
	}
	return x, z
}

// means are the means of the columns.
func means(x [][]float64) []float64 {
	mean := make([]float64, len(x[0]))
	for _, row := range x {
		for j, v := range row {
			mean[j] += v / float64(len(x))
		}
	}
	return mean
}

// dense is the paper on the n×n affinity A = BBᵀ of the rows: W = A, D = I, features as they
// are, all n eigenpairs of L.
func dense(x [][]float64, values []float64, vectors [][]float64, score Score, power, k int) []float64 {
	gamma := func(lambda float64) float64 { return math.Pow(max(lambda, 0), float64(power)) }
	n, d := len(x), len(x[0])
	scores := make([]float64, d)
	for j := range d {
		square := 0.0
		for i := range n {
			square += x[i][j] * x[i][j]
		}
		// The constant vector, which a graph of several parts does not tell from others of the
		// eigenvalue 0.
		constant := means(x)[j] * math.Sqrt(float64(n)/square)
		phi1 := 0.0
		for p, lambda := range values {
			alpha := 0.0
			for i := range n {
				alpha += x[i][j] / math.Sqrt(square) * vectors[i][p]
			}
			phi1 += gamma(lambda) * alpha * alpha
			if score == Phi3 && p > 0 && p < k {
				scores[j] += (gamma(2) - gamma(lambda)) * alpha * alpha
			}
		}
		switch score {
		case Phi1:
			scores[j] = phi1
		case Phi2:
			scores[j] = phi1 / (1 - constant*constant)
		}
	}
	return scores
}
