package subset

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/ufs-stream/ufs-stream/stream"
)

// Appraise says what the chosen columns are worth beside noise: of each, whether it adds more,
// when it comes, than the best of permuted columns does with as many taken, as parallel analysis
// asks. Columns that were given (Keep) count as wanted. All shares are of the variance, the sum of
// squares of the centred columns.
//
// Costs d·k² flops and, for each column that adds no more, some 20 Gamma functions a group of
// columns of one length. It holds [CurveBytes].
func Appraise(c Choice) *stream.Worth {
	curve := newCurve(c.Matrix, len(c.Chosen), c.Threads, c.Mean, c.Weight)
	for _, p := range c.Chosen {
		curve.Take(p)
	}
	dims := float64(max(c.Rows-1, 1))
	lengths := newNull(curve.full, dims)
	w := &stream.Worth{Explained: stream.Number(curve.Explained()), Most: stream.Number(math.NaN()), Noise: stream.Number(math.NaN())}
	for t := c.Keep; t < len(c.Chosen); t++ {
		gain := curve.Gain(t)
		if gain > dependent*curve.Total && lengths.chance(gain, t) <= significance {
			w.Last = 0
			continue
		}
		if w.Faint == 0 {
			w.Most, w.Noise = 0, stream.Number(lengths.best(t)/curve.Total)
		}
		w.Faint++
		w.Last++
		w.Most = max(w.Most, stream.Number(gain/curve.Total))
	}
	return w
}

// Appraised is the largest choice of d columns that is worth the time of [Appraise]: what [Most] allows, or up
// to 1 GFLOP.
func Appraised(d int) int { return min(d, max(Most(d), int(math.Sqrt(1e9/float64(max(d, 1)))))) }

// Gain is what the t-th column of the order, from 0, took off ‖X − P_S X‖².
func (c *Curve) Gain(t int) float64 {
	if t == 0 {
		return c.Total - c.Left[0]
	}
	return c.Left[t-1] - c.Left[t]
}

// best is what noise adds at the turn with t columns taken: greedy's gain on permuted columns
// exceeds it with probability 5 %.
func (n *null) best(t int) float64 {
	u := n.after(t)
	rate := mathext.GammaIncRegInv(float64(t+1), significance) // P(Poisson(rate) ≥ t+1) = 5 %
	return u.level(rate, 0, n.squares[0]*u.left+u.sum)
}

// level is the x of which [turn.above] is so much, between two bounds.
func (u *turn) level(count, lo, hi float64) float64 {
	for hi-lo > 1e-4*hi {
		if at := (lo + hi) / 2; u.above(at) > count {
			lo = at
		} else {
			hi = at
		}
	}
	return (lo + hi) / 2
}
