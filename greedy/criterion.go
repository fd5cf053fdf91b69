package greedy

import "math"

const (
	// exhaustedShare: a feature is exhausted when this share of its sum of squares is left. Below it g is a
	// difference of numbers 1e8 times its size, and f/g would compare rounding errors.
	exhaustedShare = 1e-8
	// targetShare: unless H = G, f below this share of its start is rounding. On ORL with one group f/f⁰ falls
	// steadily to 1e-24 and stalls between there and 1e-27. H = G needs no such test, because fᵢ ≥ gᵢ².
	targetShare = 1e-24
	// unit is the unit roundoff of float64.
	unit = 0x1p-53
)

// criterion holds f and g of Theorem 2 for every feature, and for each fᵢ a bound of the rounding error of its
// recursion (see guard.go). All numbers are in the scaled units of the engine.
type criterion struct {
	featureCount   int
	f, g           []float64 // fᵢ = ‖γᵢ‖², γᵢ column i of the residual target; gᵢ = ‖residual of feature i‖²
	f0, g0         []float64 // at the start
	errBound       []float64 // |fᵢ − exact fᵢ| stays below
	targetNorm     []float64 // ‖H₍:,i₎‖; if H = G, over the rows not yet chosen
	upsilonSquares float64   // Σ ‖υ_r‖², over the same rows
	isSelf         bool      // H = G
	chosen         []bool    // in this layer or an earlier one
	alive          []bool    // neither chosen nor exhausted
	isExact        []bool    // f is exact in this turn
	turn           int
}

// newCriterion keeps the slices f⁰ and g⁰. Excluded features, chosen by an earlier layer, take no part: their f⁰ and g⁰
// are set to 0.
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

// step is the effect of one choice on the criterion.
type step struct {
	omega  []float64 // ω = δ/√δ_p, 0 at the chosen columns
	h      []float64 // ERᵀυ: column products of the residual target with υ
	score  float64   // ‖υ‖² = f_p/g_p
	column []float64 // G₍:,p₎ in the engine's units
	// hErr bounds the rounding of hᵢ by hErr.reach·targetNorm[i] + hErr.norm·√g⁰ᵢ.
	hErr struct{ reach, norm float64 }
}

// applyStep applies the choice of p: Theorem 2, with h for the bracket there.
//
//	f ← f − 2 ω∘h + ‖υ‖² ω∘ω,  g ← g − ω∘ω
//
// The identity ‖γᵢ − υωᵢ‖² = ‖γᵢ‖² − 2ωᵢ γᵢᵀυ + ωᵢ²‖υ‖² holds for any ω and υ, so
// the errors of these do not enter the bound: it covers the rounding of this step alone.
func (c *criterion) applyStep(p int, s *step) {
	for i, w := range s.omega {
		c.isExact[i] = false
		cross, square := 2*w*s.h[i], s.score*w*w
		c.errBound[i] += 2*math.Abs(w)*(s.hErr.reach*c.targetNorm[i]+s.hErr.norm*math.Sqrt(c.g0[i])) +
			4*unit*(math.Abs(c.f[i])+math.Abs(cross)+square)
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

// retireFeature sets the residual of p to zero, which it is by definition, whatever rounding has left.
func (c *criterion) retireFeature(p int) {
	c.f[p], c.g[p], c.errBound[p] = 0, 0, 0
	c.chosen[p], c.alive[p] = true, false
}

// setExact stores the exact f of feature i. norm is ‖H₍:,i₎‖ over the rows that count, for the error bound of the
// recursion from here on.
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

// roundingBound bounds the relative rounding error of a sum of n products by the length of a random walk of the
// roundings, which is exceeded hardly ever (Higham and Mary 2019: λ√n·u holds with probability 1 − 2·exp(−λ²/2); λ =
// 6). The worst-case bound n·u would make the guard recompute far more often, always needlessly.
func roundingBound(n int) float64 { return unit * (8 + 6*math.Sqrt(float64(n))) }
