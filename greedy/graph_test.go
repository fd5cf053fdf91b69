package greedy

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestTargets: the spectral and the scatter target against their definitions on n×n matrices,
// with more features than anchors and with fewer; 8 workers as 1, bit for bit.
func TestTargets(t *testing.T) {
	for _, shape := range []struct{ n, d, m, l, k int }{{120, 9, 25, 3, 6}, {150, 40, 20, 5, 12}, {90, 12, 14, 1, 4}} {
		g := greedytest.NewGraphData(shape.n, shape.d, shape.m, uint64(shape.n))
		spectral, scatter := g.SpectralTarget(t, shape.l), g.ScatterTarget(t, shape.l)
		for name, want := range map[string]*mat.Dense{targetSpectral: spectral, targetScatter: scatter} {
			order, left := BruteForce(g.X, want, shape.k)
			total := mat.Norm(want, 2) * mat.Norm(want, 2)
			build := func(threads int) *target.Graph {
				team := kernel.NewTeam(threads)
				if name == targetScatter {
					return must.Get(target.NewScatter(team, g.Graph, shape.l))(t)
				}
				target, warnings, err := target.NewSpectral(team, g.Graph, shape.l)
				if err != nil || len(warnings) > 0 {
					t.Fatalf("target %s: error %v, warnings %v, want neither", name, err, warnings)
				}
				return target
			}
			target := build(1)
			if eight := build(8); !slices.Equal(eight.U.Data, target.U.Data) || eight.TotalSquares != target.TotalSquares {
				t.Errorf("%s: 8 workers differ from 1", name)
			}
			// The eigenvectors are exact to some 1e-14 over a gap of 1e-2 or more.
			if math.Abs(target.TotalSquares-total) > 1e-9*total {
				t.Errorf("%s %v: ‖T‖² = %v, want %v", name, shape, target.TotalSquares, total)
			}
			got := must.Get(inmemory.SelectMatrix(t.Context(), g.Graph.G, target.Matrix, Options{K: shape.k}))(t)
			if !slices.Equal(got.Order, order) {
				t.Fatalf("%s %v: chose %v, want %v", name, shape, got.Order, order)
			}
			for i, e := range target.ErrorCurve(got.Scores) {
				if math.Abs(e-left[i]/total) > 1e-9 {
					t.Errorf("%s %v: error %v after %d, want %v", name, shape, e, i+1, left[i]/total)
				}
			}
		}
	}
}

// TestTargetScales: a target does not depend on the units of all features.
func TestTargetScales(t *testing.T) {
	g := greedytest.NewGraphData(120, 15, 20, 4)
	for _, name := range []string{targetSpectral, targetScatter} {
		choose := func(unit float64) []int {
			scaled := *g.Graph
			scaled.G, scaled.C = gram.Full(slices.Clone(scaled.G.Sym), scaled.D), slices.Clone(scaled.C)
			for i := range scaled.G.Sym {
				scaled.G.Sym[i] *= unit * unit
			}
			for i := range scaled.C {
				scaled.C[i] *= unit
			}
			m := &graphGreedy{target: name, clusters: 3}
			return must.Get(m.Select(t.Context(), &method.Evidence{Graph: &scaled, K: 6, Threads: 1}))(t).Order
		}
		want := choose(1)
		for _, unit := range []float64{1e-70, 1e70, 3} {
			if got := choose(unit); !slices.Equal(got, want) {
				t.Errorf("%s in units of %v: %v, want %v", name, unit, got, want)
			}
		}
	}
}

