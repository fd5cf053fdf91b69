package greedy

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// tailsOf are the tails of the eigenvalues of TᵀT in units of its trace, by their definition.
func tailsOf(t *testing.T, target *mat.Dense, k int) []float64 {
	t.Helper()
	values, _ := greedytest.EigenPairs(t, greedytest.MultiplyAll(target.T(), target))
	all, sum := 0.0, 0.0
	for _, v := range values {
		all += max(v, 0)
	}
	tails := make([]float64, k)
	for i := range tails {
		if i < len(values) {
			sum += max(values[i], 0)
		}
		tails[i] = max(all-sum, 0) / all
	}
	return tails
}

// compareLeast wants tails from below, to a part in a thousand or so, and never above the errors.
func compareLeast(t *testing.T, got, want, left []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tails, want %d", len(got), len(want))
	}
	for i, least := range got {
		if least > want[i]+1e-11 || least < want[i]*(1-2e-3)-1e-11 || least > left[i] {
			t.Errorf("after %d at least %v is left, want %v; the features leave %v", i+1, least, want[i], left[i])
		}
	}
}

// The error bounds that greedy reports are the tails of G, and, for the data smoothed on the graph, of AᵗX.
func TestLeast(t *testing.T) {
	g := greedytest.NewGraphData(90, 24, 20, 5)
	for _, rounds := range []int{0, 1, 3} {
		target := mat.DenseCopyOf(g.X)
		for range rounds {
			target = greedytest.MultiplyAll(g.A, target)
		}
		m := &graphGreedy{target: targetSmooth, rounds: rounds}
		e := &method.Evidence{Graph: g.Graph, K: 10, Threads: 2}
		r := must.Get(m.Select(t.Context(), e))(t)
		compareLeast(t, r.Least, tailsOf(t, target, 10), r.Error)
	}
	// A factor's, also beyond the rank of the target, which is at most that of the anchors.
	for _, k := range []int{1, 9, 40} {
		wide := greedytest.NewGraphData(40, 90, 12, 7)
		for _, rounds := range []int{0, 1, 3} {
			target := mat.DenseCopyOf(wide.X)
			for range rounds {
				target = greedytest.MultiplyAll(wide.A, target)
			}
			m := &graphGreedy{target: targetSmooth, rounds: rounds}
			e := &method.Evidence{Graph: wide.FactorGraph(), Columns: make([]stream.Column, 90), K: k, Threads: 2}
			r := must.Get(m.Select(t.Context(), e))(t)
			if len(r.Least) == 0 {
				t.Errorf("%d rounds: no least of %d features", rounds, k)
			}
			compareLeast(t, r.Least, tailsOf(t, target, len(r.Least)), r.Error)
		}
	}
	spectral := &graphGreedy{target: targetSpectral, clusters: 6}
	r := must.Get(spectral.Select(t.Context(), &method.Evidence{Graph: g.Graph, K: 10, Threads: 2}))(t)
	compareLeast(t, r.Least, tailsOf(t, g.SpectralTarget(t, 6), 10), r.Error)
}

// The tails do not depend on the order of the columns, and refined selections have them.
func TestLeastLaws(t *testing.T) {
	x := greedytest.SmoothMatrix(80, 200, 60, 30, 0.9).AddNoise(81, 0.05)
	g, team := gram.Full(x.Gram(), x.D), kernel.NewTeam(2)
	r := mustSelect(t, x, Options{K: 7, Refine: true})
	dense := mat.NewDense(x.N, x.D, nil)
	for j, col := range x.Col {
		dense.SetCol(j, col)
	}
	got := target.LeastDataErrors(team, g, r)
	compareLeast(t, got, tailsOf(t, dense, 7), r.Error)
	p := make([]int, x.D)
	for j := range p {
		p[j] = x.D - 1 - j
	}
	moved := x.PermuteColumns(p)
	again := target.LeastDataErrors(team, gram.Full(moved.Gram(), x.D), mustSelect(t, moved, Options{K: 7, Refine: true}))
	for i, least := range got {
		if math.Abs(again[i]-least) > 1e-9 {
			t.Errorf("columns permuted, %v is left at least, want %v", again[i], least)
		}
	}
	if one := target.LeastDataErrors(kernel.NewTeam(1), g, r); !slices.Equal(one, got) {
		t.Error("workers change bits")
	}
	// Of many features, more than an eighth are not asked for.
	if target.IsBoundAffordable(1000, 200) || !target.IsBoundAffordable(1000, 100) || !target.IsBoundAffordable(200, 200) || target.IsBoundAffordable(10, 0) {
		t.Error("the least is found where it costs more than greedy, or not where it is cheap")
	}
}
