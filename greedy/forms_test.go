package greedy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/outofcore"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// For all options, G in full and as a factor choose the same features.
func TestFormsChooseAlike(t *testing.T) {
	scaled := greedytest.RandomMatrix(92, 40, 60, 0)
	for j, col := range scaled.Col { // squares over 24 orders of magnitude
		for i := range col {
			col[i] *= math.Pow(10, float64(j%13)-6)
		}
	}
	twice := greedytest.RandomMatrix(93, 30, 25, 0)
	twice = greedytest.Matrix{N: twice.N, D: 50, Col: slices.Concat(twice.Col, twice.Clone().Col)}
	for name, x := range map[string]greedytest.Matrix{
		"wide":    greedytest.RandomMatrix(90, 30, 200, 0),
		"tall":    greedytest.RandomMatrix(91, 200, 30, 3),
		"smooth":  greedytest.SmoothMatrix(94, 40, 300, 20, 0.8).AddNoise(95, 0.05),
		"scaled":  scaled,
		"copies":  twice,
		"blocked": greedytest.RandomMatrix(96, 300, 500, 0), // more rows than a strip, more features than blocks
	} {
		for option, opt := range map[string]Options{
			"k":           {K: 20},
			"layers":      {K: min(x.D, 2*x.N+10, 70)},
			"keep":        {K: 12, Keep: []int{7, 3, 20}},
			"variance":    {Variance: 0.7},
			"partitioned": {K: 15, Partitioned: true, Partitions: 6},
			"groups":      {K: 25, Partitioned: true, Partitions: 2},
			"refine":      {K: 10, Refine: true},
		} {
			opt.Threads = 2
			forms := x.GramForms()
			want := must.Get(Select(t.Context(), forms["full"], opt))(t)
			got := must.Get(Select(t.Context(), forms["factor"], opt))(t)
			greedytest.CompareChoices(t, name+", "+option, got, want)
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), x.GramForms()["factor"], opt))(t); !slices.Equal(again.Scores, got.Scores) || !slices.Equal(again.Error, got.Error) {
				t.Errorf("%s, %s: workers change bits", name, option)
			}
		}
	}
}

// Rows kept as float32 give the choice of the same rows in float64.
func TestNarrowChoosesAlike(t *testing.T) {
	for name, x := range map[string]greedytest.Matrix{
		"wide":   greedytest.RandomMatrix(90, 30, 700, 0), // three panels
		"tall":   greedytest.RandomMatrix(91, 200, 30, 3),
		"smooth": greedytest.SmoothMatrix(94, 40, 300, 20, 0.8).AddNoise(95, 0.05),
	} {
		for _, col := range x.Col {
			for i, v := range col {
				col[i] = float64(float32(v))
			}
		}
		for option, opt := range map[string]Options{
			"k":           {K: 20},
			"layers":      {K: min(x.D, 2*x.N+10, 70)},
			"keep":        {K: 12, Keep: []int{7, 3, 20}},
			"partitioned": {K: 15, Partitioned: true, Partitions: 6},
			"groups":      {K: 25, Partitioned: true, Partitions: 2},
			"sums":        {K: 25, Partitioned: true, Partitions: min(x.D, x.N+5)}, // more groups than rows
			"refine":      {K: 10, Refine: true},
		} {
			opt.Threads = 2
			narrow := must.Get(Select(t.Context(), x.NarrowForm(t), opt))(t)
			greedytest.CompareChoices(t, name+", "+option, narrow, must.Get(Select(t.Context(), x.GramForms()["factor"], opt))(t))
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), x.NarrowForm(t), opt))(t); !slices.Equal(again.Scores, narrow.Scores) || !slices.Equal(again.Error, narrow.Error) {
				t.Errorf("%s, %s: workers change bits", name, option)
			}
		}
	}
}

