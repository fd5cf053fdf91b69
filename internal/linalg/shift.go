package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// shift is the preconditioner of a [Smallest]: which matrix u is the factor of, and the
// findings of earlier factorizations.
type shift struct {
	factored bool // u holds the factor of A − sigma·I or of a deflated matrix
	deflated bool // of a deflated matrix
	sigma    float64
	counts   []count
	factors  int // factorizations tried
	plain    int // steps still to take without a factor
	misses   int // deflated matrices that had no factor
	proofs   int // proofs that failed
}

// count is the fact that A has at most below eigenvalues under nu.
type count struct {
	nu    float64
	below int
}

// prove reports whether nothing is missing below the l found, see [Smallest]: by an
// earlier count, or by deflating only these.
func (s *Smallest) prove() bool {
	mu := s.theta[s.l-1] - 4*s.tol()*s.norm
	residual := norm2(s.rnorm[:s.l])
	for _, c := range s.counts {
		found := 0
		for _, theta := range s.theta[:s.l] {
			if theta+residual < c.nu {
				found++
			}
		}
		if c.nu >= mu && c.below <= found {
			return true
		}
	}
	s.factored = s.deflate(mu, s.l)
	return s.factored
}

// deflate factors B = A + V·T·Vᵀ − μI, V the first rows Ritz vectors. It fails where B
// has no factor. The rows of √T·Vᵀ are left in w.
func (s *Smallest) deflate(mu float64, rows int) bool {
	root := math.Sqrt(s.weight())
	for i, v := range s.x[:rows*s.n] {
		s.w[i] = root * v
	}
	return s.factor(mu, rows)
}

// weight is t of T = t·I. A deflated eigenvalue becomes μ + ‖A‖ or a little more: far
// from the boundary, and not so large that adding it costs digits.
func (s *Smallest) weight() float64 { return s.norm + s.theta[s.l-1] - s.theta[0] }

// foresee deflates all p Ritz vectors at μ = θ_l and counts the eigenvalues below. It
// fails where B has no factor.
func (s *Smallest) foresee() bool {
	mu := s.theta[s.l-1]
	if s.factored = s.deflate(mu, s.p); !s.factored {
		return false
	}
	p := s.p
	g := make([]float64, p*p)
	s.form.inner(kernel.RowMajor(g, p, p, p), kernel.RowMajor(s.w, p, s.n, s.n))
	values := make([]float64, p)
	if !symmetricEigen(s.team.Threads(), g, p, values) {
		return true
	}
	// An eigenvalue of A below μ − η·t gives one of G above 1 + η. This η is a few times
	// the rounding of G.
	eta := s.tol() / 8
	c := count{nu: mu - eta*s.weight()}
	for _, v := range values {
		if !(v <= 1+eta) {
			c.below++
		}
	}
	s.counts = append(s.counts, c)
	return true
}

// factor factors A − σI and the products of the first rows of w with themselves.
func (s *Smallest) factor(sigma float64, rows int) bool {
	s.factors++
	return s.form.factor(sigma, kernel.RowMajor(s.w, rows, s.n, s.n))
}

// try factors A − σI; it fails where that is not positive definite.
func (s *Smallest) try(sigma float64) bool {
	s.factored = s.factor(sigma, 0)
	s.sigma = sigma
	return s.factored
}

// reshift factors A − σI for a σ below the spectrum, at a distance like the spread of the
// wanted values: after inversion a greater distance makes them all alike; a smaller one
// gains little and may fail.
//
// Without a start the Ritz values say nothing yet. Most matrices here are positive
// semi-definite, so the first trial is just below 0; if it fails, some steps without
// a factor, a block Lanczos process for A itself, find the lower end.
func (s *Smallest) reshift(step int, warm bool) {
	if !s.factored && step == 0 && !warm {
		if s.try(-s.least()) {
			return
		}
		s.plain = 4
	}
	if s.deflated {
		return
	}
	gap := s.theta[s.l] - s.theta[s.l-1]
	if s.misses < 2 && (step == 0 && warm || slices.Max(s.rnorm[:s.l]) < gap/2) {
		if s.deflated = s.foresee(); s.deflated {
			return
		}
		s.misses++
	}
	if s.plain > 0 {
		s.plain--
		return
	}
	near := max(s.least(), s.rnorm[0], (s.theta[s.l-1]-s.theta[0])/4)
	if !s.factored {
		s.descend(near, math.Inf(1))
		return
	}
	if far := s.theta[0] - s.sigma; far > 8*near && s.factors < maxFactors {
		old := s.sigma
		if !s.descend(near, far/2) {
			s.try(old)
		}
	}
}

// least is the smallest distance of a shift from the spectrum at which rounding does not
// decide whether there is a factor.
func (s *Smallest) least() float64 { return max(32*s.tol()*s.norm, s.apart) }

// maxFactors bounds the factorizations spent on better shifts.
const maxFactors = 8

// descend tries shifts at growing distances, below end, under the smallest Ritz value.
func (s *Smallest) descend(distance, end float64) bool {
	for ; distance < end; distance *= 4 {
		sigma := s.theta[0] - distance
		if sigma <= -s.bound { // no eigenvalue, by Gershgorin's theorem
			sigma = -s.bound * (1 + 0x1p-20)
			return s.try(sigma)
		}
		if s.try(sigma) {
			return true
		}
	}
	return false
}
