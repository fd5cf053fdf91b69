package fsfs

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// radiusSamples is the number of sampled features. The smallest distance of a sampled feature to its k-th nearest
// feature is an upper bound of the smallest such distance of all features.
const radiusSamples = 64

// runCrowdedTurns runs the first turns, in which k is so large that no feature has k neighbours in the graph. It
// searches all pairs again at every turn, until the pairs of the open features fit in the graph.
func (e *elimination) runCrowdedTurns(ctx context.Context) error {
	if e.densest[e.k] == nil {
		if err := findDensest(ctx, e.similarity, []int{e.k}); err != nil {
			return err
		}
	}
	first := e.densest[e.k]
	if err := e.sortRanked(ctx, first); err != nil {
		return err
	}
	e.epsilon = first[0].index
	if _, err := e.takeTurn(ctx, first[0]); err != nil {
		return err
	}
	counted := false // whether openWithin has the counts of the open features
	for !e.isDecided() {
		if !counted || e.hasRoomForOpenPairs() {
			if fits, err := e.countOpenPairs(ctx); err != nil {
				return err
			} else if fits {
				return e.runGraphTurns(ctx)
			}
			counted = true
		}
		if !e.lowerK() {
			return nil
		}
		list := e.readyFeatures()
		if err := e.findRadii(ctx, list); err != nil {
			return err
		}
		if err := e.sortRanked(ctx, list); err != nil {
			return err
		}
		for _, c := range list {
			if !e.open[c.feature] || e.openWithin[c.feature] < int32(e.k) {
				continue
			}
			closed, err := e.takeTurn(ctx, c)
			if err != nil {
				return err
			}
			// Go on to the next turn if subtracting the closed features from the counts costs fewer products than
			// counting again.
			if counted = len(closed) <= e.openCount/2; e.isDecided() || !counted {
				break
			}
			if err := e.uncountClosedFeatures(ctx, closed); err != nil {
				return err
			}
		}
	}
	return nil
}

// censusSteps is the number of bisection steps whose possible values of k are passed to one call of findDensest.
const censusSteps = 4

// findDensest finds, for each k in numbers, the features with the smallest distance λ₂ to their k-th nearest feature.
// The distances of a few sampled features give an upper bound of the smallest distance. A pass over all pairs counts,
// for each feature, the features within this bound. Only the about d/64 features with a count of at least k are
// examined.
func findDensest(ctx context.Context, s *similarity, numbers []int) error {
	var some []int32
	for x := range min(radiusSamples, s.d) {
		some = append(some, int32(x*s.d/min(radiusSamples, s.d)))
	}
	// A larger k has a larger bound.
	slices.Sort(numbers)
	radii := make([]float64, len(numbers)*len(some))
	err := s.visitRows(ctx, some, func(x int, row []float64) {
		for y, k := range numbers {
			radii[y*len(some)+x] = nthSmallest(row, k) // index 0 is the feature itself
		}
	})
	if err != nil {
		return err
	}
	bounds := make([]float64, len(numbers))
	for y := range bounds {
		bounds[y] = slices.Min(radii[y*len(some):][:len(some)])
	}
	count := make([]int32, s.d*len(numbers)) // of each feature: pairs within a bound, but not within the next smaller bound
	err = s.findPairs(ctx, s.all, nil, &bounds[len(bounds)-1], func(_ *block, found [][]edge) {
		for _, edges := range found {
			for _, e := range edges {
				y, _ := slices.BinarySearch(bounds, e.index)
				count[int(e.i)*len(numbers)+y]++
				count[int(e.j)*len(numbers)+y]++
			}
		}
	})
	if err != nil {
		return err
	}
	for i := range s.d {
		for y := 1; y < len(numbers); y++ {
			count[i*len(numbers)+y] += count[i*len(numbers)+y-1]
		}
	}
	var list []int32
	for _, i := range s.all {
		for y, k := range numbers {
			if count[int(i)*len(numbers)+y] >= int32(k) {
				list = append(list, i)
				break
			}
		}
	}
	radii = make([]float64, len(list)*len(numbers))
	err = s.visitRows(ctx, list, func(x int, row []float64) {
		for y, k := range numbers {
			radii[x*len(numbers)+y] = math.Inf(1)
			if count[int(list[x])*len(numbers)+y] >= int32(k) {
				radii[x*len(numbers)+y] = nthSmallest(row, k)
			}
		}
	})
	if err != nil {
		return err
	}
	for y, k := range numbers {
		var first []rankedFeature
		for x, i := range list {
			c := rankedFeature{i, radii[x*len(numbers)+y]}
			if len(first) > 0 && c.index < first[0].index {
				first = first[:0]
			}
			if len(first) == 0 || c.index == first[0].index {
				first = append(first, c)
			}
		}
		s.densest[k] = first
	}
	return nil
}

