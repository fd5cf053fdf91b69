package rufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

const (
	// stiffness is the factor by which ζ, the weight of GᵀG = I, exceeds the curvature of the other terms.
	stiffness = 100
	// assignSteps is the largest number of gradient steps in one round.
	assignSteps = 200
	// settledShare: the steps end when a step is at most this share of the first step's length.
	settledShare = 1e-9
	// stepLength is the length of a step in units of 1/ζ. The penalty's curvature is between 2ζ and 3ζ if GᵀG is near I.
	// So steps of this length neither overshoot nor amplify rounding errors. With the step lengths of Barzilai and Borwein
	// the objective fell by 0.3 % more in a round, but a difference of 1e-15 in the data became a difference of 3e-2 in G.
	stepLength = 0.25
	// fallShare: a step is accepted if the objective falls by at least this share of the fall that the gradient predicts.
	fallShare = 1e-4
)

// objectiveAt returns the objective for the assignment G = g, without the term β‖W‖₂,₁ of the projection. It writes the
// gradient to gradient, unless that is nil. updateProductsOfSolution must have been called for the current F and W.
//
// For the symbols see the package comment. The norm of a residual is computed without the row x_i of X: ‖x_i − g_iF‖² =
// ‖x_i‖² − 2g_i·(XFᵀ)_i + g_iFFᵀg_iᵀ.
func (p *problem) objectiveAt(g, gradient []float64) float64 {
	n, c := p.n, p.c
	total := p.sumRows(n, func(i int) float64 {
		row, xf, xw := g[i*c:][:c], p.xf.Data[i*c:][:c], p.xw.Data[i*c:][:c]
		square := p.squares[i]
		var miss float64
		var ff [64]float64 // FFᵀg
		ffg := ff[:0]
		for k, v := range row {
			s := kernel.Dot(p.ff.Data[k*c:][:c], row)
			ffg = append(ffg, s)
			square += v * (s - 2*xf[k])
			miss += (v - xw[k]) * (v - xw[k])
		}
		fit, along := math.Sqrt(max(square, 0)+p.epsilonX), math.Sqrt(miss+p.epsilonG)
		if gradient != nil {
			for k, v := range row {
				gradient[i*c+k] = (ffg[k]-xf[k])/fit + p.alpha*(v-xw[k])/along
			}
		}
		return fit + p.alpha*along
	})
	p.neighbours.subtractPredictions(p.workers, p.r.Data, g, c)
	total += p.nu * kernel.Dot(p.r.Data, p.r.Data)
	gm, gg := kernel.RowMajor(g, n, c, c), p.gg.Data // GᵀG − I
	linalg.MultiplyTo(p.team, p.gg, 1, gm.Trans(), gm)
	for k := range c {
		gg[k*c+k]--
	}
	total += p.zeta / 4 * kernel.Dot(gg, gg)
	if gradient != nil {
		p.neighbours.addTransposed(p.workers, 2*p.nu, gradient, p.r.Data, c)
		kernel.Gemm(p.team, p.zeta, gm, p.gg, kernel.RowMajor(gradient, n, c, c))
	}
	return total
}

// descendGradient lowers the objective by changing g, the n×c entries of G, to other entries of at least 0. It makes
// projected gradient steps, and halves steps that lower the objective too little.
func (p *problem) descendGradient(g []float64) {
	p.updateProductsOfSolution()
	gradient, after, step, next := p.gradients[0].Data, p.gradients[1].Data, p.step.Data, p.next.Data
	value, firstLength := p.objectiveAt(g, gradient), 0.0
	for range assignSteps {
		for i, v := range g {
			step[i] = max(v-stepLength/p.zeta*gradient[i], 0) - v
		}
		length, slope := euclideanNorm(step), kernel.Dot(step, gradient)
		if firstLength == 0 {
			firstLength = length
		}
		if length <= settledShare*firstLength || !(slope < 0) {
			return
		}
		share, now := 1.0, 0.0
		for ; share > 1e-10; share /= 2 {
			for i, v := range g {
				next[i] = max(v+share*step[i], 0)
			}
			if now = p.objectiveAt(next, after); now <= value+fallShare*share*slope {
				break
			}
		}
		if share <= 1e-10 { // rounding errors exceed any further decrease
			return
		}
		copy(g, next)
		value, gradient, after = now, after, gradient
	}
}

func euclideanNorm(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }

// sumRows adds up value(i) over n rows. It first sums runs of consecutive rows, and then adds these sums in order, so
// that the bits do not depend on the number of workers.
func (p *problem) sumRows(n int, value func(i int) float64) (total float64) {
	parts := make([]float64, (n+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(p.workers, n, func(run, from, to int) {
		for i := from; i < to; i++ {
			parts[run] += value(i)
		}
	})
	for _, v := range parts {
		total += v
	}
	return total
}
