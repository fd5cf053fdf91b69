// Package elbow finds the elbow of a curve.
package elbow

import "math"

// FindElbow returns the index of the elbow of a curve, x being ascending. Both axes are first scaled to [0, 1], and a
// rising curve is turned upside down. The elbow is the point furthest below the chord from the first point to the last
// (Satopää et al. 2011). Before this point the curve falls more steeply than the chord, and after it less steeply. If
// several points are equally far below, the first is returned. The result is -1 for fewer than three points, for NaN or
// infinities, and for a curve that is nowhere below its chord.
//
// The elbow depends on the range of x: if more points are added to a curve, it may have another elbow.
func FindElbow(x, y []float64) int {
	n := min(len(x), len(y))
	if n < 3 {
		return -1
	}
	width, fall := x[n-1]-x[0], y[0]-y[n-1]
	if !(width > 0) || fall == 0 || math.IsInf(width, 0) || math.IsNaN(fall) || math.IsInf(fall, 0) {
		return -1
	}
	// Ignore distances within rounding error.
	best, depth := -1, 1e-9
	for i := range n {
		// With both axes scaled, the chord is the line from (0, 1) to (1, 0).
		if d := (y[0]-y[i])/fall - (x[i]-x[0])/width; d > depth {
			best, depth = i, d
		}
	}
	return best
}
