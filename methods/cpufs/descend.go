package cpufs

import (
	"context"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// factorDescent has the numbers that moveFactor keeps between its gradient steps of U₁, U₂, …. rates are the last accepted
// lengths of a step, in units of the gradient.
type factorDescent struct {
	rates      []float64 // rates of U₁, U₂, …; 0 before the first step
	gradientW  []float64 // derivative of φ by W, d×c
	dw, gdw    []float64 // a step of W, and the product of G with it
	grad, move []float64 // gradient and step of one U_s, c×n_s row-major
}

func newFactorDescent(l *room.Layout, m *model) *factorDescent {
	take := func(n int) []float64 { return room.Slice[float64](l, n*m.c) }
	side := slices.Max(m.shape)
	return &factorDescent{rates: make([]float64, len(m.shape)), gradientW: take(m.d), dw: take(m.d), gdw: take(m.d), grad: take(side), move: take(side)}
}

const (
	// The gradient of φ predicts by how much a step lowers φ. A step that lowers φ by less than minGainShare of the
	// prediction is too long (Armijo).
	minGainShare = 1e-4
	// maxHalvings is the largest number of halvings of the rate. After these, a step is below the rounding of U.
	maxHalvings = 60
	// rowFloor is the paper's ξ, which prevents division by 0 if a row of W is 0.
	rowFloor = 1e-16
)

func (s *solver) takeGradientSteps(ctx context.Context) error {
	for range s.opt.Steps {
		for side := range s.shape {
			if err := s.moveFactor(ctx, side); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFactor makes a step of the U of one side against the gradient of
//
//	φ = α‖XW − F‖² + β‖W‖₂,₁,   with G = XᵀX and P = XᵀF below.
//
// The search starts from twice the last accepted rate, which is halved until φ falls enough. The fall of φ is computed
// from the step alone, as α(2⟨GW − P, ΔW⟩ + ⟨ΔW, GΔW⟩) and the change of each row's norm. Near the end, a difference of
// two values of φ would be only rounding error. Without projection ΔW is proportional to the rate, so that one product
// GΔW serves all trials. With projection each trial needs a product of its own.
func (s *solver) moveFactor(ctx context.Context, side int) error {
	m, o, t := &s.model, &s.opt, s.descent
	target := m.u[side].Data
	grad := s.factorGradient(side)
	rate := 2 * t.rates[side]
	if o.givenRate > 0 {
		rate = o.givenRate
	}
	move := t.move[:len(target)]
	if rate == 0 {
		for i, g := range grad {
			move[i] = -g
		}
		if err := s.computeMoveProducts(ctx, side, move); err != nil {
			return err
		}
		// The quadratic model of φ has its minimum at this rate.
		rate = 1
		if curve := 2 * o.Alpha * kernel.Dot(t.dw, t.gdw); curve > 0 {
			rate = kernel.Dot(grad, grad) / curve
		}
	}
	for try := range maxHalvings {
		if try == 0 || o.Nonnegative {
			for i, g := range grad {
				move[i] = -rate * g
				if o.Nonnegative {
					move[i] = max(target[i]-rate*g, 0) - target[i]
				}
			}
			if err := s.computeMoveProducts(ctx, side, move); err != nil {
				return err
			}
		} else {
			for _, x := range [][]float64{move, t.dw, t.gdw} {
				for i := range x {
					x[i] /= 2
				}
			}
		}
		if o.givenRate > 0 || s.objectiveChange() <= -minGainShare*kernel.Dot(move, move)/rate {
			for i := range target {
				target[i] += move[i]
			}
			m.khatriRao(m.w, m.u)
			kernel.Axpy(1, t.gdw, m.gw)
			// A step that the projection blocks entirely shows nothing about a good rate. If the rate were doubled each
			// time, halving could not reduce it enough once the projection allows a step.
			if kernel.Dot(move, move) > 0 {
				t.rates[side] = rate
			}
			return nil
		}
		rate /= 2
	}
	return nil // at a minimum, to rounding
}

// factorGradient returns the derivative of φ by the U of one side, c×n_s row-major, see moveFactor for φ, G and P, and
// the package comment for W. Let R = 2α(GW − P) + β·(W with each row divided by its norm). Then entry (k, h) of ∂φ/∂U₁
// is the sum, over the cells in the places h of side 1, of R_(cell, k) times the entries of the other U that are factors
// of W_(cell, k). The next call overwrites the result.
func (s *solver) factorGradient(side int) []float64 {
	m, o, r := &s.model, &s.opt, s.descent.gradientW
	c := m.c
	rows.EachRun(o.Threads, m.d, func(_, from, to int) {
		for i := from; i < to; i++ {
			w := m.w[i*c:][:c]
			shrink := o.Beta / (math.Sqrt(kernel.Dot(w, w)) + rowFloor)
			for k, x := range w {
				r[i*c+k] = 2*o.Alpha*(m.gw[i*c+k]-m.p[i*c+k]) + shrink*x
			}
		}
	})
	n := m.shape[side]
	grad := s.descent.grad[:c*n]
	clear(grad)
	m.addContraction(kernel.ColMajor(grad, n, c, n), r, m.u, side)
	return grad
}

// computeMoveProducts computes ΔW, the change of W by a move of the U of one side, and the product GΔW.
// objectiveChange uses both.
func (s *solver) computeMoveProducts(ctx context.Context, side int, move []float64) error {
	m, t := &s.model, s.descent
	factors := slices.Clone(m.u)
	factors[side].Data = move
	m.khatriRao(t.dw, factors)
	return s.multiplyByG(ctx, t.gdw, t.dw)
}

func (s *solver) objectiveChange() float64 {
	m, o, t := &s.model, &s.opt, s.descent
	c := m.c
	sums := make([]float64, (m.d+rows.RunRows-1)/rows.RunRows)
	rows.EachRun(o.Threads, m.d, func(run, from, to int) {
		for i := from; i < to; i++ {
			var before, after, slope, more float64
			for k, w := range m.w[i*c:][:c] {
				dw := t.dw[i*c+k]
				before += w * w
				after += (w + dw) * (w + dw)
				slope += 2 * (m.gw[i*c+k] - m.p[i*c+k] + t.gdw[i*c+k]/2) * dw
				more += dw * (2*w + dw)
			}
			sums[run] += o.Alpha * slope
			if lengths := math.Sqrt(before) + math.Sqrt(after); lengths > 0 {
				sums[run] += o.Beta * (more / lengths) // √after − √before
			}
		}
	})
	sum := 0.0
	for _, x := range sums {
		sum += x
	}
	return sum
}
