package cpufs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// fixture is a case of cpufs_*.json or cpufsnn_*.json: "Algorithm 1, fixed theta, 2 inner
// steps; objective[0] = start, then after each iteration".
type fixture struct {
	Shape      []int
	N          int
	Components int `json:"c"`
	Nu         float64
	Alpha      float64
	Beta       float64
	Eta        float64
	Theta      float64
	Inner      int
	Iterations int
	Nonneg     bool
	X, L       [][]float64
	A0, B0     [][]float64
	C0, F0     [][]float64
	U0, V0     [][]float64
	A          [][]float64 `json:"A"`
	B          [][]float64 `json:"B"`
	C          [][]float64 `json:"C"`
	F          [][]float64 `json:"F"`
	U          [][]float64 `json:"U"`
	V          [][]float64 `json:"V"`
	Objective  []float64
	Scores     []float64
	Ranking    []int
	AnchorB    [][]float64 `json:"anchor_B"`

	more [][2][][]float64 // starts of A and U of the third and further sides
}

// modelStart is A of each side at the start.
func (f *fixture) modelStart() [][][]float64 {
	all := [][][]float64{f.A0, f.B0}
	for _, m := range f.more {
		all = append(all, m[0])
	}
	return all
}

// weightStart is U of each side at the start.
func (f *fixture) weightStart() [][][]float64 {
	all := [][][]float64{f.U0, f.V0}
	for _, m := range f.more {
		all = append(all, m[1])
	}
	return all
}

func flat(m [][]float64) []float64 { return slices.Concat(m...) }

// problem is a fixture as the engine takes it.
func (f *fixture) options(graph GraphKind) Options {
	o := Options{Nonnegative: f.Nonneg, Clusters: f.Components, Nu: f.Nu, Alpha: f.Alpha, Beta: f.Beta, Eta: f.Eta,
		Steps: f.Inner, Iterations: f.Iterations, Threads: 2, Graph: graph, givenRate: f.Theta,
		givenStart: &startFactors{c: flat(f.C0)}}
	for side, a := range f.modelStart() {
		o.givenStart.a, o.givenStart.u = append(o.givenStart.a, flat(a)), append(o.givenStart.u, flat(f.weightStart()[side]))
	}
	if graph == GraphAnchors {
		o.givenWeights = weightsOf(f.AnchorB)
	} else {
		o.givenGraph = rowstest.SparseGraph(f.L)
	}
	return o
}

// weightsOf takes B apart: rows of Z sum to 1, so that the columns of B = ZΔ^(−1/2) sum to
// the roots of Δ.
func weightsOf(b [][]float64) *kernel.Sparse {
	z := &kernel.Sparse{Rows: len(b), Cols: len(b[0])}
	root := make([]float64, z.Cols)
	for _, row := range b {
		n := 0
		for j, v := range row {
			root[j] += v
			if v != 0 {
				n++
			}
		}
		z.Count = max(z.Count, n)
	}
	for i, row := range b {
		for j, v := range row {
			if v != 0 {
				z.Index, z.Value = append(z.Index, int32(j)), append(z.Value, v*root[j])
			}
		}
		for len(z.Index) < (i+1)*z.Count {
			z.Index, z.Value = append(z.Index, 0), append(z.Value, 0)
		}
	}
	return z
}

func TestFixtureCPUFS(t *testing.T)   { checkFixtures(t, "cpufs") }
func TestFixtureCPUFSnn(t *testing.T) { checkFixtures(t, "cpufsnn") }

func checkFixtures(t *testing.T, kind string) {
	for name, f := range fixtures.ReadCases[fixture](t, kind) {
		graphs := []GraphKind{GraphKNN}
		if f.AnchorB != nil {
			graphs = append(graphs, GraphAnchors)
		}
		for _, graph := range graphs {
			for _, block := range []int{f.N, 7} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, graph, block), func(t *testing.T) { f.check(t, graph, block) })
			}
		}
	}
}

// check runs a fixture from its start with its fixed rate. Everything agrees to 1e-9 of
// the largest of its kind.
func (f *fixture) check(t *testing.T, graph GraphKind, block int) {
	opt := f.options(graph)
	n, c := f.N, f.Components
	cRows, fRows := make([]float64, n*c), make([]float64, n*c)
	opt.watch = func(first int, cs, fs []float64) {
		copy(cRows[first*c:], cs)
		copy(fRows[first*c:], fs)
	}
	if !slices.Equal(flat(f.C0), flat(f.F0)) {
		t.Fatal("C and F start apart")
	}
	s, plan, err := newSolver(serve(f.X, block), f.grid(t), opt)
	must.Do(t, err)
	r := must.Get(s.prepareAndIterate(t.Context(), plan))(t)
	if r.Rose != nil {
		t.Errorf("objective rose: %+v", r.Rose)
	}
	for _, m := range []struct {
		name      string
		got, want []float64
	}{
		{"objective", r.Objective, f.Objective}, {"scores", r.Scores, f.Scores},
		{"A", s.a[0].Data, flat(f.A)}, {"B", s.a[1].Data, flat(f.B)}, {"C", cRows, flat(f.C)}, {"F", fRows, flat(f.F)},
		{"U", r.U[0], flat(f.U)}, {"V", r.U[1], flat(f.V)},
	} {
		if off := rowstest.RelativeDistance(m.got, m.want); !(off <= 1e-9) {
			t.Errorf("%s is off by %.3g of its largest", m.name, off)
		}
	}
	if !slices.Equal(r.Order, f.Ranking) {
		t.Errorf("ranking %v, want %v", r.Order, f.Ranking)
	}
}
