package fsfs

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
)

// edge is a pair of features, i < j, and its λ₂.
type edge struct {
	index float64
	i, j  int32
}

// graph is all pairs of some features within a λ₂, each of them with its neighbours, nearest first.
type graph struct {
	room  int     // pairs that there is room for
	edges []edge  // by λ₂, then i, then j
	from  []int32 // of each feature in near
	near  []int32 // by λ₂, then column
}

// pairs is the number of pairs of d features that are held: 128 a feature, and for fewer than 16,384 features as many
// as 48 MiB hold.
func pairs(d int) int { return min(d*(d-1)/2, max(128*d, 1<<21)) }

// of are the neighbours of a feature, nearest first.
func (g *graph) of(i int32) []int32 { return g.near[g.from[i]:g.from[i+1]] }

// link sorts the edges and gives each feature its neighbours. Where λ₂ is equal, those of lower number than
// the feature come as i, before the higher ones as j.
func (g *graph) link(d int) {
	slices.SortFunc(g.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	if g.from == nil {
		g.from = make([]int32, d+2)
	}
	clear(g.from)
	for _, e := range g.edges {
		g.from[e.i+2]++
		g.from[e.j+2]++
	}
	for i := range d {
		g.from[i+2] += g.from[i+1]
	}
	g.near = g.near[:2*len(g.edges)]
	for _, e := range g.edges { // from[i+1] goes from the start of i to that of the next
		g.near[g.from[e.i+1]] = e.j
		g.near[g.from[e.j+1]] = e.i
		g.from[e.i+1]++
		g.from[e.j+1]++
	}
}

// within is the number of edges of λ₂ up to t.
func (g *graph) within(t float64) int {
	return sort.Search(len(g.edges), func(e int) bool { return g.edges[e].index > t })
}

// radius is the least λ₂ within which a feature has k neighbours, if any has.
func (g *graph) radius(d, k int) float64 {
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

// shrink drops the farther half of the edges, or more where many are as far, and returns the λ₂ up to which all
// stay.
func (g *graph) shrink() float64 {
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

// connect makes the graph of all features, up to the λ₂ that there is room for.
func (s *similar) connect(ctx context.Context) error {
	s.graph.edges = s.graph.edges[:0]
	t := s.farthest
	err := s.search(ctx, s.all, nil, &t, func(_ *block, found [][]edge) {
		for _, edges := range found {
			for _, e := range edges {
				if e.index <= t && len(s.graph.edges) == s.graph.room {
					t = s.graph.shrink()
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
	s.whole = true
	s.graph.link(s.d)
	return nil
}

// search finds the pairs of λ₂ up to *t, as products: of each block those of a strip of rows after the
// other. They are lent.
func (s *similar) search(ctx context.Context, rows, cols []int32, t *float64, visit func(b *block, found [][]edge)) error {
	found := make([][]edge, side/strip)
	var limits, variances [side]float64
	return s.products(ctx, rows, cols, func(b *block) {
		t := *t
		s.thresholds(limits[:], b.cols, t)
		for y, j := range b.cols {
			variances[y] = s.variance[j]
		}
		n := (len(b.rows) + strip - 1) / strip
		for x := range n {
			found[x] = found[x][:0]
		}
		s.each(b, func(x int) {
			i := b.rows[x : x+1]
			var own [1]float64
			s.thresholds(own[:], i, t)
			from := 0
			if b.same {
				from = x + 1
			}
			row, limit, v, edges := b.row(x)[from:], limits[from:len(b.cols)], s.variance[i[0]], found[x/strip]
			for y, cov := range row {
				if own[0]*limit[y] > cov*cov {
					continue
				}
				if near := index(v, variances[from+y], cov); near <= t {
					edges = append(edges, edge{near, i[0], b.cols[from+y]})
				}
			}
			found[x/strip] = edges
		})
		visit(b, found[:n])
	})
}
