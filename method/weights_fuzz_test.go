package method

import (
	"math"
	"slices"
	"testing"
)

// FuzzWeights: weights are finite and not negative, no more than their text can stand for, and their text
// is read as themselves.
func FuzzWeights(f *testing.F) {
	for _, text := range []string{"1", "0.1,1,10", "1e-3..1e3", "0.1x", "1e-3x..1x", "5e-324..1.7976931348623157e308", "-1", "NaN..Inf", "1..", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w Weights
		if w.Set(text) != nil {
			return
		}
		const decades = 633 // from the smallest number to the largest
		if len(w) == 0 || len(w) > decades*(len(text)+1) {
			t.Fatalf("%d weights", len(w))
		}
		for _, x := range w {
			if !(x.Value >= 0) || math.IsInf(x.Value, 0) {
				t.Fatalf("weight %v", x)
			}
		}
		var again Weights
		if err := again.Set(w.String()); err != nil || !slices.Equal(w, again) {
			t.Errorf("%v: %v is read as %v", err, w, again)
		}
	})
}
