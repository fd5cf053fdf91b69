package baseline

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/stream"
)

// LaplacianScore scores each feature by how much it varies between neighbouring rows, as a share of its variance (He,
// Cai and Niyogi, Laplacian score for feature selection, NIPS 2005, eq. 1 and 2):
//
//	score_i = x̃ᵢᵀLx̃ᵢ / x̃ᵢᵀDx̃ᵢ = (G − CᵀC)ᵢᵢ / Gᵢᵢ,  0 ≤ score_i ≤ 1.
//
// The paper computes L and D from the graph of the k nearest neighbours of all rows, with heat-kernel weights. We use
// the anchor graph instead: its D is I, and it needs no second pass over the rows. Low scores are good: rank by
// [RankLowest]. A constant column has the score +Inf. The cost is 2·m·d flops for m anchors.
func LaplacianScore(g *anchor.Graph) []float64 {
	scores := make([]float64, g.D)
	for t := range g.M {
		for j, c := range g.C[t*g.D:][:g.D] {
			scores[j] += c * c
		}
	}
	squares := g.G.Diagonal(0)
	for j, smooth := range scores {
		total := squares[j]
		if !(total > 0) {
			scores[j] = math.Inf(1)
			continue
		}
		scores[j] = max((total-smooth)/total, 0) // below 0 is rounding error
	}
	return scores
}

// RankLowest ranks as [Rank] does, but the smallest scores are best.
func RankLowest(scores []float64, cols []stream.Column, k int) (order []int, warnings []string) {
	negated := make([]float64, len(scores))
	for j, s := range scores {
		negated[j] = -s
	}
	return Rank(negated, cols, k)
}
