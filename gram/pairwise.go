package gram

import "github.com/ufs-stream/ufs-stream/internal/numeric/kernel"

// finishPairs turns the kept part of G̃ into pairwise-complete products (Little and Rubin, Statistical Analysis with
// Missing Data, 2002, section 3.4), d×d, upper triangle. With M = 1 for an observed entry and X₀ = x̃ = M∘(x − pilot),
//
//	N = MᵀM   P = X₀ᵀX₀   Q = X₀ᵀM
//	cov_ij = (P_ij − Q_ij·Q_ji/N_ij)/N_ij
//
// is the covariance over the rows in which both columns are observed. Gᵢⱼ is Σw·cov_ij, shifted and scaled. All three
// matrices follow from the moments: P = G̃, and with m = 1 − M
//
//	N_ij = Σw − Σw mᵢ − Σw mⱼ + N̄_ij   (N̄ is the N of [Moments])
//	Q_ij = Σw x̃ᵢ − A_ji                (Σ w x̃ᵢ less the rows in which j is missing)
//
// The result may have negative eigenvalues. finishPairs returns the number of pairs of columns that are never observed
// in the same row. The covariance of such a pair is set to 0.
func (m *Moments) finishPairs(sym []float64, s *Standardizer) (apart int) {
	n := len(s.Columns)
	counts := make([]int, n)
	kernel.Each(m.opt.Threads, n, func(i int) {
		ci := s.Columns[i]
		a := &m.Columns[ci]
		for j := i; j < n; j++ {
			cj := s.Columns[j]
			b := &m.Columns[cj]
			weight, own, other := m.Weight, a.Sum, b.Sum
			if m.slot[ci] >= 0 || m.slot[cj] >= 0 {
				weight = m.Weight - ((m.Weight - a.Weight) + (m.Weight - b.Weight)) + m.bothMissingAt(ci, cj)
				own, other = a.Sum-m.crossAt(cj, ci), b.Sum-m.crossAt(ci, cj)
			}
			y := 0.0
			// If no row has both columns, weight may differ from 0 by rounding, by about 1e-16 of m.Weight.
			if weight > 1e-12*m.Weight {
				y = (sym[i*n+j] - own*other/weight) * (m.Weight / weight)
			} else {
				counts[i]++
			}
			sym[i*n+j] = s.shiftAndScale(y, i, j)
		}
	})
	for _, c := range counts {
		apart += c
	}
	return apart
}
