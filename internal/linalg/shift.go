package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// preconditioner contains the shifted factor of a [Smallest], and the results of earlier factorizations.
type preconditioner struct {
	hasFactor          bool // u holds the factor of A − sigma·I or of a deflated matrix
	isDeflated         bool // the factor belongs to a deflated matrix
	sigma              float64
	counts             []eigenCount
	factorTries        int // number of factorizations tried
	stepsWithoutFactor int // number of steps that remain to be made without a factor
	failedDeflations   int // number of deflated matrices that did not have a factor
	failedProofs       int // number of proofs that failed
}

// eigenCount records that the number of A's eigenvalues less than nu is at most the field below.
type eigenCount struct {
	nu    float64
	below int
}

// proveComplete reports whether the l pairs found are proved to be the smallest, see [Smallest]. It uses an earlier
// count of eigenvalues, or deflates only these l pairs.
func (s *Smallest) proveComplete() bool {
	mu := s.theta[s.l-1] - 4*s.tolerance()*s.norm
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
	s.hasFactor = s.factorDeflated(mu, s.l)
	return s.hasFactor
}

// factorDeflated factors B = A + V·T·Vᵀ − μI, V being the first Ritz vectors, as many as rows. It returns false if B
// does not have a factor. It leaves the rows of √T·Vᵀ in w.
func (s *Smallest) factorDeflated(mu float64, rows int) bool {
	root := math.Sqrt(s.deflationWeight())
	for i, v := range s.x[:rows*s.n] {
		s.w[i] = root * v
	}
	return s.factorWithRows(mu, rows)
}

// deflationWeight returns the t of T = t·I. With it a deflated eigenvalue becomes μ + ‖A‖ or a little more. This is far
// from the boundary, and not so large that digits are lost in the addition.
func (s *Smallest) deflationWeight() float64 { return s.norm + s.theta[s.l-1] - s.theta[0] }

// deflateAndCount deflates all p Ritz vectors at μ = θ_l and counts the eigenvalues below μ. It returns false if B does
// not have a factor.
func (s *Smallest) deflateAndCount() bool {
	mu := s.theta[s.l-1]
	if s.hasFactor = s.factorDeflated(mu, s.p); !s.hasFactor {
		return false
	}
	p := s.p
	g := make([]float64, p*p)
	s.form.inverseGram(kernel.RowMajor(g, p, p, p), kernel.RowMajor(s.w, p, s.n, s.n))
	values := make([]float64, p)
	if !symmetricEigen(s.team.Threads(), g, p, values) {
		return true
	}
	// An eigenvalue of A below μ − η·t gives an eigenvalue of G above 1 + η. This η is a
	// few times the rounding of G.
	eta := s.tolerance() / 8
	c := eigenCount{nu: mu - eta*s.deflationWeight()}
	for _, v := range values {
		if !(v <= 1+eta) {
			c.below++
		}
	}
	s.counts = append(s.counts, c)
	return true
}

func (s *Smallest) factorWithRows(sigma float64, rows int) bool {
	s.factorTries++
	return s.form.factorShifted(sigma, kernel.RowMajor(s.w, rows, s.n, s.n))
}

func (s *Smallest) tryShift(sigma float64) bool {
	s.hasFactor = s.factorWithRows(sigma, 0)
	s.sigma = sigma
	return s.hasFactor
}

// chooseShift factors A − σI for a σ below the spectrum. Its distance from the spectrum is about the spread of the
// wanted values. With a greater distance the values would be almost equal after inversion; a smaller one gains little
// and may fail.
//
// Without a start the Ritz values are meaningless at first. Most matrices here are positive semi-definite, so the first
// trial is just below 0. If it fails, some steps without a factor, which are a block Lanczos process for A itself, find
// the lower end of the spectrum.
func (s *Smallest) chooseShift(step int, warm bool) {
	if !s.hasFactor && step == 0 && !warm {
		if s.tryShift(-s.leastDistance()) {
			return
		}
		s.stepsWithoutFactor = 4
	}
	if s.isDeflated {
		return
	}
	gap := s.theta[s.l] - s.theta[s.l-1]
	if s.failedDeflations < 2 && (step == 0 && warm || slices.Max(s.rnorm[:s.l]) < gap/2) {
		if s.isDeflated = s.deflateAndCount(); s.isDeflated {
			return
		}
		s.failedDeflations++
	}
	if s.stepsWithoutFactor > 0 {
		s.stepsWithoutFactor--
		return
	}
	near := max(s.leastDistance(), s.rnorm[0], (s.theta[s.l-1]-s.theta[0])/4)
	if !s.hasFactor {
		s.tryLowerShifts(near, math.Inf(1))
		return
	}
	if far := s.theta[0] - s.sigma; far > 8*near && s.factorTries < maxFactors {
		old := s.sigma
		if !s.tryLowerShifts(near, far/2) {
			s.tryShift(old)
		}
	}
}

// leastDistance returns the smallest distance of a shift from the spectrum for which it does not depend on rounding
// whether the shifted matrix has a factor.
func (s *Smallest) leastDistance() float64 { return max(32*s.tolerance()*s.norm, s.shiftMargin) }

// maxFactors bounds the factorizations spent on better shifts.
const maxFactors = 8

func (s *Smallest) tryLowerShifts(distance, end float64) bool {
	for ; distance < end; distance *= 4 {
		sigma := s.theta[0] - distance
		if sigma <= -s.bound { // sigma is below all eigenvalues, by Gershgorin's theorem
			sigma = -s.bound * (1 + 0x1p-20)
			return s.tryShift(sigma)
		}
		if s.tryShift(sigma) {
			return true
		}
	}
	return false
}
