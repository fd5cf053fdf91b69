package greedy

import "github.com/ufs-stream/ufs-stream/method"

// gate keeps candidates from being chosen: those that are forbidden, and those of sets of which as many
// are chosen as may be. They stay in the data to be explained. A nil gate lets all through.
type gate struct {
	closed []bool
	sets   []int
	most   int
	taken  map[int]int // chosen of each set
}

func newGate(c method.Choice, d int) *gate {
	if len(c.Forbid) == 0 && c.Most == 0 {
		return nil
	}
	g := &gate{closed: make([]bool, c.Candidates(d)), sets: c.Sets, most: c.Most, taken: make(map[int]int)}
	for _, i := range c.Forbid {
		g.closed[i] = true
	}
	return g
}

// count counts candidate p as chosen.
func (g *gate) count(p int) {
	if g == nil || g.most == 0 || g.sets[p] < 0 {
		return
	}
	set := g.sets[p]
	if g.taken[set]++; g.taken[set] < g.most {
		return
	}
	for i, s := range g.sets {
		g.closed[i] = g.closed[i] || s == set
	}
}

// open reports whether candidate i may be chosen.
func (g *gate) open(i int) bool { return g == nil || !g.closed[i] }

// close takes the features that may not be chosen from the candidates of c.
func (g *gate) close(c *criterion) {
	if g == nil {
		return
	}
	for i, closed := range g.closed {
		c.alive[i] = c.alive[i] && !closed
	}
}
