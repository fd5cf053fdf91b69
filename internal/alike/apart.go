package alike

import "math"

// UncorrelatedChoice is a choice of columns in which no two columns have an absolute correlation above a threshold.
type UncorrelatedChoice struct {
	Kept    []int // ascending
	Dropped []Drop
}

// Drop is a column that was left out because its correlation with the kept column For is too large.
type Drop struct {
	Column, For int
	Correlation float64
}

// ChooseUncorrelated keeps columns so that no two kept columns have an absolute correlation above the threshold, and
// every dropped column has one above it with a kept column. The kept columns are a maximal independent set of the graph
// of pairs above the threshold. It repeatedly keeps the undecided column with the most undecided neighbours, the first by
// name if several are equal, and drops these neighbours. Drop.For is the kept column with the largest absolute
// correlation to the dropped one. ChooseUncorrelated costs O(d²).
//
// In contrast, caret's findCorrelation examines the pairs in column order and drops the column with the larger mean
// correlation. It may drop columns that are not near a kept column.
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
