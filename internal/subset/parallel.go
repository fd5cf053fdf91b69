package subset

import (
	"gonum.org/v1/gonum/mathext"
)

// null is the law of what one column explains of columns that have nothing to do with each
// other, of given lengths.
//
// Column i explains itself and, of every other column j, the share cos²ᵢⱼ:
//
//	fᵢ/gᵢ = gᵢ + Σ_{j≠i} gⱼ·cos²ᵢⱼ
//
// Given column i, the cosines are independent. We take their sum for a Gamma variable of the
// same mean and variance.
type null struct {
	squares      []float64 // gⱼ = ‖xⱼ‖²
	sum, sum2    float64   // of squares, and of their squares
	mean, spread float64   // of cos²: mean and variance
}

// newNull is the null of columns in a space of so many dimensions.
func newNull(squares []float64, dims float64) *null {
	n := &null{squares: squares, mean: 1 / dims, spread: 2 * (dims - 1) / (dims * dims * (dims + 2))}
	for _, g := range squares {
		n.sum += g
		n.sum2 += g * g
	}
	return n
}

// above is the expected number of columns that explain more than x by themselves.
func (n *null) above(x float64) (count float64) {
	for _, g := range n.squares {
		if g <= 0 {
			continue
		}
		mean, variance := (n.sum-g)*n.mean, max(n.sum2-g*g, 0)*n.spread
		switch y := x - g; {
		case y <= 0:
			count++
		case mean > 0 && variance > 0:
			count += mathext.GammaIncRegComp(mean*mean/variance, y*mean/variance)
		case mean > y:
			count++
		}
	}
	return count
}

// chance is the probability that the t-th largest of the columns' gains exceeds x, counted
// from 1: the number of larger ones is taken for a Poisson variable.
func (n *null) chance(x float64, t int) float64 {
	if rate := n.above(x); rate > 0 {
		return mathext.GammaIncReg(float64(t), rate) // P(Poisson(rate) ≥ t)
	}
	return 0
}
