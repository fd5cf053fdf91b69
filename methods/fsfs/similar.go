package fsfs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// similarity holds d features and their most similar pairs, i.e. with the smallest λ₂ (see the package comment).
type similarity struct {
	m        *gram.Matrix
	team     *kernel.Team
	d        int
	variance []float64 // of each feature, in units of G
	all      []int32   // the numbers 0 to d−1

	epsilonBound   float64 // an upper bound of ε for any first k
	mostNeighbours int     // largest number of neighbours of a feature in the graph of all features
	graph          neighbourGraph
	graphHasAll    bool // graph contains all features
	heads          map[int32]*distanceHead
	densest        map[int][]rankedFeature // for k above mostNeighbours: the features with the smallest distance to their k-th nearest feature

	left, right, cov []float64 // memory of visitProducts: features of a factor on both sides of a block, and the block
	distances        []float64 // memory of visitRows: rowsTogether rows of λ₂
}

func layOutSimilarity(l *room.Layout, d, rank, pairs int) *similarity {
	s, side := &similarity{d: d}, min(blockSide, d)
	s.all, s.variance = room.Slice[int32](l, d), room.Slice[float64](l, d)
	// The lists have their full size: growing a slice would need both its old and its new memory.
	s.graph = neighbourGraph{capacity: pairs, edges: room.Slice[edge](l, pairs)[:0], from: room.Slice[int32](l, d+2), near: room.Slice[int32](l, 2*pairs)}
	s.left, s.right, s.cov = room.Slice[float64](l, side*rank), room.Slice[float64](l, side*rank), room.Slice[float64](l, side*side)
	s.distances = room.Slice[float64](l, min(rowsTogether, d)*d)
	return s
}

func newSimilarity(ctx context.Context, team *kernel.Team, m *gram.Matrix, pairs int) (*similarity, error) {
	s := layOutSimilarity(nil, m.D, m.Rank, pairs)
	s.m, s.team, s.heads, s.densest = m, team, make(map[int32]*distanceHead), make(map[int][]rankedFeature)
	for i := range s.all {
		s.all[i] = int32(i)
	}
	s.computeVariances()
	// λ₂ is at most the smaller variance. So the feature with the least variance is near to all other features. For every
	// k, its k-th nearest feature is no farther than its farthest feature. This distance therefore bounds ε (see the
	// package comment).
	least := s.all[:0:0]
	for _, i := range s.all {
		if len(least) == 0 || s.variance[i] < s.variance[least[0]] {
			least = s.all[i : i+1]
		}
	}
	err := s.visitRows(ctx, least, func(_ int, row []float64) {
		for _, v := range row {
			s.epsilonBound = max(s.epsilonBound, v)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.buildGraphOfAll(ctx); err != nil {
		return nil, err
	}
	for i := range s.d {
		s.mostNeighbours = max(s.mostNeighbours, len(s.graph.nearestFeatures(int32(i))))
	}
	return s, nil
}

// compressionIndex returns λ₂ (see the package comment) of two features with variances a and b, in units of G. It
// divides the determinant λ₁λ₂ by λ₁, which avoids the cancellation in the definition. It is symmetric in a and b.
func compressionIndex(a, b, cov float64) float64 {
	// Divide by the larger variance, so that no square overflows.
	size := max(a, b)
	if size == 0 {
		return 0
	}
	a, b, cov = a/size, b/size, cov/size
	largest := (a + b + math.Sqrt((a-b)*(a-b)+4*cov*cov)) / 2
	return size * max(a*b-cov*cov, 0) / largest
}

// slack is an upper bound of the rounding error of λ₂, as a share of the smaller of the two variances.
const slack = 1e-13

// setThresholds writes a threshold for each listed feature to dst. Two features with covariance cov can have λ₂ ≤ t
// only if the product of their thresholds is at most cov². For t below both variances, λ₂ ≤ t is equivalent to (v_x −
// t)(v_y − t) ≤ cov².
func (s *similarity) setThresholds(dst []float64, list []int32, t float64) {
	for x, i := range list {
		// Subnormal products have no relative precision.
		if dst[x] = (s.variance[i]*(1-slack) - t) * (1 - slack); dst[x] < 1e-145 {
			dst[x] = 0
		}
	}
}
