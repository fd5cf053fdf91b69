package rsfs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/rows"
)

// newLocalGraph returns the graph of S + Sᵀ with its degrees, see the package comment, for the k ≥ 1 nearest rows of
// each of n rows. The list `near` has the nearest of them first.
func newLocalGraph(near []rows.Neighbour, n int) *rows.Graph {
	k, mean := len(near)/n, 0.0
	for _, o := range near {
		mean += o.Square / float64(len(near))
	}
	s := make([]float64, len(near))
	for i := range n {
		sum := 0.0
		for e := i * k; e < (i+1)*k; e++ {
			// A common factor does not matter, and with this one no row has only weights that underflow.
			if s[e] = 1; near[e].Square > near[i*k].Square {
				s[e] = math.Exp((near[i*k].Square - near[e].Square) / mean)
			}
			sum += s[e]
		}
		for e := i * k; e < (i+1)*k; e++ {
			s[e] /= sum
		}
	}
	return rows.JoinWeights(near, s, n)
}
