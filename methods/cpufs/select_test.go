package cpufs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

func (f *fixture) grid(t testing.TB) Grid {
	t.Helper()
	return must.Get(NewGrid(make([]string, len(f.X[0])), f.Shape))(t)
}

// solver is ready for its first iteration.
func (f *fixture) solver(t testing.TB, opt Options) *solver {
	t.Helper()
	s, plan, err := newSolver(serve(f.X, f.N), f.grid(t), opt)
	if err == nil {
		err = s.loadOrPrepare(t.Context(), plan)
	}
	must.Do(t, err)
	return s
}

func mustSelect(t *testing.T, src stream.Source, g Grid, opt Options) *Result {
	t.Helper()
	r := must.Get(Select(t.Context(), src, g, opt))(t)
	if r.Rose != nil {
		t.Errorf("objective rose: %+v", r.Rose)
	}
	return r
}

// The engine equals the twin, for any graph engine, chunking, and memory, and pictures with and
// without bands.
func TestSelectIsTheTwin(t *testing.T) {
	for _, shape := range [][]int{{5, 4}, {3, 4, 2}, {2, 3, 2, 2}} {
		for _, nonneg := range []bool{false, true} {
			f := problem(7, 61, 3, shape...)
			f.Nonneg, f.Theta = nonneg, 0.003
			tw := f.twin()
			objective := f.follow(tw)
			scores := tw.scores()
			for _, graph := range []GraphKind{GraphKNN, GraphAnchors} {
				for _, block := range []int{1, 2, 7, 60, 61} {
					for place, opt := range f.places(t, graph) {
						r := mustSelect(t, serve(f.X, block), f.grid(t), opt)
						// Both are some thousand roundings from each other, over an iteration with
						// a condition of Q below 100.
						name := fmt.Sprintf("%v, nonneg %t, %v, blocks of %d, %s", shape, nonneg, graph, block, place)
						if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-11) {
							t.Errorf("%s: objective off by %.3g", name, off)
						}
						if off := rowstest.RelativeDistance(r.Scores, scores); !(off <= 1e-10) {
							t.Errorf("%s: scores off by %.3g", name, off)
						}
					}
				}
			}
		}
	}
}

// From starts with F beside C the engine equals the twin too. C is the polar factor of normal
// numbers, or of the indicator of the clusters plus 0.2; F is C without its negative entries.
func TestStartsAreTheTwins(t *testing.T) {
	f := problem(17, 61, 3, 3, 4, 2)
	f.Theta = 0.003
	n, c := f.N, f.Components
	begin := func(start Start) *solver {
		opt := f.options(GraphKNN)
		opt.givenStart, opt.Start, opt.Seed = nil, start, 7
		return f.solver(t, opt)
	}
	labels := begin(StartKMeans).graph.(*neighbourGraph).c
	random := rand.New(rand.NewPCG(7, startStream+1))
	for _, start := range []Start{StartKMeans, StartSoft, StartRandom} {
		raw := mat.NewDense(n, c, nil)
		raw.Apply(func(i, k int, _ float64) float64 {
			indicator := 0.0
			if labels[i*c+k] > 0 {
				indicator = 1
			}
			switch start {
			case StartSoft:
				return indicator + 0.2
			case StartRandom:
				return random.NormFloat64()
			}
			return indicator
		}, raw)
		s := begin(start)
		g := s.graph.(*neighbourGraph)
		// An SVD of a condition below 3.
		if off := rowstest.RelativeDistance(g.c, polarFactor(raw).RawMatrix().Data); !(off <= 1e-13) {
			t.Errorf("start %v: C is off by %.3g", start, off)
		}
		for i, v := range g.f {
			if v != max(g.c[i], 0) {
				t.Errorf("start %v: F[%d] is %v, C there %v", start, i, v, g.c[i])
			}
		}
		tw := f.twin()
		tw.c, tw.f = mat.NewDense(n, c, slices.Clone(g.c)), mat.NewDense(n, c, slices.Clone(g.f))
		for side := range f.Shape {
			tw.a[side] = mat.NewDense(f.Shape[side], c, slices.Clone(s.a[side].Data))
			tw.u[side] = mat.NewDense(c, f.Shape[side], slices.Clone(s.u[side].Data))
		}
		objective := f.follow(tw)
		for _, graph := range []GraphKind{GraphKNN, GraphAnchors} {
			for place, opt := range f.places(t, graph) {
				opt.givenStart, opt.Start, opt.Seed = nil, start, 7
				r := mustSelect(t, serve(f.X, 7), f.grid(t), opt)
				if off := rowstest.RelativeDistance(r.Objective, objective); !(off <= 1e-11) {
					t.Errorf("start %v, %v, %s: objective %v, the twin's %v", start, graph, place, r.Objective, objective)
				}
				if off := rowstest.RelativeDistance(r.Scores, tw.scores()); !(off <= 1e-10) {
					t.Errorf("start %v, %v, %s: scores off by %.3g", start, graph, place, off)
				}
			}
		}
	}
}

