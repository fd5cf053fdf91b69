package greedy

import (
	"context"
	"math"
	"sort"
)

// tieShare: scores within this share of the best are equal, and the lowest column wins.
const tieShare = 1e-9

// ending says why no feature was chosen.
type ending int

const (
	notEnded      ending = iota
	rankReached          // every feature is exhausted
	targetReached        // f is rounding noise for all that are left
)

// choose finds argmax f/g over the live features, as if every f were exact: the
// recursion's f serve only to rule features out. A feature whose interval
// [f−err, f+err]/g reaches to within a tie of the best lower end is a contender;
// contenders are settled, by exact recomputation, until the choice is certain. So
// the drift of f (on COIL20 5e-7 after 1,000 steps, 1e-4 near full rank, and
// negative values on TOX-171) costs time but changes nothing.
//
// It returns the lowest of the columns tied for the best score, and the others.
func (c *criterion) choose(ctx context.Context, e engine) (p int, ties []int, end ending, err error) {
	for {
		contenders, unsettled := c.contenders()
		if len(contenders) == 0 {
			return -1, nil, rankReached, nil
		}
		if len(contenders) == 1 && (c.self || c.settled[contenders[0]]) {
			unsettled = nil
		}
		if len(unsettled) == 0 {
			p, ties, end = c.winner(contenders)
			return p, ties, end, nil
		}
		if err := e.settle(ctx, c.most(unsettled)); err != nil {
			return -1, nil, notEnded, err
		}
	}
}

// bounds returns the interval of feature i's score.
func (c *criterion) bounds(i int) (low, high float64) {
	if c.settled[i] {
		s := c.f[i] / c.g[i]
		return s, s
	}
	return max(c.f[i]-c.err[i], 0) / c.g[i], max(c.f[i]+c.err[i], 0) / c.g[i]
}

// contenders lists the live features that may be, or tie with, the best; ascending.
func (c *criterion) contenders() (all, unsettled []int) {
	best := 0.0
	for i, ok := range c.alive {
		if ok {
			low, _ := c.bounds(i)
			best = max(best, low)
		}
	}
	for i, ok := range c.alive {
		if !ok {
			continue
		}
		if _, high := c.bounds(i); high >= best*(1-tieShare) {
			all = append(all, i)
			if !c.settled[i] {
				unsettled = append(unsettled, i)
			}
		}
	}
	return all, unsettled
}

// most picks which of the unsettled features to settle first: the few of highest
// upper end, because a settled leader raises the bar for the rest; all of them
// where that did not help.
func (c *criterion) most(unsettled []int) []int {
	const few = 8
	if len(unsettled) <= few {
		return unsettled
	}
	already := false
	for i, ok := range c.alive {
		already = already || ok && c.settled[i]
	}
	if already {
		return unsettled
	}
	high := func(i int) float64 { _, h := c.bounds(i); return h }
	lead := append([]int(nil), unsettled...)
	sort.SliceStable(lead, func(a, b int) bool { return high(lead[a]) > high(lead[b]) })
	lead = lead[:few]
	sort.Ints(lead)
	return lead
}

// winner takes the lowest of the contenders within a tie of the best.
func (c *criterion) winner(contenders []int) (p int, ties []int, end ending) {
	best := math.Inf(-1)
	for _, i := range contenders {
		best = max(best, c.f[i]/c.g[i])
	}
	p = -1
	noise := !c.self
	for _, i := range contenders {
		if c.f[i]/c.g[i] < best*(1-tieShare) {
			continue
		}
		if noise && c.f[i] > targetShare*c.f0[i] {
			noise = false
		}
		if p < 0 {
			p = i
		} else {
			ties = append(ties, i)
		}
	}
	if noise {
		return -1, nil, targetReached
	}
	return p, ties, notEnded
}
