package greedy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// TestBudget: within any budget the result is the better of greedy by gain per cost and by gain, as a naive twin
// finds them.
func TestBudget(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 1))
	plainWon := 0
	for round := range 40 {
		x := greedytest.SmoothMatrix(uint64(round), 40, 12, 8, 0.7).AddNoise(uint64(round), 0.2)
		list := blocksBy(1, 2, 1, 3, 1, 1, 2, 1)
		for i := range list {
			list[i].Cost = 0.5 + 10*r.Float64()*r.Float64()
		}
		budget := 1 + 20*r.Float64()
		may := func(chosen []int, i int) bool {
			left := budget
			for _, c := range chosen {
				left -= list[c].Cost
			}
			return list[i].Cost <= left
		}
		perCost, plain := naiveBlocks(x, nil, list, 99, true, may), naiveBlocks(x, nil, list, 99, false, may)
		want := perCost
		if sum(plain.score) > sum(perCost.score)*(1+1e-7) {
			want = plain
			plainWon++
		}
		got := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), Options{Choice: method.Choice{Blocks: list, Budget: budget}}))(t)
		if !slices.Equal(got.Blocks, want.order) {
			t.Errorf("round %d, budget %v: blocks %v, want %v", round, budget, got.Blocks, want.order)
		}
		cost := 0.0
		for _, i := range got.Blocks {
			cost += list[i].Cost
		}
		if cost > budget*(1+1e-12) {
			t.Errorf("round %d: cost %v, budget %v", round, cost, budget)
		}
		if len(want.order) > 0 && sum(got.Scores) < (1-1/math.Sqrt(math.E))/2*bestWithin(x, list, budget) {
			t.Errorf("round %d: gain %v, and %v is to be had", round, sum(got.Scores), bestWithin(x, list, budget))
		}
	}
	if plainWon == 0 || plainWon == 40 {
		t.Errorf("greedy by gain won %d of 40 rounds: the cases tell nothing", plainWon)
	}
}

// bestWithin is the largest gain of all sets of blocks within the budget.
func bestWithin(x greedytest.Matrix, list []method.Block, budget float64) (best float64) {
	for set := range 1 << len(list) {
		var members []int
		cost := 0.0
		for i, b := range list {
			if set>>i&1 == 1 {
				members, cost = append(members, b.Members...), cost+b.Cost
			}
		}
		if cost > budget {
			continue
		}
		gain := 0.0
		for _, q := range orthonormal(x, x, members) {
			for _, col := range x.Col {
				gain += math.Pow(greedytest.DotProduct(q, col), 2)
			}
		}
		best = max(best, gain)
	}
	return best
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// Costs that are all the same change nothing, and a budget then counts.
func TestBudgetCounts(t *testing.T) {
	x := greedytest.RandomMatrix(71, 40, 10, 0)
	want := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), Options{K: 4}))(t)
	got := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), Options{Choice: method.Choice{Budget: 4}}))(t)
	if !slices.Equal(got.Order, want.Order) {
		t.Errorf("a budget of 4: %v, want %v", got.Order, want.Order)
	}
}
