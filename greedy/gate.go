package greedy

import "github.com/ufs-stream/ufs-stream/method"

// choiceFilter excludes candidates, i.e. features or blocks, from the choice: forbidden ones, and the members of sets
// from which the largest allowed number is chosen already. Excluded features stay in the data to be explained. A nil
// *choiceFilter excludes no candidate.
type choiceFilter struct {
	isExcluded   []bool      // by candidate: cannot be chosen any more
	setOf        []int       // set of each candidate; -1 if it is in no set
	maxPerSet    int         // 0 means no limit
	chosenPerSet map[int]int // number of chosen candidates, by set
}

func newChoiceFilter(c method.Choice, d int) *choiceFilter {
	if len(c.Forbid) == 0 && c.Most == 0 {
		return nil
	}
	g := &choiceFilter{isExcluded: make([]bool, c.Candidates(d)), setOf: c.Sets, maxPerSet: c.Most, chosenPerSet: make(map[int]int)}
	for _, i := range c.Forbid {
		g.isExcluded[i] = true
	}
	return g
}

func (g *choiceFilter) countChosen(p int) {
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

func (g *choiceFilter) allows(i int) bool { return g == nil || !g.isExcluded[i] }

func (g *choiceFilter) removeExcluded(c *criterion) {
	if g == nil {
		return
	}
	for i, closed := range g.isExcluded {
		c.alive[i] = c.alive[i] && !closed
	}
}
