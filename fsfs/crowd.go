package fsfs

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// samples is the number of features whose k-th nearest bounds that of the densest one.
const samples = 64

// crowd runs the turns of a k for which no feature has that many neighbours in the graph: pairs are looked for again
// at every turn, until the graph has room for those of the open features.
func (e *elimination) crowd(ctx context.Context) error {
	if e.densest[e.k] == nil {
		if err := e.census(ctx, []int{e.k}); err != nil {
			return err
		}
	}
	first := e.densest[e.k]
	if err := e.sort(ctx, first); err != nil {
		return err
	}
	e.epsilon = first[0].index
	if _, err := e.turn(ctx, first[0]); err != nil {
		return err
	}
	counted := false // within is that of the open features
	for !e.known() {
		if !counted || e.fits() {
			if fits, err := e.survey(ctx); err != nil {
				return err
			} else if fits {
				return e.levels(ctx)
			}
			counted = true
		}
		if !e.lower() {
			return nil
		}
		list := e.ready()
		if err := e.radii(ctx, list); err != nil {
			return err
		}
		if err := e.sort(ctx, list); err != nil {
			return err
		}
		for _, c := range list {
			if !e.open[c.feature] || e.within[c.feature] < int32(e.k) {
				continue
			}
			gone, err := e.turn(ctx, c)
			if err != nil {
				return err
			}
			// Fewer products tell what is gone, or count what is open anew.
			if counted = len(gone) <= e.count/2; e.known() || !counted {
				break
			}
			if err := e.forget(ctx, gone); err != nil {
				return err
			}
		}
	}
	return nil
}

// ahead is the number of the bisection's steps that a census serves.
const ahead = 4

// census finds, for each of the numbers k, the features whose k-th nearest is nearest. The k-th nearest of some features
// bound how near that is; a pass over all pairs counts those within each bound, and the features with at least k are
// looked at, some d/64 of them.
func (s *similar) census(ctx context.Context, numbers []int) error {
	var some []int32
	for x := range min(samples, s.d) {
		some = append(some, int32(x*s.d/min(samples, s.d)))
	}
	// The bounds ascend with the numbers.
	slices.Sort(numbers)
	radii := make([]float64, len(numbers)*len(some))
	err := s.rows(ctx, some, func(x int, row []float64) {
		for y, k := range numbers {
			radii[y*len(some)+x] = nth(row, k) // place 0 is the feature itself
		}
	})
	if err != nil {
		return err
	}
	bounds := make([]float64, len(numbers))
	for y := range bounds {
		bounds[y] = slices.Min(radii[y*len(some):][:len(some)])
	}
	count := make([]int32, s.d*len(numbers)) // of each feature, those within a bound and beyond the one before
	err = s.search(ctx, s.all, nil, &bounds[len(bounds)-1], func(_ *block, found [][]edge) {
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
	err = s.rows(ctx, list, func(x int, row []float64) {
		for y, k := range numbers {
			radii[x*len(numbers)+y] = math.Inf(1)
			if count[int(list[x])*len(numbers)+y] >= int32(k) {
				radii[x*len(numbers)+y] = nth(row, k)
			}
		}
	})
	if err != nil {
		return err
	}
	for y, k := range numbers {
		var first []ranked
		for x, i := range list {
			c := ranked{i, radii[x*len(numbers)+y]}
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

func tally(count []int32, found [][]edge) {
	for _, edges := range found {
		for _, e := range edges {
			count[e.i]++
			count[e.j]++
		}
	}
}

// list are the open features.
func (e *elimination) list() (list []int32) {
	for i, open := range e.open {
		if open {
			list = append(list, int32(i))
		}
	}
	return list
}

// survey counts the open features within ε of each, and makes the graph of them if there is room.
func (e *elimination) survey(ctx context.Context) (fits bool, err error) {
	g := &e.graph
	g.edges, e.whole = g.edges[:0], false
	clear(e.within)
	fits = true
	err = e.search(ctx, e.list(), nil, &e.epsilon, func(_ *block, found [][]edge) {
		tally(e.within, found)
		for _, edges := range found {
			if fits = fits && len(edges) <= g.room-len(g.edges); fits {
				g.edges = append(g.edges, edges...)
			}
		}
	})
	if fits && err == nil {
		g.link(e.d)
	}
	return fits, err
}

// fits says that the graph has room for what is open.
func (e *elimination) fits() bool {
	sum := 0
	for i, open := range e.open {
		if open {
			sum += int(e.within[i])
		}
	}
	return sum/2 <= e.graph.room
}

// radii finds λ₂ of each to its k-th nearest open feature. Of those that have more within ε it is ε.
func (e *elimination) radii(ctx context.Context, list []ranked) error {
	var features []int32
	var places []int
	for x, c := range list {
		if list[x].index = e.epsilon; e.within[c.feature] == int32(e.k) {
			features, places = append(features, c.feature), append(places, x)
		}
	}
	return e.rows(ctx, features, func(x int, row []float64) {
		n := 0
		for j, v := range row {
			if e.open[j] {
				row[n] = v
				n++
			}
		}
		list[places[x]].index = nth(row[:n], e.k) // place 0 is the feature itself
	})
}

// turn keeps a feature and discards its k nearest, and returns all that it has closed, in column order.
func (e *elimination) turn(ctx context.Context, c ranked) (gone []int32, err error) {
	var near []ranked
	err = e.rows(ctx, []int32{c.feature}, func(_ int, row []float64) {
		for j, v := range row {
			if e.open[j] && v <= c.index && int32(j) != c.feature {
				near = append(near, ranked{int32(j), v})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(near, func(a, b ranked) int { return cmp.Compare(a.index, b.index) })
	e.keep(c)
	e.close(c.feature)
	gone = append(gone, c.feature)
	for _, n := range near[:e.k] {
		e.close(n.feature)
		gone = append(gone, n.feature)
	}
	slices.Sort(gone)
	return gone, nil
}

// forget takes features that are closed from the counts of the open ones.
func (e *elimination) forget(ctx context.Context, gone []int32) error {
	open := e.list()
	return e.search(ctx, gone, open, &e.epsilon, func(_ *block, found [][]edge) {
		for _, edges := range found {
			for _, edge := range edges {
				e.within[edge.j]--
			}
		}
	})
}
