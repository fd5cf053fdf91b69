package subset

import (
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// nullModel is the distribution of greedy's gain fᵢ/gᵢ if columns are unrelated. The gain is the part of the sum of
// squares of all columns that column i explains.
//
// A column explains itself and, of every other column j, a share that is the squared cosine cos²ᵢⱼ of the two columns:
//
//	fᵢ/gᵢ = gᵢ + Σ_{j≠i} gⱼ·cos²ᵢⱼ
//
// For a given column i, the cosines are independent. Their weighted sum is approximated by a Gamma variable of equal
// moments.
type nullModel struct {
	squares []float64 // gⱼ = ‖xⱼ‖², largest first
	groups  []group   // the same squares; each group joins squares that are about equal
	dims    float64
}

// group represents count columns whose sums of squares are about equal. square is the mean of these.
type group struct{ square, count float64 }

// Columns whose squares differ by less than alikeTolerance form a group. If there are more than maxGroups groups,
// neighbouring groups are joined, and the new group gets the mean of their squares.
const (
	alikeTolerance = 1e-6
	maxGroups      = 512
)

func newNullModel(squares []float64, dims float64) *nullModel {
	n := &nullModel{squares: slices.Clone(squares), dims: dims}
	slices.Sort(n.squares)
	slices.Reverse(n.squares)
	least := 1
	for {
		n.groups = n.groups[:0]
		for i := 0; i < len(n.squares); {
			j := i + 1
			for j < len(n.squares) && (j-i < least || n.squares[i]-n.squares[j] <= alikeTolerance*n.squares[i]) {
				j++
			}
			n.groups = append(n.groups, group{sum(n.squares[i:j]) / float64(j-i), float64(j - i)})
			i = j
		}
		if len(n.groups) <= maxGroups {
			return n
		}
		least *= 2
	}
}

// depletedModel is the nullModel after the t columns with the largest sums of squares are taken. Each taken column
// removes one dimension from the space of the columns. Every other column loses its part in this dimension.
type depletedModel struct {
	groups               []group
	leftShare            float64 // share of the square of each column that remains
	sum, sumOfSquares    float64 // sum of the remaining squares gⱼ, and sum of gⱼ²
	cosMean, cosVariance float64 // mean and variance of the squared cosine of two columns
}

func (n *nullModel) modelWithoutLongest(t int) *depletedModel {
	dims := max(n.dims-float64(t), 1)
	u := &depletedModel{groups: n.groups, leftShare: max(1-float64(t)/n.dims, 0), cosMean: 1 / dims, cosVariance: 2 * (dims - 1) / (dims * dims * (dims + 2))}
	for _, g := range n.squares[min(t, len(n.squares)):] {
		g *= u.leftShare
		u.sum += g
		u.sumOfSquares += g * g
	}
	return u
}

// expectedAbove returns the expected number of columns that each explain more than x, including taken columns.
func (u *depletedModel) expectedAbove(x float64) (count float64) {
	for _, alike := range u.groups {
		g := alike.square * u.leftShare
		if g <= 0 {
			continue
		}
		mean, variance := max(u.sum-g, 0)*u.cosMean, max(u.sumOfSquares-g*g, 0)*u.cosVariance
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

// exceedProbability returns the probability that the gain of greedy's next column exceeds x after t columns are taken.
// This is the probability that the (t+1)-th largest of the columns' gains exceeds x. The number of gains above x is
// approximated by a Poisson variable.
func (n *nullModel) exceedProbability(x float64, t int) float64 {
	if rate := n.modelWithoutLongest(t).expectedAbove(x); rate > 0 {
		return mathext.GammaIncReg(float64(t+1), rate) // P(Poisson(rate) ≥ t+1)
	}
	return 0
}
