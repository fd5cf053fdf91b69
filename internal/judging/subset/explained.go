package subset

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// recommendForExplained recommends how many features explain given columns B. It follows greedy's order, and accepts a
// feature if the part of tr(BᵀB) that it adds is more than the best of as many unrelated features would add.
//
// The residual of an unrelated feature has a random direction u in n dimensions, and its gain is uᵀBBᵀu for the residual B.
// This has the mean tr(R)/n and the variance 2(‖R‖² − tr(R)²/n)/(n(n+2)) for R = BᵀB. As in [nullModel], a Gamma variable of
// equal moments approximates it, and a Poisson variable the number of larger gains. Unlike there, the columns to explain
// may be related, and a feature does not explain itself.
func recommendForExplained(ctx context.Context, g *Gram) (*stream.Size, error) {
	candidates := g.D - len(g.Forbid)
	opt := greedy.Options{K: min(MaxFeatures(g.D), candidates, g.centredDimensions()), Threads: g.Threads}
	opt.Explain, opt.Forbid = g.Explain, g.Forbid
	found, err := greedy.Select(ctx, g.Matrix, opt)
	if err != nil {
		return nil, err
	}
	rest := newExplainedRest(g, len(found.Order))
	// noiseGain returns the gain that the best of the unrelated features exceeds with probability 5 %, after some are
	// taken. P(Poisson(rate) ≥ 1) = 1 − exp(−rate).
	noiseGain := func(taken int) float64 {
		dims := max(float64(g.centredDimensions()-taken), 1)
		mean, variance := rest.trace/dims, 2*(rest.norm-rest.trace*rest.trace/dims)/(dims*(dims+2))
		if !(mean > 0 && variance > 0) { // in one dimension, all columns are multiples of one another
			return rest.trace / rest.total
		}
		rate := -math.Log1p(-significance)
		return mathext.GammaIncRegCompInv(mean*mean/variance, rate/float64(max(candidates-taken, 1))) * variance / mean / rest.total
	}
	size, left, k := &stream.Size{}, 1.0, 0
	for turn, after := range found.Error {
		if found.Layers != nil && found.Layers[turn] > 1 || !(rest.total > 0 && left > dependentShare) || left-after <= noiseGain(turn) {
			break
		}
		rest.takeFeature(found.Order[turn])
		left, k = after, turn+1
	}
	rule := stream.SizeRule{Name: "parallel analysis", K: k, Why: fmt.Sprintf("each adds more to what is explained of the named columns than the best of unrelated features (%.0f %% quantile)", 100*(1-significance))}
	if size.Why = "this number of features explains more of the named columns than chance would"; k == 0 {
		rule.Why = "the first feature explains no more of the named columns than the best of unrelated features does"
		size.Why = "no feature explains more of the named columns than chance would; 1 is the least"
	}
	size.Recommended, size.Rules = max(k, 1), []stream.SizeRule{rule}
	nan := stream.Number(math.NaN())
	if size.Explained, size.Next, size.Noise = nan, nan, nan; len(found.Error) == 0 { // no candidate explains anything
		return size, nil
	}
	left = found.Error[size.Recommended-1]
	size.Explained = stream.Number(1 - left)
	if later := found.Error[size.Recommended:]; len(later) > 0 && rest.total > 0 {
		if k == 0 {
			rest.takeFeature(found.Order[0])
		}
		size.Next, size.Noise = 0, stream.Number(noiseGain(size.Recommended))
		for _, after := range later {
			size.Next, left = max(size.Next, stream.Number(left-after)), after
		}
	}
	return size, nil
}

// explainedRest holds the trace and the squared Frobenius norm of R = BᵀB for the residual B of the columns to explain.
type explainedRest struct {
	gram               *Gram
	curve              *Curve
	total, trace, norm float64 // total is the trace before any feature is taken
	room               []float64
}

func newExplainedRest(g *Gram, most int) *explainedRest {
	r := &explainedRest{gram: g, curve: NewCurve(g.Matrix, most, g.Threads), room: make([]float64, g.D)}
	for _, i := range g.Explain {
		row := g.Row(g.Threads, r.room, i)
		for _, j := range g.Explain {
			r.norm += row[j] * row[j]
		}
		r.total += r.curve.squares[i]
	}
	r.trace = r.total
	return r
}

// takeFeature subtracts ωωᵀ from R. As ω is the column of L for feature p, ωᵀRω = ωᵀGω − Σ (ωᵀℓ)² over earlier columns ℓ.
func (r *explainedRest) takeFeature(p int) {
	at, c := len(r.curve.Pivot), r.curve
	if c.TakeColumn(p); c.Pivot[at] == 0 {
		return
	}
	earlier := make([]float64, at+1) // ωᵀℓ, the last ℓ being ω
	product := 0.0
	for _, i := range r.gram.Explain {
		own := c.factor[i*c.capacity:][:at+1]
		kernel.Axpy(own[at], own, earlier)
		row := r.gram.Row(r.gram.Threads, r.room, i)
		for _, j := range r.gram.Explain {
			product += own[at] * row[j] * c.factor[j*c.capacity+at]
		}
	}
	square := earlier[at]
	for _, v := range earlier[:at] {
		product -= v * v
	}
	r.trace, r.norm = max(r.trace-square, 0), max(r.norm-2*product+square*square, 0)
}
