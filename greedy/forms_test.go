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
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/must"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// sameChoice wants one selection from both forms of G, to rounding.
func sameChoice(t *testing.T, name string, got, want *Result) {
	t.Helper()
	// One direction is left for the last feature of a layer, and every feature is as good there: rounding chooses it,
	// and so decides the next layer.
	sure := len(want.Order)
	if want.Layers != nil {
		sure = ofFirst(want) - 1
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

// For all options, G in full and as a factor choose the same features.
func TestFormsChooseAlike(t *testing.T) {
	scaled := random(92, 40, 60, 0)
	for j, col := range scaled.col { // squares over 24 orders of magnitude
		for i := range col {
			col[i] *= math.Pow(10, float64(j%13)-6)
		}
	}
	twice := random(93, 30, 25, 0)
	twice = matrix{twice.n, 50, slices.Concat(twice.col, twice.clone().col)}
	for name, x := range map[string]matrix{
		"wide":    random(90, 30, 200, 0),
		"tall":    random(91, 200, 30, 3),
		"smooth":  smooth(94, 40, 300, 20, 0.8).noisy(95, 0.05),
		"scaled":  scaled,
		"copies":  twice,
		"blocked": random(96, 300, 500, 0), // more rows than a strip, more features than blocks
	} {
		for option, opt := range map[string]Options{
			"k":           {K: 20},
			"layers":      {K: min(x.d, 2*x.n+10, 70)},
			"keep":        {K: 12, Keep: []int{7, 3, 20}},
			"variance":    {Variance: 0.7},
			"partitioned": {K: 15, Partitioned: true, Partitions: 6},
			"groups":      {K: 25, Partitioned: true, Partitions: 2},
			"refine":      {K: 10, Refine: true},
		} {
			opt.Threads = 2
			forms := x.forms()
			want := must.Get(Select(t.Context(), forms["full"], opt))(t)
			got := must.Get(Select(t.Context(), forms["factor"], opt))(t)
			sameChoice(t, name+", "+option, got, want)
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), x.forms()["factor"], opt))(t); !slices.Equal(again.Scores, got.Scores) || !slices.Equal(again.Error, got.Error) {
				t.Errorf("%s, %s: workers change bits", name, option)
			}
		}
	}
}

// Rows kept as float32 give the choice of the same rows in float64.
func TestNarrowChoosesAlike(t *testing.T) {
	for name, x := range map[string]matrix{
		"wide":   random(90, 30, 700, 0), // three panels
		"tall":   random(91, 200, 30, 3),
		"smooth": smooth(94, 40, 300, 20, 0.8).noisy(95, 0.05),
	} {
		for _, col := range x.col {
			for i, v := range col {
				col[i] = float64(float32(v))
			}
		}
		for option, opt := range map[string]Options{
			"k":           {K: 20},
			"layers":      {K: min(x.d, 2*x.n+10, 70)},
			"keep":        {K: 12, Keep: []int{7, 3, 20}},
			"partitioned": {K: 15, Partitioned: true, Partitions: 6},
			"groups":      {K: 25, Partitioned: true, Partitions: 2},
			"sums":        {K: 25, Partitioned: true, Partitions: min(x.d, x.n+5)}, // more groups than rows
			"refine":      {K: 10, Refine: true},
		} {
			opt.Threads = 2
			narrow := must.Get(Select(t.Context(), x.narrow(t), opt))(t)
			sameChoice(t, name+", "+option, narrow, must.Get(Select(t.Context(), x.forms()["factor"], opt))(t))
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), x.narrow(t), opt))(t); !slices.Equal(again.Scores, narrow.Scores) || !slices.Equal(again.Error, narrow.Error) {
				t.Errorf("%s, %s: workers change bits", name, option)
			}
		}
	}
}

// factoredGraph is a graph of g whose G is a factor.
func (g graphed) factored() *anchor.Graph {
	out := *g.graph
	n, d := g.x.Dims()
	var r []float64
	for j := range d {
		for i := range n {
			r = append(r, g.x.At(i, j))
		}
	}
	out.G = gram.FromFactor(r, d, n)
	out.Z = anchor.RowWeights{Rows: n, Count: g.graph.M}
	for i := range n {
		for k := range g.graph.M {
			out.Z.Index, out.Z.Value = append(out.Z.Index, int32(k)), append(out.Z.Value, g.z.At(i, k))
		}
	}
	return &out
}

