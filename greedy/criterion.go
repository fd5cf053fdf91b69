package greedy

import "math"

const (
	// exhaustedShare: a feature is exhausted when this share of its sum of squares
	// is left. Below it g is a difference of numbers 1e8 times its size, and f/g
	// would compare rounding errors.
	exhaustedShare = 1e-8
	// targetShare: where the target is not G itself, f below this share of its start
	// is rounding. On ORL with one group f/f⁰ falls steadily to 1e-24 and stalls
	// between there and 1e-27. With H = G it needs no test, because fᵢ ≥ gᵢ².
	targetShare = 1e-24
	// unit is the unit roundoff of float64.
	unit = 0x1p-53
)

// criterion holds f and g of Theorem 2 for every feature, and for each fᵢ a bound
// of what the recursion's rounding may have done to it (see guard.go). All of
// its numbers are in the scaled units of its engine.
type criterion struct {
	d       int
	f, g    []float64 // fᵢ = ‖γᵢ‖², γᵢ column i of the residual target; gᵢ = ‖residual of feature i‖²
	f0, g0  []float64 // at the start
	err     []float64 // |fᵢ − exact fᵢ| stays below
	reach   []float64 // ‖H₍:,i₎‖, over the rows not yet chosen where H = G
	spent   float64   // Σ ‖υ_r‖², over the same rows
	self    bool      // H = G
	chosen  []bool    // in this layer or one before
	alive   []bool    // neither chosen nor exhausted
	settled []bool    // f is exact at this turn
	turn    int
}

// newCriterion takes f⁰ and g⁰, whose slices it keeps. Features that are out, chosen by an
// earlier layer, take no part: their g⁰ is set to 0. Nil means none is.
func newCriterion(f0, g0 []float64, self bool, out []bool) *criterion {
	for i, gone := range out {
		if gone {
			f0[i], g0[i] = 0, 0
		}
	}
	d := len(g0)
	c := &criterion{
		d: d, f0: f0, g0: g0, self: self,
		f: append([]float64(nil), f0...), g: append([]float64(nil), g0...),
		err: make([]float64, d), reach: make([]float64, d),
		chosen: make([]bool, d), alive: make([]bool, d), settled: make([]bool, d),
	}
	copy(c.chosen, out)
	for i := range d {
		c.reach[i] = math.Sqrt(f0[i])
		c.err[i] = rounding(d) * f0[i]
		c.alive[i] = g0[i] > 0
	}
	return c
}

// step is what one choice does to the criterion.
type step struct {
	omega  []float64 // ω = δ/√δ_p, 0 at the chosen columns
	h      []float64 // ERᵀυ: column products of the residual target with υ
	score  float64   // ‖υ‖² = f_p/g_p
	column []float64 // G₍:,p₎ in the engine's units
	// hErr bounds the rounding of hᵢ by hErr.reach·reach[i] + hErr.norm·√g⁰ᵢ.
	hErr struct{ reach, norm float64 }
}

// advance applies the choice of p: Theorem 2, with the bracket there equal to h.
//
//	f ← f − 2 ω∘h + ‖υ‖² ω∘ω,  g ← g − ω∘ω
//
// The identity ‖γᵢ − υωᵢ‖² = ‖γᵢ‖² − 2ωᵢ γᵢᵀυ + ωᵢ²‖υ‖² holds for any ω and υ, so
// the errors of these do not enter the bound: it covers the rounding of this step alone.
func (c *criterion) advance(p int, s *step) {
	for i, w := range s.omega {
		c.settled[i] = false
		cross, square := 2*w*s.h[i], s.score*w*w
		c.err[i] += 2*math.Abs(w)*(s.hErr.reach*c.reach[i]+s.hErr.norm*math.Sqrt(c.g0[i])) +
			4*unit*(math.Abs(c.f[i])+math.Abs(cross)+square)
		c.f[i] += square - cross
		c.g[i] = max(c.g[i]-w*w, 0)
		if c.g[i] <= exhaustedShare*c.g0[i] {
			c.alive[i] = false
		}
	}
	c.spent += s.score
	c.retire(p)
	c.turn++
}

// retire takes p out: its residual is zero by definition, whatever rounding says.
func (c *criterion) retire(p int) {
	c.f[p], c.g[p], c.err[p] = 0, 0, 0
	c.chosen[p], c.alive[p] = true, false
}

// settle puts the exact f of feature i in place. reach is ‖H₍:,i₎‖ over the rows
// that count, for the bound of the recursion that goes on from here.
func (c *criterion) settle(i int, f, reach float64) {
	c.f[i], c.reach[i], c.settled[i] = f, reach, true
	off := rounding(c.turn) * (reach + math.Sqrt(c.spent*c.g0[i]))
	c.err[i] = 2*math.Sqrt(f)*off + off*off + rounding(c.d)*f
}

// remaining is F(S) = ‖X − P_S X‖² = Σ gᵢ.
func (c *criterion) remaining() float64 {
	sum := 0.0
	for _, g := range c.g {
		sum += g
	}
	return sum
}

// rounding bounds the relative rounding error of a sum of n products by what a
// random walk of the roundings reaches with near certainty (Higham and Mary 2019:
// λ√n·u holds with probability 1 − 2·exp(−λ²/2); λ = 6). The bound for the worst
// case, n·u, would call the guard far more often and never rightly.
func rounding(n int) float64 { return unit * (8 + 6*math.Sqrt(float64(n))) }
