package alike

import "math"

// UncorrelatedChoice is a choice of columns of which no two have an absolute correlation above a threshold.
type UncorrelatedChoice struct {
	Kept    []int // ascending
	Dropped []Drop
}

// Drop is a column that was dropped because its correlation with the kept column For is above the threshold.
type Drop struct {
	Column, For int
	Correlation float64
}

// ChooseUncorrelated chooses columns so that no two kept columns have an absolute correlation above the threshold, and
// every dropped column has an absolute correlation above the threshold with a kept column. So the kept columns are a
// maximal independent set of the graph that joins pairs above the threshold. Again and again it keeps the undecided
// column with the most undecided neighbours, or of several such columns the first by name, and drops these neighbours.
// Drop.For is the kept column whose correlation with the dropped column is largest. ChooseUncorrelated costs O(d²).
//
// In contrast, findCorrelation of the R package caret examines the pairs in column order and drops the column with the
// larger mean correlation. It may drop columns that are not correlated with a kept column above the threshold.
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
