package fsfs

import (
	"context"
	"math"
	"slices"
)

// elimination is the state of the paper's algorithm for one first k. An open feature is neither kept nor discarded yet.
// After the first turn, no feature has more than k open features within ε, unless its k-th nearest feature is at
// exactly ε. Therefore the next feature to keep has the largest number of open neighbours, and it discards all of them.
type elimination struct {
	*similarity
	k          int // upper bound of k in the next turn
	want       int // number of features to leave; 0 for any
	epsilon    float64
	open       []bool  // neither kept nor discarded yet
	openCount  int     // number of open features
	openWithin []int32 // of each open feature: number of open features within ε
	order      []int
	turns      []float64 // of each feature of order: λ₂ to its k-th nearest feature when it was kept, in units of G
}

// runElimination runs the turns of the paper's algorithm for a first k. k = 0 keeps all features. If want > 0, it ends
// once isDecided returns true.
func runElimination(ctx context.Context, s *similarity, k, want int) (*elimination, error) {
	e := &elimination{similarity: s, k: min(k, s.d-1), want: want, open: slices.Repeat([]bool{true}, s.d), openCount: s.d, openWithin: make([]int32, s.d)}
	if e.k < 1 || e.isDecided() {
		return e, nil
	}
	if e.k > s.mostNeighbours {
		return e, e.runCrowdedTurns(ctx)
	}
	if !s.graphHasAll {
		if err := s.buildGraphOfAll(ctx); err != nil {
			return nil, err
		}
	}
	e.epsilon = s.graph.leastRadius(s.d, e.k)
	return e, e.runGraphTurns(ctx)
}

// isDecided reports whether the turns so far determine that at least e.want features will be kept, or that fewer will.
func (e *elimination) isDecided() bool {
	return e.want > 0 && (len(e.order) >= e.want || len(e.order)+e.openCount < e.want)
}

// lowerK lowers k for the next turn. It returns false if no turn remains: a first k of 1 has only one turn.
func (e *elimination) lowerK() bool {
	e.k = min(e.k, e.openCount-1)
	if e.k < 1 || e.isDecided() {
		return false
	}
	var most int32
	for i, open := range e.open {
		if open {
			most = max(most, e.openWithin[i])
		}
	}
	e.k = min(e.k, max(int(most), 1))
	return e.k > 1 || len(e.order) == 0
}

// readyFeatures returns the open features that have at least k open features within ε, i.e. with λ₂ ≤ ε.
func (e *elimination) readyFeatures() (list []rankedFeature) {
	for i, open := range e.open {
		if open && e.openWithin[i] >= int32(e.k) {
			list = append(list, rankedFeature{feature: int32(i)})
		}
	}
	return list
}

// runGraphTurns runs the turns with a graph that contains all pairs of open features with λ₂ ≤ ε. A feature in the list
// of ready features keeps its position until its turn, unless it ceases to be ready.
func (e *elimination) runGraphTurns(ctx context.Context) error {
	end := make([]int32, e.d) // end of each feature's neighbours within ε, in near
	copy(end, e.graph.from)
	clear(e.openWithin)
	for _, edge := range e.graph.edges[:e.graph.countEdgesWithin(e.epsilon)] {
		end[edge.i]++
		end[edge.j]++
		if e.open[edge.i] && e.open[edge.j] {
			e.openWithin[edge.i]++
			e.openWithin[edge.j]++
		}
	}
	for e.lowerK() {
		if err := ctx.Err(); err != nil {
			return err
		}
		list := e.readyFeatures()
		for x, c := range list {
			list[x].index = e.epsilon
			if e.openWithin[c.feature] > int32(e.k) {
				continue
			}
			last := end[c.feature] - 1
			for !e.open[e.graph.near[last]] {
				last--
			}
			end[c.feature] = last + 1
			list[x].index = e.pairCompressionIndex(c.feature, e.graph.near[last])
		}
		if err := e.sortRanked(ctx, list); err != nil {
			return err
		}
		for _, c := range list {
			if !e.open[c.feature] || e.openWithin[c.feature] < int32(e.k) {
				continue
			}
			e.keepFeature(c)
			remaining := e.k
			for _, j := range e.graph.nearestFeatures(c.feature) {
				if remaining > 0 && e.open[j] {
					e.closeAndUncountFeature(j, end)
					remaining--
				}
			}
			e.closeAndUncountFeature(c.feature, end)
			if e.isDecided() || e.k == 1 {
				break
			}
		}
		if e.k == 1 {
			break
		}
	}
	return nil
}

func (e *elimination) keepFeature(c rankedFeature) {
	e.order, e.turns = append(e.order, int(c.feature)), append(e.turns, c.index)
}

func (e *elimination) closeFeature(feature int32) {
	e.open[feature] = false
	e.openCount--
}

func (e *elimination) closeAndUncountFeature(feature int32, endOfNear []int32) {
	e.closeFeature(feature)
	for _, j := range e.graph.near[e.graph.from[feature]:endOfNear[feature]] {
		if e.open[j] {
			e.openWithin[j]--
		}
	}
}

func (e *elimination) keepRemainingFeatures(ctx context.Context) error {
	var undecided []rankedFeature
	var alone []int32 // features without an edge in the graph of all features
	for i, open := range e.open {
		if !open {
			continue
		}
		c := rankedFeature{feature: int32(i)}
		switch near := e.graph.nearestFeatures(c.feature); {
		case e.d == 1:
		case e.graphHasAll && len(near) > 0:
			c.index = e.pairCompressionIndex(c.feature, near[0])
		default:
			alone = append(alone, c.feature)
			c.index = math.Inf(1)
		}
		undecided = append(undecided, c)
	}
	nearest := make([]float64, len(alone))
	err := e.visitRows(ctx, alone, func(x int, row []float64) {
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
	for x := range undecided {
		if math.IsInf(undecided[x].index, 1) {
			undecided[x].index, nearest = nearest[0], nearest[1:]
		}
	}
	if err := e.sortRanked(ctx, undecided); err != nil {
		return err
	}
	for _, c := range undecided {
		e.keepFeature(c)
	}
	return nil
}
