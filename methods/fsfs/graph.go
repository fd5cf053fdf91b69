package fsfs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
)

// edge is a pair of features i < j with its λ₂.
type edge struct {
	index float64
	i, j  int32
}

// neighbourGraph contains all pairs in a set of features whose λ₂ (see the package comment) is at most a bound. It
// lists each feature's neighbours, nearest first.
type neighbourGraph struct {
	capacity int     // largest number of edges
	edges    []edge  // by λ₂, then i, then j
	from     []int32 // offset of each feature's neighbours in near
	near     []int32 // by λ₂, then column
}

// pairCapacity returns the largest number of pairs in the graph of d features: 128·d, or 2²¹ (48 MiB) if that is more.
func pairCapacity(d int) int { return min(d*(d-1)/2, max(128*d, 1<<21)) }

func (g *neighbourGraph) nearestFeatures(i int32) []int32 { return g.near[g.from[i]:g.from[i+1]] }

// linkNeighbours sorts the edges and lists each feature's neighbours. Neighbours with equal λ₂ are in column order.
func (g *neighbourGraph) linkNeighbours(d int) {
	slices.SortFunc(g.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	clear(g.from)
	for _, e := range g.edges {
		g.from[e.i+2]++
		g.from[e.j+2]++
	}
	for i := range d {
		g.from[i+2] += g.from[i+1]
	}
	g.near = g.near[:2*len(g.edges)]
	for _, e := range g.edges { // from[i+1] is the next free place of i; in the end it is the start of i+1
		g.near[g.from[e.i+1]] = e.j
		g.near[g.from[e.j+1]] = e.i
		g.from[e.i+1]++
		g.from[e.j+1]++
	}
}

func (g *neighbourGraph) countEdgesWithin(radius float64) int {
	return sort.Search(len(g.edges), func(e int) bool { return g.edges[e].index > radius })
}

// leastRadius returns the least λ₂ within which some feature has k neighbours, or +Inf if no feature has k neighbours.
func (g *neighbourGraph) leastRadius(d, k int) float64 {
	count := make([]int32, d)
	for _, e := range g.edges {
		count[e.i]++
		count[e.j]++
		if max(count[e.i], count[e.j]) >= int32(k) {
			return e.index
		}
	}
	return math.Inf(1)
}

// dropFartherHalf drops the edges with the largest λ₂: about half of all edges, or another share if many edges have an
// equal λ₂. It returns a bound: the edges whose λ₂ is at most this bound remain.
func (g *neighbourGraph) dropFartherHalf() float64 {
	var some []float64
	for e := 0; e < len(g.edges); e += len(g.edges)/4096 + 1 {
		some = append(some, g.edges[e].index)
	}
	slices.Sort(some)
	t, n := some[len(some)/2], 0
	for _, e := range g.edges {
		if e.index <= t {
			n++
		}
	}
	if n > len(g.edges)/4*3 {
		t = math.Nextafter(t, math.Inf(-1))
	}
	g.edges = slices.DeleteFunc(g.edges, func(e edge) bool { return e.index > t })
	return t
}

func (s *similarity) buildGraphOfAll(ctx context.Context) error {
	s.graph.edges = s.graph.edges[:0]
	t := s.epsilonBound
	err := s.findPairs(ctx, s.all, nil, &t, func(_ *block, found [][]edge) {
		for _, edges := range found {
			for _, e := range edges {
				if e.index <= t && len(s.graph.edges) == s.graph.capacity {
					t = s.graph.dropFartherHalf()
				}
				if e.index <= t {
					s.graph.edges = append(s.graph.edges, e)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	s.graphHasAll = true
	s.graph.linkNeighbours(s.d)
	return nil
}

// findPairs searches blocks of products for pairs with λ₂ ≤ *t. For each block it calls visit with one list of such
// pairs for each strip, i.e. group of consecutive rows. The function visit must not keep the slices, and may lower *t.
func (s *similarity) findPairs(ctx context.Context, rows, cols []int32, t *float64, visit func(b *block, found [][]edge)) error {
	found := make([][]edge, blockSide/stripRows)
	var limits, variances [blockSide]float64
	return s.visitProducts(ctx, rows, cols, func(b *block) {
		t := *t
		s.setThresholds(limits[:], b.cols, t)
		for y, j := range b.cols {
			variances[y] = s.variance[j]
		}
		n := (len(b.rows) + stripRows - 1) / stripRows
		for x := range n {
			found[x] = found[x][:0]
		}
		s.eachBlockRow(b, func(x int) {
			i := b.rows[x : x+1]
			var own [1]float64
			s.setThresholds(own[:], i, t)
			from := 0
			if b.isDiagonal {
				from = x + 1
			}
			row, limit, v, edges := b.covarianceRow(x)[from:], limits[from:len(b.cols)], s.variance[i[0]], found[x/stripRows]
			for y, cov := range row {
				if own[0]*limit[y] > cov*cov {
					continue
				}
				if near := compressionIndex(v, variances[from+y], cov); near <= t {
					edges = append(edges, edge{near, i[0], b.cols[from+y]})
				}
			}
			found[x/stripRows] = edges
		})
		visit(b, found[:n])
	})
}
