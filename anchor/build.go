package anchor

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
)

// Graph turns the statistics into the graph. g is the Gram matrix of the same rows under gram.FinishOptions{Scale:
// gram.ScaleCenter} and the fill of the anchors. Graph scales G as the anchors scaled the distances. The features are
// the columns of g that took part in the distances: g is reduced to these, so that its slices stay parallel to the
// Graph. The cost is O(m² + m·D), and O(D²), or O(n·D) for a factor.
//
// g may be absent, with only its columns known (see [gram.Profile.Gram]). G is then absent too.
//
// Both are consumed, even on error: the Graph uses their memory, and g.Matrix is its G. Graph fails for broken
// statistics, and for a g of other rows, of columns that are not centred, or without any column that took part.
func (s *Statistics) Graph(g *gram.Gram) (*Graph, error) {
	if s.brokenErr != nil {
		return nil, s.brokenErr
	}
	if g.Rows != s.Rows && !s.opt.Later {
		return nil, fmt.Errorf("anchor: the graph has %d rows, the Gram matrix %d", s.Rows, g.Rows)
	}
	frameIndex := make(map[int]int, len(s.frame.columns)) // from column to index in the frame
	for k, j := range s.frame.columns {
		frameIndex[j] = k
	}
	keepKnownColumns(g, frameIndex)
	if g.D == 0 {
		return nil, fmt.Errorf("anchor: no column of the Gram matrix took part in the distances")
	}
	if !g.Absent() {
		if err := checkCentred(g); err != nil {
			return nil, err
		}
	}
	indices := make([]int, g.D) // index of each feature in the frame
	factor := make([]float64, g.D)
	for k, j := range g.Columns {
		indices[k] = frameIndex[j]
		factor[k] = s.frame.factor[indices[k]]
	}
	if !g.Absent() {
		g.Scale(s.opt.Threads, factor)
	}
	if g.IsFactor() != s.opt.Later {
		return nil, fmt.Errorf("anchor: a factor asks for statistics that take their rows later, and only a factor")
	}
	if s.opt.Later {
		if err := s.takeRows(g, indices); err != nil {
			return nil, err
		}
	}
	graph := s.toGraph(indices, g.Weight)
	graph.G, graph.Scale = &g.Matrix, factor
	return graph, nil
}

// toGraph turns the sums of rows with the given total weight into the graph, without G, of the features at the given
// indices of the frame, which ascend. The graph uses the memory of the sums.
func (s *Statistics) toGraph(indices []int, weight float64) *Graph {
	threads := s.opt.Threads
	root := make([]float64, s.m) // Δ^(−1/2), 0 for 0
	for j, v := range s.delta {
		if v > 0 {
			root[j] = 1 / math.Sqrt(v)
		}
	}
	graph := &Graph{Rows: s.Rows, M: s.m, D: len(indices), Delta: s.delta, S: s.zz, Z: s.rows}
	switch {
	case s.columns != nil:
		s.columns.finishColumns(threads, s.delta, weight)
		s.columns.keepFeatures(indices)
		graph.Columns = s.columns
	case s.opt.Later && s.zx == nil:
	case s.rows.Rows > 0:
		graph.C = s.zx // of centred features already
		for j, r := range root {
			for i := range graph.C[j*graph.D:][:graph.D] {
				graph.C[j*graph.D+i] *= r
			}
		}
	default:
		graph.C = s.centreCross(indices, root, weight)
	}
	kernel.Each(threads, s.m, func(i int) {
		for j := i; j < s.m; j++ {
			graph.S[i*s.m+j] *= root[i] * root[j]
		}
	})
	kernel.MirrorUpper(threads, kernel.RowMajor(graph.S, s.m, s.m, s.m))
	s.delta, s.zx, s.zz, s.columns, s.work, s.anchors = nil, nil, nil, nil, nil, nil
	s.brokenErr = fmt.Errorf("anchor: the statistics have become a graph")
	return graph
}

// keepKnownColumns reduces g to the columns that took part in the distances. These are all columns, unless the anchors
// were made with another profile than g.
func keepKnownColumns(g *gram.Gram, known map[int]int) {
	if len(g.Columns) == 0 {
		return
	}
	keep := make([]bool, slices.Max(g.Columns)+1)
	for _, j := range g.Columns {
		_, keep[j] = known[j]
	}
	g.Keep(keep)
}

// checkCentred fails unless g has the diagonal of centred columns that are not scaled. Raw columns have a diagonal
// larger by n·mean². If that is below rounding, it does not matter.
func checkCentred(g *gram.Gram) error {
	for i := range g.D {
		want := g.Weight * g.Std[i] * g.Std[i]
		if got := g.At(i, i); !(math.Abs(got-want) <= 1e-6*want) {
			return fmt.Errorf("anchor: the Gram matrix has %g for a column's centred sum of squares %g: finish it with gram.ScaleCenter", got, want)
		}
	}
	return nil
}

// centreCross turns ZᵀX about the frame's centre into C = Δ^(−1/2)(ZᵀX − Δx̄ᵀ) of the features at the given indices of
// the frame, which ascend. C replaces ZᵀX in its memory. weight is the total weight of the rows. Rows of Z sum to 1,
// so the rows of ZᵀX sum to the sum of the points. x̄ is at most half a deviation, because the profile of the anchors
// is of the same rows. If later rows have moved the mean farther, digits are lost as in any sum about another centre.
func (s *Statistics) centreCross(indices []int, root []float64, weight float64) []float64 {
	d := len(s.frame.columns)
	mean := make([]float64, d)
	for j := range s.m {
		kernel.Axpy(1/weight, s.zx[j*d:][:d], mean)
	}
	// An entry never moves to a higher index, so in ascending order no entry is overwritten before it is read.
	for j := range s.m {
		from, to := s.zx[j*d:], s.zx[j*len(indices):]
		for k, l := range indices {
			to[k] = (from[l] - float64(s.delta[j]*mean[l])) * root[j]
		}
	}
	return s.zx[:s.m*len(indices)]
}
