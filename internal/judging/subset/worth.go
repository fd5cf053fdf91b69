package subset

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/ufs-stream/ufs-stream/stream"
)

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

// levelWithCount searches the x between lo and hi for which [depletedModel.expectedAbove] returns count.
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
