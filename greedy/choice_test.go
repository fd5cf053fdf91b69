package greedy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// TestForbid: forbidden columns are explained and not chosen, in every engine.
func TestForbid(t *testing.T) {
	x := greedytest.SmoothMatrix(81, 60, 20, 12, 0.8).AddNoise(82, 0.05)
	free := greedytest.SelectNaively(x, nil, 6)
	forbid := []int{free.Order[0], free.Order[2]}
	out := make([]bool, x.D)
	for _, j := range forbid {
		out[j] = true
	}
	want := greedytest.SelectNaivelyAmong(x, nil, 6, out)
	opt := Options{K: 6, Choice: method.Choice{Forbid: forbid}}
	check := func(engine string, r *Result) {
		if !slices.Equal(r.Order, want.Order) {
			t.Errorf("%s: %v, want %v", engine, r.Order, want.Order)
			return
		}
		for j := range r.Order {
			if math.Abs(r.Error[j]-want.Error[j]) > 1e-10 {
				t.Errorf("%s, turn %d: error %v, want %v", engine, j, r.Error[j], want.Error[j])
			}
		}
	}
	for form, g := range x.GramForms() {
		check(form, must.Get(Select(t.Context(), g, opt))(t))
		blocks := opt
		blocks.Blocks = blocksBy(slices.Repeat([]int{1}, x.D)...)
		check(form+", blocks", must.Get(Select(t.Context(), g, blocks))(t))
	}
	r, _, err := SelectStream(t.Context(), greedytest.NewSource(x, 16), StreamOptions{Options: opt, Scale: gram.ScaleNone})
	check("stream", must.Get(r, err)(t))
	opt.Refine = true
	refined := must.Get(Select(t.Context(), gram.Full(x.Gram(), x.D), opt))(t)
	for _, j := range forbid {
		if slices.Contains(refined.Order, j) {
			t.Errorf("refined: %v has %d, which is forbidden", refined.Order, j)
		}
	}
}

// TestMost: of every set the best are chosen, as many as may be.
func TestMost(t *testing.T) {
	x := greedytest.SmoothMatrix(91, 60, 21, 12, 0.8).AddNoise(92, 0.05)
	sets := make([]int, x.D)
	for j := range sets {
		sets[j] = j%4 - 1
	}
	ones := blocksBy(slices.Repeat([]int{1}, x.D)...)
	for most := 1; most <= 3; most++ {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			k := 10
			want := naiveBlocks(x, nil, ones, k, false, func(chosen []int, i int) bool {
				n := 0
				for _, c := range chosen {
					if sets[i] >= 0 && sets[c] == sets[i] {
						n++
					}
				}
				return n < most
			})
			opt := Options{K: k, Choice: method.Choice{Most: most, Sets: sets}}
			for form, g := range x.GramForms() {
				if r := must.Get(Select(t.Context(), g, opt))(t); !slices.Equal(r.Order, want.order) || r.Layers != nil {
					t.Errorf("%s: %v in layers %v, want %v", form, r.Order, r.Layers, want.order)
				}
				blocks := opt
				blocks.Blocks = ones
				if r := must.Get(Select(t.Context(), g, blocks))(t); !slices.Equal(r.Blocks, want.order) {
					t.Errorf("%s, blocks: %v, want %v", form, r.Blocks, want.order)
				}
			}
			r, _, err := SelectStream(t.Context(), greedytest.NewSource(x, 16), StreamOptions{Options: opt, Scale: gram.ScaleNone})
			if must.Get(r, err)(t); !slices.Equal(r.Order, want.order) {
				t.Errorf("stream: %v, want %v", r.Order, want.order)
			}
		})
	}
}

// Restrictions that leave nothing to choose are refused, and so are restrictions that an engine does not support.
func TestChoiceRefused(t *testing.T) {
	rowstest.CheckRefusal(t, Options{Choice: method.Choice{Blocks: []method.Block{{Members: []int{0, 1}, Cost: 1}, {Members: []int{1}, Cost: 0}}, Budget: -1, Forbid: []int{7}, Most: 1}}.Validate(3),
		"block 1 has 1 members and costs 0", "in 2 blocks", "budget = -1", "forbid: 7", "sets name 0")
	rowstest.CheckRefusal(t, Options{Refine: true, Choice: method.Choice{Blocks: blocksBy(2, 1)}}.Validate(3), "refine swap")
	x := greedytest.RandomMatrix(1, 10, 3, 0)
	_, _, err := SelectStream(t.Context(), greedytest.NewSource(x, 5), StreamOptions{Options: Options{Choice: method.Choice{Blocks: blocksBy(2, 1)}}})
	rowstest.CheckRefusal(t, err, "memory-limit", "partgreedy")
}
