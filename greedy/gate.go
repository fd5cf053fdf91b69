package greedy

import "github.com/ufs-stream/ufs-stream/method"

// gate excludes candidates from the choice: forbidden features, and the members of sets from which enough features are
// chosen. Excluded features stay in the data to be explained. A nil gate excludes no feature.
type gate struct {
	isClosed     []bool
	setOf        []int
	maxPerSet    int
	chosenPerSet map[int]int // by set
}

func newGate(c method.Choice, d int) *gate {
	if len(c.Forbid) == 0 && c.Most == 0 {
		return nil
	}
	g := &gate{isClosed: make([]bool, c.Candidates(d)), setOf: c.Sets, maxPerSet: c.Most, chosenPerSet: make(map[int]int)}
	for _, i := range c.Forbid {
		g.isClosed[i] = true
	}
	return g
}

func (g *gate) countChosen(p int) {
	if g == nil || g.maxPerSet == 0 || g.setOf[p] < 0 {
		return
	}
	set := g.setOf[p]
	if g.chosenPerSet[set]++; g.chosenPerSet[set] < g.maxPerSet {
		return
	}
	for i, s := range g.setOf {
		g.isClosed[i] = g.isClosed[i] || s == set
	}
}

func (g *gate) isOpen(i int) bool { return g == nil || !g.isClosed[i] }

func (g *gate) removeClosed(c *criterion) {
	if g == nil {
		return
	}
	for i, closed := range g.isClosed {
		c.alive[i] = c.alive[i] && !closed
	}
}