// places are the ways to keep rows, state and G.
func (f *fixture) places(t *testing.T, graph GraphKind) map[string]Options {
	t.Helper()
	all := f.options(graph)
	disk, passes := all, all
	disk.rowsOnDisk = true
	passes.noGram = true
	ways := map[string]Options{"all in memory": all, "rows on disk": disk, "without G": passes}
	if graph == GraphAnchors {
		state := disk
		state.Scratch, state.stateOnDisk = &rowstest.Scratch{}, true
		ways["state on disk"] = state
	}
	return ways
}

// In memory and out of core, on one worker and on eight, bits are the same.
func TestBitsDoNotDependOnMemoryOrWorkers(t *testing.T) {
	for i, nonneg := range []bool{false, true, true} {
		f := problem(11, 300, 4, [][]int{{8, 9}, {8, 9}, {4, 3, 6}}[i]...)
		for _, graph := range []GraphKind{GraphKNN, GraphAnchors} {
			var want *Result
			for _, workers := range []int{1, 8} {
				for _, place := range []string{"all in memory", "rows on disk", "state on disk"} {
					opt := Options{Nonnegative: nonneg, Start: Start(i), Clusters: 4, Iterations: 8, Graph: graph, Seed: 5, Threads: workers, Anchors: 20}
					opt.rowsOnDisk = place != "all in memory"
					if opt.stateOnDisk = place == "state on disk" && graph == GraphAnchors; opt.stateOnDisk {
						opt.Scratch = &rowstest.Scratch{}
					}
					r := mustSelect(t, serve(f.X, 64), f.grid(t), opt)
					if want == nil {
						want = r
					}
					if !slices.Equal(r.Objective, want.Objective) || !slices.Equal(r.Scores, want.Scores) || !slices.Equal(r.Order, want.Order) {
						t.Errorf("nonneg %t, %v, %s, %d workers: other bits", nonneg, graph, place, workers)
					}
				}
			}
		}
	}
}

// The objective falls, from any start, to where it hardly does.
func TestObjectiveFalls(t *testing.T) {
	for seed := range uint64(6) {
		f := problem(20+seed, 120, 5, [][]int{{6, 7}, {3, 7, 2}}[seed%3%2]...)
		opt := Options{Nonnegative: seed%2 == 1, Start: Start(seed % 3), Clusters: 5, Seed: seed, Graph: []GraphKind{GraphKNN, GraphAnchors}[seed/2%2], Anchors: 20,
			Eta: []float64{1e5, 1, 50}[seed/2], MaxIter: 60}
		r := mustSelect(t, serve(f.X, 50), f.grid(t), opt)
		for i, v := range r.Objective[1:] {
			if v > r.Objective[i]*(1+1e-12) {
				t.Errorf("seed %d: objective %v after %v", seed, v, r.Objective[i])
			}
		}
		if r.Nonzero == 0 {
			t.Errorf("seed %d: all scores are 0", seed)
		}
	}
}

// Columns in another order give the same ranking of names; bits too, as cells have an order of their own.
func TestColumnsInAnyOrder(t *testing.T) {
	f := problem(31, 80, 3, 4, 3, 2)
	d := 24
	names := make([]string, d)
	for j := range names {
		names[j] = fmt.Sprintf("px_%d_%d_%d", j/6, j/2%3, j%2)
	}
	opt := Options{Clusters: 3, Iterations: 5}
	run := func(at []int) map[string]float64 {
		x, own := rowstest.ZeroRows(f.N, d), make([]string, d)
		for to, j := range at {
			own[to] = names[j]
			for i, row := range f.X {
				x[i][to] = row[j]
			}
		}
		r := mustSelect(t, serve(x, 33), must.Get(NewGrid(own, nil))(t), opt)
		scores := make(map[string]float64)
		for j, v := range r.Scores {
			scores[own[j]] = v
		}
		return scores
	}
	order := rowstest.Integers(d)
	want := run(order)
	slices.Reverse(order)
	order[0], order[5] = order[5], order[0]
	if r := mustSelect(t, serve(f.X, 33), f.grid(t), opt); r.Scores[7] != want["px_1_0_1"] {
		t.Errorf("by the order of the columns px_1_0_1 scores %v, by names %v", r.Scores[7], want["px_1_0_1"])
	}
	for name, v := range run(order) {
		if v != want[name] {
			t.Errorf("%s scores %v, before %v", name, v, want[name])
		}
	}
}

