package gram

import (
	"bytes"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Discounting and merging day by day gives the Gram matrix of all rows with the weights
// γ^age, under any scale and fill, with weights of their own and missing entries too.
func TestDiscountIsWeight(t *testing.T) {
	const gamma, day = 0.7, 10
	everyCase(t, func(t *testing.T, tab table, scale Scale, fill Fill) {
		n := tab.N()
		aged := tab
		aged.Weight = make([]float64, n)
		m, h := NewMoments(len(tab.Cols), Options{}), NewHistograms(len(tab.Cols), 1)
		for from := 0; from < n; from += day {
			must.Do(t, m.Discount(gamma))
			must.Do(t, h.Discount(gamma))
			next, own := NewMoments(len(tab.Cols), Options{}), NewHistograms(len(tab.Cols), 1)
			tab.AddRows(t, next, from, min(from+day, n), 4)
			tab.AddRows(t, own, from, min(from+day, n), 4)
			must.Do(t, m.Merge(next))
			must.Do(t, h.Merge(own))
		}
		for i := range n {
			aged.Weight[i] = math.Pow(gamma, float64((n-1)/day-i/day))
			if tab.Weight != nil {
				aged.Weight[i] *= tab.Weight[i]
			}
		}
		whole := histogramsOf(t, aged.Table, 1, n)
		for j := range whole.columns {
			if psi := whole.PSI(j, h, j); psi.Value > 1e-20 { // the square of a relative rounding
				t.Errorf("histogram %d is off: %g", j, psi.Value)
			}
		}
		if m.Profile.Rows != int64(n) || m.Profile.Seen != int64(n) {
			t.Errorf("%d of %d rows, want %d", m.Profile.Rows, m.Profile.Seen, n)
		}
		g := finish(t, m, tab, scale, fill)
		// As in TestMerge, and two roundings more for each discount of each sum.
		aged.reference(scale, fill).near(t, 32*n, g.Sym)
		var weight float64
		for _, w := range aged.Weight {
			weight += w
		}
		if math.Abs(g.Weight-weight) > 1e-12*weight {
			t.Errorf("weight %g, want %g", g.Weight, weight)
		}
	})
}

// A discount by 1 changes no bit, and one that cannot be changes nothing.
func TestDiscountRefused(t *testing.T) {
	tab := sample(3, 40, true, false)
	m, h := tab.moments(t, Options{}, 40), histogramsOf(t, tab.Table, 1, 40)
	before, counts := encode(t, m), wordstest.EncodeState(t, h)
	must.Do(t, m.Discount(1))
	must.Do(t, h.Discount(1))
	for _, gamma := range []float64{0, -1, 1.5, math.NaN(), math.Inf(1), 1e-200} {
		if m.Discount(gamma) == nil || m.Profile.Discount(gamma) == nil {
			t.Errorf("a discount of %g was accepted", gamma)
		}
		if gamma != 1e-200 && h.Discount(gamma) == nil {
			t.Errorf("a discount of histograms by %g was accepted", gamma)
		}
	}
	if !bytes.Equal(before, encode(t, m)) || !bytes.Equal(counts, wordstest.EncodeState(t, h)) {
		t.Error("a refused discount changed something")
	}
}
