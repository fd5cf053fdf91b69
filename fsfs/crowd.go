package fsfs

import (
	"cmp"
	"context"
	"slices"
)

// samples is the number of features whose k-th nearest bounds that of the densest one.
const samples = 64

// crowd runs the turns of a k for which no feature has that many neighbours in the graph: pairs are looked for again at every
// turn, until the graph has room for those of the open features.
func (e *elimination) crowd(ctx context.Context) error {
	first, err := e.densest(ctx)
	if err != nil {
		return err
	}
	if err := e.sort(ctx, first); err != nil {
		return err
	}
	e.epsilon = first[0].index
	if _, err := e.turn(ctx, first[0]); err != nil {
		return err
	}
	for !e.known() {
		if fits, err := e.survey(ctx); err != nil {
			return err
		} else if fits {
			return e.levels(ctx)
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
			if e.known() || e.fits() || len(gone) > e.count/2 {
				break
			}
			if err := e.forget(ctx, gone); err != nil {
				return err
			}
		}
	}
	return nil
}

// densest are the features whose k-th nearest is nearest, before the first turn.
func (e *elimination) densest(ctx context.Context) (first []ranked, err error) {
	var some []int32
	for x := range min(samples, e.d) {
		some = append(some, int32(x*e.d/min(samples, e.d)))
	}
	radii := make([]float64, len(some))
	radius := func(x int, row []float64) { radii[x] = nth(row, e.k) } // place 0 is the feature itself
	if err := e.rows(ctx, some, radius); err != nil {
		return nil, err
	}
	t := slices.Min(radii)
	count := make([]int32, e.d)
	err = e.search(ctx, e.all, nil, &t, func(_ *block, found [][]edge) { tally(count, found) })
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(slices.Clone(e.all), func(i int32) bool { return count[i] < int32(e.k) })
	slices.SortStableFunc(list, func(i, j int32) int { return cmp.Compare(count[j], count[i]) })
	for len(list) > 0 {
		some = list[:min(together, len(list))]
		list = list[len(some):]
		radii = make([]float64, len(some))
		if err := e.rows(ctx, some, radius); err != nil {
			return nil, err
		}
		for x, i := range some {
			first = append(first, ranked{i, radii[x]})
			t = min(t, radii[x])
		}
		first = slices.DeleteFunc(first, func(c ranked) bool { return c.index > t })
	}
	return first, nil
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
			if fits = fits && len(edges) <= g.most-len(g.edges); fits {
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
	return sum/2 <= e.graph.most
}

// radii finds λ₂ of each to its k-th nearest open feature.
func (e *elimination) radii(ctx context.Context, list []ranked) error {
	features := make([]int32, len(list))
	for x, c := range list {
		features[x] = c.feature
	}
	return e.rows(ctx, features, func(x int, row []float64) {
		n := 0
		for j, v := range row {
			if e.open[j] {
				row[n] = v
				n++
			}
		}
		list[x].index = nth(row[:n], e.k)
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
