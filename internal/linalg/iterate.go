package linalg

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// shift is the preconditioner of a [Smallest]: what the factor in u belongs to.
type shift struct {
	held    bool // whether u holds the factor of A − sigma·I
	sigma   float64
	factors int // factorizations tried
	plain   int // steps still to take without a factor
	proofs  int // proofs that failed
}

// iterate finds the pairs in a growing space, or reports that it could not.
func (s *Smallest) iterate(warm kernel.Matrix[float64]) (Eigen, bool) {
	s.reset()
	s.begin(warm)
	if s.m < s.p {
		return Eigen{}, false
	}
	failed := func(step int) (Eigen, bool) { return Eigen{Steps: step, Factors: s.factors}, false }
	limit := s.tol() * s.norm
	for step := range s.opt.Steps {
		if !s.ritz() {
			return failed(step)
		}
		if converged(s.rnorm[:s.l], limit) {
			residual, ok := s.polish()
			if ok && s.prove() {
				e := s.result(s.p)
				e.Steps, e.Factors, e.Residual = step, s.factors, residual/s.norm
				copy(e.Values, s.theta)
				for i := range s.p {
					for j := range s.n {
						e.Basis.Data[j*s.p+i] = s.x[i*s.n+j]
					}
				}
				return e, true
			}
			// Something was missed, or rounding has been lost on the way: go on from the
			// same vectors, freshly multiplied, beside new random ones.
			if s.proofs++; s.proofs > 2 {
				return failed(step)
			}
			s.m = 0
			copy(s.w, s.x)
			s.extend(s.p)
			s.randomize(s.p)
			continue
		}
		rows := 0
		for i := range s.p {
			if s.rnorm[i] > limit {
				copy(s.w[rows*s.n:][:s.n], s.r[i*s.n:])
				rows++
			}
		}
		s.reshift(step, warm.Cols > 0)
		if s.held {
			block := kernel.RowMajor(s.w, rows, s.n, s.n).Trans()
			u := kernel.RowMajor(s.u, s.n, s.n, s.n)
			solveTrans(s.team, u, false, block)
			solve(s.team, u, false, block)
		}
		if s.m+rows > basisRows(s.n, s.p) {
			s.restart(2 * s.p)
		}
		if s.extend(rows) == 0 && s.randomize(s.p) == 0 {
			return failed(step)
		}
	}
	return failed(s.opt.Steps)
}

func converged(norms []float64, limit float64) bool {
	for _, r := range norms {
		if !(r <= limit) {
			return false
		}
	}
	return true
}

// polish makes the Ritz vectors orthonormal to rounding, multiplies them by A anew and
// returns the largest residual of the first l.
func (s *Smallest) polish() (residual float64, ok bool) {
	n := s.n
	x := kernel.RowMajor(s.x, s.p, n, n)
	g := kernel.RowMajor(make([]float64, s.p*s.p), s.p, s.p, s.p)
	kernel.Syrk(s.team, 1, x, g)
	if at, _ := factor(s.team, g); at >= 0 {
		return 0, false
	}
	solveTrans(s.team, g, false, x)
	clear(s.ax)
	kernel.Gemm(s.team, 1, x, s.matrix(), kernel.RowMajor(s.ax, s.p, n, n))
	for i := range s.l {
		r := s.r[i*n:][:n]
		copy(r, s.ax[i*n:])
		kernel.Axpy(-s.theta[i], s.x[i*n:][:n], r)
		residual = max(residual, norm2(r))
	}
	return residual, residual <= s.tol()*s.norm
}

// prove reports whether A + V·T·Vᵀ − μI is positive definite, see [Smallest].
func (s *Smallest) prove() bool {
	n := s.n
	last := s.theta[s.l-1]
	mu := last - 8*s.tol()*s.norm
	for i := range s.l {
		// The deflated eigenvalues become about μ + ‖A‖: nowhere near the boundary, and
		// not so large that adding them costs digits.
		root := math.Sqrt(s.norm + last - s.theta[i])
		for j, v := range s.x[i*n:][:n] {
			s.w[i*n+j] = root * v
		}
	}
	s.held = false
	s.diagonal(mu)
	kernel.Syrk(s.team, 1, kernel.RowMajor(s.w, s.l, n, n).Trans(), kernel.RowMajor(s.u, n, n, n))
	return s.factor()
}

// diagonal copies A − σI to u, the upper triangle.
func (s *Smallest) diagonal(sigma float64) {
	n := s.n
	for i := range n {
		copy(s.u[i*n+i:(i+1)*n], s.a[i*n+i:])
		s.u[i*n+i] -= sigma
	}
}

func (s *Smallest) factor() bool {
	s.factors++
	at, _ := factor(s.team, kernel.RowMajor(s.u, s.n, s.n, s.n))
	return at < 0
}

// try factors A − σI; it fails where that is not positive definite.
func (s *Smallest) try(sigma float64) bool {
	s.diagonal(sigma)
	s.held = s.factor()
	s.sigma = sigma
	return s.held
}

// reshift sees to a factor of A − σI, σ below the spectrum but as near to it as the
// spread of the wanted values: farther would make them all alike after inversion,
// nearer gains little and may fail.
//
// Without a start the Ritz values say nothing yet. Most matrices here are positive
// semi-definite, so the first trial is just below 0; if it fails, some steps without
// a factor, a block Lanczos process for A itself, find the lower end.
func (s *Smallest) reshift(step int, warm bool) {
	least := 32 * s.tol() * s.norm
	if !s.held && step == 0 && !warm {
		if s.try(-least) {
			return
		}
		s.plain = 4
	}
	if s.plain > 0 {
		s.plain--
		return
	}
	near := max(least, s.rnorm[0], (s.theta[s.l-1]-s.theta[0])/4)
	if !s.held {
		s.descend(near, math.Inf(1))
		return
	}
	if far := s.theta[0] - s.sigma; far > 4*near && s.factors < maxFactors {
		old := s.sigma
		if !s.descend(near, far/2) {
			s.try(old)
		}
	}
}

// maxFactors bounds the factorizations spent on better shifts.
const maxFactors = 8

// descend tries shifts at growing distances, below end, under the smallest Ritz value.
func (s *Smallest) descend(distance, end float64) bool {
	for ; distance < end; distance *= 4 {
		sigma := s.theta[0] - distance
		if sigma <= -s.bound { // Gershgorin: there is nothing
			sigma = -s.bound * (1 + 0x1p-20)
			return s.try(sigma)
		}
		if s.try(sigma) {
			return true
		}
	}
	return false
}
