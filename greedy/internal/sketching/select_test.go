package sketching

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/scan"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

func selectExactly(t *testing.T, x greedytest.Matrix, opt selection.Options) *selection.Result {
	t.Helper()
	return must.Get(inmemory.SelectFeatures(t.Context(), gram.Full(x.Gram(), x.D), opt))(t)
}

func mustSketched(t testing.TB, src *greedytest.Source, rows, passes int, opt selection.StreamOptions) *selection.Result {
	t.Helper()
	g := src.SketchGram(t, rows, opt.Scale, opt.Fill)
	return must.Get(SelectSketched(t.Context(), g, src, rowstest.Standardizer(t, src, opt.Scale, opt.Fill), passes, opt))(t)
}

// The selection is that of the definition among the candidates, with its scores and errors, for every
// kind of rows.
func TestSketchedIsExactAmongCandidates(t *testing.T) {
	images := greedytest.SmoothMatrix(30, 400, 300, 40, 0.85).AddNoise(31, 0.05)
	for _, c := range []struct {
		name   string
		x      greedytest.Matrix
		weight []float64
		sparse bool
		keep   []int
	}{
		{name: "images", x: images},
		{name: "weights", x: images, weight: greedytest.RowWeights(400)},
		{name: "missing", x: images.WithHoles(0.1), weight: greedytest.RowWeights(400)},
		{name: "sparse", x: greedytest.CountMatrix(36, 400, 200), sparse: true},
		{name: "sparse, weights", x: greedytest.CountMatrix(36, 400, 200), weight: greedytest.RowWeights(400), sparse: true},
		{name: "kept", x: images, keep: []int{299, 3}},
	} {
		for _, scale := range []gram.Scale{gram.ScaleNone, gram.ScaleMinMax, gram.ScaleStandard} {
			t.Run(c.name+"/"+scale.String(), func(t *testing.T) {
				src := greedytest.NewSource(c.x, 64)
				src.Weight, src.Sparse = c.weight, c.sparse
				a := src.StandardizedMatrix(t, scale, gram.FillMean)
				opt := selection.StreamOptions{Scale: scale, Options: selection.Options{K: 12, Threads: 2, Keep: c.keep}}
				s := &sketchSelection{gram: src.SketchGram(t, 256, scale, gram.FillMean), opt: opt.Options, isCandidate: make([]bool, a.D), maxCandidates: candidateRoom(a.D, 12, 2)}
				must.Get(s.selectBySketch(t.Context(), c.keep))(t)
				got := must.Get(s.selectAmongCandidates(t.Context(), scan.NewReader(src, rowstest.Standardizer(t, src, scale, gram.FillMean), &opt), 2))(t)
				out := slices.Repeat([]bool{true}, a.D)
				for _, p := range s.candidates[:got.Estimate.Candidates] {
					out[p] = false
				}
				want := selectExactly(t, a, selection.Options{K: 12, Keep: got.Order}) // as they are taken
				if twin := greedytest.SelectNaivelyAmong(a, nil, 12, out); c.keep == nil && !slices.Equal(got.Order, twin.Order) {
					t.Fatalf("order %v, want %v", got.Order, twin.Order)
				}
				if !slices.Equal(got.Order[:len(c.keep)], c.keep) {
					t.Fatalf("%v do not begin with those to keep", got.Order)
				}
				got.Warnings, got.Ties = nil, nil
				greedytest.CompareResults(t, got, want)
				if public := mustSketched(t, src, 256, 2, opt); !slices.Equal(public.Order, got.Order) || public.Passes != 1 {
					t.Errorf("%d passes, order %v", public.Passes, public.Order)
				}
			})
		}
	}
}

// More passes never leave more candidates out, and end when there are no others.
func TestSketchedPasses(t *testing.T) {
	src := greedytest.NewSource(greedytest.SmoothMatrix(50, 600, 400, 80, 0.95).AddNoise(51, 0.3), 128)
	opt := selection.StreamOptions{Scale: gram.ScaleStandard, Options: selection.Options{K: 15, Threads: 2}}
	best := selectExactly(t, src.StandardizedMatrix(t, gram.ScaleStandard, gram.FillMean), opt.Options)
	candidates, passes := 0, 0
	for p := 2; p < 9; p++ {
		r := mustSketched(t, src, 128, p, opt)
		if r.Estimate.Candidates < candidates || r.Passes > p-1 {
			t.Errorf("%d passes: %d made, %d candidates, %d before", p, r.Passes, r.Estimate.Candidates, candidates)
		}
		candidates, passes = r.Estimate.Candidates, r.Passes
		if left := r.Error[14]; left < best.Error[14]-1e-12 || left > 1.01*best.Error[14] {
			t.Errorf("%d passes leave %g, greedy %g", p, left, best.Error[14])
		}
	}
	if passes > 6 {
		t.Errorf("%d passes for candidates", passes)
	}
}

