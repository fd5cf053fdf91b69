package subset

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestCompareRandom: a choice from one group alone is worse than random ones, greedy's is not, nor is a random
// one; the shares equal those of Compare.
func TestCompareRandom(t *testing.T) {
	s := set{"groups", 400, 60, 6, 0.2, 5}
	g := s.gram()
	order := must.Get(greedy.Select(t.Context(), g.Matrix, greedy.Options{K: 8}))(t).Order
	c := Choice{Matrix: g.Matrix, Rows: g.Rows, Chosen: order, Seed: 3, Threads: 2}
	best, random := must.Get(Compare(t.Context(), c))(t), must.Get(CompareRandom(t.Context(), c))(t)
	if random.Value != best.Value || random.Random != best.Random || random.Spread != best.Spread || random.Best != best.Best || random.Worse || best.Worse {
		t.Errorf("%+v is not %+v", random, best)
	}
	if !(random.Least <= random.Random && random.Random <= random.Best) {
		t.Errorf("%+v: want Least ≤ Random ≤ Best", random)
	}
	// The columns nearest to the first one are its group.
	c.Chosen = nearest(g.At, s.d, order[0], 8)
	if worse := must.Get(CompareRandom(t.Context(), c))(t); !worse.Worse || worse.Better || worse.Value >= worse.Least {
		t.Errorf("of one group: %+v", worse)
	}
	c.Seed = 99
	for r := range uint64(20) {
		c.Chosen = c.randomColumns(1000+r, 8)
		other := c
		other.Seed = 4
		if found := must.Get(CompareRandom(t.Context(), other))(t); found.Worse && found.Value > found.Least {
			t.Errorf("a random choice within the others: %+v", found)
		}
	}
}

// nearest are the k columns of the largest cosines with column j.
func nearest(at func(i, j int) float64, d, j, k int) []int {
	list := make([]int, d)
	for i := range list {
		list[i] = i
	}
	cosine := func(i int) float64 { return math.Abs(at(i, j)) / math.Sqrt(at(i, i)) }
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(cosine(b), cosine(a)) })
	return list[:k]
}
