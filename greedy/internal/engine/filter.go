package engine

import (
	"github.com/ufs-stream/ufs-stream/method"
)

// Filter excludes candidates, i.e. features or blocks, from the choice: forbidden ones, and the members of sets
// from which the largest allowed number is chosen already. Excluded features stay in the data to be explained. A nil
// *Filter excludes no candidate.
type Filter struct {
	isExcluded   []bool      // by candidate: cannot be chosen any more
	setOf        []int       // set of each candidate; -1 if it is in no set
	maxPerSet    int         // 0 means no limit
	chosenPerSet map[int]int // number of chosen candidates, by set
}

// NewFilter returns the filter of a choice among d features, or among the blocks of c. It is nil if c excludes nothing.
func NewFilter(c method.Choice, d int) *Filter {
	if len(c.Forbid) == 0 && c.Most == 0 {
		return nil
	}
	g := &Filter{isExcluded: make([]bool, c.Candidates(d)), setOf: c.Sets, maxPerSet: c.Most, chosenPerSet: make(map[int]int)}
	for _, i := range c.Forbid {
		g.isExcluded[i] = true
	}
	return g
}

// CountChosen counts candidate p as chosen, and excludes the rest of its set if that set is used up.
func (g *Filter) CountChosen(p int) {
	if g == nil || g.maxPerSet == 0 || g.setOf[p] < 0 {
		return
	}
	set := g.setOf[p]
	if g.chosenPerSet[set]++; g.chosenPerSet[set] < g.maxPerSet {
		return
	}
	for i, s := range g.setOf {
		g.isExcluded[i] = g.isExcluded[i] || s == set
	}
}

// Allows reports whether candidate i may be chosen.
func (g *Filter) Allows(i int) bool { return g == nil || !g.isExcluded[i] }

func (g *Filter) retireExcluded(c *Criterion) {
	if g == nil {
		return
	}
	for i, closed := range g.isExcluded {
		c.Alive[i] = c.Alive[i] && !closed
	}
}
