package subset

import (
	"slices"

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
	squares []float64 // gⱼ = ‖xⱼ‖², largest first
	groups  []group   // the same, alike ones together
	dims    float64
}

// group is some columns of about the same length.
type group struct{ square, count float64 }

// Columns whose squares differ by less than alike are one group; past mostGroups of these,
// neighbours are joined, at their mean.
const (
	alike      = 1e-6
	mostGroups = 512
)

// newNull is the null of columns in a space of so many dimensions.
func newNull(squares []float64, dims float64) *null {
	n := &null{squares: slices.Clone(squares), dims: dims}
	slices.Sort(n.squares)
	slices.Reverse(n.squares)
	least := 1
	for {
		n.groups = n.groups[:0]
		for i := 0; i < len(n.squares); {
			j := i + 1
			for j < len(n.squares) && (j-i < least || n.squares[i]-n.squares[j] <= alike*n.squares[i]) {
				j++
			}
			n.groups = append(n.groups, group{sum(n.squares[i:j]) / float64(j-i), float64(j - i)})
			i = j
		}
		if len(n.groups) <= mostGroups {
			return n
		}
		least *= 2
	}
}

// turn is the null when t columns are taken, the longest: each takes one dimension, and of
// every other column the share that lies in it.
type turn struct {
	groups       []group
	left         float64 // share of each column's square that is left
	sum, sum2    float64 // of what is left, and of its squares
	mean, spread float64 // of cos²: mean and variance
}

func (n *null) after(t int) *turn {
	dims := max(n.dims-float64(t), 1)
	u := &turn{groups: n.groups, left: max(1-float64(t)/n.dims, 0), mean: 1 / dims, spread: 2 * (dims - 1) / (dims * dims * (dims + 2))}
	for _, g := range n.squares[min(t, len(n.squares)):] {
		g *= u.left
		u.sum += g
		u.sum2 += g * g
	}
	return u
}

// above is the expected number of columns that explain more than x by themselves: of those
// that have been taken too, which the count of the larger ones includes.
func (u *turn) above(x float64) (count float64) {
	for _, alike := range u.groups {
		g := alike.square * u.left
		if g <= 0 {
			continue
		}
		mean, variance := max(u.sum-g, 0)*u.mean, max(u.sum2-g*g, 0)*u.spread
		switch y := x - g; {
		case y <= 0:
			count += alike.count
		case mean > 0 && variance > 0:
			count += alike.count * mathext.GammaIncRegComp(mean*mean/variance, y*mean/variance)
		case mean > y:
			count += alike.count
		}
	}
	return count
}

// chance is the probability that greedy's gain at its turn, with t columns taken, exceeds x:
// that the (t+1)-th largest of the columns' gains does. The number of larger ones is taken for
// a Poisson variable.
func (n *null) chance(x float64, t int) float64 {
	if rate := n.after(t).above(x); rate > 0 {
		return mathext.GammaIncReg(float64(t+1), rate) // P(Poisson(rate) ≥ t+1)
	}
	return 0
}
