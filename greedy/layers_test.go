package greedy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// naiveLayers runs the naive twin repeatedly on the columns not chosen yet.
func naiveLayers(x greedytest.Matrix, groups []int, k int) (order, layers []int, scores []float64) {
	left := make([]int, x.D)
	for i := range left {
		left[i] = i
	}
	for layer := 1; len(order) < k; layer++ {
		rest := x.PermuteColumns(left)
		rest.D = len(left)
		rest.Col = rest.Col[:len(left)]
		var own []int
		for _, i := range left {
			if groups != nil {
				own = append(own, groups[i])
			}
		}
		found := greedytest.SelectNaively(rest, own, k-len(order))
		if len(found.Order) == 0 {
			break
		}
		var chosen []int
		for _, i := range found.Order {
			chosen = append(chosen, left[i])
			layers = append(layers, layer)
		}
		order, scores = append(order, chosen...), append(scores, found.Score...)
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(chosen, i) })
	}
	return order, layers, scores
}

// leaves is ‖X − P_S X‖²/‖X‖² by projection.
func leaves(x greedytest.Matrix, s []int) float64 {
	e, left, all := x.Clone(), 0.0, 0.0
	for _, p := range s {
		if norm := greedytest.DotProduct(x.Col[p], x.Col[p]); greedytest.DotProduct(e.Col[p], e.Col[p]) > engine.ExhaustedShare*norm {
			e.ProjectOut(e.Col[p])
		}
	}
	for i, col := range e.Col {
		left += greedytest.DotProduct(col, col)
		all += greedytest.DotProduct(x.Col[i], x.Col[i])
	}
	return left / all
}

// Past the rank every layer is greedy's choice among the features not chosen yet, in memory and out of core; the
// errors count all features chosen so far.
func TestLayersEqualDefinition(t *testing.T) {
	copied := greedytest.RandomMatrix(60, 40, 24, 0)
	for j := 12; j < 24; j++ {
		copy(copied.Col[j], copied.Col[j-12])
	}
	for _, c := range []struct {
		name string
		x    greedytest.Matrix
	}{{"fewer rows than features", greedytest.RandomMatrix(61, 9, 30, 1)}, {"copies", copied}} {
		for _, groups := range [][]int{nil, Partition(c.x.D, 5, 3)} {
			t.Run(fmt.Sprintf("%s/partitioned=%v", c.name, groups != nil), func(t *testing.T) {
				opt := Options{K: c.x.D, Partitioned: groups != nil, Groups: groups}
				got := mustSelect(t, c.x, opt)
				order, layers, scores := naiveLayers(c.x, groups, opt.K)
				if !slices.Equal(got.Order, order) || !slices.Equal(got.Layers, layers) {
					t.Fatalf("order %v of layers %v, want %v of %v", got.Order, got.Layers, order, layers)
				}
				for i, score := range scores {
					if math.Abs(got.Scores[i]/score-1) > 1e-7 {
						t.Errorf("score %d is %v, want %v", i, got.Scores[i], score)
					}
					if want := leaves(c.x, order[:i+1]); math.Abs(got.Error[i]-want) > 1e-7 {
						t.Errorf("error after %d is %v, want %v", i+1, got.Error[i], want)
					}
				}
				streamed, _, err := SelectStream(t.Context(), greedytest.NewSource(c.x, 16), StreamOptions{Options: opt, Scale: gram.ScaleNone, Memory: StreamBytes(c.x.D, opt.K, min(len(groups), 5), 0, 0)})
				must.Do(t, err)
				greedytest.CompareResults(t, streamed, got)
			})
		}
	}
}

// Where the target is explained before the data, later layers go on to explain the data.
func TestLayersOfTarget(t *testing.T) {
	x := greedytest.RandomMatrix(62, 50, 20, 0)
	r := mustSelect(t, x, Options{K: 17, Partitioned: true, Groups: make([]int, 20)}) // one sum of all
	if len(r.Order) != 17 || r.Exhausted {
		t.Fatalf("%d features, exhausted %v, layers %v", len(r.Order), r.Exhausted, r.Layers)
	}
	for i := range r.Order {
		if want := leaves(x, r.Order[:i+1]); math.Abs(r.Error[i]-want) > 1e-9 {
			t.Errorf("error after %d is %v, want %v", i+1, r.Error[i], want)
		}
	}
	// A target that is made of no features stays whole: one direction takes one feature a layer.
	target := Target{Rows: 1, H: slices.Clone(x.Gram()[:x.D])} // column 0
	r = must.Get(SelectTarget(t.Context(), gram.Full(x.Gram(), x.D), target, Options{K: 3}))(t)
	if !slices.Equal(r.Layers, []int{1, 2, 2}) && r.Order[0] != 0 {
		t.Errorf("order %v of layers %v", r.Order, r.Layers)
	}
	if want := "after 1 features only rounding errors of the target are left"; len(r.Layers) > 0 && !strings.Contains(r.Warnings[0].String(), want) {
		t.Errorf("warnings %v, want %q", r.Warnings, want)
	}
	// One that is made of them, feature by feature, is G itself.
	same := must.Get(SelectTarget(t.Context(), gram.Full(x.Gram(), x.D), Target{Rows: x.D, H: x.Gram(), Own: true}, Options{K: x.D}))(t)
	if want := mustSelect(t, x, Options{K: x.D}); !slices.Equal(same.Order, want.Order) {
		t.Errorf("order %v, want %v", same.Order, want.Order)
	}
	wide := greedytest.RandomMatrix(63, 6, 20, 0)
	same = must.Get(SelectTarget(t.Context(), gram.Full(wide.Gram(), 20), Target{Rows: 20, H: wide.Gram(), Own: true}, Options{K: 15}))(t)
	if want := mustSelect(t, wide, Options{K: 15}); !slices.Equal(same.Order, want.Order) || !slices.Equal(same.Layers, want.Layers) {
		t.Errorf("order %v of layers %v, want %v of %v", same.Order, same.Layers, want.Order, want.Layers)
	}
}
