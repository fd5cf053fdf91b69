package cpufs

import (
	"fmt"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// scanned reads a source once.
func scanned(t *testing.T, src *rowstest.Source) *gridReader {
	t.Helper()
	grid := must.Get(NewGrid(make([]string, src.D), []int{1, src.D}))(t)
	r := &gridReader{source: rows.Source{Source: src}, columns: src.Columns(), grid: grid, workers: 2}
	must.Do(t, r.eachBlock(t.Context(), "", func(*rowBlock) error { return nil }))
	return r
}

func denseLaplacian(g *rows.Graph, n int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = 1
	}
	g.MapValues(func(i, j int, v float64) float64 { m[i*n+j] -= v; return v })
	return m
}

// The graph of a fixture's rows is the fixture's, where that is one of neighbours, however
// many rows are gathered at a time. Both are some ten roundings from the truth.
func TestNeighboursAreTheFixtures(t *testing.T) {
	for _, kind := range []string{"cpufs", "cpufsnn"} {
		for name, f := range fixtures.ReadCases[fixture](t, kind) {
			if f.AnchorB != nil {
				continue
			}
			for _, room := range []int64{0, 12 * rows.PointBytes(20), 1 << 20} {
				r := scanned(t, serve(f.X, 5))
				near := must.Get(r.nearestRows(t.Context(), kernel.NewTeam(2), defaultNeighbors, room))(t)
				got := denseLaplacian(heatGraph(near, f.N, defaultSigma), f.N)
				if off := rowstest.RelativeDistance(got, flat(f.L)); !(off <= 1e-14) {
					t.Errorf("%s, room %d: L is off by %.3g", name, room, off)
				}
			}
		}
	}
}

// Rows as far apart as pictures have weights below the smallest number; the graph is as good.
func TestLaplacianOfDistantRows(t *testing.T) {
	for _, shift := range []float64{0, 5000} {
		near := []rows.Neighbour{{Index: 1, Square: shift + 1}, {Index: 0, Square: shift + 1}, {Index: 1, Square: shift + 2}}
		l := heatGraph(near, 3, 1)
		// w₀₁ = e⁻¹, w₁₂ = e⁻²: degrees e⁻¹, e⁻¹ + e⁻², e⁻².
		d1 := math.Exp(-1) + math.Exp(-2)
		want := []float64{1, -math.Exp(-1) / math.Sqrt(math.Exp(-1)*d1), 0,
			-math.Exp(-1) / math.Sqrt(math.Exp(-1)*d1), 1, -math.Exp(-2) / math.Sqrt(d1*math.Exp(-2)),
			0, -math.Exp(-2) / math.Sqrt(d1*math.Exp(-2)), 1}
		// A shift of 5,000 costs its digits of the logarithms: 5,000·2⁻⁵² is 1e-12.
		if off := rowstest.RelativeDistance(denseLaplacian(l, 3), want); !(off <= 1e-11) {
			t.Errorf("shift %v: L is off by %.3g", shift, off)
		}
	}
}

func TestScaling(t *testing.T) {
	src := serve([][]float64{{1, 5, nan()}, {3, 5, 2}, {2, 5, 4}}, 2)
	p := gram.NewProfile(3)
	must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, p))
	for fill, want := range map[gram.Fill][]float64{
		gram.FillMean: {0, 1, 0.5, 0, 0, 0, 0.5, 0, 1},
		gram.FillZero: {0, 1, 0.5, 0, 0, 0, 0, 0.5, 1},
	} {
		g := must.Get(NewGrid([]string{"a", "b", "c"}, []int{3, 1}))(t)
		r := &gridReader{source: rows.Source{Source: src}, columns: src.Columns(), grid: g, workers: 1, scaling: MinMax(p, fill)}
		x := make([]float64, 9)
		must.Do(t, r.placeRows(kernel.ColMajor(x, 3, 3, 3), src.Chunk(0, 3)))
		if off := rowstest.RelativeDistance(x, want); off != 0 {
			t.Errorf("%v: %v, want %v", fill, x, want)
		}
	}
}

