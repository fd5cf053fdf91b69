package outofcore

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// maxPredictedTurns is the largest number of turns that are predicted. Predictions of later turns are too inaccurate to
// be worth their cost, 6·d·buckets flops for each turn.
const maxPredictedTurns = 64

// predictor simulates future turns with the sketch. It runs the recursion of Theorem 2 from the current f and g, with
// inner products of residuals estimated by the sketch.
type predictor struct {
	criterion *engine.Criterion
	sketch    *scan.Sketch
	workers   int
	scale     []float64 // factors that make ‖eᵢ‖² equal to the known gᵢ, eᵢ being row i of the sketch
	f, g      []float64
	target    *engine.Gram // nil if H = G; products with H are then estimated by the sketch too
	omegas    [][]float64  // ω of the simulated turns
	upsilons  [][]float64  // υ of the simulated turns
}

func newPredictor(from *streamEngine) *predictor {
	c, s := from.Criterion, from.sketch
	p := &predictor{criterion: c, sketch: s, workers: from.rows.Workers, target: from.target, scale: make([]float64, c.FeatureCount),
		f: append([]float64(nil), c.F...), g: append([]float64(nil), c.G...)}
	for i := range p.scale {
		if norm := floats.Norm(s.FeatureSketch(i), 2); norm > 0 && c.Alive[i] {
			p.scale[i] = math.Sqrt(c.G[i]) / norm
		}
	}
	return p
}

// likelyFeatures lists up to n live features that are not candidates yet. They are likely to be chosen in the coming
// turns, or to score nearly as much as the chosen features. The likeliest comes first.
func (p *predictor) likelyFeatures(n int, isCandidate func(int) bool) []int {
	var guesses []int
	guessed := make(map[int]bool)
	played := make([]bool, p.criterion.FeatureCount)
	h := make([]float64, p.criterion.FeatureCount)
	for turn := 0; turn < min(n, maxPredictedTurns) && len(guesses) < n; turn++ {
		lead := p.bestUnsimulatedFeatures(played)
		if len(lead) == 0 {
			break
		}
		for _, i := range lead {
			if len(guesses) < n && !guessed[i] && !isCandidate(i) {
				guesses, guessed[i] = append(guesses, i), true
			}
		}
		p.simulateTurn(lead[0], h)
		played[lead[0]] = true
	}
	return guesses
}

func (p *predictor) bestUnsimulatedFeatures(isSimulated []bool) []int {
	return engine.TopFeatures(engine.RivalsPerTurn, p.criterion.FeatureCount, func(i int) float64 {
		if !p.criterion.Alive[i] || isSimulated[i] || p.g[i] <= engine.ExhaustedShare*p.criterion.G0[i] {
			return 0
		}
		return p.f[i] / p.g[i]
	})
}

func (p *predictor) simulateTurn(feature int, h []float64) {
	d, buckets := p.criterion.FeatureCount, p.sketch.Buckets
	root := math.Sqrt(p.g[feature])
	omega := make([]float64, d)
	// The contribution of the simulated turns is subtracted from the products, so that the sketch itself stays unchanged.
	kernel.Gemv(p.workers, d, buckets, p.sketch.E, buckets, p.sketch.FeatureSketch(feature), omega)
	for j := range omega {
		omega[j] *= p.scale[feature] * p.scale[j]
	}
	for _, w := range p.omegas {
		kernel.Axpy(-w[feature], w, omega)
	}
	omega[feature] = p.g[feature]
	floats.Scale(1/root, omega)
	upsilon := omega
	if p.target != nil {
		upsilon = p.simulatedUpsilon(feature, root, h)
	} else {
		p.selfProductTo(omega, h)
	}
	for r, w := range p.omegas {
		kernel.Axpy(-kernel.Dot(p.upsilons[r], upsilon), w, h)
	}
	score := kernel.Dot(upsilon, upsilon)
	p.omegas, p.upsilons = append(p.omegas, omega), append(p.upsilons, upsilon)
	for j, w := range omega {
		p.f[j] = max(p.f[j]-2*w*h[j]+score*w*w, 0)
		p.g[j] = max(p.g[j]-w*w, 0)
	}
}

// selfProductTo writes h = Rω. It estimates the residual R of G by inner products of the scaled vectors of the sketch.
func (p *predictor) selfProductTo(omega, h []float64) {
	buckets := p.sketch.Buckets
	v := make([]float64, buckets)
	const wide = 64
	kernel.Each(p.workers, tasks.TaskCount(buckets, wide), func(task int) {
		from, to := tasks.TaskRange(task, wide, buckets)
		for j, w := range omega {
			if w != 0 {
				kernel.Axpy(w*p.scale[j], p.sketch.FeatureSketch(j)[from:to], v[from:to])
			}
		}
	})
	clear(h)
	kernel.Gemv(p.workers, p.criterion.FeatureCount, buckets, p.sketch.E, buckets, v, h)
	for j := range h {
		h[j] *= p.scale[j]
	}
}

// simulatedUpsilon returns υ of feature i, and writes Hᵀυ less the contribution of the real turns to h. Only the
// vectors ω of the simulated turns are estimates.
func (p *predictor) simulatedUpsilon(i int, root float64, h []float64) []float64 {
	m := p.target
	upsilon := m.TargetColumnTo(make([]float64, m.Target.Height), i)
	m.DeflateVector(upsilon, m.Upsilons, i)
	for r, w := range p.omegas {
		kernel.Axpy(-w[i], p.upsilons[r], upsilon)
	}
	floats.Scale(1/root, upsilon)
	m.ResidualProductTo(h, upsilon, nil)
	return upsilon
}
