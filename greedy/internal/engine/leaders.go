package engine

import (
	"slices"
	"sort"
)

// RivalsPerTurn is the number of features that become candidates in each predicted turn. Among features that can nearly
// replace each other, the sketch does not reliably find the best. Choosing 100 features of COIL20 in batches of 128
// took 32, 26, 24 and 20 passes with 1, 2, 4 and 8 rivals in each turn, if batches had no features from other sources.
const RivalsPerTurn = 8

// TopFeatures lists the n of d features with the highest scores, in falling order, without features with a score of 0.
func TopFeatures(n, d int, score func(int) float64) (lead []int) {
	scores := make([]float64, 0, n+1)
	for i := range d {
		x := score(i)
		at := sort.Search(len(lead), func(k int) bool { return scores[k] < x })
		if at == n || !(x > 0) {
			continue
		}
		lead, scores = slices.Insert(lead, at, i), slices.Insert(scores, at, x)
		lead, scores = lead[:min(len(lead), n)], scores[:min(len(lead), n)]
	}
	return lead
}

// Score returns the score f/g of feature i (see Criterion), or 0 if i cannot be chosen.
func (c *Criterion) Score(i int) float64 {
	if !c.Alive[i] {
		return 0
	}
	return c.F[i] / c.G[i]
}