// Sparse rows are the same rows.
func TestSparseRows(t *testing.T) {
	f := problem(61, 40, 3, 4, 4)
	for i, row := range f.X {
		for j := range row {
			if (i+j)%3 == 0 {
				row[j] = 0
			}
		}
	}
	opt := Options{Clusters: 3, Iterations: 4}
	want := mustSelect(t, serve(f.X, 16), f.grid(t), opt)
	sparse := serve(f.X, 16)
	sparse.Sparse = true
	got := mustSelect(t, sparse, f.grid(t), opt)
	if fmt.Sprint(got.Scores) != fmt.Sprint(want.Scores) {
		t.Errorf("sparse rows score %v, dense ones %v", got.Scores, want.Scores)
	}
}

// The least memory that the plan names works, one byte less does not, and every level of
// it gives a plan that fits.
func TestPlan(t *testing.T) {
	for i, graph := range []GraphKind{GraphKNN, GraphAnchors, GraphAnchors} {
		f := problem(71, 240, 3, [][]int{{10, 12}, {10, 12}, {4, 10, 3}}[i]...)
		src := serve(f.X, 240)
		opt := Options{Clusters: 3, Graph: graph, Threads: 2, Memory: 1 << 30, Iterations: 2, Scratch: &rowstest.Scratch{}}
		p, err := opt.Plan(src, f.grid(t))
		if err != nil || !p.Gram || !p.RowsInMemory || !p.StateInMemory || p.SetupPasses != 1 {
			t.Fatalf("plan %+v, %v", p, err)
		}
		for memory := p.Least; memory < p.Bytes; memory += (p.Bytes - p.Least) / 4 {
			opt.Memory = memory
			q, err := opt.Plan(src, f.grid(t))
			if err != nil || q.Bytes > memory || q.Least != p.Least {
				t.Errorf("%v, memory %d: plan %+v, %v", graph, memory, q, err)
			}
			src.Passes = 0
			r := mustSelect(t, src, f.grid(t), opt)
			if r.Passes != src.Passes {
				t.Errorf("%d passes, said to be %d", src.Passes, r.Passes)
			}
			// Without G the first step of each factor takes one more, for its rate.
			most := q.SetupPasses + 2*q.IterationPasses + len(f.Shape)
			if !q.Gram {
				most += len(f.Shape) * opt.Steps * 2
			}
			if r.Passes > most {
				t.Errorf("%v, memory %d: %d passes, planned %d", graph, memory, r.Passes, most)
			}
		}
		opt.Memory = p.Least - 1
		if _, err := opt.Plan(src, f.grid(t)); err == nil {
			t.Errorf("%v: less than the least memory is enough", graph)
		}
	}
}

// Iterations take the memory of the layout, and little more. X and the team are there before; few rows keep the polar
// factors small.
func TestLayout(t *testing.T) {
	for _, kind := range []GraphKind{GraphKNN, GraphAnchors} {
		f := problem(71, 100, 10, [][]int{{60, 80}, {40, 40, 3}}[kind-GraphKNN]...)
		opt := f.options(kind)
		opt.noGram = kind == GraphAnchors
		s := f.solver(t, opt)
		g, anchors := s.graph, 0
		if old, ok := g.(*anchorGraph); ok {
			anchors = old.weights.M
		}
		declared := room.Measure(func(l *room.Layout) {
			s := &solver{opt: s.opt, g: s.g}
			s.layOut(l, f.Shape, anchors)
			s.layOutBlock(l, f.N)
		})
		roomtest.CheckLayout(t, kind.String(), declared, func() {
			s.layOut(nil, f.Shape, anchors)
			switch g := g.(type) {
			case *anchorGraph:
				s.graph.(*anchorGraph).weights, s.graph.(*anchorGraph).stateFile = g.weights, g.stateFile
			case *neighbourGraph:
				s.graph = g
			}
			s.layOutBlock(nil, f.N)
			must.Do(t, s.initFactors(t.Context()))
			for range 2 {
				s.updateFactors()
				must.Do(t, s.graph.updateCAndF(t.Context()))
				must.Do(t, s.takeGradientSteps(t.Context()))
				s.objectiveValue(&s.opt)
			}
		})
	}
}
