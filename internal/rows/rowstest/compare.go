package rowstest

import "math"

// Distance is the largest difference of a and b as a share of the largest value of b; NaN
// if the lengths differ.
func Distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	off, size := 0.0, 0.0
	for i, v := range b {
		off, size = max(off, math.Abs(a[i]-v)), max(size, math.Abs(v))
	}
	if off == 0 {
		return 0
	}
	return off / size
}
