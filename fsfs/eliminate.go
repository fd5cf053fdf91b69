package fsfs

import (
	"context"
	"math"
	"slices"
)

// elimination is the paper's algorithm for one first k. From the second turn on a feature's k-th nearest is within ε, or
// k is lowered. No feature has more than k open ones within ε, unless its k-th nearest is ε away itself: so the next feature
// is one of those with the most, and it discards them.
type elimination struct {
	*similar
	k       int // that the next turn starts from
	want    int // features to leave; 0 asks for no number
	epsilon float64
	open    []bool  // neither kept nor discarded
	count   int     // of them
	within  []int32 // of each open feature, the open ones within ε
	order   []int
	turns   []float64 // λ₂ to the k-th nearest at the feature's turn, in units of G
}

// eliminate runs the turns for a first k; 0 keeps all. Where a number is wanted it ends as soon as it is known
// whether so many are left.
func (s *similar) eliminate(ctx context.Context, k, want int) (*elimination, error) {
	e := &elimination{similar: s, k: min(k, s.d-1), want: want, open: slices.Repeat([]bool{true}, s.d), count: s.d, within: make([]int32, s.d)}
	if e.k < 1 || e.known() {
		return e, nil
	}
	if e.k > s.most {
		return e, e.crowd(ctx)
	}
	if !s.whole {
		if err := s.connect(ctx); err != nil {
			return nil, err
		}
	}
	e.epsilon = s.graph.radius(s.d, e.k)
	return e, e.levels(ctx)
}

// known says that the number wanted is kept already, or cannot be.
func (e *elimination) known() bool {
	return e.want > 0 && (len(e.order) >= e.want || len(e.order)+e.count < e.want)
}

// lower sets k to what the next turn has, and is false where no turn is left: at k = 1, after the first.
func (e *elimination) lower() bool {
	e.k = min(e.k, e.count-1)
	if e.k < 1 || e.known() {
		return false
	}
	var most int32
	for i, open := range e.open {
		if open {
			most = max(most, e.within[i])
		}
	}
	e.k = min(e.k, max(int(most), 1))
	return e.k > 1 || len(e.order) == 0
}

// ready are the open features with k open ones within ε.
func (e *elimination) ready() (list []ranked) {
	for i, open := range e.open {
		if open && e.within[i] >= int32(e.k) {
			list = append(list, ranked{feature: int32(i)})
		}
	}
	return list
}

// levels goes on by the graph, which has the open features' pairs within ε. What is ready for a k keeps its place
// while others take their turns, or is ready no more.
func (e *elimination) levels(ctx context.Context) error {
	end := make([]int32, e.d) // of the neighbours within ε, in near
	copy(end, e.graph.from)
	clear(e.within)
	for _, edge := range e.graph.edges[:e.graph.within(e.epsilon)] {
		end[edge.i]++
		end[edge.j]++
		if e.open[edge.i] && e.open[edge.j] {
			e.within[edge.i]++
			e.within[edge.j]++
		}
	}
	for e.lower() {
		if err := ctx.Err(); err != nil {
			return err
		}
		list := e.ready()
		for x, c := range list {
			list[x].index = e.epsilon
			if e.within[c.feature] > int32(e.k) {
				continue
			}
			last := end[c.feature] - 1
			for !e.open[e.graph.near[last]] {
				last--
			}
			end[c.feature] = last + 1
			list[x].index = e.index(c.feature, e.graph.near[last])
		}
		if err := e.sort(ctx, list); err != nil {
			return err
		}
		for _, c := range list {
			if !e.open[c.feature] || e.within[c.feature] < int32(e.k) {
				continue
			}
			e.keep(c)
			left := e.k
			for _, j := range e.graph.of(c.feature) {
				if left > 0 && e.open[j] {
					e.drop(j, end)
					left--
				}
			}
			e.drop(c.feature, end)
			if e.known() || e.k == 1 {
				break
			}
		}
		if e.k == 1 {
			break
		}
	}
	return nil
}

// keep gives a feature its turn.
func (e *elimination) keep(c ranked) {
	e.order, e.turns = append(e.order, int(c.feature)), append(e.turns, c.index)
}

// close takes a feature out of the open ones.
func (e *elimination) close(i int32) {
	e.open[i] = false
	e.count--
}

// drop does so, and tells its neighbours.
func (e *elimination) drop(i int32, end []int32) {
	e.close(i)
	for _, j := range e.graph.near[e.graph.from[i]:end[i]] {
		if e.open[j] {
			e.within[j]--
		}
	}
}

// rest keeps what is open.
func (e *elimination) rest(ctx context.Context) error {
	var left []ranked
	var alone []int32 // not in the graph of all features
	for i, open := range e.open {
		if !open {
			continue
		}
		c := ranked{feature: int32(i)}
		switch near := e.graph.of(c.feature); {
		case e.d == 1:
		case e.whole && len(near) > 0:
			c.index = e.index(c.feature, near[0])
		default:
			alone = append(alone, c.feature)
			c.index = math.Inf(1)
		}
		left = append(left, c)
	}
	nearest := make([]float64, len(alone))
	err := e.rows(ctx, alone, func(x int, row []float64) {
		nearest[x] = math.Inf(1)
		for j, v := range row {
			if int32(j) != alone[x] {
				nearest[x] = min(nearest[x], v)
			}
		}
	})
	if err != nil {
		return err
	}
	for x := range left {
		if math.IsInf(left[x].index, 1) {
			left[x].index, nearest = nearest[0], nearest[1:]
		}
	}
	if err := e.sort(ctx, left); err != nil {
		return err
	}
	for _, c := range left {
		e.keep(c)
	}
	return nil
}