func TestConstantPixelsRankLast(t *testing.T) {
	f := problem(41, 50, 3, 3, 4)
	s := &Scaling{Min: make([]float64, 12), Range: slices.Repeat([]float64{1}, 12)}
	for _, row := range f.X {
		row[2], row[7] = 5, 0
	}
	s.Min[2], s.Range[2], s.Range[7] = 5, 0, 0
	for _, nonneg := range []bool{false, true} {
		r := mustSelect(t, serve(f.X, 50), f.grid(t), Options{Clusters: 3, Scaling: s, Nonnegative: nonneg, MaxIter: 20})
		if !slices.Equal(r.Constant, []int{2, 7}) || !slices.Equal(r.Order[10:], []int{2, 7}) || r.Scores[2] != 0 {
			t.Errorf("constant %v, order %v, scores %v", r.Constant, r.Order, r.Scores)
		}
	}
}

func TestSelectErrors(t *testing.T) {
	good := func() [][]float64 { return problem(51, 20, 2, 3, 4).X }
	negative, missing, zero, same := good(), good(), good(), good()
	negative[9][4], missing[9][4] = -1, nan()
	for i := range zero {
		clear(zero[i])
		same[i] = same[0]
	}
	torn := func(pass, block int) error {
		if pass == 3 && block == 3 {
			return errors.New("disk on fire")
		}
		return nil
	}
	g := problem(51, 20, 2, 3, 4).grid(t)
	for _, c := range []struct {
		name, want string
		x          [][]float64
		opt        Options
	}{
		{"negative", `column "x4": row at position 9: the tensor model takes no negative values, and this is -1`, negative, Options{Clusters: 2}},
		{"missing", "row at position 9: missing value", missing, Options{Clusters: 2}},
		{"filled, but negative", "takes no negative values, and this is -1", negative, Options{Clusters: 2, Scaling: &Scaling{Fill: make([]float64, 12)}}},
		{"filled with less than 0", "takes no negative values, and this is -3", missing, Options{Clusters: 2, Scaling: &Scaling{Fill: slices.Repeat([]float64{-3}, 12)}}},
		{"below the minimum", "-1 is below the minimum that the profile found", negative, Options{Clusters: 2, Scaling: &Scaling{Min: make([]float64, 12), Range: slices.Repeat([]float64{1}, 12)}}},
		{"a fill too few", "1 fills for 12", good(), Options{Clusters: 2, Scaling: &Scaling{Fill: []float64{0}}}},
		{"zeros", "every feature is constant", zero, Options{Clusters: 2}},
		{"one row often", "the rows fall into fewer", same, Options{Clusters: 2}},
		{"clusters", "clusters 21: there are 20 rows", good(), Options{Clusters: 21}},
		{"read", "disk on fire", good(), Options{Clusters: 2, rowsOnDisk: true}},
		{"memory", "raise it: memory-limit", good(), Options{Clusters: 2, Memory: 1000}},
		{"one row often, and soft", "the rows fall into fewer", same, Options{Clusters: 2, Start: StartSoft}},
		{"options", "nu = -1", good(), Options{Nu: -1}},
		{"start", "unknown start 3", good(), Options{Start: 3}},
	} {
		src := serve(c.x, 6)
		if c.name == "read" {
			src.Block = torn
		}
		_, err := Select(t.Context(), src, g, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	opt := Options{Clusters: 2, Progress: func(int, float64) { cancel() }}
	if _, err := Select(ctx, serve(good(), 6), g, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	scratch := &rowstest.Scratch{}
	opt = Options{Clusters: 2, Graph: GraphAnchors, Anchors: 6, Neighbors: 2, Scratch: scratch, stateOnDisk: true,
		Progress: func(int, float64) { scratch.Next = func(string) error { return errors.New("no space left") } }}
	if _, err := Select(t.Context(), serve(good(), 6), g, opt); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("full disk: %v", err)
	}
	if scratch.Open != 0 {
		t.Errorf("%d scratch files left open", scratch.Open)
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// A rise beyond rounding ends the run with the W before: here steps too long by far.
func TestRiseIsReported(t *testing.T) {
	f := problem(81, 40, 3, 4, 5)
	opt := f.options(GraphKNN)
	opt.givenRate = 10
	r := must.Get(Select(t.Context(), serve(f.X, 40), f.grid(t), opt))(t)
	if r.Rose == nil || r.Rose.Iteration != 1 || r.Rose.To <= r.Rose.From || len(r.Objective)-1 != 1 {
		t.Fatalf("rise %+v after %d iterations", r.Rose, len(r.Objective)-1)
	}
	if off := rowstest.RelativeDistance(r.U[0], flat(f.U0)); off != 0 {
		t.Errorf("U is off by %v from that before the rise", off)
	}
}