// The weights come from the rows of the sketch, the error from those held back: by the definition, a
// least squares problem for each number of features.
func TestHeldErrorsAreOfWeightsFittedElsewhere(t *testing.T) {
	src := greedytest.NewSource(greedytest.SmoothMatrix(52, 900, 60, 30, 0.9).AddNoise(53, 0.2), 128)
	g := src.SketchGram(t, 512, gram.ScaleStandard, gram.FillMean)
	order := []int{3, 50, 17, 3 + 1, 59}
	at := func(m *gram.Matrix, list []int) *mat.Dense {
		out := mat.NewDense(m.Rank, len(list), nil)
		for k, j := range list {
			out.SetCol(k, m.R[j*m.Rank:][:m.Rank])
		}
		return out
	}
	all := rowstest.Integers(60)
	var want []float64
	held := at(g.Held, all)
	for k := 1; k <= len(order); k++ {
		var w, left mat.Dense
		must.Do(t, w.Solve(at(&g.Matrix, order[:k]), at(&g.Matrix, all)))
		left.Mul(at(g.Held, order[:k]), &w)
		left.Sub(held, &left)
		want = append(want, math.Pow(mat.Norm(&left, 2)/mat.Norm(held, 2), 2))
	}
	for k, got := range heldOutErrors(2, &g.Matrix, g.Held, order) {
		if math.Abs(float64(got)-want[k]) > 1e-10 {
			t.Errorf("after %d features %v is left, want %v", k+1, got, want[k])
		}
	}
}

// Without a second pass all numbers are estimates: the held-out rows estimate the error of the selection, which the
// sketch itself, fitted to few rows, underestimates.
func TestHeldErrorsTellTheTruth(t *testing.T) {
	x := greedytest.SmoothMatrix(54, 3000, 150, 60, 0.97).AddNoise(55, 0.5)
	src := greedytest.NewSource(x, 256)
	r := mustSketched(t, src, 512, 1, selection.StreamOptions{Scale: gram.ScaleStandard, Options: selection.Options{K: 40, Threads: 2}})
	truth := selectExactly(t, src.StandardizedMatrix(t, gram.ScaleStandard, gram.FillMean), selection.Options{K: 40, Keep: r.Order})
	if e := r.Estimate; e.Candidates != 0 || e.SketchRows != 448 || e.HeldRows != 64 || r.Passes != 0 {
		t.Fatalf("%+v after %d passes", e, r.Passes)
	}
	for _, k := range []int{20, 30, 40} {
		held, own := float64(r.Estimate.HeldError[k-1])/truth.Error[k-1], r.Error[k-1]/truth.Error[k-1]
		if math.Abs(held-1) > 0.15 || own > 0.99 {
			t.Errorf("after %d features the held rows say %.3f of the truth, the sketch %.3f", k, held, own)
		}
	}
}

// inWords is all of a result, NaN equal to NaN.
func inWords(r *selection.Result) string {
	e, rest := r.Estimate, *r
	rest.Estimate = nil
	return fmt.Sprint(rest, *e)
}

// Threads change nothing.
func TestSketchedAnyWorkers(t *testing.T) {
	x := greedytest.SmoothMatrix(56, 500, 200, 50, 0.9).AddNoise(57, 0.1)
	opt := selection.StreamOptions{Scale: gram.ScaleStandard, Options: selection.Options{K: 10, Threads: 1}}
	for _, passes := range []int{1, 2, 4} {
		want := mustSketched(t, greedytest.NewSource(x, 64), 128, passes, opt)
		many := opt
		many.Threads = 5
		if got := mustSketched(t, greedytest.NewSource(x, 64), 128, passes, many); inWords(got) != inWords(want) {
			t.Errorf("%d passes: 5 workers differ from one", passes)
		}
	}
}

// Candidates that are used up are said to be, and how to have others.
func TestSketchedCandidatesUsedUp(t *testing.T) {
	// Copies of two columns: the sketch sees no more than they are.
	x := greedytest.NewMatrix(200, 30)
	two := greedytest.RandomMatrix(58, 200, 2, 0)
	for j := range x.Col {
		copy(x.Col[j], two.Col[j%2])
	}
	r := mustSketched(t, greedytest.NewSource(x, 50), 128, 2, selection.StreamOptions{Options: selection.Options{K: 5, Threads: 1}})
	if len(r.Order) != 2 || !r.Exhausted || len(r.Error) != 2 || r.Error[1] > 1e-12 {
		t.Errorf("%d features, exhausted %v, error %v", len(r.Order), r.Exhausted, r.Error)
	}
}

