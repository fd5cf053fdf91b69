package jelsr

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFormsRankAlike: G in full and as a factor give the same norms, objectives and warnings.
func TestFormsRankAlike(t *testing.T) {
	for _, shape := range [][3]int{{20, 60, 9}, {40, 300, 12}, {30, 40, 31}} {
		x, z := sample(8, shape[0], shape[1], shape[2])
		full, factor := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
		for _, opt := range []Options{
			{Clusters: 3}, {Clusters: 4, Alpha: 0.1, Beta: 5}, {Clusters: 30, Iterations: 4}, {Clusters: 300, Iterations: 2},
			{Method: NDFS, Clusters: 3}, {Method: NDFS, Clusters: 4, Alpha: 5, Beta: 0.1, Gamma: 100, Iterations: 10},
		} {
			opt.Threads = 2
			name := fmt.Sprintf("%v %v α %v c %d", shape, opt.Method, opt.Alpha, opt.Clusters)
			want := must.Get(Select(t.Context(), full, opt))(t)
			got := must.Get(Select(t.Context(), factor, opt))(t)
			if len(got.Objective) != len(want.Objective) || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) || got.Rose != nil || want.Rose != nil {
				t.Errorf("%s: %d updates, %q, %v; want %d, %q, %v", name,
					len(got.Objective), got.Warnings, got.Rose, len(want.Objective), want.Warnings, want.Rose)
				continue
			}
			// As in the twins: rounding, some 1e-14, that gaps and a condition up to 1e4 magnify.
			if a, b := rowstest.RelativeDistance(got.Objective, want.Objective), rowstest.RelativeDistance(got.Scores, want.Scores); !(a <= 1e-8 && b <= 1e-7) {
				t.Errorf("%s: objective off by %.2g, norms by %.2g", name, a, b)
			}
			for _, v := range got.Scores {
				if math.IsNaN(v) {
					t.Fatalf("%s: a norm is not a number", name)
				}
			}
			opt.Threads = 5
			if again := must.Get(Select(t.Context(), factor, opt))(t); !slices.Equal(again.Scores, got.Scores) {
				t.Errorf("%s: workers change bits", name)
			}
		}
	}
}

// TestLayout: the steps take the memory of the layouts, and norms for each W. Eigenpairs of the full form are found
// once, without being measured. In the factored form they are small next to so many features.
func TestLayout(t *testing.T) {
	const steps, copies = 2, 40
	x, z := sample(9, 24, 700, 20)
	full, wide := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
	wide.D *= copies
	wide.G, wide.C = gram.FromFactor(slices.Repeat(wide.G.R, copies), wide.D, wide.G.Rank), slices.Repeat(wide.C, copies)
	team := kernel.NewTeam(1)
	for _, g := range []*anchor.Graph{full, wide} {
		d, m, rank := g.D, g.M, g.G.Rank
		other := 8 * int64(rank*m+(steps+1)*d) // B, R and the norms
		opt := Options{Clusters: 8, Iterations: steps}.withDefaults()
		declared := room.Measure(func(l *room.Layout) {
			ridge.LayOut(l, d, rank, opt.Clusters)
			new(embeddingSolver).layOut(l, d, m, rank, opt.Clusters)
		})
		var found linalg.Eigen
		roomtest.CheckLayout(t, fmt.Sprintf("jelsr, %d features", d), declared+other, func() {
			reg := newRegression(team, g.G, opt.Clusters, opt)
			e := newEmbeddingSolver(team, g, reg, opt)
			var norms []float64
			for range steps {
				must.Do(t, reg.setWeightsFromNorms(norms))
				var y *embeddingProducts
				if g.G.IsFactor() {
					y = must.Get(e.nextEmbedding())(t)
				} else {
					inverse, start := e.fillSmallMatrix(), e.warmStart()
					if found.Values == nil {
						found = must.Get(e.eig.Solve(e.t, start))(t)
					}
					y = e.computeProducts(found, inverse)
				}
				w, _ := reg.Solve(y.Target)
				norms, _ = rowNorms(w, e.c)
			}
		})

		opt.Method = NDFS
		opt = opt.withDefaults()
		start, _, err := initialLabels(t.Context(), team, g, opt)
		must.Do(t, err)
		declared = room.Measure(func(l *room.Layout) {
			ridge.LayOut(l, d, rank, opt.Clusters)
			new(labelProblem).layOut(l, d, m, rank, opt.Clusters)
			l.Add(16 * int64(d)) // the ranking
		})
		roomtest.CheckLayout(t, fmt.Sprintf("ndfs, %d features", d), declared+other, func() {
			_, _, err := newLabelProblem(team, g).iterateLabels(t.Context(), start, opt)
			must.Do(t, err)
		})
	}
}