func countEdgesByFeature(counts []int32, edgesByStrip [][]edge) {
	for _, edges := range edgesByStrip {
		for _, e := range edges {
			counts[e.i]++
			counts[e.j]++
		}
	}
}

func (e *elimination) listOpenFeatures() (list []int32) {
	for i, open := range e.open {
		if open {
			list = append(list, int32(i))
		}
	}
	return list
}

// countOpenPairs counts, for each open feature, the open features within ε of it, i.e. with λ₂ ≤ ε. It builds their
// graph if it fits.
func (e *elimination) countOpenPairs(ctx context.Context) (fits bool, err error) {
	g := &e.graph
	g.edges, e.graphHasAll = g.edges[:0], false
	clear(e.openWithin)
	fits = true
	err = e.findPairs(ctx, e.listOpenFeatures(), nil, &e.epsilon, func(_ *block, found [][]edge) {
		countEdgesByFeature(e.openWithin, found)
		for _, edges := range found {
			if fits = fits && len(edges) <= g.capacity-len(g.edges); fits {
				g.edges = append(g.edges, edges...)
			}
		}
	})
	if fits && err == nil {
		g.linkNeighbours(e.d)
	}
	return fits, err
}

func (e *elimination) hasRoomForOpenPairs() bool {
	sum := 0
	for i, open := range e.open {
		if open {
			sum += int(e.openWithin[i])
		}
	}
	return sum/2 <= e.graph.capacity
}

// findRadii sets the sort key of each listed feature: λ₂ between it and its k-th nearest open feature, or ε (see the
// package comment) if more than k open features are within ε.
func (e *elimination) findRadii(ctx context.Context, list []rankedFeature) error {
	var features []int32
	var places []int
	for x, c := range list {
		if list[x].index = e.epsilon; e.openWithin[c.feature] == int32(e.k) {
			features, places = append(features, c.feature), append(places, x)
		}
	}
	return e.visitRows(ctx, features, func(x int, row []float64) {
		n := 0
		for j, v := range row {
			if e.open[j] {
				row[n] = v
				n++
			}
		}
		list[places[x]].index = nthSmallest(row[:n], e.k) // index 0 is the feature itself
	})
}

// takeTurn keeps feature c, discards its k nearest open features, and returns these k+1 features in column order.
func (e *elimination) takeTurn(ctx context.Context, c rankedFeature) (closed []int32, err error) {
	var near []rankedFeature
	err = e.visitRows(ctx, []int32{c.feature}, func(_ int, row []float64) {
		for j, v := range row {
			if e.open[j] && v <= c.index && int32(j) != c.feature {
				near = append(near, rankedFeature{int32(j), v})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(near, func(a, b rankedFeature) int { return cmp.Compare(a.index, b.index) })
	e.keepFeature(c)
	e.closeFeature(c.feature)
	closed = append(closed, c.feature)
	for _, n := range near[:e.k] {
		e.closeFeature(n.feature)
		closed = append(closed, n.feature)
	}
	slices.Sort(closed)
	return closed, nil
}

func (e *elimination) uncountClosedFeatures(ctx context.Context, closed []int32) error {
	open := e.listOpenFeatures()
	return e.findPairs(ctx, closed, open, &e.epsilon, func(_ *block, found [][]edge) {
		for _, edges := range found {
			for _, edge := range edges {
				e.openWithin[edge.j]--
			}
		}
	})
}
