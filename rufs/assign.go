package rufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

const (
	// stiffness is ζ, the weight of GᵀG = I, in units of the curvature of the other terms.
	stiffness = 100
	// assignSteps bounds the gradients of one round.
	assignSteps = 200
	// settled is the share of the first step at which steps count as none.
	settled = 1e-9
	// stepLength is the length of a step in units of 1/ζ: the penalty's curvature is between 2ζ and
	// 3ζ where GᵀG is near I, so that this neither overshoots nor passes rounding on. Barzilai's and
	// Borwein's lengths gain 0.3 % of the objective in a round, and made a difference of 1e-15 in
	// the data one of 3e-2 in G.
	stepLength = 0.25
	// enough is the share of the fall that the gradient promises with which a step is taken.
	enough = 1e-4
)

// assign lowers the objective in G, n×c, over G ≥ 0.
//
// Residuals of X need no row of it: ‖x_i − g_iF‖² = ‖x_i‖² − 2g_i·(XFᵀ)_i + g_iFFᵀg_iᵀ.
type assign struct {
	*problem
	xf, xw []float64              // XFᵀ and XW, n×c
	ff     kernel.Matrix[float64] // FFᵀ, c×c
	r, gg  []float64              // room: G − AG, and GᵀG − I
}

// value is the objective at g without ‖W‖₂,₁; where gradient is not nil it gets the gradient.
func (p *assign) value(g, gradient []float64) float64 {
	n, c := p.n, p.c
	total := p.sum(n, func(i int) float64 {
		row, xf, xw := g[i*c:][:c], p.xf[i*c:][:c], p.xw[i*c:][:c]
		square := p.squares[i]
		var miss float64
		var ff [64]float64 // FFᵀg
		of := ff[:0]
		for k, v := range row {
			s := kernel.Dot(p.ff.Data[k*c:][:c], row)
			of = append(of, s)
			square += v * (s - 2*xf[k])
			miss += (v - xw[k]) * (v - xw[k])
		}
		fit, along := math.Sqrt(max(square, 0)+p.epsilonX), math.Sqrt(miss+p.epsilonG)
		if gradient != nil {
			for k, v := range row {
				gradient[i*c+k] = (of[k]-xf[k])/fit + p.alpha*(v-xw[k])/along
			}
		}
		return fit + p.alpha*along
	})
	p.near.residual(p.workers, p.r, g, c)
	total += p.nu * kernel.Dot(p.r, p.r)
	gm, gg := kernel.RowMajor(g, n, c, c), kernel.RowMajor(p.gg, c, c, c)
	clear(p.gg)
	kernel.Gemm(p.team, 1, gm.Trans(), gm, gg)
	for k := range c {
		p.gg[k*c+k]--
	}
	total += p.zeta / 4 * kernel.Dot(p.gg, p.gg)
	if gradient != nil {
		p.near.back(p.workers, 2*p.nu, gradient, p.r, c)
		kernel.Gemm(p.team, p.zeta, gm, gg, kernel.RowMajor(gradient, n, c, c))
	}
	return total
}

// run takes steps from g, which it updates, along the projected gradient; where the objective does
// not fall enough the step is halved.
func (p *assign) run(g []float64) {
	size := len(g)
	gradient, after, step, next := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	value, first := p.value(g, gradient), 0.0
	for range assignSteps {
		for i, v := range g {
			step[i] = max(v-stepLength/p.zeta*gradient[i], 0) - v
		}
		far, slope := norm(step), kernel.Dot(step, gradient)
		if first == 0 {
			first = far
		}
		if far <= settled*first || !(slope < 0) {
			return
		}
		share, now := 1.0, 0.0
		for ; share > 1e-10; share /= 2 {
			for i, v := range g {
				next[i] = max(v+share*step[i], 0)
			}
			if now = p.value(next, after); now <= value+enough*share*slope {
				break
			}
		}
		if share <= 1e-10 { // rounding hides any further fall
			return
		}
		copy(g, next)
		value, gradient, after = now, after, gradient
	}
}

func norm(x []float64) float64 { return math.Sqrt(kernel.Dot(x, x)) }

// sum adds value(i) over n rows, in runs that are added in order: bits do not depend on the
// workers.
func (p *problem) sum(n int, value func(i int) float64) (total float64) {
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
