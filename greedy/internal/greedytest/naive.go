package greedytest

import (
	"math"
	"slices"
)

// NaiveResult is a selection by the paper's definition: explicit residuals by projection on an orthonormal basis of the
// chosen columns (Gram-Schmidt twice), all f and g from scratch every turn, no recursion.
type NaiveResult struct {
	Order []int
	Score []float64
	Error []float64
	Gap   float64 // smallest (best − runner-up)/best
}

// SelectNaively selects k columns of x, which reconstruct x, or the sums of its groups if groups is not nil.
func SelectNaively(x Matrix, groups []int, k int) NaiveResult {
	return SelectNaivelyAmong(x, groups, k, nil)
}

// Limits of exhausted features and of ties, equal to the engine's.
const (
	exhausted = 1e-8
	tied      = 1e-9
)

// LastElement returns the last element of x.
func LastElement[T any](x []T) T { return x[len(x)-1] }

// SelectNaivelyAmong selects as SelectNaively does, but never the columns in out. They are still to be explained.
func SelectNaivelyAmong(x Matrix, groups []int, k int, out []bool) NaiveResult {
	e := x.Clone() // X − P_S X
	b := x.Clone() // B − P_S B
	if groups != nil {
		b = NewMatrix(x.N, slices.Max(groups)+1)
		for i, j := range groups {
			for r, v := range x.Col[i] {
				b.Col[j][r] += v
			}
		}
	}
	start := make([]float64, x.D)
	total := 0.0
	for i, col := range e.Col {
		start[i] = DotProduct(col, col)
		total += start[i]
	}
	result := NaiveResult{Gap: 1}
	chosen := make([]bool, x.D)
	var basis [][]float64
	for len(result.Order) < k {
		best, second, at := -1.0, -1.0, -1
		for i, col := range e.Col {
			g := DotProduct(col, col)
			if chosen[i] || out != nil && out[i] || g <= exhausted*start[i] {
				continue
			}
			f := 0.0
			for _, target := range b.Col {
				f += math.Pow(DotProduct(target, col), 2)
			}
			if f/g > best*(1+tied) {
				best, second, at = f/g, best, i
			} else {
				second = max(second, f/g)
			}
		}
		if at < 0 {
			break
		}
		if second >= 0 {
			result.Gap = min(result.Gap, (best-second)/best)
		}
		chosen[at] = true
		result.Order, result.Score = append(result.Order, at), append(result.Score, best)
		q := append([]float64(nil), x.Col[at]...)
		for range 2 {
			for _, v := range basis {
				SubtractMultiple(q, DotProduct(q, v), v)
			}
		}
		norm := math.Sqrt(DotProduct(q, q))
		for i := range q {
			q[i] /= norm
		}
		basis = append(basis, q)
		e.ProjectOut(q)
		b.ProjectOut(q)
		left := 0.0
		for _, col := range e.Col {
			left += DotProduct(col, col)
		}
		result.Error = append(result.Error, left/total)
	}
	return result
}

// ProjectOut takes the direction of q out of all columns, twice for its rounding.
func (x Matrix) ProjectOut(q []float64) {
	q = slices.Clone(q) // it may be one of them
	for _, col := range x.Col {
		for range 2 {
			SubtractMultiple(col, DotProduct(col, q)/DotProduct(q, q), q)
		}
	}
}

// SubtractMultiple subtracts a·v from x.
func SubtractMultiple(x []float64, a float64, v []float64) {
	for i := range x {
		x[i] -= a * v[i]
	}
}
