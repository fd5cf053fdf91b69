package socfs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// TestFormsRankAlike: G in full and as a factor give the same norms and objectives.
func TestFormsRankAlike(t *testing.T) {
	for _, shape := range [][3]int{{40, 12, 90}, {60, 20, 300}, {50, 60, 55}} {
		x, z := rowstest.RingRows(7, shape[0], shape[1], shape[2])
		full, factor := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
		for _, opt := range []Options{
			{MaxIter: 6, Tol: -1}, {MaxIter: 4, Tol: -1, Clusters: 3, Gamma: 1}, {MaxIter: 3, Tol: -1, Lambda: method.Weight{Value: 0.5}},
		} {
			opt.Threads = 2
			name := fmt.Sprintf("%v c %d γ %v λ %v", shape, opt.Clusters, opt.Gamma, opt.Lambda)
			want, got := run(t, full, opt), run(t, factor, opt)
			if got.Rose != nil || want.Rose != nil || got.Clusters != want.Clusters || fmt.Sprint(got.Warnings) != fmt.Sprint(want.Warnings) {
				t.Errorf("%s: got %v from the factor, want %v as from the full matrix, both without a rise", name, got, want)
			}
			// As the laws allow for other orders of the same sums.
			if a, b := rowstest.RelativeDistance(got.Objective, want.Objective), rowstest.RelativeDistance(got.Scores, want.Scores); !(a <= 1e-9 && b <= 1e-8) {
				t.Errorf("%s: objective off by %.2g, norms by %.2g", name, a, b)
			}
			opt.Threads = 5
			if again := run(t, factor, opt); !slices.Equal(again.Scores, got.Scores) {
				t.Errorf("%s: workers change bits", name)
			}
		}
	}
}

// TestBytesOfFactor: a run on a factor stays within Bytes, which has no d² then.
func TestBytesOfFactor(t *testing.T) {
	x, z := rowstest.RingRows(7, 60, 20, 3000)
	g := rowstest.FactoredGraph(x, z)
	opt := Options{Clusters: 5, MaxIter: 3, Threads: 2}
	before, most := rowstest.HeapBytes(), int64(0)
	opt.Progress = func(int, float64) { most = max(most, rowstest.HeapBytes()-before) }
	run(t, g, opt)
	if says := Bytes(g.M, g.D, g.G.Rank, opt); most == 0 || most > says || says > 8*int64(g.D*g.D) {
		t.Errorf("%d bytes held, %d said", most, says)
	}
}

// TestLayout: the rounds take the memory of the layout, and norms for each W. The product of the objective is left out,
// because it uses a team of its own. The features are so many that the memory of polar factors does not matter.
func TestLayout(t *testing.T) {
	const rounds, copies = 3, 20
	x, z := rowstest.RingRows(7, 60, 20, 700)
	full, wide := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
	wide.D *= copies
	wide.G, wide.C = gram.FromFactor(slices.Repeat(wide.G.R, copies), wide.D, wide.G.Rank), slices.Repeat(wide.C, copies)
	for _, g := range []*anchor.Graph{full, wide} {
		team := kernel.NewTeam(1)
		f, _, err := initialIndicators(t.Context(), team, g, 8)
		if err != nil {
			t.Fatalf("making the first indicators: %v", err)
		}
		declared := room.Measure(func(l *room.Layout) {
			ridge.LayOut(l, g.D, g.G.Rank, f.Cols)
			new(solver).layOut(l, g.M, g.D, g.G.Rank, f.Cols)
			l.Add(8 * int64(g.G.Rank*g.M+(rounds+2)*g.D)) // B_g, the diagonal of G, and the norms
		})
		roomtest.CheckLayout(t, fmt.Sprintf("%d features, rank %d", g.D, g.G.Rank), declared, func() {
			s := must.Get(newSolver(team, g, f))(t)
			must.Do(t, s.solveInitial(1e-3))
			for range rounds {
				s.updateEncodingTarget()
				must.Do(t, s.encoding.updateEncoding(1))
				must.Do(t, s.updateBasis())
				must.Do(t, s.updateProjection(1e-3))
			}
		})
	}
}
