package anchor

import (
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Graph turns the statistics into the graph. g must be the Gram matrix of the same rows, made with
// gram.FinishOptions{Scale: gram.ScaleCenter} and the fill values of the anchors. Graph scales G by the factors that
// the anchors used for distances. The features are the columns of g that took part in the distances. g is reduced to
// these columns, so its slices stay parallel to the Graph. The cost is O(m² + m·D), plus O(D²) if g holds a matrix, or
// O(n·D) if it holds a factor of n rows.
//
// g may have only its columns and no matrix (see [gram.Profile.Gram]). The Graph then has no G.
//
// Graph consumes the statistics and g, even on error: the Graph uses their memory, and g.Matrix becomes its G. Graph
// fails if an earlier call of Add or Graph has left s unusable. It also fails if g is of other rows, if its columns are
// not centred, or if none of them took part in the distances.
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
	keepFrameColumns(g, frameIndex)
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
		if err := sumFactorRows(s, g, indices); err != nil {
			return nil, err
		}
	}
	graph := s.toGraph(indices, g.Weight)
	graph.G, graph.Scale = &g.Matrix, factor
	return graph, nil
}

// toGraph makes the graph, without G, from the sums in s. weight is the total weight of the rows. indices has the index
// in the frame of each feature of the graph, in ascending order. The graph uses the memory of the sums.
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
		graph.C = s.zx // sumFactorRows has centred the features already
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

// keepFrameColumns reduces g to the columns in known, which took part in the distances. These are all columns, unless
// the anchors were made with another profile than the profile of g.
func keepFrameColumns(g *gram.Gram, known map[int]int) {
	if len(g.Columns) == 0 {
		return
	}
	keep := make([]bool, slices.Max(g.Columns)+1)
	for _, j := range g.Columns {
		_, keep[j] = known[j]
	}
	g.Keep(keep)
}

// checkCentred fails unless the diagonal of g is the diagonal for centred, unscaled columns. For columns that are not
// centred the diagonal is larger by n·mean². If this difference is below rounding, it does no harm.
func checkCentred(g *gram.Gram) error {
	for i := range g.D {
		want := g.Weight * g.Std[i] * g.Std[i]
		if got := g.At(i, i); !(math.Abs(got-want) <= 1e-6*want) {
			return fmt.Errorf("anchor: the Gram matrix has %g for a column's centred sum of squares %g: finish it with gram.ScaleCenter", got, want)
		}
	}
	return nil
}

// centreCross replaces ZᵀX (see [Statistics]), whose rows x are about the frame's centre, by C = Δ^(−1/2)(ZᵀX − Δx̄ᵀ)
// in the same memory. indices has the index in the frame of each feature of C, in ascending order; weight is the total
// weight of the rows. Each row of Z sums to 1, so the rows of ZᵀX add up to the sum of the points, which gives the mean
// x̄. x̄ is at most half a deviation if the anchors' profile is of the same rows. If later rows have moved the mean
// farther, digits are lost as in any sum about another centre.
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
