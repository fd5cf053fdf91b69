package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// correlated makes n rows of d columns of which the last are mixtures of the first.
func correlated(seed uint64, n, d int) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 4))
	x := make([][]float64, d)
	for j := range x {
		x[j] = make([]float64, n)
		for i := range n {
			x[j][i] = r.NormFloat64()
			for l := range min(j, 3) {
				x[j][i] += float64(j%3+l) * x[l][i]
			}
		}
	}
	return x
}

func gramOf(x [][]float64) []float64 {
	d := len(x)
	sym := make([]float64, d*d)
	for i := range x {
		for j := range x {
			sym[i*d+j] = kernel.Dot(x[i], x[j])
		}
	}
	return sym
}

// Left is what the rows themselves say: the squares of x_j − Σ_r w_rj·x_r, by the weights of
// other rows. On the weights' own rows it is the error of Explain, and on others it is never
// less than that, because no weights do better than their own.
func TestWeightsLeft(t *testing.T) {
	const d = 9
	team := kernel.NewTeam(2)
	first, other := correlated(1, 60, d), correlated(2, 40, d)
	chosen := []int{4, 0, 7}
	w := must.Get(NewWeights(team, gramOf(first), d, chosen))(t)
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}

	own := must.Get(ExplainChoice(t.Context(), gram.Full(gramOf(first), d), chosen, 1))(t).Error[2]
	if got := w.UnexplainedShare(team, gramOf(first), d, chosen, all); math.Abs(got-own) > 1e-12 {
		t.Errorf("on its own rows %g, by Explain %g", got, own)
	}
	refit := must.Get(ExplainChoice(t.Context(), gram.Full(gramOf(other), d), chosen, 1))(t).Error[2]
	for name, c := range map[string]struct{ chosen, from []int }{
		"all":             {chosen, all},
		"an absent one":   {[]int{4, -1, 7}, all},
		"a new column":    {chosen, []int{0, -1, 2, 3, 4, 5, 6, 7, 8}},
		"no column known": {chosen, []int{-1, -1, -1, -1, -1, -1, -1, -1, -1}},
	} {
		var left, total float64
		for j, at := range c.from {
			for i := range other[j] {
				rest := other[j][i]
				total += rest * rest
				for r, col := range c.chosen {
					if col >= 0 && at >= 0 {
						rest -= w.w.Data[r*d+at] * other[col][i]
					}
				}
				left += rest * rest
			}
		}
		got := w.UnexplainedShare(team, gramOf(other), d, c.chosen, c.from)
		if want := left / total; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: %g, by the rows %g", name, got, want)
		}
		if got < refit {
			t.Errorf("%s: %g is less than %g of the best weights", name, got, refit)
		}
	}
}

// Columns without any spread have no weights, and that is an error.
func TestWeightsOfZeros(t *testing.T) {
	x := correlated(1, 30, 4)
	clear(x[3])
	if _, err := NewWeights(kernel.NewTeam(1), gramOf(x), 4, []int{1, 3}); err == nil {
		t.Error("weights of a column of zeros")
	}
}

// TestLayout: every measure takes the memory of its layout, and no more.
func TestLayout(t *testing.T) {
	const n, d, k = 300, 1500, 200
	team, x := kernel.NewTeam(1), kernel.NewMatrix[float64](nil, d, n).Trans()
	sym, w, columns := make([]float64, d*d), &Weights{kernel.NewMatrix[float64](nil, k, d)}, make([]int, d)
	for j := range d {
		x.Data[j*n+j%n], sym[j*d+j], columns[j] = 1, 1, j
	}
	for name, c := range map[string]struct {
		layOut func(l *room.Layout)
		do     func()
	}{
		"reconstruction": {func(l *room.Layout) { layOutReconstruction(l, n, d, k) }, func() { ReconstructionError(team, x, columns[:k]) }},
		"redundancy":     {func(l *room.Layout) { layOutRedundancy(l, d) }, func() { RedundancyCurve(team, x) }},
		"weights": {func(l *room.Layout) {
			layOutWeights(l, k)
			kernel.NewMatrix[float64](l, k, d)
		}, func() { must.Get(NewWeights(team, sym, d, columns[:k]))(t) }},
		"unexplained share": {func(l *room.Layout) { layOutUnexplained(l, d, k) }, func() { w.UnexplainedShare(team, sym, d, columns[:k], columns) }},
	} {
		roomtest.CheckLayout(t, name, room.Measure(c.layOut), c.do)
	}
}
