package greedy

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// rivals are the features of each predicted turn that become candidates: where
// neighbours are near-substitutes, the sketch knows the neighbourhood but not the
// winner. 100 features of COIL20 with batches of 128 took 32, 26, 24 and 20 passes
// with 1, 2, 4 and 8 rivals, when nothing else filled a batch.
const rivals = 8

// lookahead turns are played at most: the guesses of later ones are worth less than
// the time they take, 6·d·buckets flops each.
const lookahead = 64

// predictor plays the turns to come on the sketch: the recursion of Theorem 2 from
// the true f and g of now, with residual inner products estimated by the sketch.
type predictor struct {
	c       *criterion
	s       *sketch
	workers int
	scale   []float64 // makes ‖eᵢ‖² = gᵢ, which is known
	f, g    []float64
	target  *memory     // nil: H = G, sketched too
	omegas  [][]float64 // of the turns played
	upsilon [][]float64
}

func newPredictor(from *streamed) *predictor {
	c, s := from.criterion, from.sketch
	p := &predictor{c: c, s: s, workers: from.rows.workers, target: from.target, scale: make([]float64, c.d),
		f: append([]float64(nil), c.f...), g: append([]float64(nil), c.g...)}
	for i := range p.scale {
		if norm := floats.Norm(s.row(i), 2); norm > 0 && c.alive[i] {
			p.scale[i] = math.Sqrt(c.g[i]) / norm
		}
	}
	return p
}

// next lists, best guess first, up to n live features that are no candidates and are
// likely to be chosen, or to rival the chosen, in the turns to come.
func (p *predictor) next(n int, isCandidate func(int) bool) []int {
	var guesses []int
	guessed := make(map[int]bool)
	gone := make([]bool, p.c.d)
	h := make([]float64, p.c.d)
	for turn := 0; turn < min(n, lookahead) && len(guesses) < n; turn++ {
		lead := p.leaders(gone)
		if len(lead) == 0 {
			break
		}
		for _, i := range lead {
			if len(guesses) < n && !guessed[i] && !isCandidate(i) {
				guesses, guessed[i] = append(guesses, i), true
			}
		}
		p.play(lead[0], h)
		gone[lead[0]] = true
	}
	return guesses
}

// leaders returns the features of the best predicted scores, best first.
func (p *predictor) leaders(gone []bool) []int {
	return best(rivals, p.c.d, func(i int) float64 {
		if !p.c.alive[i] || gone[i] || p.g[i] <= exhaustedShare*p.c.g0[i] {
			return 0
		}
		return p.f[i] / p.g[i]
	})
}

// best are the n of d features that score best, best first; a score of 0 is none.
func best(n, d int, score func(int) float64) (lead []int) {
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

// play chooses feature i, as far as the sketch can tell.
func (p *predictor) play(i int, h []float64) {
	d, buckets := p.c.d, p.s.buckets
	root := math.Sqrt(p.g[i])
	omega := make([]float64, d)
	// The part of eᵢ that is new to the turns played: their own part is subtracted
	// from the products instead, so that the sketch itself is left alone.
	kernel.Gemv(p.workers, d, buckets, p.s.e, buckets, p.s.row(i), omega)
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
		upsilon = p.playTarget(i, root, h)
	} else {
		p.playSelf(omega, h)
	}
	for r, w := range p.omegas {
		kernel.Axpy(-kernel.Dot(p.upsilon[r], upsilon), w, h)
	}
	score := kernel.Dot(upsilon, upsilon)
	p.omegas, p.upsilon = append(p.omegas, omega), append(p.upsilon, upsilon)
	for j, w := range omega {
		p.f[j] = max(p.f[j]-2*w*h[j]+score*w*w, 0)
		p.g[j] = max(p.g[j]-w*w, 0)
	}
}

// playSelf writes h = Rω, R estimated by the sketch: EᵀEω.
func (p *predictor) playSelf(omega, h []float64) {
	buckets := p.s.buckets
	v := make([]float64, buckets)
	const wide = 64
	kernel.Each(p.workers, tasks(buckets, wide), func(task int) {
		from, to := span(task, wide, buckets)
		for j, w := range omega {
			if w != 0 {
				kernel.Axpy(w*p.scale[j], p.s.row(j)[from:to], v[from:to])
			}
		}
	})
	clear(h)
	kernel.Gemv(p.workers, p.c.d, buckets, p.s.e, buckets, v, h)
	for j := range h {
		h[j] *= p.scale[j]
	}
}

// playTarget writes h = Hᵀυ less the part of the turns done, and returns υ. Only the
// ω of the turns played are estimates here.
func (p *predictor) playTarget(i int, root float64, h []float64) []float64 {
	m := p.target
	upsilon := m.targetColumn(i)
	m.deflate(upsilon, m.upsilons, i)
	for r, w := range p.omegas {
		kernel.Axpy(-w[i], p.upsilon[r], upsilon)
	}
	floats.Scale(1/root, upsilon)
	m.productTo(h, upsilon, nil)
	return upsilon
}