// The targets made of the graph are the same for both forms.
func TestFormsAimAlike(t *testing.T) {
	for _, shape := range []struct{ n, d, m, k int }{{40, 90, 12, 9}, {90, 24, 20, 6}, {60, 90, 12, 40}} {
		g := newGraphed(shape.n, shape.d, shape.m, 7)
		whole, factored, team := g.graph, g.factored(), kernel.NewTeam(2)
		if b := factored.B(2); math.Abs(kernel.Dot(b, b)-trace(whole.S, whole.M)) > 1e-12 {
			t.Fatal("B is not the graph's")
		}
		targets := map[string]func(*anchor.Graph) *graphTarget{
			"spectral": func(g *anchor.Graph) *graphTarget { s, _, err := spectralTarget(team, g, 4); must.Do(t, err); return s },
			"scatter":  func(g *anchor.Graph) *graphTarget { return must.Get(scatterTarget(team, g, 4))(t) },
		}
		for rounds := range 4 {
			targets[fmt.Sprint("smooth ", rounds)] = func(g *anchor.Graph) *graphTarget { return must.Get(smoothTarget(team, g, rounds))(t) }
		}
		for name, build := range targets {
			for _, refine := range []bool{false, true} {
				a, b := build(whole), build(factored)
				if math.Abs(a.totalSquares-b.totalSquares) > 1e-10*a.totalSquares {
					t.Errorf("%s: ‖T‖² = %v, want %v", name, b.totalSquares, a.totalSquares)
				}
				opt := Options{K: shape.k, Threads: 2, Refine: refine}
				want := must.Get(selectTarget(t.Context(), whole.G, a.target, opt))(t)
				got := must.Get(selectTarget(t.Context(), factored.G, b.target, opt))(t)
				sameChoice(t, name, got, want)
			}
		}
	}
}

// Without G, its columns come from passes over the rows: the choice and its numbers are the same for any memory, in
// layers too.
func TestStreamsAimAlike(t *testing.T) {
	for _, shape := range []struct{ n, d, m, k int }{{40, 90, 12, 9}, {90, 24, 20, 6}, {60, 90, 12, 40}} {
		for _, unit := range []float64{1, 1e-60, 1e60} {
			g := newGraphed(shape.n, shape.d, shape.m, 7)
			x := newMatrix(shape.n, shape.d)
			for j := range x.col {
				mat.Col(x.col[j], j, g.x)
				floats.Scale(unit, x.col[j])
			}
			floats.Scale(unit, g.graph.C)
			floats.Scale(unit*unit, g.graph.G.Sym)
			src, team := serve(x, 16), kernel.NewTeam(2)
			std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
			absent := *g.graph
			absent.G = gram.Full(nil, shape.d)
			targets := map[string]func(*anchor.Graph) *graphTarget{
				"spectral": func(g *anchor.Graph) *graphTarget { s, _, err := spectralTarget(team, g, 4); must.Do(t, err); return s },
			}
			for rounds := range 3 {
				targets[fmt.Sprint("smooth ", rounds+1)] = func(g *anchor.Graph) *graphTarget { return must.Get(smoothTarget(team, g, rounds+1))(t) }
			}
			for name, build := range targets {
				opt := Options{K: shape.k, Threads: 2, Keep: []int{5}}
				want := must.Get(selectTarget(t.Context(), g.graph.G, build(g.graph).target, opt))(t)
				least := targetStreamBytes(shape.d, shape.k, build(&absent).height, 0, 0)
				for _, memory := range []int64{least, 1 << 30} {
					got := must.Get(selectTargetStream(t.Context(), src, std, build(&absent).target, StreamOptions{Options: opt, Memory: memory}))(t)
					if got.Passes < 2 {
						t.Errorf("%s: %d passes", name, got.Passes)
					}
					sameChoice(t, fmt.Sprintf("%s in units of %g", name, unit), got, want)
				}
				_, err := selectTargetStream(t.Context(), src, std, build(&absent).target, StreamOptions{Options: opt, Memory: least - 1})
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
