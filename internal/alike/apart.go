package alike

import "math"

// Apart is a choice of columns no two of which are correlated, by size, above a threshold.
type Apart struct {
	Kept    []int // ascending
	Dropped []Drop
}

// Drop is a column left out for one that is kept.
type Drop struct {
	Column, For int
	Correlation float64
}

// Apart keeps columns so that no pair is left above the threshold and every column left out is above it
// with a kept one: a maximal independent set of the graph of pairs above it. Of the columns that are still
// there, the one with the most neighbours in that graph is kept, the first by name among equal ones,
// and its neighbours go. caret's findCorrelation, which goes through the pairs in the order of the
// columns and drops the one with the larger mean correlation, may drop columns that nothing kept is
// near. A column is Dropped for the kept one that it is most correlated with. O(d²).
func (m *Matrix) Apart(threshold float64) Apart {
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
	var a Apart
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
