package eufs

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// problemOf makes a problem of exactly this X, U, V and graph, in blocks of the given height
// (0: the layout's own).
func problemOf(t testing.TB, x, u, v *mat.Dense, g *graph, height int) *Problem {
	t.Helper()
	n, d := x.Dims()
	_, k := u.Dims()
	tab := &table{layout: newLayout(int64(n), d, k, height), element: asFloat64, workers: 2,
		shift: make([]float64, d), factor: slices.Repeat([]float64{1}, d)}
	tab.file = must.Get(stream.InMemory{}.Make("x", int64(8*n*d), 8*tab.block*d))(t)
	must.Do(t, rows.EachBlock(t.Context(), tab.blocks, func(b int, rec [][]byte) error {
		copy(rows.ViewNumbers[float64](rec[0]), x.RawMatrix().Data[b*tab.block*d:])
		return nil
	}, rows.WritePass(tab.file)))
	s := Setup{Clusters: k, Threads: 2}.withDefaults(int64(n))
	p := &Problem{t: tab, setup: s, start: &startSource{layout: tab.layout, u: u.RawMatrix().Data}, graph: g}
	must.Do(t, p.computeFirstV(t.Context()))
	if v != nil {
		p.v = v.RawMatrix().Data
	}
	return p
}

// plain is a problem without a graph.
func plain(t testing.TB, n, d, k int, seed uint64) *Problem {
	return problemOf(t, unitColumns(grouped(n, d, k, seed)), indicator(n, k), nil, nil, 0)
}

func mustSolve(t testing.TB, p *Problem, opt Options) *Result {
	t.Helper()
	return must.Get(p.Solve(t.Context(), opt))(t)
}

// solveU runs the engine and reads its last U from the state.
func solveU(t testing.TB, p *Problem, opt Options) (*Result, *mat.Dense) {
	t.Helper()
	var u []float64
	p.inspectRun = func(s *solver) {
		must.Do(t, rows.EachBlock(t.Context(), p.t.blocks, func(b int, rec [][]byte) error {
			u = append(u, p.t.viewState(rec[0], p.t.rowsOfBlock(b)).u...)
			return nil
		}, rows.ReadPass(s.states)))
	}
	r := mustSolve(t, p, opt)
	return r, mat.NewDense(int(p.t.n), p.t.k, u)
}

// factored makes the graph of a dense B, all of whose entries are kept.
func factored(t testing.TB, b *mat.Dense, l layout) *graph {
	t.Helper()
	n, m := b.Dims()
	g := must.Get(rows.NewAnchored(stream.InMemory{}, m, m, int64(n), l.block))(t)
	must.Do(t, rows.EachBlock(t.Context(), l.blocks, func(at int, rec [][]byte) error {
		z := g.ViewRows(rec[0], l.rowsOfBlock(at))
		for e := range z.Value {
			z.Value[e], z.Index[e] = b.At(at*l.block+e/m, e%m), int32(e%m)
		}
		return nil
	}, rows.WritePass(g.File)))
	return &graph{anchored: g}
}
