package rowsparse

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestLayout: the solver takes the memory of the layout, and no more.
func TestLayout(t *testing.T) {
	for name, g := range map[string]*gram.Matrix{"factor": gram.FromFactor(make([]float64, 60*2000), 2000, 60), "full": gram.Full(make([]float64, 300*300), 300)} {
		for _, shift := range []float64{0, 2} {
			c := &Choice{G: g, Shift: shift, K: 90, Components: 4, Threads: 1}
			declared := room.Measure(func(l *room.Layout) { layOutSolver(l, g.D, g.Rank, c) })
			roomtest.CheckLayout(t, fmt.Sprint(name, ", shift ", shift), declared, func() { newSolver(c) })
		}
	}
}

// TestShiftedChoiceMoves: of three features, the least costly one depends on the most costly one. The choice starts from
// the two least costly, of which the second has no part in W, and ends at the two whose subspace costs least.
func TestShiftedChoiceMoves(t *testing.T) {
	r := []float64{1, 0, 0, 0, math.Sqrt(1.5), 0, 0.9, 0, math.Sqrt(3 - 0.81)} // the columns of R
	sym := []float64{1, 0, 0.9, 0, 1.5, 0, 0.9, 0, 3}
	for name, g := range map[string]*gram.Matrix{"factor": gram.FromFactor(r, 3, 3), "full": gram.Full(sym, 3)} {
		c := &Choice{G: g, Shift: 2 + math.Sqrt(1.81), K: 2, Components: 1, MaxIter: 9}
		got := must.Get(c.SelectRows(t.Context()))(t)
		want := []float64{1 / c.Shift, (2 - math.Sqrt(1.81)) / c.Shift}
		if !slices.Equal(slices.Sorted(slices.Values(got.Order)), []int{0, 2}) || !got.Converged || len(got.Objective) != 2 ||
			math.Abs(got.Objective[0]-want[0]) > 1e-14 || math.Abs(got.Objective[1]-want[1]) > 1e-14 {
			t.Errorf("%s: got features %v, objective %v, want 0 and 2, %v", name, got.Order, got.Objective, want)
		}
	}
}
