package engine

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
)

const (
	// ExhaustedShare is the share of its initial value at which the sum of squares g of a feature is exhausted, and the
	// feature no longer chosen: g is then a difference of numbers 1e8 times as large, and f/g would compare rounding errors.
	ExhaustedShare = 1e-8
	// TargetNoiseShare is the share of f⁰, the initial f, up to which f counts as rounding error unless H = G. On ORL with
	// one group of features, f/f⁰ falls steadily to 1e-24 and then stays between 1e-24 and 1e-27. For H = G this test is
	// not needed: as fᵢ ≥ gᵢ², f is not noise before the feature is exhausted.
	TargetNoiseShare = 1e-24
	// unitRoundoff is the unit roundoff of float64.
	unitRoundoff = 0x1p-53
)

// Criterion holds f and g of Theorem 2 (see package greedy) for every feature, and for each fᵢ a bound of the
// rounding error of its recursion (see chooseFeature). All numbers are in the scaled units of the engine.
type Criterion struct {
	FeatureCount   int
	F, G           []float64 // fᵢ = ‖γᵢ‖² for column γᵢ of the residual target; gᵢ = ‖residual of feature i‖²
	f0, G0         []float64 // f and g at the start
	ErrBound       []float64 // upper bound of |fᵢ − exact fᵢ|
	TargetNorm     []float64 // ‖H₍:,i₎‖; if H = G, without the rows of chosen features
	UpsilonSquares float64   // Σ ‖υ_r‖² over the choices r so far, over the same rows as TargetNorm
	isSelf         bool      // H = G
	Chosen         []bool    // in this layer or an earlier one
	Alive          []bool    // neither chosen nor exhausted
	isExact        []bool    // f is exact in this turn
	Turn           int
}

// NewCriterion uses the slices f0 and g0 without a copy. Excluded features were chosen by an earlier layer and do not
// take part: their f⁰ and g⁰ are set to 0.
func NewCriterion(f0, g0 []float64, self bool, excluded []bool) *Criterion {
	for i, gone := range excluded {
		if gone {
			f0[i], g0[i] = 0, 0
		}
	}
	d := len(g0)
	c := layOutCriterion(nil, d)
	c.FeatureCount, c.f0, c.G0, c.isSelf = d, f0, g0, self
	copy(c.F, f0)
	copy(c.G, g0)
	copy(c.Chosen, excluded)
	for i := range d {
		c.TargetNorm[i] = math.Sqrt(f0[i])
		c.ErrBound[i] = RoundingBound(d) * f0[i]
		c.Alive[i] = g0[i] > 0
	}
	return c
}

func layOutCriterion(l *room.Layout, d int) *Criterion {
	return &Criterion{
		F: room.Slice[float64](l, d), G: room.Slice[float64](l, d), ErrBound: room.Slice[float64](l, d), TargetNorm: room.Slice[float64](l, d),
		Chosen: room.Slice[bool](l, d), Alive: room.Slice[bool](l, d), isExact: room.Slice[bool](l, d),
	}
}

// Step has the vectors by which the choice of feature p changes f and g (see ApplyStep).
type Step struct {
	Omega  []float64 // ω = δ/√δ_p, 0 at the chosen columns
	H      []float64 // h = Eᵀυ: the product of each column of the residual target with υ
	Score  float64   // ‖υ‖² = f_p/g_p
	Column []float64 // G₍:,p₎ in the engine's units
	// The rounding error of h[i] is at most HErr.Reach·TargetNorm[i] + HErr.Norm·√G0[i], see Criterion.
	HErr struct{ Reach, Norm float64 }
}

// ApplyStep updates f and g for the choice of p by Theorem 2. The vector h is the bracket in that theorem.
//
//	f ← f − 2 ω∘h + ‖υ‖² ω∘ω,  g ← g − ω∘ω
//
// The identity ‖γᵢ − υωᵢ‖² = ‖γᵢ‖² − 2ωᵢ γᵢᵀυ + ωᵢ²‖υ‖² holds for any ω and υ. So errors of ω and υ do not enter
// ErrBound, which covers only the rounding of this update and the error of h.
func (c *Criterion) ApplyStep(p int, s *Step) {
	for i, w := range s.Omega {
		c.isExact[i] = false
		cross, square := 2*w*s.H[i], s.Score*w*w
		c.ErrBound[i] += 2*math.Abs(w)*(s.HErr.Reach*c.TargetNorm[i]+s.HErr.Norm*math.Sqrt(c.G0[i])) +
			4*unitRoundoff*(math.Abs(c.F[i])+math.Abs(cross)+square)
		c.F[i] += square - cross
		c.G[i] = max(c.G[i]-w*w, 0)
		if c.G[i] <= ExhaustedShare*c.G0[i] {
			c.Alive[i] = false
		}
	}
	c.UpsilonSquares += s.Score
	c.RetireFeature(p)
	c.Turn++
}

// RetireFeature marks p as chosen and sets its f and g to 0, as they are by definition, apart from rounding errors.
func (c *Criterion) RetireFeature(p int) {
	c.F[p], c.G[p], c.ErrBound[p] = 0, 0, 0
	c.Chosen[p], c.Alive[p] = true, false
}

// SetExact stores the exact f of feature i. norm is ‖H₍:,i₎‖ over the rows that TargetNorm counts; later error bounds
// of fᵢ are computed from it.
func (c *Criterion) SetExact(i int, f, norm float64) {
	c.F[i], c.TargetNorm[i], c.isExact[i] = f, norm, true
	off := RoundingBound(c.Turn) * (norm + math.Sqrt(c.UpsilonSquares*c.G0[i]))
	c.ErrBound[i] = 2*math.Sqrt(f)*off + off*off + RoundingBound(c.FeatureCount)*f
}

// RemainingError returns Σ g, the part of the data that the chosen features leave unexplained.
func (c *Criterion) RemainingError() float64 {
	sum := 0.0
	for _, g := range c.G {
		sum += g
	}
	return sum
}

// RoundingBound bounds the relative rounding error of a sum of n products by the length of a random walk of n
// roundings. The error hardly ever exceeds this bound (Higham and Mary 2019: λ√n·u holds with probability 1 −
// 2·exp(−λ²/2); here λ = 6). With the worst-case bound n·u the guard would recompute far more often, always needlessly.
func RoundingBound(n int) float64 { return unitRoundoff * (8 + 6*math.Sqrt(float64(n))) }
