package greedy

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// rivalsPerTurn is the number of features that become candidates in each predicted turn. Among features that can nearly
// replace each other, the sketch does not reliably find the best. Choosing 100 features of COIL20 in batches of 128
// took 32, 26, 24 and 20 passes with 1, 2, 4 and 8 rivals in each turn, if batches had no features from other sources.
const rivalsPerTurn = 8

// maxPredictedTurns is the largest number of turns that are predicted. Predictions of later turns are too inaccurate to
// be worth their cost, 6·d·buckets flops for each turn.
const maxPredictedTurns = 64

// predictor simulates future turns with the sketch. It runs the recursion of Theorem 2 from the current f and g, with
// inner products of residuals estimated by the sketch.
type predictor struct {
	criterion *criterion
	sketch    *sketch
	workers   int
	scale     []float64 // factors that make ‖eᵢ‖² equal to the known gᵢ, eᵢ being row i of the sketch
	f, g      []float64
	target    *gramEngine // nil if H = G; products with H are then estimated by the sketch too
	omegas    [][]float64 // ω of the simulated turns
	upsilons  [][]float64 // υ of the simulated turns
}

func newPredictor(from *streamEngine) *predictor {
	c, s := from.criterion, from.sketch
	p := &predictor{criterion: c, sketch: s, workers: from.rows.workers, target: from.target, scale: make([]float64, c.featureCount),
		f: append([]float64(nil), c.f...), g: append([]float64(nil), c.g...)}
	for i := range p.scale {
		if norm := floats.Norm(s.featureSketch(i), 2); norm > 0 && c.alive[i] {
			p.scale[i] = math.Sqrt(c.g[i]) / norm
		}
	}
	return p
}

// likelyFeatures lists up to n live features that are not candidates yet. They are likely to be chosen in the coming
// turns, or to score nearly as much as the chosen features. The likeliest comes first.
func (p *predictor) likelyFeatures(n int, isCandidate func(int) bool) []int {
	var guesses []int
	guessed := make(map[int]bool)
	played := make([]bool, p.criterion.featureCount)
	h := make([]float64, p.criterion.featureCount)
	for turn := 0; turn < min(n, maxPredictedTurns) && len(guesses) < n; turn++ {
		lead := p.predictedLeaders(played)
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

func (p *predictor) predictedLeaders(played []bool) []int {
	return topFeatures(rivalsPerTurn, p.criterion.featureCount, func(i int) float64 {
		if !p.criterion.alive[i] || played[i] || p.g[i] <= exhaustedShare*p.criterion.g0[i] {
			return 0
		}
		return p.f[i] / p.g[i]
	})
}

// topFeatures lists the n of d features with the highest scores, in falling order, without features with a score of 0.
func topFeatures(n, d int, score func(int) float64) (lead []int) {
	scores := make([]float64, 0, n+1)
	for i := range d {
		x := score(i)
		at := sort.Search(len(lead), func(k int) bool { return scores[k] < x })
		if at == n || !(x > 0) {
			continue
		}
		lead, scores = slices.Insert(lead, at, i), slices.Insert(scores, at, x)
		lead, scores = lead[:min(len(lead), n)], scores[:min(len(lead), n)]
	}
	return lead
}

func (p *predictor) simulateTurn(i int, h []float64) {
	d, buckets := p.criterion.featureCount, p.sketch.buckets
	root := math.Sqrt(p.g[i])
	omega := make([]float64, d)
	// The contribution of the simulated turns is subtracted from the products, so that the sketch itself stays unchanged.
	kernel.Gemv(p.workers, d, buckets, p.sketch.e, buckets, p.sketch.featureSketch(i), omega)
	for j := range omega {
		omega[j] *= p.scale[i] * p.scale[j]
	}
	for _, w := range p.omegas {
		kernel.Axpy(-w[i], w, omega)
	}
	omega[i] = p.g[i]
	floats.Scale(1/root, omega)
	upsilon := omega
	if p.target != nil {
		upsilon = p.simulatedUpsilon(i, root, h)
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
	buckets := p.sketch.buckets
	v := make([]float64, buckets)
	const wide = 64
	kernel.Each(p.workers, taskCount(buckets, wide), func(task int) {
		from, to := taskRange(task, wide, buckets)
		for j, w := range omega {
			if w != 0 {
				kernel.Axpy(w*p.scale[j], p.sketch.featureSketch(j)[from:to], v[from:to])
			}
		}
	})
	clear(h)
	kernel.Gemv(p.workers, p.criterion.featureCount, buckets, p.sketch.e, buckets, v, h)
	for j := range h {
		h[j] *= p.scale[j]
	}
}

// simulatedUpsilon returns υ of feature i, and writes Hᵀυ less the contribution of the real turns to h. Only the
// vectors ω of the simulated turns are estimates.
func (p *predictor) simulatedUpsilon(i int, root float64, h []float64) []float64 {
	m := p.target
	upsilon := m.targetColumn(i)
	m.deflateVector(upsilon, m.upsilons, i)
	for r, w := range p.omegas {
		kernel.Axpy(-w[i], p.upsilons[r], upsilon)
	}
	floats.Scale(1/root, upsilon)
	m.residualProductTo(h, upsilon, nil)
	return upsilon
}
