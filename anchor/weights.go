package anchor

import "math"

// weighRows turns the distances of the K+1 nearest anchors of each row into weights on the K nearest. It also moves the
// indices of these K anchors together. It returns the first row whose distances overflow, or -1.
func (w *scratch) weighRows(rows, k int) int {
	for i := range rows {
		distance := w.distance[i*(k+1):][:k+1]
		if !Weights(w.weight[i*k:][:k], distance) {
			return i
		}
		copy(w.index[i*k:][:k], w.index[i*(k+1):]) // overwrites only indices that have been read
	}
	return -1
}

// Weights writes the weights of a row on its K nearest anchors to z. distance has the squared distances of the K+1
// nearest, ascending:
//
//	z_j = (d_{K+1} − d_j) / (K·d_{K+1} − Σ_{i≤K} d_i)   // eq. (2.13)
//
// The weights sum to 1. The denominator is the sum of the numerators, so no digits cancel if distances are nearly
// equal. If all K+1 distances are equal, the formula gives 0/0, and each of the K anchors gets 1/K. An anchor at
// distance d_{K+1} has weight 0, and anchors at equal distances have equal weights. Weights reports whether the sum is
// finite.
func Weights(z, distance []float64) bool {
	k := len(z)
	sum := 0.0
	for j := range z {
		z[j] = distance[k] - distance[j]
		sum += z[j]
	}
	if sum == 0 {
		for j := range z {
			z[j] = 1 / float64(k)
		}
		return true
	}
	for j := range z {
		z[j] /= sum
	}
	return sum <= math.MaxFloat64 // neither Inf nor NaN
}
