package greedy

import (
	"math"
	"slices"
)

// The naive twin follows the paper's definition: explicit residuals by projection
// on an orthonormal basis of the chosen columns (Gram-Schmidt twice), all f and g
// from scratch every turn, no recursion.
type twin struct {
	order []int
	score []float64
	error []float64
	gap   float64 // smallest (best − runner-up)/best
}

// naive selects k columns of x; groups nil is Algorithm 1 with B = X.
func naive(x matrix, groups []int, k int) twin { return naiveAmong(x, groups, k, nil) }

// naiveAmong is naive where some columns are out: they are to be explained, and not to be chosen.
func naiveAmong(x matrix, groups []int, k int, out []bool) twin {
	e := x.clone() // X − P_S X
	b := x.clone() // B − P_S B
	if groups != nil {
		b = newMatrix(x.n, groupCount(groups))
		for i, j := range groups {
			for r, v := range x.col[i] {
				b.col[j][r] += v
			}
		}
	}
	start := make([]float64, x.d)
	total := 0.0
	for i, col := range e.col {
		start[i] = dot(col, col)
		total += start[i]
	}
	result := twin{gap: 1}
	chosen := make([]bool, x.d)
	var basis [][]float64
	for len(result.order) < k {
		best, second, at := -1.0, -1.0, -1
		for i, col := range e.col {
			g := dot(col, col)
			if chosen[i] || out != nil && out[i] || g <= exhaustedShare*start[i] {
				continue
			}
			f := 0.0
			for _, target := range b.col {
				f += math.Pow(dot(target, col), 2)
			}
			if f/g > best*(1+tieShare) {
				best, second, at = f/g, best, i
			} else {
				second = max(second, f/g)
			}
		}
		if at < 0 {
			break
		}
		if second >= 0 {
			result.gap = min(result.gap, (best-second)/best)
		}
		chosen[at] = true
		result.order, result.score = append(result.order, at), append(result.score, best)
		q := append([]float64(nil), x.col[at]...)
		for range 2 {
			for _, v := range basis {
				subtract(q, dot(q, v), v)
			}
		}
		norm := math.Sqrt(dot(q, q))
		for i := range q {
			q[i] /= norm
		}
		basis = append(basis, q)
		e.project(q)
		b.project(q)
		left := 0.0
		for _, col := range e.col {
			left += dot(col, col)
		}
		result.error = append(result.error, left/total)
	}
	return result
}

// project takes the direction of q out of all columns, twice for its rounding.
func (x matrix) project(q []float64) {
	q = slices.Clone(q) // it may be one of them
	for _, col := range x.col {
		for range 2 {
			subtract(col, dot(col, q)/dot(q, q), q)
		}
	}
}

func subtract(x []float64, a float64, v []float64) {
	for i := range x {
		x[i] -= a * v[i]
	}
}
