package outofcore

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/greedytest"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// A target by its columns is that of the matrix C: the same H to rounding, the same choice, and the same
// bits for any threads and memory.
func TestThinTargets(t *testing.T) {
	seeds := uint64(2)
	if !long.IsOn() {
		seeds = 1
	}
	for seed := range seeds {
		const n, d = 260, 1000
		dense, thin, x := greedytest.ThinGraphs(t, n, d, seed)
		for _, sparse := range []bool{false, true} {
			src := greedytest.NewSource(x, 16)
			src.Sparse = sparse
			std := rowstest.Standardizer(t, src, gram.ScaleCenter, gram.FillMean)
			profile := gram.NewProfile(d)
			must.Do(t, stream.Fold(t.Context(), src, stream.FoldOptions{}, profile))
			for rounds := range 4 {
				build := func(g *anchor.Graph, threads int) *target.Graph {
					if rounds == 3 {
						s, _, err := target.NewSpectral(kernel.NewTeam(threads), g, 4)
						must.Do(t, err)
						return s
					}
					return must.Get(target.NewSmooth(kernel.NewTeam(threads), g, rounds+1))(t)
				}
				choose := func(target *target.Graph, threads int, memory int64) *selection.Result {
					return must.Get(SelectTarget(t.Context(), src, std, target.Matrix, selection.StreamOptions{
						Options: selection.Options{K: 20, Threads: threads, Keep: []int{7}}, Memory: memory, Profile: profile}))(t)
				}
				name := fmt.Sprintf("seed %d, sparse %v, %d rounds", seed, sparse, rounds+1)
				want := choose(build(dense, 2), 2, 1<<30)
				first := build(thin, 1)
				if math.Abs(first.TotalSquares-build(dense, 1).TotalSquares) > 1e-11*first.TotalSquares {
					t.Errorf("%s: total %v", name, first.TotalSquares)
				}
				got := choose(first, 1, 1<<30)
				greedytest.CompareChoices(t, name, got, want)
				for _, threads := range []int{1, 3} {
					again := build(thin, threads)
					for _, memory := range []int64{TargetBytes(d, 20, again.Height, profile.Entries, n), 1 << 30} {
						if other := choose(build(thin, threads), threads, memory); !slices.Equal(other.Order, got.Order) || !slices.Equal(other.Scores, got.Scores) {
							t.Errorf("%s, %d threads, %d bytes: other bits", name, threads, memory)
						}
					}
				}
				if rounds < 3 {
					a, b := target.LeastSmoothErrors(kernel.NewTeam(1), thin, first, got), target.LeastSmoothErrors(kernel.NewTeam(1), dense, build(dense, 1), want)
					for i := range b {
						if math.Abs(a[i]-b[i]) > 1e-9 {
							t.Errorf("%s: the least is %v, in full %v", name, a[i], b[i])
						}
					}
				}
			}
		}
	}
}
