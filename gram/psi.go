package gram

import "math"

// Shift measures how far the distribution of a column moved from one table to another.
type Shift struct {
	// Value is the population stability index Σ (a−b)·ln(a/b) over groups of values, with a and b the shares of each
	// table's weight in a group. It is 0 for equal distributions. In credit scoring, an index below 0.1 means that the
	// distribution has not moved, and one above 0.25 that it has (Siddiqi, "Credit Risk Scorecards", Wiley 2006). Value is
	// NaN if a table has no rows.
	Value  float64
	Groups int // number of groups of values
}

const (
	// minGroupShare is the share of a table's weight that completes a group: a tenth, as is usual for the index, minus a
	// margin for rounding.
	minGroupShare = 0.1 * (1 - 1e-9)
	// emptyGroupShare replaces a share of 0, for a group that is empty in one table, because 0 has no logarithm: one row
	// in 10,000. A group with a tenth of one table, and empty in the other, then adds 0.69 to the index.
	emptyGroupShare = 1e-4
)

// PSI compares column j of h with column k of o. Both histograms are first coarsened to the larger of their shifts, so
// that they have the same bins. From the lowest bin on, consecutive bins form a group as soon as it contains a tenth of
// the observed weight of either table. The remaining highest bins join the last group. As either table can complete a
// group, the index sees values that only o has, and is symmetric. Missing entries form one more group.
//
// For two samples of n and m rows from one distribution, the index is about (Groups − 1)·(1/n + 1/m) on average
// (Yurdakul, "Statistical properties of population stability index", Western Michigan University 2018).
func (h *Histograms) PSI(j int, o *Histograms, k int) Shift {
	a, b := h.columns[j].coarsenedCopy(o.columns[k].shift), o.columns[k].coarsenedCopy(h.columns[j].shift)
	if !(a.totalWeight() > 0 && b.totalWeight() > 0) {
		return Shift{Value: math.NaN()}
	}
	var s Shift
	add := func(x, y float64) {
		p, q := max(x/a.totalWeight(), emptyGroupShare), max(y/b.totalWeight(), emptyGroupShare)
		s.Value += (p - q) * math.Log(p/q)
		s.Groups++
	}
	for _, g := range groupBins(&a, &b) {
		add(g.a, g.b)
	}
	if a.missing+b.missing > 0 {
		add(a.missing, b.missing)
	}
	return s
}

// binGroup contains Σw of both tables in a run of consecutive bins, and the key of the last of these bins.
type binGroup struct {
	a, b float64
	last uint64
}

func groupBins(a, b *histogram) (groups []binGroup) {
	fullA, fullB := minGroupShare*a.observedWeight(), minGroupShare*b.observedWeight()
	var current binGroup
	add := func(key uint64, x, y float64) {
		current = binGroup{current.a + x, current.b + y, key}
		if current.a > 0 && current.a >= fullA || current.b > 0 && current.b >= fullB {
			groups, current = append(groups, current), binGroup{}
		}
	}
	// All values of a bin have the same sign. So the zeros come between the last negative and the first positive bin.
	positive, x, y := orderedBits(0)>>a.shift, a.bins, b.bins
	zerosAdded := false
	zeros := func() {
		if !zerosAdded {
			add(positive, a.zero, b.zero)
		}
		zerosAdded = true
	}
	for len(x)+len(y) > 0 {
		key := min(firstKeyOrMax(x), firstKeyOrMax(y))
		if key >= positive {
			zeros()
		}
		var p, q float64
		if firstKeyOrMax(x) == key {
			p, x = x[0].count, x[1:]
		}
		if firstKeyOrMax(y) == key {
			q, y = y[0].count, y[1:]
		}
		add(key, p, q)
	}
	zeros()
	if n := len(groups); n > 0 {
		groups[n-1].a += current.a
		groups[n-1].b += current.b
	}
	return groups
}

func firstKeyOrMax(bins []bin) uint64 {
	if len(bins) == 0 {
		return math.MaxUint64
	}
	return bins[0].key
}