func TestSketchedRefuses(t *testing.T) {
	src := greedytest.NewSource(greedytest.RandomMatrix(59, 100, 10, 0), 50)
	std := rowstest.Standardizer(t, src, gram.ScaleNone, gram.FillMean)
	for want, opt := range map[string]selection.Options{
		"one pass":       {Partitioned: true},
		"refine swap":    {Refine: true},
		"variance needs": {Variance: 0.5},
		"k = 11":         {K: 11},
	} {
		_, err := SelectSketched(t.Context(), src.SketchGram(t, 128, gram.ScaleNone, gram.FillMean), src, std, 2, selection.StreamOptions{Options: opt})
		rowstest.CheckRefusal(t, err, want)
	}
}

// TestSketchedBlocks: a sketch alone chooses blocks like a Gram matrix equal to its estimate, with the held-out error
// after each of them; exact columns of candidates are for single features.
func TestSketchedBlocks(t *testing.T) {
	src := greedytest.NewSource(greedytest.SmoothMatrix(30, 400, 60, 40, 0.85).AddNoise(31, 0.05), 64)
	for name, opt := range greedytest.BlockChoices(60) {
		opt.Threads = 2
		g := src.SketchGram(t, 128, gram.ScaleStandard, gram.FillMean)
		want := must.Get(inmemory.SelectFeatures(t.Context(), &g.Matrix, opt))(t)
		got := mustSketched(t, src, 128, 1, selection.StreamOptions{Scale: gram.ScaleStandard, Options: opt})
		greedytest.CompareBlocks(t, name, got, want)
		left := heldOutErrors(1, &g.Matrix, g.Held, want.Order)
		if e := got.Estimate; len(e.HeldError) != len(got.Blocks) || math.Abs(float64(greedytest.LastElement(e.HeldError)-greedytest.LastElement(left))) > 1e-12 {
			t.Errorf("%s: %d held errors to %v, want %d to %v", name, len(e.HeldError), greedytest.LastElement(e.HeldError), len(got.Blocks), greedytest.LastElement(left))
		}
		if said := greedytest.LastElement(got.Warnings).String(); strings.Contains(said, "passes") {
			t.Errorf("%s: %q advises what is refused", name, said)
		}
		std := rowstest.Standardizer(t, src, gram.ScaleStandard, gram.FillMean)
		_, err := SelectSketched(t.Context(), src.SketchGram(t, 128, gram.ScaleStandard, gram.FillMean), src, std, 2, selection.StreamOptions{Scale: gram.ScaleStandard, Options: opt})
		rowstest.CheckRefusal(t, err, "passes 1")
	}
}

// TestLayout: a choice among candidates, and the errors of held-out rows, allocate what their layouts declare.
func TestLayout(t *testing.T) {
	const d, k, n, rows = 900, 40, 300, 50
	src := greedytest.NewSource(greedytest.RandomMatrix(52, rows, d, 0), rows)
	reader := scan.NewReader(src, rowstest.Standardizer(t, src, gram.ScaleStandard, gram.FillMean), &selection.StreamOptions{Options: selection.Options{Threads: 1}})
	declared := room.Measure(func(l *room.Layout) {
		new(candidateEngine).layOut(l, d)
		engine.LayOutSelection(l, d, k)
		room.Slice[float64](l, n*(d+rows)+2*d*rows) // and a chunk of the source in each of two passes
	})
	roomtest.CheckLayout(t, "candidates", declared, func() {
		a := &candidateEngine{rows: reader}
		a.layOut(nil, d)
		must.Do(t, a.fetchColumns(t.Context(), rowstest.Integers(n/3)))
		must.Do(t, a.fetchColumns(t.Context(), rowstest.Integers(n)))
		a.startCriterion()
		must.Get(engine.RunLayers(t.Context(), a, a.Criterion, selection.Options{K: k, Threads: 1}, nil))(t)
	})
	order, g := rowstest.Integers(400), greedytest.NewSource(greedytest.RandomMatrix(53, 1000, d, 0), 128).SketchGram(t, 512, gram.ScaleStandard, gram.FillMean)
	declared = room.Measure(func(l *room.Layout) { layOutHeldOut(l, d, len(order), g.Rank, g.Held.Rank) })
	roomtest.CheckLayout(t, "held-out rows", declared, func() { heldOutErrors(1, &g.Matrix, g.Held, order) })
}
