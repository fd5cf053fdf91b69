package linalg

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// preconditioner describes the shifted matrix that a [Smallest] has factored, and counts earlier attempts.
type preconditioner struct {
	factor             shiftedFactor // factor of A − sigma·I or of a deflated matrix; nil without a factor
	isDeflated         bool          // the factor belongs to a deflated matrix
	sigma              float64
	counts             []eigenCount
	factorTries        int // number of factorizations tried
	stepsWithoutFactor int // number of steps to make without a factor from now on
	failedDeflations   int // number of deflated matrices that did not have a factor
	failedProofs       int // number of proofs that failed
}

// eigenCount records that at most `below` eigenvalues of A are less than nu.
type eigenCount struct {
	nu    float64
	below int
}

// proveComplete reports whether the l pairs found are proved to be the smallest, see [Smallest]. It uses an earlier
// count of eigenvalues, or else factors a matrix in which these l pairs are deflated.
func (s *Smallest) proveComplete() bool {
	mu := s.theta[s.l-1] - 4*s.tolerance()*s.norm
	residual := norm2(s.rnorm[:s.l])
	for _, c := range s.shift.counts {
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
	return s.factorDeflated(mu, s.l)
}

// factorDeflated factors B = A + t·V·Vᵀ − μI. V consists of the first k Ritz vectors, with k = rows, μ is mu, and t is
// the result of deflationWeight. The result is false if B does not have a Cholesky factor. factorDeflated leaves the
// rows of √t·Vᵀ in w.
func (s *Smallest) factorDeflated(mu float64, rows int) bool {
	root := math.Sqrt(s.deflationWeight())
	for i, v := range s.x[:rows*s.n] {
		s.w[i] = root * v
	}
	return s.factorWithAddedRows(mu, rows)
}

// deflationWeight returns the factor t of factorDeflated. With it, a deflated eigenvalue of the matrix A moves to μ +
// ‖A‖ or a little more. This is far from μ, but not so large that digits are lost in the addition.
func (s *Smallest) deflationWeight() float64 { return s.norm + s.theta[s.l-1] - s.theta[0] }

// deflateAndCount deflates all p Ritz vectors at μ = θ_l, see factorDeflated, and counts the eigenvalues of A below μ.
// It returns false if the deflated matrix does not have a Cholesky factor.
func (s *Smallest) deflateAndCount() bool {
	mu := s.theta[s.l-1]
	if !s.factorDeflated(mu, s.p) {
		return false
	}
	p := s.p
	g, values := clearedView(s.grams[0], p, p), s.spare[:p]
	s.shift.factor.inverseGram(g, kernel.RowMajor(s.w, p, s.n, s.n))
	if !s.ql.decomposeMatrix(g.Data[:p*p], p, values) {
		return true
	}
	// Let G be t·Vᵀ·B⁻¹·V, see factorDeflated for t, V and B. An eigenvalue of A below μ − η·t corresponds to an
	// eigenvalue of G above 1 + η. This η is a few times the rounding error of G.
	eta := s.tolerance() / 8
	c := eigenCount{nu: mu - eta*s.deflationWeight()}
	for _, v := range values {
		if !(v <= 1+eta) {
			c.below++
		}
	}
	s.shift.counts = append(s.shift.counts, c)
	return true
}

func (s *Smallest) factorWithAddedRows(sigma float64, addedRows int) bool {
	s.shift.factorTries++
	s.shift.factor = nil // release its memory
	s.shift.factor = s.form.factorShifted(sigma, kernel.RowMajor(s.w, addedRows, s.n, s.n))
	return s.shift.factor != nil
}

func (s *Smallest) tryShift(sigma float64) bool {
	s.shift.sigma = sigma
	return s.factorWithAddedRows(sigma, 0)
}

// chooseShift factors A − σI for a shift σ below the spectrum. The distance of σ from the spectrum is about the spread
// of the wanted eigenvalues. With a greater distance the inverted values would be almost equal. A smaller distance
// gains little, and the factorization may fail.
//
// Without start vectors from a similar matrix, the Ritz values are meaningless at first. Most matrices here are
// positive semidefinite, so the first shift tried is just below 0. If that fails, a few steps without a factor find the
// lower end of the spectrum. These steps are a block Lanczos process for A itself.
func (s *Smallest) chooseShift(step int, warm bool) {
	if s.shift.factor == nil && step == 0 && !warm {
		if s.tryShift(-s.smallestShiftDistance()) {
			return
		}
		s.shift.stepsWithoutFactor = 4
	}
	if s.shift.isDeflated {
		return
	}
	gap := s.theta[s.l] - s.theta[s.l-1]
	if s.shift.failedDeflations < 2 && (step == 0 && warm || slices.Max(s.rnorm[:s.l]) < gap/2) {
		if s.shift.isDeflated = s.deflateAndCount(); s.shift.isDeflated {
			return
		}
		s.shift.failedDeflations++
	}
	if s.shift.stepsWithoutFactor > 0 {
		s.shift.stepsWithoutFactor--
		return
	}
	near := max(s.smallestShiftDistance(), s.rnorm[0], (s.theta[s.l-1]-s.theta[0])/4)
	if s.shift.factor == nil {
		s.tryLowerShifts(near, math.Inf(1))
		return
	}
	if far := s.theta[0] - s.shift.sigma; far > 8*near && s.shift.factorTries < maxFactors {
		old := s.shift.sigma
		if !s.tryLowerShifts(near, far/2) {
			s.tryShift(old)
		}
	}
}

// smallestShiftDistance returns the smallest distance of a shift from the spectrum at which rounding does not prevent a
// factor.
func (s *Smallest) smallestShiftDistance() float64 {
	return max(32*s.tolerance()*s.norm, s.shiftMargin)
}

// maxFactors is the number of factorizations after which no better shift is tried.
const maxFactors = 8

func (s *Smallest) tryLowerShifts(firstDistance, maxDistance float64) bool {
	for ; firstDistance < maxDistance; firstDistance *= 4 {
		sigma := s.theta[0] - firstDistance
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
