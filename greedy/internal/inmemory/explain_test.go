package inmemory

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Explain gives the result of Select with the same features in Keep, for both forms of G, to the bit.
func TestExplainIsSelect(t *testing.T) {
	for _, shape := range [][2]int{{40, 90}, {30, 12}, {200, 70}} {
		rows, d := shape[0], shape[1]
		table := greedytest.RandomMatrix(uint64(d), rows, d, 0)
		for i := range table.Col[5] { // the sum of two others, and a column of zeros
			table.Col[5][i] = table.Col[2][i] + table.Col[9][i]
			table.Col[7][i] = 0
		}
		full := gram.Full(table.Gram(), d)
		factor := gram.FromFactor(slices.Concat(table.Col...), d, rows)
		var order []int
		for i := range d {
			order = append(order, (i*11+2)%d)
		}
		slices.Sort(order[:10])
		for _, k := range []int{1, 10, min(d, 34)} {
			chosen := slices.Compact(slices.Clone(order[:k]))
			if slices.Contains(chosen, 2) && !slices.Contains(chosen, 5) && k > 1 { // which the two before it explain
				chosen = append(slices.DeleteFunc(chosen, func(j int) bool { return j == 9 }), 9, 5)
			}
			for name, g := range map[string]*gram.Matrix{"in full": full, "factor": factor} {
				want := must.Get(SelectFeatures(t.Context(), g, selection.Options{K: len(chosen), Keep: chosen, Threads: 1}))(t)
				want.Scores = nil
				for _, threads := range []int{1, 3} {
					got := must.Get(ExplainFeatures(t.Context(), g, chosen, threads))(t)
					same := func(a, b []float64) bool {
						return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12 })
					}
					if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Nearest, want.Nearest) || !slices.Equal(got.Redundant, want.Redundant) ||
						!same(got.Error, want.Error) || !same(got.Explained, want.Explained) || len(got.Warnings) != len(want.Warnings) || got.Scores != nil {
						t.Errorf("%v, %s, %v: %+v, want %+v", shape, name, chosen, got, want)
					}
				}
			}
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	g := gram.Full([]float64{1, 0, 0, 1}, 2)
	if _, err := ExplainFeatures(t.Context(), g, []int{0, 2}, 1); err == nil {
		t.Error("there is no feature 2")
	}
	for _, bad := range [][]float64{{1, math.NaN(), math.NaN(), 1}, {1, 0, 0, math.Inf(1)}} {
		if _, err := ExplainFeatures(t.Context(), gram.Full(bad, 2), []int{0}, 1); err == nil {
			t.Errorf("explained by %v", bad)
		}
	}
}

// TestLayout: an explanation allocates what its layout declares.
func TestLayout(t *testing.T) {
	const d, k = 1200, 200
	g := gram.Full(greedytest.RandomMatrix(3, 1300, d, 0).Gram(), d)
	chosen := make([]int, k)
	for i := range chosen {
		chosen[i] = 5 * i
	}
	roomtest.CheckLayout(t, "an explanation", ExplainBytes(d, k, 0), func() { must.Get(ExplainFeatures(t.Context(), g, chosen, 1))(t) })
}