// The targets made of the graph are the same for both forms.
func TestFormsAimAlike(t *testing.T) {
	for _, shape := range []struct{ n, d, m, k int }{{40, 90, 12, 9}, {90, 24, 20, 6}, {60, 90, 12, 40}} {
		g := greedytest.NewGraphData(shape.n, shape.d, shape.m, 7)
		whole, factored, team := g.Graph, g.FactorGraph(), kernel.NewTeam(2)
		if b := factored.B(2); math.Abs(kernel.Dot(b, b)-trace(whole.S, whole.M)) > 1e-12 {
			t.Fatal("B is not the graph's")
		}
		targets := map[string]func(*anchor.Graph) *target.Graph{
			"spectral": func(g *anchor.Graph) *target.Graph {
				s, _, err := target.NewSpectral(team, g, 4)
				must.Do(t, err)
				return s
			},
			"scatter": func(g *anchor.Graph) *target.Graph { return must.Get(target.NewScatter(team, g, 4))(t) },
		}
		for rounds := range 4 {
			targets[fmt.Sprint("smooth ", rounds)] = func(g *anchor.Graph) *target.Graph { return must.Get(target.NewSmooth(team, g, rounds))(t) }
		}
		for name, build := range targets {
			for _, refine := range []bool{false, true} {
				a, b := build(whole), build(factored)
				if math.Abs(a.TotalSquares-b.TotalSquares) > 1e-10*a.TotalSquares {
					t.Errorf("%s: ‖T‖² = %v, want %v", name, b.TotalSquares, a.TotalSquares)
				}
				opt := Options{K: shape.k, Threads: 2, Refine: refine}
				want := must.Get(inmemory.SelectMatrix(t.Context(), whole.G, a.Matrix, opt))(t)
				got := must.Get(inmemory.SelectMatrix(t.Context(), factored.G, b.Matrix, opt))(t)
				greedytest.CompareChoices(t, name, got, want)
			}
		}
	}
}

// Without G, its columns come from passes over the rows: the choice and its numbers are the same for any memory, in
// layers too.
func TestStreamsAimAlike(t *testing.T) {
	for _, shape := range []struct{ n, d, m, k int }{{40, 90, 12, 9}, {90, 24, 20, 6}, {60, 90, 12, 40}} {
		for _, unit := range []float64{1, 1e-60, 1e60} {
			g := greedytest.NewGraphData(shape.n, shape.d, shape.m, 7)
			x := greedytest.NewMatrix(shape.n, shape.d)
			for j := range x.Col {
				mat.Col(x.Col[j], j, g.X)
				floats.Scale(unit, x.Col[j])
			}
			floats.Scale(unit, g.Graph.C)
			floats.Scale(unit*unit, g.Graph.G.Sym)
			src, team := greedytest.NewSource(x, 16), kernel.NewTeam(2)
			std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
			absent := *g.Graph
			absent.G = gram.Full(nil, shape.d)
			targets := map[string]func(*anchor.Graph) *target.Graph{
				"spectral": func(g *anchor.Graph) *target.Graph {
					s, _, err := target.NewSpectral(team, g, 4)
					must.Do(t, err)
					return s
				},
			}
			for rounds := range 3 {
				targets[fmt.Sprint("smooth ", rounds+1)] = func(g *anchor.Graph) *target.Graph { return must.Get(target.NewSmooth(team, g, rounds+1))(t) }
			}
			for name, build := range targets {
				opt := Options{K: shape.k, Threads: 2, Keep: []int{5}}
				want := must.Get(inmemory.SelectMatrix(t.Context(), g.Graph.G, build(g.Graph).Matrix, opt))(t)
				least := outofcore.TargetBytes(shape.d, shape.k, build(&absent).Height, 0, 0)
				for _, memory := range []int64{least, 1 << 30} {
					got := must.Get(outofcore.SelectTarget(t.Context(), src, std, build(&absent).Matrix, StreamOptions{Options: opt, Memory: memory}))(t)
					if got.Passes < 2 {
						t.Errorf("%s: %d passes", name, got.Passes)
					}
					greedytest.CompareChoices(t, fmt.Sprintf("%s in units of %g", name, unit), got, want)
				}
				_, err := outofcore.SelectTarget(t.Context(), src, std, build(&absent).Matrix, StreamOptions{Options: opt, Memory: least - 1})
				if tight := (*stream.MemoryError)(nil); !errors.As(err, &tight) || tight.Need != least {
					t.Errorf("%s: a byte less: %v", name, err)
				}
			}
		}
	}
}

func trace(a []float64, n int) (sum float64) {
	for i := range n {
		sum += a[i*n+i]
	}
	return sum
}
