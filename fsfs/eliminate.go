package fsfs

import (
	"cmp"
	"math"
	"slices"
)

// kept is what one first neighbourhood leaves.
type kept struct {
	order []int
	turns []float64 // λ₂ to the k-th nearest at the feature's turn, in units of G
}

// elimination is the paper's algorithm for one first k.
type elimination struct {
	*similar
	open  []bool // neither kept nor discarded
	count int    // of them
	place []int  // of each open feature's k-th nearest open one in its list
}

// eliminate runs it; 0 keeps all.
func (s *similar) eliminate(k int) kept {
	e := &elimination{similar: s, open: slices.Repeat([]bool{true}, s.d), count: s.d, place: make([]int, s.d)}
	var out kept
	epsilon := math.Inf(1)
	k = min(k, s.d-1)
	for k >= 1 && e.count > 1 {
		e.locate(k)
		at, r := e.densest()
		for k > 1 && r > epsilon {
			k--
			e.back()
			at, r = e.densest()
		}
		if k == 1 && len(out.order) > 0 {
			break
		}
		if len(out.order) == 0 {
			epsilon = r
		}
		out.order, out.turns = append(out.order, at), append(out.turns, r)
		for place := e.place[at]; place >= 0; place-- {
			e.decide(int(s.of(at)[place]))
		}
		e.decide(at)
		k = min(k, e.count-1)
	}
	e.rest(&out)
	return out
}

// decide takes a feature out of the open ones.
func (e *elimination) decide(i int) {
	if e.open[i] {
		e.open[i] = false
		e.count--
	}
}

// locate finds the k-th nearest open feature of all open ones.
func (e *elimination) locate(k int) {
	for i, open := range e.open {
		if !open {
			continue
		}
		left := k
		for place, j := range e.of(i) {
			if e.open[j] {
				left--
			}
			if left == 0 {
				e.place[i] = place
				break
			}
		}
	}
}

// back goes from k to k − 1.
func (e *elimination) back() {
	for i, open := range e.open {
		if !open {
			continue
		}
		list := e.of(i)
		for e.place[i]--; !e.open[list[e.place[i]]]; {
			e.place[i]--
		}
	}
}

// densest is the open feature whose k-th nearest is nearest. Two that are each other's k-th
// nearest are equal in that.
func (e *elimination) densest() (at int, r float64) {
	at, r = -1, math.Inf(1)
	for i, open := range e.open {
		if !open {
			continue
		}
		if v := e.index(i, int(e.of(i)[e.place[i]])); at < 0 || v < r || v == r && e.denser(i, at) < 0 {
			at, r = i, v
		}
	}
	return at, r
}

// rest keeps what is open.
func (e *elimination) rest(out *kept) {
	var left []int
	nearest := make([]float64, e.d)
	for i, open := range e.open {
		if !open {
			continue
		}
		left = append(left, i)
		if e.d > 1 {
			nearest[i] = e.index(i, int(e.of(i)[0]))
		}
	}
	slices.SortStableFunc(left, func(i, j int) int { return cmp.Or(cmp.Compare(nearest[i], nearest[j]), e.denser(i, j)) })
	for _, i := range left {
		out.order, out.turns = append(out.order, i), append(out.turns, nearest[i])
	}
}
