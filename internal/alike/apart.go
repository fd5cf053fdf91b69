package alike

import "math"

// UncorrelatedChoice is a choice of columns of which no pair is correlated above a threshold, in absolute value.
type UncorrelatedChoice struct {
	Kept    []int // ascending
	Dropped []Drop
}

// Drop is a column left out because it is too correlated with the kept column For.
type Drop struct {
	Column, For int
	Correlation float64
}

// ChooseUncorrelated keeps columns so that no kept pair is correlated above the threshold, and every dropped column is correlated
// above it with a kept one: a maximal independent set of the graph of the pairs above it. Of the undecided columns it
// keeps the one with the most neighbours in that graph, the first by name among equals, and drops its neighbours.
// caret's findCorrelation goes through the pairs in column order and drops the one with the larger mean correlation; it
// may drop columns that are near no kept one. For is the kept column that a dropped one is most correlated with. O(d²).
func (m *Matrix) ChooseUncorrelated(threshold float64) UncorrelatedChoice {
	above := func(r float64) bool { return math.Abs(r) > threshold }
	degree, state := make([]int, m.D), make([]byte, m.D)
	const open, kept, gone = 0, 1, 2
	for i := range m.D {
		for j, r := range m.row(i) {
			if i != j && above(r) {
				degree[i]++
			}
		}
	}
	remove := func(i int) {
		for j, r := range m.row(i) {
			if i != j && above(r) {
				degree[j]--
			}
		}
	}
	for {
		best := -1
		for i, s := range state {
			if s == open && (best < 0 || degree[i] > degree[best]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		state[best] = kept
		remove(best)
		for j, r := range m.row(best) {
			if state[j] == open && above(r) {
				state[j] = gone
				remove(j)
			}
		}
	}
	var a UncorrelatedChoice
	for i, s := range state {
		if s == kept {
			a.Kept = append(a.Kept, i)
			continue
		}
		d := Drop{Column: i, For: -1}
		for j, r := range m.row(i) {
			if state[j] == kept && (d.For < 0 || math.Abs(r) > math.Abs(d.Correlation)) {
				d.For, d.Correlation = j, r
			}
		}
		a.Dropped = append(a.Dropped, d)
	}
	return a
}
