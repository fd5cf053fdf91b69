package subset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/stream"
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
	n := layOutNullModel(nil, len(squares))
	n.dims = dims
	copy(n.squares, squares)
	slices.Sort(n.squares)
	slices.Reverse(n.squares)
	least := 1
	for {
		n.groups = n.groups[:0]
		for i := 0; i < len(n.squares) && len(n.groups) <= maxGroups; {
			j := i + 1
			for j < len(n.squares) && (j-i < least || n.squares[i]-n.squares[j] <= alikeTolerance*n.squares[i]) {
				j++
			}
			n.groups = append(n.groups, group{sumValues(n.squares[i:j]) / float64(j-i), float64(j - i)})
			i = j
		}
		if len(n.groups) <= maxGroups {
			return n
		}
		least *= 2
	}
}

func layOutNullModel(l *room.Layout, d int) *nullModel {
	return &nullModel{squares: room.Slice[float64](l, d), groups: room.Slice[group](l, min(d, maxGroups+1))[:0]}
}

// depletedModel is the nullModel after the t columns with the largest sums of squares are taken. Each taken column
// removes one dimension from the space of the columns. Every other column loses its part in this dimension.
type depletedModel struct {
	groups               []group
	leftShare            float64 // share of the square of each column that remains
	sum, sumOfSquares    float64 // sum of the remaining squares gⱼ, and sum of gⱼ²
	cosMean, cosVariance float64 // mean and variance of the squared cosine of two columns
}

func (n *nullModel) modelWithoutLongest(takenColumns int) *depletedModel {
	dims := max(n.dims-float64(takenColumns), 1)
	u := &depletedModel{groups: n.groups, leftShare: max(1-float64(takenColumns)/n.dims, 0), cosMean: 1 / dims, cosVariance: 2 * (dims - 1) / (dims * dims * (dims + 2))}
	for _, g := range n.squares[min(takenColumns, len(n.squares)):] {
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

// Appraise decides for every chosen column whether it added more than noise when it was chosen. As in parallel
// analysis, it compares the gain of the column with the gain of the best of permuted columns after as many columns.
// Columns that the user gave (Keep) are never called noise. All shares are shares of the variance, which is the sum of
// squares of the centred columns.
//
// It costs d·k² flops for k chosen columns. It also computes one Gamma function for each chosen column and each group
// of columns whose sums of squares are about equal, and about 20 for the first column that adds no more than noise. It
// needs the memory given by [CurveBytes].
func Appraise(c Choice) *stream.Worth {
	curve := newCurve(c.Matrix, len(c.Chosen), c.Threads, c.Mean, c.Weight)
	for _, p := range c.Chosen {
		curve.TakeColumn(p)
	}
	dims := float64(max(c.Rows-1, 1))
	lengths := newNullModel(curve.squares, dims)
	w := &stream.Worth{Explained: stream.Number(curve.ExplainedShare()), Most: stream.Number(math.NaN()), Noise: stream.Number(math.NaN())}
	for t := c.Keep; t < len(c.Chosen); t++ {
		gain := curve.Gain(t)
		if gain > dependentShare*curve.Total && lengths.exceedProbability(gain, t) <= significance {
			w.Last = 0
			continue
		}
		if w.Faint == 0 {
			w.Most, w.Noise = 0, stream.Number(lengths.noiseGain(t)/curve.Total)
		}
		w.Faint++
		w.Last++
		w.Most = max(w.Most, stream.Number(gain/curve.Total))
	}
	return w
}

// MaxAppraised returns the largest number of chosen columns, out of d, for which a choice is appraised by default. This
// is the result of [MaxFeatures], or the largest number for which [Appraise] costs at most 1 GFLOP if that is larger.
func MaxAppraised(d int) int {
	return min(d, max(MaxFeatures(d), int(math.Sqrt(1e9/float64(max(d, 1))))))
}

// Gain returns by how much the column taken as number t, counted from 0, reduced the residual in [Curve.Left].
func (c *Curve) Gain(t int) float64 {
	if t == 0 {
		return c.Total - c.Left[0]
	}
	return c.Left[t-1] - c.Left[t]
}

// noiseGain returns the gain that the best permuted column exceeds with probability 5 % after t columns are taken.
func (n *nullModel) noiseGain(t int) float64 {
	u := n.modelWithoutLongest(t)
	rate := mathext.GammaIncRegInv(float64(t+1), significance) // P(Poisson(rate) ≥ t+1) = 5 %
	return u.levelWithCount(rate, 0, n.squares[0]*u.leftShare+u.sum)
}

func (u *depletedModel) levelWithCount(count, lo, hi float64) float64 {
	for hi-lo > 1e-4*hi {
		if middle := (lo + hi) / 2; u.expectedAbove(middle) > count {
			lo = middle
		} else {
			hi = middle
		}
	}
	return (lo + hi) / 2
}
