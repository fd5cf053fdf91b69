package greedy

import "math"

const (
	// A feature is exhausted, and no longer chosen, once its sum of squares g is at most exhaustedShare of its initial
	// value. Its g is then a difference of numbers 1e8 times as large, and f/g would compare rounding errors.
	exhaustedShare = 1e-8
	// targetNoiseShare is the share of f⁰, the initial f, up to which f counts as rounding error unless H = G. On ORL with
	// one group of features, f/f⁰ falls steadily to 1e-24 and then stays between 1e-24 and 1e-27. For H = G this test is
	// not needed: as fᵢ ≥ gᵢ², f is not noise before the feature is exhausted.
	targetNoiseShare = 1e-24
	// unitRoundoff is the unit roundoff of float64.
	unitRoundoff = 0x1p-53
)

// criterion holds f and g of Theorem 2 (see the package comment) for every feature, and for each fᵢ a bound of the
// rounding error of its recursion (see guard.go). All numbers are in the scaled units of the engine.
type criterion struct {
	featureCount   int
	f, g           []float64 // fᵢ = ‖γᵢ‖² for column γᵢ of the residual target; gᵢ = ‖residual of feature i‖²
	f0, g0         []float64 // f and g at the start
	errBound       []float64 // upper bound of |fᵢ − exact fᵢ|
	targetNorm     []float64 // ‖H₍:,i₎‖; if H = G, without the rows of chosen features
	upsilonSquares float64   // Σ ‖υ_r‖² over the choices r so far, over the same rows as targetNorm
	isSelf         bool      // H = G
	chosen         []bool    // in this layer or an earlier one
	alive          []bool    // neither chosen nor exhausted
	isExact        []bool    // f is exact in this turn
	turn           int
}

// newCriterion uses the slices f0 and g0 without a copy. Excluded features were chosen by an earlier layer and do not
// take part: their f⁰ and g⁰ are set to 0.
func newCriterion(f0, g0 []float64, self bool, excluded []bool) *criterion {
	for i, gone := range excluded {
		if gone {
			f0[i], g0[i] = 0, 0
		}
	}
	d := len(g0)
	c := &criterion{
		featureCount: d, f0: f0, g0: g0, isSelf: self,
		f: append([]float64(nil), f0...), g: append([]float64(nil), g0...),
		errBound: make([]float64, d), targetNorm: make([]float64, d),
		chosen: make([]bool, d), alive: make([]bool, d), isExact: make([]bool, d),
	}
	copy(c.chosen, excluded)
	for i := range d {
		c.targetNorm[i] = math.Sqrt(f0[i])
		c.errBound[i] = roundingBound(d) * f0[i]
		c.alive[i] = g0[i] > 0
	}
	return c
}

// choiceStep has the vectors by which the choice of feature p changes f and g (see applyStep).
type choiceStep struct {
	omega  []float64 // ω = δ/√δ_p, 0 at the chosen columns
	h      []float64 // h = Eᵀυ: the product of each column of the residual target with υ
	score  float64   // ‖υ‖² = f_p/g_p
	column []float64 // G₍:,p₎ in the engine's units
	// The rounding error of h[i] is at most hErr.reach·targetNorm[i] + hErr.norm·√g0[i], see criterion.
	hErr struct{ reach, norm float64 }
}

// applyStep updates f and g for the choice of p by Theorem 2. The vector h is the bracket in that theorem.
//
//	f ← f − 2 ω∘h + ‖υ‖² ω∘ω,  g ← g − ω∘ω
//
// The identity ‖γᵢ − υωᵢ‖² = ‖γᵢ‖² − 2ωᵢ γᵢᵀυ + ωᵢ²‖υ‖² holds for any ω and υ. So errors of ω and υ do not enter
// errBound, which covers only the rounding of this update and the error of h.
func (c *criterion) applyStep(p int, s *choiceStep) {
	for i, w := range s.omega {
		c.isExact[i] = false
		cross, square := 2*w*s.h[i], s.score*w*w
		c.errBound[i] += 2*math.Abs(w)*(s.hErr.reach*c.targetNorm[i]+s.hErr.norm*math.Sqrt(c.g0[i])) +
			4*unitRoundoff*(math.Abs(c.f[i])+math.Abs(cross)+square)
		c.f[i] += square - cross
		c.g[i] = max(c.g[i]-w*w, 0)
		if c.g[i] <= exhaustedShare*c.g0[i] {
			c.alive[i] = false
		}
	}
	c.upsilonSquares += s.score
	c.retireFeature(p)
	c.turn++
}

// retireFeature marks p as chosen and sets its f and g to 0, as they are by definition, apart from rounding errors.
func (c *criterion) retireFeature(p int) {
	c.f[p], c.g[p], c.errBound[p] = 0, 0, 0
	c.chosen[p], c.alive[p] = true, false
}

// setExact stores the exact f of feature i. norm is ‖H₍:,i₎‖ over the rows that targetNorm counts; later error bounds
// of fᵢ are computed from it.
func (c *criterion) setExact(i int, f, norm float64) {
	c.f[i], c.targetNorm[i], c.isExact[i] = f, norm, true
	off := roundingBound(c.turn) * (norm + math.Sqrt(c.upsilonSquares*c.g0[i]))
	c.errBound[i] = 2*math.Sqrt(f)*off + off*off + roundingBound(c.featureCount)*f
}

func (c *criterion) remainingError() float64 {
	sum := 0.0
	for _, g := range c.g {
		sum += g
	}
	return sum
}

// roundingBound bounds the relative rounding error of a sum of n products by the length of a random walk of n
// roundings. The error hardly ever exceeds this bound (Higham and Mary 2019: λ√n·u holds with probability 1 −
// 2·exp(−λ²/2); here λ = 6). With the worst-case bound n·u the guard would recompute far more often, always needlessly.
func roundingBound(n int) float64 { return unitRoundoff * (8 + 6*math.Sqrt(float64(n))) }
