package fsfs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// similar are d features with λ₂ of all pairs, of which those nearest to each other are held.
type similar struct {
	m        *gram.Matrix
	team     *kernel.Team
	d        int
	variance []float64 // of each feature, in units of G
	all      []int32   // 0, 1, …, d−1

	farthest float64 // ε is no larger for any first k
	most     int     // neighbours that a feature has at most in the graph of all features
	graph    graph
	whole    bool // the graph is of all features
	heads    map[int32]*head
	densest  map[int][]ranked // of numbers k above most, the features whose k-th nearest is nearest
}

func newSimilar(ctx context.Context, threads int, m *gram.Matrix, pairs int) (*similar, error) {
	s := &similar{m: m, team: kernel.NewTeam(threads), d: m.D, all: make([]int32, m.D), heads: make(map[int32]*head), densest: make(map[int][]ranked)}
	for i := range s.all {
		s.all[i] = int32(i)
	}
	// Room that grew would be there twice for a while.
	s.graph = graph{room: pairs, edges: make([]edge, 0, pairs), near: make([]int32, 2*pairs)}
	s.diagonal()
	// λ₂ is at most the smaller variance: the feature that varies least is near to all others, and for
	// every k some feature's k-th nearest is as near as the farthest of that one.
	least := s.all[:0:0]
	for _, i := range s.all {
		if len(least) == 0 || s.variance[i] < s.variance[least[0]] {
			least = s.all[i : i+1]
		}
	}
	err := s.rows(ctx, least, func(_ int, row []float64) {
		for _, v := range row {
			s.farthest = max(s.farthest, v)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	for i := range s.d {
		s.most = max(s.most, len(s.graph.of(int32(i))))
	}
	return s, nil
}

// index is λ₂ of two features of variances a and b, in units of G, without the cancellation of its
// definition: λ₁λ₂ is the determinant. It is the same for b and a.
func index(a, b, cov float64) float64 {
	// Squares are of shares of the larger of the two, so that none overflows.
	size := max(a, b)
	if size == 0 {
		return 0
	}
	a, b, cov = a/size, b/size, cov/size
	largest := (a + b + math.Sqrt((a-b)*(a-b)+4*cov*cov)) / 2
	return size * max(a*b-cov*cov, 0) / largest
}

// slack is more than rounding moves λ₂ by, as a share of the smaller variance.
const slack = 1e-13

// thresholds writes to dst a number for each of the features listed. λ₂ ≤ t only where the product of those of two is
// at most cov²: where t is below both variances, λ₂ ≤ t is (v_x − t)(v_y − t) ≤ cov².
func (s *similar) thresholds(dst []float64, list []int32, t float64) {
	for x, i := range list {
		// Products below the normal numbers have no relative precision.
		if dst[x] = (s.variance[i]*(1-slack) - t) * (1 - slack); dst[x] < 1e-145 {
			dst[x] = 0
		}
	}
}
