package anchor

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Rows of half the weight, and then others, make the graph of the first once and the others
// twice: sums are half as large, B the same for a row but for the root of its weight.
func TestDiscountIsWeight(t *testing.T) {
	const n, cut = 300, 120
	tab := clusters(n, 6, 4).holes()
	a := tab.random(t, 20, gram.ScaleStandard)
	build := func(times int, gamma float64) *Graph {
		s, m := withoutRows(t, a), gram.NewMoments(len(tab.Cols), gram.Options{})
		tab.AddRows(t, s, 0, cut, 50)
		tab.AddRows(t, m, 0, cut, 50)
		must.Do(t, s.Discount(gamma))
		must.Do(t, m.Discount(gamma))
		for range times {
			tab.AddRows(t, s, cut, n, 50)
			tab.AddRows(t, m, cut, n, 50)
		}
		g := must.Get(m.Finish(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)
		return must.Get(s.Graph(g))(t)
	}
	half, twice := build(1, 0.5), build(2, 1)
	for name, c := range map[string]struct {
		got, want []float64
		factor    float64
	}{
		"Delta": {half.Delta, twice.Delta, 2}, "G": {half.G.Sym, twice.G.Sym, 2},
		"C": {half.C, twice.C, math.Sqrt2}, "S": {half.S, twice.S, 1},
	} {
		got := slices.Clone(c.got)
		for i := range got {
			got[i] *= c.factor
		}
		checkNear(t, name, got, [][]float64{c.want}, 1e-11)
	}
}

func TestDiscountRefused(t *testing.T) {
	tab := clusters(50, 3, 5)
	s := tab.statistics(t, tab.random(t, 9, gram.ScaleStandard), Options{}, 50)
	before := written(t, s)
	must.Do(t, s.Discount(1))
	for _, gamma := range []float64{0, -1, 1.01, math.NaN()} {
		if s.Discount(gamma) == nil {
			t.Errorf("a discount of %g was accepted", gamma)
		}
	}
	if !bytes.Equal(before, written(t, s)) {
		t.Error("a refused discount, or one by 1, changed something")
	}
}
