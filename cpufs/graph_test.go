package cpufs

import (
	"fmt"
	"math"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

// rowsOf are the rows of a source, scanned.
func rowsOf(t *testing.T, src *source) *rows {
	t.Helper()
	d := len(src.rows[0])
	g, err := NewGrid(make([]string, d), []int{1, d})
	if err != nil {
		t.Fatal(err)
	}
	r := &rows{src: src, columns: src.Columns(), grid: g, workers: 2}
	if err := r.pass(t.Context(), "", func(*block) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return r
}

func (l *laplacian) dense(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
		for e := l.start[i]; e < l.start[i+1]; e++ {
			m[i][l.index[e]] -= l.value[e]
		}
	}
	return m
}

// The graph of a fixture's rows is the fixture's, where that is one of neighbours, however
// many rows are gathered at a time. Both are some ten roundings from the truth.
func TestNeighboursAreTheFixtures(t *testing.T) {
	for _, kind := range []string{"cpufs", "cpufsnn"} {
		for name, f := range readFixtures(t, kind) {
			if f.AnchorB != nil {
				continue
			}
			for _, room := range []int64{0, 12 * pointBytes(20), 1 << 20} {
				r := rowsOf(t, &source{rows: f.X, block: 5})
				near, err := r.nearest(t.Context(), kernel.NewTeam(2), defaultNeighbors, room)
				if err != nil {
					t.Fatal(err)
				}
				got := flat(newLaplacian(near, f.N, defaultSigma).dense(f.N))
				if off := distance(got, flat(f.L)); !(off <= 1e-14) {
					t.Errorf("%s, room %d: L is off by %.3g", name, room, off)
				}
			}
		}
	}
}

// Rows as far apart as pictures have weights below the smallest number; the graph is as good.
func TestLaplacianOfDistantRows(t *testing.T) {
	for _, shift := range []float64{0, 5000} {
		near := []neighbour{{1, shift + 1}, {0, shift + 1}, {1, shift + 2}}
		l := newLaplacian(near, 3, 1)
		// w₀₁ = e⁻¹, w₁₂ = e⁻²: degrees e⁻¹, e⁻¹ + e⁻², e⁻².
		d1 := math.Exp(-1) + math.Exp(-2)
		want := []float64{1, -math.Exp(-1) / math.Sqrt(math.Exp(-1)*d1), 0,
			-math.Exp(-1) / math.Sqrt(math.Exp(-1)*d1), 1, -math.Exp(-2) / math.Sqrt(d1*math.Exp(-2)),
			0, -math.Exp(-2) / math.Sqrt(d1*math.Exp(-2)), 1}
		// A shift of 5,000 costs its digits of the logarithms: 5,000·2⁻⁵² is 1e-12.
		if off := distance(flat(l.dense(3)), want); !(off <= 1e-11) {
			t.Errorf("shift %v: L is off by %.3g", shift, off)
		}
	}
}

// Rows that are there more often than there are neighbours are their own.
func TestNeighboursOfDuplicates(t *testing.T) {
	src := &source{block: 3}
	for i := range 12 {
		src.rows = append(src.rows, []float64{float64(i / 6), 1})
	}
	near, err := rowsOf(t, src).nearest(t.Context(), kernel.NewTeam(1), 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		for _, o := range near[3*i:][:3] {
			if int(o.index) == i || int(o.index)/6 != i/6 || o.distance != 0 {
				t.Errorf("row %d has neighbour %v", i, o)
			}
		}
	}
}

// Weights on the nearest anchors sum to 1, and are those of the formula.
func TestNearestAnchors(t *testing.T) {
	points := kernel.RowMajor([]float64{0, 1, 3, 7}, 4, 1, 1)
	w := newNearestAnchors(kernel.NewTeam(1), points, 2)
	index, weight := make([]int32, 2), make([]float64, 2)
	if err := w.to(index, weight, &block{x: kernel.ColMajor([]float64{0.25}, 1, 1, 1)}); err != nil {
		t.Fatal(err)
	}
	// Squared distances 0.0625, 0.5625, 7.5625.
	sum := 7.5 + 7.0
	if index[0] != 0 || index[1] != 1 || math.Abs(weight[0]-7.5/sum) > 1e-15 || math.Abs(weight[1]-7/sum) > 1e-15 {
		t.Errorf("anchors %v, weights %v", index, weight)
	}
}

func TestScaling(t *testing.T) {
	src := &source{rows: [][]float64{{1, 5, nan()}, {3, 5, 2}, {2, 5, 4}}, block: 2}
	p := gram.NewProfile(3)
	if err := stream.Fold(t.Context(), src, stream.FoldOptions{}, p); err != nil {
		t.Fatal(err)
	}
	for fill, want := range map[gram.Fill][]float64{
		gram.FillMean: {0, 1, 0.5, 0, 0, 0, 0.5, 0, 1},
		gram.FillZero: {0, 1, 0.5, 0, 0, 0, 0, 0.5, 1},
	} {
		g, err := NewGrid([]string{"a", "b", "c"}, []int{3, 1})
		if err != nil {
			t.Fatal(err)
		}
		r := &rows{src: src, columns: src.Columns(), grid: g, workers: 1, scaling: MinMax(p, fill)}
		x := make([]float64, 9)
		if err := r.place(x, src.chunk(0, 3)); err != nil {
			t.Fatal(err)
		}
		if off := distance(x, want); off != 0 {
			t.Errorf("%v: %v, want %v", fill, x, want)
		}
	}
}

// Sparse rows are the same rows.
func TestSparseRows(t *testing.T) {
	f := problem(61, 4, 4, 40, 3)
	for i, row := range f.X {
		for j := range row {
			if (i+j)%3 == 0 {
				row[j] = 0
			}
		}
	}
	opt := Options{Clusters: 3, Iterations: 4}
	want := mustSelect(t, &source{rows: f.X, block: 16}, f.grid(t), opt)
	got := mustSelect(t, &source{rows: f.X, block: 16, sparse: true}, f.grid(t), opt)
	if fmt.Sprint(got.Scores) != fmt.Sprint(want.Scores) {
		t.Errorf("sparse rows score %v, dense ones %v", got.Scores, want.Scores)
	}
}

// The least memory that the plan names works, one byte less does not, and every level of
// it gives a plan that fits.
func TestPlan(t *testing.T) {
	f := problem(71, 10, 12, 240, 3)
	for _, graph := range []GraphKind{GraphKNN, GraphAnchors} {
		src := &source{rows: f.X, block: 240}
		opt := Options{Clusters: 3, Graph: graph, Threads: 2, Memory: 1 << 30, Iterations: 2, Scratch: &fakeScratch{}}
		p, err := opt.Plan(src, f.grid(t))
		if err != nil || !p.Gram || !p.RowsInMemory || !p.StateInMemory || p.SetupPasses != 1 {
			t.Fatalf("plan %+v, %v", p, err)
		}
		for memory := p.Least; memory < p.Bytes; memory += (p.Bytes - p.Least) / 4 {
			opt.Memory = memory
			q, err := opt.Plan(src, f.grid(t))
			if err != nil || q.Bytes > memory || q.Least != p.Least {
				t.Errorf("%v, memory %d: plan %+v, %v", graph, memory, q, err)
			}
			src.passes = 0
			r := mustSelect(t, src, f.grid(t), opt)
			if r.Passes != src.passes {
				t.Errorf("%d passes, said to be %d", src.passes, r.Passes)
			}
			// Without G the first step of each factor takes one more, for its rate.
			most := q.SetupPasses + 2*q.IterationPasses + 2
			if !q.Gram {
				most += 2 * opt.Steps * 2
			}
			if r.Passes > most {
				t.Errorf("%v, memory %d: %d passes, planned %d", graph, memory, r.Passes, most)
			}
		}
		opt.Memory = p.Least - 1
		if _, err := opt.Plan(src, f.grid(t)); err == nil {
			t.Errorf("%v: less than the least memory is enough", graph)
		}
	}
}
