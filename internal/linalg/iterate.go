package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// iterate finds the pairs in a growing space, or reports that it could not.
func (s *Smallest) iterate(warm kernel.Matrix[float64]) (Eigen, bool) {
	s.reset()
	s.begin(warm)
	failed := func(step int) (Eigen, bool) { return Eigen{Steps: step, Factors: s.factors}, false }
	limit := s.tol() * s.norm
	best, sifts := math.Inf(1), s.opt.Filter != nil
	for step := range s.opt.Steps {
		if !s.ritz() {
			return failed(step)
		}
		if slices.Max(s.rnorm[:s.l]) <= limit {
			residual, ok := s.polish()
			if ok && s.prove() {
				return s.found(step, residual), true
			}
			if s.proofs++; s.proofs > 2 {
				return failed(step + 1)
			}
			best = math.Inf(1)
			s.m = 0
			if ok {
				// A vector was missed. It is orthogonal to the current ones, which cannot
				// find it: start anew, from other random vectors.
				s.factored, s.deflated = false, false
				s.begin(kernel.Matrix[float64]{})
			} else {
				// Digits were lost on the way: multiply the same vectors anew.
				copy(s.w, s.x)
				s.extend(s.p)
				s.fill()
			}
			continue
		}
		worst := slices.Max(s.rnorm[:s.l])
		if sifts = sifts && worst <= best/2 && s.sift(); sifts {
			best = worst
			continue
		}
		s.reshift(step, warm.Cols > 0)
		if s.factored && worst > best/2 && worst < mixing*s.norm {
			s.invert(s.x, s.p)
			s.m = 0
			s.extend(s.p)
			s.fill()
			best = math.Inf(1)
			continue
		}
		best = min(best, worst)
		rows := 0
		for i := range s.p {
			if s.rnorm[i] > limit {
				copy(s.w[rows*s.n:][:s.n], s.r[i*s.n:])
				rows++
			}
		}
		s.invert(s.w, rows)
		if s.m+rows > basisRows(s.n, s.p) {
			s.restart(2 * s.p)
		}
		if s.extend(rows) == 0 && s.randomize(s.p) == 0 {
			return failed(step)
		}
	}
	return failed(s.opt.Steps)
}

// mixing is the residual, relative to ‖A‖, below which vectors of a repeated eigenvalue
// mix: the error of a Ritz value is the square of the residual, so that residuals below
// √2⁻⁵³ do not show in it, and good vectors are combined with new bad ones. Where
// residuals then stop falling, one plain step of inverse iteration cleans the vectors.
const mixing = 1e-7

// invert multiplies the first rows of b by the inverse of the factored matrix, into w.
func (s *Smallest) invert(b []float64, rows int) {
	copy(s.w, b[:rows*s.n])
	if w := kernel.RowMajor(s.w, rows, s.n, s.n); s.factored {
		s.form.solve(w)
	} else {
		s.form.settle(w)
	}
}

// found returns the Ritz pairs as the answer.
func (s *Smallest) found(step int, residual float64) Eigen {
	e := s.result(s.p)
	e.Steps, e.Factors, e.Residual = step, s.factors, residual/s.norm
	copy(e.Values, s.theta)
	for i := range s.p {
		for j := range s.n {
			e.Basis.Data[j*s.p+i] = s.x[i*s.n+j]
		}
	}
	return e
}

// polish makes the Ritz vectors orthonormal to rounding, multiplies them by A anew and
// returns the largest residual of the first l.
func (s *Smallest) polish() (residual float64, ok bool) {
	n := s.n
	x := kernel.RowMajor(s.x, s.p, n, n)
	s.form.settle(x)
	g := kernel.RowMajor(make([]float64, s.p*s.p), s.p, s.p, s.p)
	kernel.Syrk(s.team, 1, x, g)
	if at, _ := factor(s.team, g); at >= 0 {
		return 0, false
	}
	solveTrans(s.team, g, false, x)
	clear(s.ax)
	s.form.times(kernel.RowMajor(s.ax, s.p, n, n), x)
	s.residuals(s.l)
	residual = slices.Max(s.rnorm[:s.l])
	return residual, residual <= s.tol()*s.norm
}
