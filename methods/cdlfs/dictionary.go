package cdlfs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

const (
	mostSweeps = 100
	// sweepTol ends step 2 if no column of D changes by more than this. D has columns of length 1.
	sweepTol = 1e-10
)

// updateSynthesis minimizes ‖X − DA‖² over D with ‖d_j‖ ≤ 1. With S = AAᵀ, the best d_j for fixed other columns is the
// projection of d_j + (XAᵀ − DS)_j/S_jj onto the ball of radius 1. All columns are replaced one after the other until
// they hardly change (Mairal, Bach, Ponce and Sapiro, "Online learning for matrix factorization and sparse coding", JMLR
// 2010, Algorithm 2).
func (s *solver) updateSynthesis() {
	for range mostSweeps {
		var most float64
		for j := range s.c {
			scale := s.products.Data[j*(s.c+1)]
			if scale <= 0 { // A does not use the column
				continue
			}
			column, next := rowOf(s.synthesis, j), s.next
			copy(next, rowOf(s.gramCode, j))
			for k := range s.c {
				if k != j {
					kernel.Axpy(-s.products.Data[j*s.c+k], rowOf(s.synthesis, k), next)
				}
			}
			length := max(math.Sqrt(kernel.Dot(next, next)), scale)
			var change float64
			for i, v := range next {
				v /= length
				change += (v - column[i]) * (v - column[i])
				column[i] = v
			}
			most = max(most, change)
		}
		if most <= sweepTol*sweepTol {
			return
		}
	}
}

func rowOf(m kernel.Matrix[float64], i int) []float64 { return m.Data[i*m.Cols:][:m.Cols] }