// TestBestRounds: auto is the candidate whose choice has the largest alignment by its definition on
// n×n matrices; it is recorded as the number that it found.
// Blocks for the targets of a graph: with Gram matrices in full and as factors the same, and blocks of one are
// features.
func TestTargetBlocks(t *testing.T) {
	g := greedytest.NewGraphData(60, 18, 7, 5)
	rank := func(m *graphGreedy, graph *anchor.Graph, c method.Choice, k int) *method.Ranking {
		e := &method.Evidence{K: k, Choice: c, Threads: 2, Graph: graph, Columns: make([]stream.Column, graph.D)}
		return must.Get(m.Select(t.Context(), e))(t)
	}
	factor := *g.Graph
	rows := make([]float64, 0, 60*18)
	for j := range 18 {
		for i := range 60 {
			rows = append(rows, g.X.At(i, j))
		}
	}
	factor.G = gram.FromFactor(rows, 18, 60)
	for _, target := range []graphGreedy{{target: targetSmooth, rounds: 2}, {target: targetSmooth}, {target: targetSpectral, clusters: 4}} {
		fresh := func() *graphGreedy { m := target; m.refinement.mode = refineNone; return &m }
		ones, pairs := blocksBy(slices.Repeat([]int{1}, 18)...), blocksBy(2, 3, 1, 2, 4, 1, 2, 3)
		want := rank(fresh(), g.Graph, method.Choice{}, 3)
		costly := slices.Clone(ones) // so that the engine for blocks is asked
		costly[slices.IndexFunc(rowstest.Integers(18), func(j int) bool { return !slices.Contains(want.Order, j) })].Cost = 1e6
		got := rank(fresh(), g.Graph, method.Choice{Blocks: costly}, 3)
		if !slices.Equal(got.Order, want.Order) || rowstest.RelativeDistance(got.Error, want.Error) > 1e-9 {
			t.Errorf("%s, %d rounds: %v leave %v, want %v, %v", target.target, target.rounds, got.Order, got.Error, want.Order, want.Error)
		}
		full, few := rank(fresh(), g.Graph, method.Choice{Blocks: pairs}, 2), rank(fresh(), &factor, method.Choice{Blocks: pairs}, 2)
		if !slices.Equal(full.Blocks, few.Blocks) || rowstest.RelativeDistance(full.Error, few.Error) > 1e-9 {
			t.Errorf("%s, %d rounds: blocks %v leave %v, and of a factor %v, %v", target.target, target.rounds, full.Blocks, full.Error, few.Blocks, few.Error)
		}
	}
}

func TestBestRounds(t *testing.T) {
	g := greedytest.NewGraphData(150, 30, 40, 7)
	const k = 5
	values, vectors := greedytest.EigenPairs(t, g.A)
	kern := mat.NewDense(150, 150, nil) // no eigenvector lives on few rows here
	for c := 1; c < 40 && c <= 50 && values[c] > 1e-10; c++ {
		u := vectors.ColView(c)
		kern.RankOne(kern, math.Pow(values[c], 2*spectral.DefaultDiffusion), u, u)
	}
	best, top := 0, 0.0
	for _, rounds := range candidateNumbersOfRounds() {
		target := g.Graph.Smooth(1, rounds)
		res := must.Get(SelectTarget(t.Context(), g.Graph.G, Target{Rows: target.Rows, H: target.H}, Options{K: k}))(t)
		x := mat.NewDense(150, k, nil)
		for i, j := range res.Order {
			x.SetCol(i, mat.Col(nil, j, g.X))
		}
		own := greedytest.MultiplyAll(x, x.T())
		if a := mat.Trace(greedytest.MultiplyAll(own, kern)) / mat.Norm(own, 2) / mat.Norm(kern, 2); a > top*(1+engine.TieShare) { // equal choices are equal to rounding
			best, top = rounds, a
		}
	}
	m := &graphGreedy{target: targetSmooth, rounds: automaticRounds}
	r := must.Get(m.Select(t.Context(), &method.Evidence{Graph: g.Graph, K: k, Threads: 2}))(t)
	if r.Used["smooth"] != best {
		t.Errorf("%v rounds, want %d", r.Used["smooth"], best)
	}
}

// TestNoDirection: a graph in which all rows are alike has no target but one constant, and is refused.
func TestNoDirection(t *testing.T) {
	const d, m = 6, 5
	g := &anchor.Graph{Rows: 40, M: m, D: d, Delta: make([]float64, m), C: make([]float64, m*d), G: gram.Full(make([]float64, d*d), d), S: make([]float64, m*m)}
	for i := range d {
		g.G.Sym[i*d+i] = 40
	}
	for i := range g.C { // 0 but for rounding
		g.C[i] = 1e-14 * math.Sin(float64(i))
	}
	for i := range m {
		g.Delta[i] = 40. / m
	}
	for i := range g.S {
		g.S[i] = 1. / m
	}
	for _, name := range []string{targetSpectral, targetScatter} {
		a := &graphGreedy{target: name, clusters: 3}
		if r, err := a.Select(t.Context(), &method.Evidence{Graph: g, K: 2, Threads: 1}); err == nil {
			t.Errorf("%s: chose %v", name, r.Order)
		}
	}
}
