package hvg

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Cells of the regression are cut in two until they have at most cellShare·span·n points. Together they exceed the range
// of the points by margin on both sides.
const (
	cellShare = 0.2
	margin    = 0.005
)

// FitLoess returns the local regression of y on x at each x, as R's loess does by default. At a vertex it is the value of
// the polynomial of degree 2 that fits the floor(span·n) nearest points best, with weights (1 − u³)³ for the distance u as
// a share of the largest one (Cleveland, Robust locally weighted regression and smoothing scatterplots, JASA 74, 1979, with
// degree 2 and without the robust iterations). If these points determine only a polynomial of lower degree, this is
// fitted. Vertices are the ends of cells, each of which was cut at a median of its points; between them a cubic has the
// values and slopes of the regression at both ends (Cleveland and Grosse, Computational methods for local regression,
// Statistics and Computing 1, 1991). There are some 1/(cellShare·span) vertices, up to twice as many, and the cost is O(n·log n) and O(span·n) for each.
func FitLoess(x, y []float64, span float64, threads int) []float64 {
	n := len(x)
	if n == 0 {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	xs, ys := make([]float64, n), make([]float64, n)
	for i, j := range order {
		xs[i], ys[i] = x[j], y[j]
	}
	vertices := cutCells(xs, cellShare*span*float64(n))
	size := min(max(int(float64(n)*span+1e-5), 3), n)
	values, slopes := make([]float64, len(vertices)), make([]float64, len(vertices))
	kernel.Each(threads, len(vertices), func(v int) {
		values[v], slopes[v] = fitLocally(xs, ys, vertices[v], size)
	})
	fitted, v := make([]float64, n), 0
	for i, j := range order {
		for v+2 < len(vertices) && xs[i] > vertices[v+1] {
			v++
		}
		width := vertices[v+1] - vertices[v]
		t := (xs[i] - vertices[v]) / width
		s := 1 - t
		fitted[j] = s*s*((1+2*t)*values[v]+t*width*slopes[v]) + t*t*((1+2*s)*values[v+1]-s*width*slopes[v+1])
	}
	return fitted
}

// cutCells returns the ends of the cells of ascending points, in ascending order.
func cutCells(x []float64, mostPoints float64) []float64 {
	low, high := x[0], x[len(x)-1]
	more := margin * max(high-low, 1e-10*max(-low, high, low, -high)+1e-30)
	low, high = low-more, high+more
	ends := []float64{low, high}
	var cut func(from, to int, low, high float64) // points [from, to)
	cut = func(from, to int, low, high float64) {
		if to-from <= max(int(mostPoints), 1) {
			return
		}
		m := findCut(x, from, to)
		at := x[m]
		if at == low || at == high {
			return
		}
		ends = append(ends, at)
		cut(from, m+1, low, at)
		cut(m+1, to, at, high)
	}
	cut(0, len(x), low, high)
	slices.Sort(ends)
	return slices.Compact(ends)
}

// findCut returns the point after which to cut [from, to): the lower median, or the nearest point that differs from its
// successor. If all points are equal, it returns the lower median.
func findCut(x []float64, from, to int) int {
	middle := (from+to+1)/2 - 1
	for offset := 0; middle+offset < to-1 && middle+offset >= from; {
		if x[middle+offset] != x[middle+offset+1] {
			return middle + offset
		}
		if offset = -offset; offset >= 0 {
			offset++
		}
	}
	return middle
}

// leastShare is the share of the squares of a polynomial's values that must be left once polynomials of lower degree are
// subtracted. Below it the share is rounding error: sums of terms of magnitude 1 are exact to about 1e-15 of their size.
const leastShare = 1e-12

// fitLocally fits a polynomial to the size points that are nearest to centre, and returns its value and slope there. x
// ascends.
func fitLocally(x, y []float64, centre float64, size int) (value, slope float64) {
	first := sort.Search(len(x)-size, func(i int) bool { return x[i+size]-centre >= centre-x[i] })
	x, y = x[first:first+size], y[first:first+size]
	reach := max(centre-x[0], x[size-1]-centre)
	// s and t are the sums of w·uᵏ and of w·uᵏ·y for the distances u, with signs, as shares of the reach.
	var s [5]float64
	var t [3]float64
	for i, v := range y {
		u := (x[i] - centre) / reach
		a := max(u, -u)
		w := 1 - a*a*a
		w *= w * w
		wu := w * u
		wuu := wu * u
		s[0] += w
		s[1] += wu
		s[2] += wuu
		s[3] += wuu * u
		s[4] += wuu * u * u
		t[0] += w * v
		t[1] += wu * v
		t[2] += wuu * v
	}
	if !(s[0] > 0) { // all points are equally far, so that they have no weight
		return averageOf(y), 0
	}
	// The polynomials 1, p = u − a and q = u² − b − c·p are orthogonal with the weights w.
	a := s[1] / s[0]
	value = t[0] / s[0]
	pp := s[2] - a*s[1]
	if !(pp > leastShare*s[2]) {
		return value, 0
	}
	yp := t[1] - a*t[0]
	value, slope = value-yp/pp*a, yp/pp/reach
	b := s[2] / s[0]
	c := (s[3] - a*s[2]) / pp
	qq := s[4] - b*s[2] - c*c*pp
	if !(qq > leastShare*s[4]) {
		return value, slope
	}
	share := (t[2] - b*t[0] - c*yp) / qq
	return value + share*(c*a-b), slope - share*c/reach
}

func averageOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
