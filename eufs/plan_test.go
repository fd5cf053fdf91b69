package eufs

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/memory/room/roomtest"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// The memory held stays below Needs' bound, in memory and with files.
func TestNeedsBoundWhatIsHeld(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	x := mat.NewDense(6000, 120, nil)
	x.Apply(func(int, int, float64) float64 { return float64(rnd.IntN(256)) }, x)
	src := serve(x, 500)
	std := standardizer(t, src, gram.ScaleUnit)
	for _, inFiles := range []bool{false, true} {
		for _, kind := range []GraphKind{GraphKNN, GraphAnchor} {
			s := Setup{Clusters: 4, Graph: kind, Anchors: 100, Threads: 2}
			opt := Options{MaxIter: 3, Beta: Weight{Value: 0.1}, Threads: 2}
			memory, scratched, err := Needs(6000, 120, 1, s, opt)
			must.Do(t, err)
			need, scratch := memory, files(t)
			if inFiles {
				need, s.Scratch = scratched, scratch
			}
			before := rowstest.HeapBytes()
			most := int64(0)
			watch := func() { most = max(most, rowstest.HeapBytes()-before) }
			p := must.Get(Prepare(t.Context(), src, std, s))(t)
			watch()
			opt.Progress = func(int, float64) { watch() }
			if _, err := p.Solve(t.Context(), opt); err != nil {
				t.Fatalf("solving: %v", err)
			}
			if most > need.Memory {
				t.Errorf("files %t, graph %d: %d KiB held, %d said", inFiles, kind, most>>10, need.Memory>>10)
			}
			if inFiles && scratch.Most() != need.Scratch {
				t.Errorf("graph %d: %d bytes of scratch, %d said", kind, scratch.Most(), need.Scratch)
			}
			must.Do(t, p.Close())
		}
	}
}

// The first V, and the passes over X of a run, take the memory of their layouts, and no more. There are many columns, so
// that the bound of a team is near what it takes.
func TestLayout(t *testing.T) {
	const n, d, k = 260, 250, 250
	x, u := unitColumns(grouped(n, d, k, 1)), indicator(n, k)
	anchors := factored(t, grid(rowstest.Factor(anchorWeights(n, 500))).dense(), newLayout(n, d, k, 0))
	for name, c := range map[string]struct {
		g   *graph
		opt Options
	}{
		"neighbours": {&graph{neighbours: rowstest.SparseGraph(ringLaplacian(n))}, Options{Beta: Weight{Value: 0.1}}},
		"anchors":    {anchors, Options{Beta: Weight{Value: 0.1}}},
		"tree":       {nil, Options{Method: HUFS, Tree: someTree(d)}},
	} {
		p := problemOf(t, x, u, nil, c.g, 0)
		p.setup.Threads, c.opt.Threads, p.t.workers = 1, 1, 1
		s := &solver{p: p, t: p.t, opt: c.opt, beta: c.opt.Beta.Value, mu: 1, stage: stream.StageOf(nil, "", stream.InMemory{})}
		s.allocateState()
		must.Do(t, s.makeScratchFiles())
		must.Do(t, s.writeInitialState(t.Context()))
		declared := room.Measure(func(l *room.Layout) { new(solver).layOut(l, p.t.layout, c.opt, c.g) })
		roomtest.CheckLayout(t, name, declared, func() {
			s.allocateState()
			for iteration := range 3 {
				must.Get(s.passA(t.Context(), iteration == 0))(t)
				s.updateV(new(Step))
			}
			must.Do(t, s.computeFinalResiduals(t.Context()))
		})
		declared = room.Measure(func(l *room.Layout) { layOutFirstV(l, 1, p.t.layout) })
		roomtest.CheckLayout(t, name+", first V", declared, func() { must.Do(t, p.computeFirstV(t.Context())) })
	}
}
