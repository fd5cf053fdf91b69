package eufs

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// given makes a problem of exactly this X, U, V and graph, in blocks of the given height
// (0: what the layout says).
func given(t testing.TB, x, u, v *mat.Dense, g graph, rows, workers int, scratch stream.Scratch) *Problem {
	t.Helper()
	n, d := x.Dims()
	_, k := u.Dims()
	tab := &table{layout: newLayout(int64(n), d, k, rows), element: asFloat64, workers: workers,
		shift: make([]float64, d), factor: make([]float64, d)}
	for j := range tab.factor {
		tab.factor[j] = 1
	}
	var err error
	if tab.file, err = scratch.Make("x", int64(8*n*d), 8*tab.block*d); err != nil {
		t.Fatal(err)
	}
	if err := lockstep(t.Context(), tab.blocks, []use{writing(tab.file)}, func(b int, rec [][]byte) error {
		copy(view[float64](rec[0]), x.RawMatrix().Data[b*tab.block*d:])
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	m := kernel.RowMajor(u.RawMatrix().Data, n, k, k)
	s := Setup{Clusters: k, Scratch: scratch, Threads: workers}.withDefaults(int64(n))
	p := &Problem{t: tab, setup: s, start: &starter{layout: tab.layout, given: &m}, graph: g}
	if err := p.fit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v != nil {
		p.v = v.RawMatrix().Data
	}
	return p
}

// solveU runs the engine and reads its last U from the state.
func solveU(t testing.TB, p *Problem, opt Options) (*Result, *mat.Dense) {
	t.Helper()
	var u []float64
	p.peek = func(s *solver) {
		if err := lockstep(t.Context(), p.t.blocks, []use{reading(s.states)}, func(b int, rec [][]byte) error {
			u = append(u, p.t.state(rec[0], p.t.rows(b)).u...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := p.Solve(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r, mat.NewDense(int(p.t.n), p.t.k, u)
}

// laplacian makes the sparse form of a dense L.
func laplacian(l *mat.Dense) *neighbours {
	n, _ := l.Dims()
	g := &neighbours{ptr: []int{0}}
	for i := range n {
		for j := range n {
			v := -l.At(i, j)
			if i == j {
				v++
			}
			if v != 0 {
				g.column, g.value = append(g.column, int32(j)), append(g.value, v)
			}
		}
		g.ptr = append(g.ptr, len(g.value))
	}
	return g
}

// factored makes the graph of a dense B, all of whose entries are kept.
func factored(t testing.TB, b *mat.Dense, l layout) *anchored {
	t.Helper()
	n, m := b.Dims()
	g := &anchored{m: m, count: m}
	var err error
	if g.records, err = (stream.InMemory{}).Make("b", int64(n*m*12), l.block*m*12); err != nil {
		t.Fatal(err)
	}
	if err := lockstep(t.Context(), l.blocks, []use{writing(g.records)}, func(at int, rec [][]byte) error {
		s := g.sparse(rec[0], l.rows(at))
		for e := range s.Value {
			s.Value[e], s.Index[e] = b.At(at*l.block+e/m, e%m), int32(e%m)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return g
}
