package gram

import (
	"math"
	"slices"
)

// Shift measures how far a column's values moved from one table to another.
type Shift struct {
	// Value is the population stability index Σ (a−b)·ln(a/b) over the groups, with a and b the shares of each table's
	// weight in a group. It is 0 for equal distributions. In credit scoring, values below 0.1 mean that nothing moved,
	// and values above 0.25 that something did (Siddiqi, "Credit Risk Scorecards", Wiley 2006). Value is NaN if a
	// table has no rows.
	Value  float64
	Groups int
}

const (
	// groupShare is the share of the weight of either table that completes a group: a tenth, as is usual for the
	// index, less a margin for rounding.
	groupShare = 0.1 * (1 - 1e-9)
	// emptyShare replaces the share of a group that is empty in one table, because 0 has no logarithm: one row in
	// 10,000. So a new group of a tenth counts 0.69.
	emptyShare = 1e-4
)

// PSI compares column j of h with column k of o. Both are brought to the larger of the two shifts, so that they have
// the same whole bins. From the lowest bin on, bins form a group as soon as either table has a tenth of its observed
// weight in it. The bins left at the end join the last group. As either table can complete a group, values that h
// lacks are visible, and the result is symmetric. Missing entries are a group of their own.
//
// For two samples of n and m rows of the same distribution the index is about (Groups − 1)·(1/n + 1/m) on average
// (Yurdakul, "Statistical properties of population stability index", Western Michigan University 2018).
func (h *Histograms) PSI(j int, o *Histograms, k int) Shift {
	a, b := h.columns[j].alignedTo(o.columns[k].shift), o.columns[k].alignedTo(h.columns[j].shift)
	if !(a.totalWeight() > 0 && b.totalWeight() > 0) {
		return Shift{Value: math.NaN()}
	}
	var s Shift
	add := func(x, y float64) {
		p, q := max(x/a.totalWeight(), emptyShare), max(y/b.totalWeight(), emptyShare)
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

// alignedTo returns a copy of c with a shift of at least s.
func (c *histogram) alignedTo(s uint) histogram {
	aligned := *c
	aligned.bins = slices.Clone(c.bins)
	aligned.coarsenTo(max(c.shift, s))
	return aligned
}

func (c *histogram) observedWeight() float64 {
	sum := c.zero
	for _, b := range c.bins {
		sum += b.count
	}
	return sum
}

func (c *histogram) totalWeight() float64 { return c.observedWeight() + c.missing }

// group has Σw of both tables in consecutive bins, and the key of the last of these bins.
type group struct {
	a, b float64
	last uint64
}

func groupBins(a, b *histogram) (all []group) {
	fullA, fullB := groupShare*a.observedWeight(), groupShare*b.observedWeight()
	var current group
	add := func(key uint64, x, y float64) {
		current = group{current.a + x, current.b + y, key}
		if current.a > 0 && current.a >= fullA || current.b > 0 && current.b >= fullB {
			all, current = append(all, current), group{}
		}
	}
	// All values of a bin have the same sign, so zeros lie between two bins.
	positive, x, y := orderedBits(0)>>a.shift, a.bins, b.bins
	zerosAdded := false
	zeros := func() {
		if !zerosAdded {
			add(positive, a.zero, b.zero)
		}
		zerosAdded = true
	}
	for len(x)+len(y) > 0 {
		key := min(firstKey(x), firstKey(y))
		if key >= positive {
			zeros()
		}
		var p, q float64
		if firstKey(x) == key {
			p, x = x[0].count, x[1:]
		}
		if firstKey(y) == key {
			q, y = y[0].count, y[1:]
		}
		add(key, p, q)
	}
	zeros()
	if n := len(all); n > 0 {
		all[n-1].a += current.a
		all[n-1].b += current.b
	}
	return all
}

func firstKey(bins []bin) uint64 {
	if len(bins) == 0 {
		return math.MaxUint64
	}
	return bins[0].key
}
