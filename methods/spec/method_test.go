package spec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/stream"
)

// TestDeclared: the method with settings by name is Select with these options.
func TestDeclared(t *testing.T) {
	x, z := sample(8, 60, 7, 9, 1)
	g := rowstest.BuildGraph(x, z)
	for _, score := range all {
		b := must.Get(Specs()[0].Bind(method.Settings{"score": score.String(), "power": 2, "clusters": 4}))(t)
		opt := Options{Score: score, Power: 2, Clusters: 4, Threads: 2}
		want := must.Get(Select(g, opt))(t)
		got := must.Get(b.Solver.Select(t.Context(), &method.Evidence{Graph: g, K: 3, Threads: 2}))(t)
		if !slices.Equal(got.Scores, want.Scores) || !slices.Equal(got.Order, want.Order) || got.LowerIsBetter != want.LowerIsBetter || got.Used["score"] != score.String() {
			t.Errorf("%v: %+v, want %+v", score, got, want)
		}
		must.Do(t, got.Check(g.D))
		cost := must.Get(b.Solver.Cost(method.Shape{Columns: make([]stream.Column, 7), Anchors: 9, Threads: 2}))(t)
		if cost.Bytes != Bytes(7, 9, opt) {
			t.Errorf("%v: %d bytes, want %d", score, cost.Bytes, Bytes(7, 9, opt))
		}
	}
	for _, settings := range []method.Settings{{"score": "phi4"}, {"power": 0}, {"power": 33}, {"score": "phi3", "clusters": 1}} {
		if _, err := Specs()[0].Bind(settings); err == nil {
			t.Errorf("takes %v", settings)
		}
	}
}

// TestBytes: memory reachable after a run with panels stays within Bytes.
func TestBytes(t *testing.T) {
	x, z := sample(9, 100, 300, 60, 1)
	g := rowstest.BuildGraph(x, z)
	for _, score := range all {
		opt := Options{Score: score, Clusters: 5}
		before := rowstest.HeapBytes()
		r := must.Get(Select(g, opt))(t)
		if held := rowstest.HeapBytes() - before; held > Bytes(g.D, g.M, opt) || len(r.Order) != g.D {
			t.Errorf("%v holds %d bytes, says %d", score, held, Bytes(g.D, g.M, opt))
		}
	}
}

// TestLayout: panels take the memory of their layout, and no more.
func TestLayout(t *testing.T) {
	const m, d = 600, 300
	g := &anchor.Graph{M: m, D: d, S: make([]float64, m*m), C: make([]float64, m*d)}
	declared, team := room.Measure(func(l *room.Layout) { layOutPanels(l, d, m) }), kernel.NewTeam(1)
	for _, power := range []int{1, 3} {
		roomtest.CheckLayout(t, fmt.Sprintf("power %d", power), declared, func() {
			new(Result).scoreQuadratic(team, g, make([]float64, d), Options{Power: power}, 1)
		})
	}
}
