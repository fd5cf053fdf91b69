package sfufs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// nullShare: a unit vector w costs nothing if wᵀMw is at most this share of ‖M‖. The relative error of M is about
// 1e-14.
const nullShare = 1e-8

// meanNorms returns the root mean square of ‖wᵢ‖ over all W whose directions cost nothing. It is used if there are more
// than l such directions, for example if features outnumber rows. In the paper, rounding then chooses W(1). On ORL,
// with 1,024 features of 400 rows, a change of M by 1e-13 gave an entirely different selection. The mean over all such
// W does not depend on rounding. With P the projection on that space, the mean of ‖wᵢ‖² is l·P_ii/Tr(P), and
//
//	P ≈ τ·(M + τI)⁻¹,   τ = nullShare·‖M‖,
//
// is smooth in M: the rounding error of M, about 1e-14·‖M‖, changes P by 1e-14/nullShare. The cost is about 4·d³/3
// flops, or 2n²d for a factor. M must be the matrix of the eigenproblem, which holds for WᵀW = I.
func (s *solver) meanNorms() ([]float64, error) {
	diagonal, err := s.form.inverseDiagonal(nullShare * s.norm)
	if err != nil {
		return nil, fmt.Errorf("sfufs: start: %w", err)
	}
	var trace float64
	for _, v := range diagonal {
		trace += v
	}
	for i, v := range diagonal {
		diagonal[i] = math.Sqrt(float64(s.l) * v / trace)
	}
	return diagonal, nil
}

func (s *fullForm) inverseDiagonal(tau float64) ([]float64, error) {
	return linalg.InverseDiagonal(s.team, s.d, s.m, tau, s.a)
}
