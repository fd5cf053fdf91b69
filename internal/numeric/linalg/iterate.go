package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// solveByIteration finds the l smallest eigenpairs in a growing search space, which starts with the columns of warm,
// see [Smallest]. It returns false if it does not find them.
func (s *Smallest) solveByIteration(warm kernel.Matrix[float64]) (Eigen, bool) {
	s.resetSpace()
	s.shift = preconditioner{}
	s.startSpace(warm)
	failed := func(step int) (Eigen, bool) { return Eigen{Steps: step, Factors: s.shift.factorTries}, false }
	limit := s.tolerance() * s.norm
	best, sifts := math.Inf(1), s.opt.Filter != nil
	for step := range s.opt.Steps {
		if !s.solveRitz() {
			return failed(step)
		}
		if slices.Max(s.rnorm[:s.l]) <= limit {
			residual, ok := s.polishRitzVectors()
			if ok && s.proveComplete() {
				return s.eigenFromRitz(step, residual), true
			}
			if s.shift.failedProofs++; s.shift.failedProofs > 2 {
				return failed(step + 1)
			}
			best = math.Inf(1)
			s.m = 0
			if ok {
				// An eigenvector was missed. It is orthogonal to all current vectors, so no iteration from these can find it. Start
				// again with other random vectors.
				s.shift.factor, s.shift.isDeflated = nil, false
				s.startSpace(kernel.Matrix[float64]{})
			} else {
				// Digits were lost during the iteration: multiply the same vectors by A again.
				copy(s.w, s.x)
				s.extendSpace(s.p)
				s.fillSpaceRandomly()
			}
			continue
		}
		worst := slices.Max(s.rnorm[:s.l])
		if sifts = sifts && worst <= best/2 && s.filterSpace(); sifts {
			best = worst
			continue
		}
		s.chooseShift(step, warm.Cols > 0)
		if s.shift.factor != nil && !s.shift.isDeflated && worst > best/2 && worst < mixingResidual*s.norm {
			s.preconditionRows(s.x, s.p)
			s.m = 0
			s.extendSpace(s.p)
			s.fillSpaceRandomly()
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
		s.preconditionRows(s.w, rows)
		if s.m+rows > basisRows(s.n, s.p) {
			s.shrinkSpace(2 * s.p)
		}
		if s.extendSpace(rows) == 0 && s.extendRandomly(s.p) == 0 {
			return failed(step)
		}
	}
	return failed(s.opt.Steps)
}

// mixingResidual is a residual relative to ‖A‖. The error of a Ritz value is about the square of its residual. Once
// residuals are below mixingResidual, the Ritz values of a repeated eigenvalue are equal to rounding. The Ritz method
// may then mix converged vectors with bad new ones. If the residuals therefore stop falling, the Ritz vectors,
// multiplied by the inverse of the shifted matrix, become a new search space. The inverse of a deflated matrix would
// shrink the wanted vectors instead.
const mixingResidual = 1e-7

// preconditionRows writes the given number of rows of b, multiplied by the inverse of the factored matrix, to w. If no
// matrix is factored, it only copies the rows.
func (s *Smallest) preconditionRows(b []float64, rows int) {
	copy(s.w, b[:rows*s.n])
	if w := kernel.RowMajor(s.w, rows, s.n, s.n); s.shift.factor != nil {
		s.shift.factor.solveRows(w)
	} else {
		s.form.completeVectors(w)
	}
}

func (s *Smallest) eigenFromRitz(step int, residual float64) Eigen {
	e := s.layOutEigen(nil, s.p)
	e.Steps, e.Factors, e.Residual = step, s.shift.factorTries, residual/s.norm
	copy(e.Values, s.theta)
	for i := range s.p {
		for j := range s.n {
			e.Basis.Data[j*s.p+i] = s.x[i*s.n+j]
		}
	}
	return e
}

// polishRitzVectors makes the Ritz vectors orthonormal to rounding and multiplies them by A again. It returns the
// largest residual of the first l vectors.
func (s *Smallest) polishRitzVectors() (residual float64, ok bool) {
	n := s.n
	x := kernel.RowMajor(s.x, s.p, n, n)
	s.form.completeVectors(x)
	g := clearedView(s.grams[0], s.p, s.p)
	kernel.Syrk(s.team, 1, x, g)
	if at, _ := factorUpper(s.team, g); at >= 0 {
		return 0, false
	}
	solveTrans(s.team, g, false, x)
	clear(s.ax)
	s.form.addProduct(kernel.RowMajor(s.ax, s.p, n, n), x)
	s.updateResiduals(s.l)
	residual = slices.Max(s.rnorm[:s.l])
	return residual, residual <= s.tolerance()*s.norm
}
