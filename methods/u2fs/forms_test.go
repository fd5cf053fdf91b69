package u2fs

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestFormsRankAlike: G in full and as a factor let the same features go, but for ties by rounding; also
// where one block, or all but one feature of it, goes by rows.
func TestFormsRankAlike(t *testing.T) {
	compared, all := 0, 0
	for _, shape := range [][3]int{{20, 9, 40}, {20, 9, 41}, {20, 9, 40 + blockFeatures - 1}, {20, 9, 40 + blockFeatures}, {20, 9, 41 + blockFeatures}, {40, 12, 160}, {60, 20, 90}} {
		x, z := rowstest.RingRows(8, shape[0], shape[1], shape[2])
		full, factor := rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)
		want := run(t, full, Options{Clusters: 3, Threads: 2})
		got := run(t, factor, Options{Clusters: 3, Threads: 2})
		// The condition is up to d/ridge, so that utilities are known to some d·2⁻⁵³/ridge: of 500 features in
		// full, permuted columns move them by up to 5e-5, by rows by 2e-6. Of two that are nearer to each other
		// either may go, and then the runs part.
		tol := 16 * float64(shape[2]) * 0x1p-53 / ridgeShare
		all += shape[2]
		for rank := shape[2] - 1; rank >= 0; rank-- { // as they go
			u, v := got.Utilities[rank], want.Utilities[rank]
			if math.Abs(u-v) > tol*v {
				t.Errorf("%v: rank %d is feature %d of utility %v, want %d of %v", shape, rank+1, got.Order[rank], u, want.Order[rank], v)
				break
			}
			if got.Order[rank] != want.Order[rank] {
				break
			}
			compared++
		}
		if again := run(t, factor, Options{Clusters: 3, Threads: 5}); !slices.Equal(again.Order, got.Order) || !slices.Equal(again.Utilities, got.Utilities) {
			t.Errorf("%v: threads change bits", shape)
		}
	}
	if 4*compared < 3*all {
		t.Errorf("%d of %d features go alike", compared, all)
	}
}

// TestBytesOfFactor: a run on a factor stays within Bytes, which has no d² then.
func TestBytesOfFactor(t *testing.T) {
	x, z := rowstest.RingRows(8, 40, 12, 3000)
	g := rowstest.FactoredGraph(x, z)
	opt := Options{Clusters: 3, Threads: 2}
	before, most := rowstest.HeapBytes(), int64(0)
	opt.Progress = func(left int, _ float64) {
		if left%10 == 0 { // a look takes a collection
			most = max(most, rowstest.HeapBytes()-before)
		}
	}
	run(t, g, opt)
	if says := Bytes(g.M, g.D, g.G.Rank, opt); most == 0 || most > says || says > 8*int64(g.D*g.D) {
		t.Errorf("%d bytes held, %d said", most, says)
	}
}

// TestLayout: an elimination takes the memory of its layout and the layouts of its inverses, each once.
func TestLayout(t *testing.T) {
	for _, shape := range [][2]int{{300, 660}, {500, 400}} {
		x, z := rowstest.RingRows(7, shape[0], 20, shape[1])
		for _, g := range []*anchor.Graph{rowstest.BuildGraph(x, z), rowstest.FactoredGraph(x, z)} {
			team := kernel.NewTeam(1)
			e := must.Get(spectral.Embed(team, g, 4))(t)
			declared := room.Measure(func(l *room.Layout) {
				order, c := g.D, len(e.Values)
				new(elimination).layOut(l, g.D, c)
				if isWide(g.G.Rank, g.D) {
					order = 2 * g.G.Rank
					l.Add(8 * int64(g.G.Rank) * int64(g.M)) // B
					new(rowInverse).layOut(l, g.D, g.G.Rank, c)
				}
				new(fullInverse).layOut(l, order, g.G.Rank)
			})
			roomtest.CheckLayout(t, fmt.Sprintf("%v, rank %d", shape, g.G.Rank), declared, func() {
				must.Do(t, newElimination(team, g, 1, e).eliminateAll(t.Context(), nil))
			})
		}
	}
}
