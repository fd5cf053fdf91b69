package greedytest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/greedy/selection"
)

// CompareBlocks fails the test unless got has the blocks and numbers of want, up to rounding.
func CompareBlocks(t *testing.T, what string, got, want *selection.Result) {
	t.Helper()
	if !slices.Equal(got.Blocks, want.Blocks) || !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Layers, want.Layers) || got.Exhausted != want.Exhausted {
		t.Fatalf("%s: blocks %v in layers %v, want %v in %v", what, got.Blocks, got.Layers, want.Blocks, want.Layers)
	}
	for j := range want.Blocks {
		if math.Abs(got.Scores[j]-want.Scores[j]) > 1e-7*want.Scores[j] || math.Abs(got.Error[j]-want.Error[j]) > 1e-9 {
			t.Errorf("%s, turn %d: score %v, error %v; want %v, %v", what, j, got.Scores[j], got.Error[j], want.Scores[j], want.Error[j])
		}
	}
	for i := range want.Explained {
		if math.Abs(got.Explained[i]-want.Explained[i]) > 1e-9 || got.Nearest[i] != want.Nearest[i] {
			t.Errorf("%s, feature %d: %v by %d, want %v by %d", what, i, got.Explained[i], got.Nearest[i], want.Explained[i], want.Nearest[i])
		}
	}
}

// CompareChoices fails the test unless got and want, from two forms of G, are the same selection up to rounding.
func CompareChoices(t *testing.T, name string, got, want *selection.Result) {
	t.Helper()
	// One direction is left for the last feature of a layer, and every feature is as good there: rounding chooses it,
	// and so decides the next layer.
	sure := len(want.Order)
	if want.Layers != nil {
		sure = FirstLayerSize(want) - 1
	}
	if len(got.Order) != len(want.Order) || !slices.Equal(got.Order[:sure], want.Order[:sure]) {
		t.Fatalf("%s: the factor chose %v, G in full %v", name, got.Order, want.Order)
	}
	if fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) || !slices.Equal(got.Layers, want.Layers) {
		t.Errorf("%s: layers %v, warnings %v; want %v, %v", name, got.Layers, got.Warnings, want.Layers, want.Warnings)
	}
	near := func(what string, got, want []float64, tol float64) {
		if len(got) != len(want) {
			t.Fatalf("%s: %d %s, want %d", name, len(got), what, len(want))
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > tol*max(1, math.Abs(want[i])) {
				t.Errorf("%s: %s %d is %v, want %v", name, what, i, got[i], want[i])
			}
		}
	}
	near("scores", got.Scores[:sure], want.Scores[:sure], 1e-9)
	near("errors", got.Error[:sure], want.Error[:sure], 1e-10)
	near("explained", got.Explained, want.Explained, 1e-9)
	if want.Layers == nil && (!slices.Equal(got.Nearest, want.Nearest) || !slices.Equal(got.Redundant, want.Redundant)) {
		t.Errorf("%s: nearest %v, redundant %v; want %v, %v", name, got.Nearest, got.Redundant, want.Nearest, want.Redundant)
	}
}

// FirstLayerSize is the number of features of the first layer.
func FirstLayerSize(r *selection.Result) int {
	for i, layer := range r.Layers {
		if layer > 1 {
			return i
		}
	}
	return len(r.Order)
}

// CompareResults fails the test unless got equals want, up to the rounding of two ways to compute G.
func CompareResults(t *testing.T, got, want *selection.Result) {
	t.Helper()
	if !slices.Equal(got.Order, want.Order) {
		t.Fatalf("order %v, want %v", got.Order, want.Order)
	}
	for j := range want.Order {
		if math.Abs(got.Scores[j]/want.Scores[j]-1) > 1e-8 || math.Abs(got.Error[j]-want.Error[j]) > 1e-11 {
			t.Errorf("turn %d: score %v, error %v; want %v, %v", j, got.Scores[j], got.Error[j], want.Scores[j], want.Error[j])
		}
	}
	for i := range want.Explained {
		if math.Abs(got.Explained[i]-want.Explained[i]) > 1e-10 || got.Nearest[i] != want.Nearest[i] {
			t.Errorf("feature %d: explained %v by %d, want %v by %d", i,
				got.Explained[i], got.Nearest[i], want.Explained[i], want.Nearest[i])
		}
	}
	if !reflect.DeepEqual(got.Ties, want.Ties) || !reflect.DeepEqual(got.Redundant, want.Redundant) ||
		!reflect.DeepEqual(got.Warnings, want.Warnings) || got.Exhausted != want.Exhausted || !slices.Equal(got.Layers, want.Layers) {
		t.Errorf("ties %v, redundant %v, warnings %q; want %v, %v, %q",
			got.Ties, got.Redundant, got.Warnings, want.Ties, want.Redundant, want.Warnings)
	}
}
