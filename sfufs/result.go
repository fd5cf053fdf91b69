package sfufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/method"
)

// Result is a ranking of all d features.
type Result struct {
	// Its scores are ‖wᵢ‖, and its objective is Tr(WᵀMW) + γ·Σ √(‖wᵢ‖² + ε), see the package comment.
	method.Descent
	Costless []int    // features whose own cost M_ii is nearly 0; nil unless the constraint is WᵀW = I
	Gap      float64  // (λ_{l+1} − λ_l)/‖A‖, A being the matrix of the last eigenproblem; +Inf for l = d
	Warnings []string // for the user
}

// Norms of rows of W count as equal if they differ by at most tieShare of the larger one plus tieFloor. Tests compare
// norms with an independent implementation to 1e-7. The error of the eigenvectors in a row that γQ keeps small is about
// 1e-13.
const (
	tieShare = 1e-7
	tieFloor = 1e-12
)

func rankFeatures(rowNorms []float64) (order []int, groups method.Ties) {
	return method.Rank(rowNorms, func(largest, norm float64) bool { return norm >= largest*(1-tieShare)-tieFloor })
}

func rowNorms(w []float64, rows, columns int) []float64 {
	norm := make([]float64, rows)
	for i := range norm {
		var sum float64
		for _, v := range w[i*columns : (i+1)*columns] {
			sum += v * v
		}
		norm[i] = math.Sqrt(sum)
	}
	return norm
}
