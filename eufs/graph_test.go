package eufs

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/rows"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Rows decide about the graph, and the defaults are what the command line promises.
func TestDefaultGraph(t *testing.T) {
	for n, want := range map[int64]GraphKind{1: GraphKNN, MostNeighbourRows: GraphKNN, MostNeighbourRows + 1: GraphAnchor} {
		if s := (Setup{}).withDefaults(n); s.Graph != want || s.Neighbors != 5 || s.Clusters != 10 {
			t.Errorf("%d rows: %+v", n, s)
		}
	}
}

// The kNN graph follows its definition, duplicates included.
func TestNeighboursFollowTheDefinition(t *testing.T) {
	const n, d = 60, 4
	for _, duplicates := range []int{0, 9, n} { // more of them than neighbours
		x := grouped(n, d, 3, 11)
		for i := range duplicates {
			x.SetRow(i, x.RawRowView(0))
		}
		for _, count := range []int{1, 5, n - 1, n + 5} {
			src := serve(x, 13)
			std := &gram.Standardizer{Columns: allFeatures(d), Shift: make([]float64, d), Factor: []float64{1, 1, 1, 1},
				Fill: make([]float64, d), Filled: make([]int64, d), Rows: n}
			s := Setup{Threads: 2, blockRows: 17}.withDefaults(n)
			tab := newTable(src, std, s)
			must.Do(t, tab.loadCopy(t.Context(), s.Scratch))
			g := must.Get(newNeighbourGraph(t.Context(), tab, kernel.NewTeam(2), count))(t)
			want := naiveNeighbours(x, min(count, n-1))
			got := mat.NewDense(n, n, nil)
			g.neighbours.MapValues(func(i, j int, v float64) float64 { got.Set(i, j, v); return v })
			// Sums of up to 60 weights, a square root, an exponential.
			within(t, fmt.Sprintf("%d duplicates, %d neighbours", duplicates, count), got.RawMatrix().Data, want.RawMatrix().Data, 1e-13)
		}
	}
}

// naiveNeighbours is D^(−1/2)WD^(−1/2).
func naiveNeighbours(x *mat.Dense, count int) *mat.Dense {
	n, d := x.Dims()
	near := make([][]int, n)
	dist := mat.NewDense(n, n, nil)
	total := 0.0
	for i := range n {
		for j := range n {
			s := 0.0
			for c := range d {
				s += math.Pow(x.At(i, c)-x.At(j, c), 2)
			}
			dist.Set(i, j, math.Sqrt(s))
		}
		order := allFeatures(n)
		sort.SliceStable(order, func(a, b int) bool { return dist.At(i, order[a]) < dist.At(i, order[b]) })
		// A row with more duplicates than neighbours may not be among its own nearest.
		for _, j := range order[:count+1] {
			if j != i && len(near[i]) < count {
				near[i] = append(near[i], j)
				total += dist.At(i, j)
			}
		}
	}
	sigma := total / float64(n*count)
	w := mat.NewDense(n, n, nil)
	for i := range n {
		for _, j := range near[i] {
			v := 1.0
			if sigma > 0 {
				v = math.Exp(-math.Pow(dist.At(i, j)/sigma, 2) / 2)
			}
			w.Set(i, j, v)
			w.Set(j, i, v)
		}
	}
	out := mat.NewDense(n, n, nil)
	out.Apply(func(i, j int, _ float64) float64 {
		if w.At(i, j) == 0 {
			return 0
		}
		return w.At(i, j) / math.Sqrt(mat.Sum(w.RowView(i))*mat.Sum(w.RowView(j)))
	}, out)
	return out
}

// B has Δ^(−1/2) after the weights of (2.13): BBᵀ1 = 1, and so L1 = 0.
func TestAnchorGraphKeepsConstants(t *testing.T) {
	const n, d = 300, 6
	src := serve(grouped(n, d, 5, 12), 90)
	for _, kmeans := range []bool{false, true} {
		p := prepare(t, src, Setup{Clusters: 3, Graph: GraphAnchor, Anchors: 30, AnchorKMeans: kmeans, Scratch: files(t), blockRows: 64})
		g := p.graph.anchored
		b := mat.NewDense(n, 30, nil)
		must.Do(t, rows.EachBlock(t.Context(), p.t.blocks, func(at int, rec [][]byte) error {
			s := g.ViewRows(rec[0], p.t.rowsOfBlock(at))
			for e, v := range s.Value {
				b.Set(at*64+e/5, int(s.Index[e]), v)
			}
			return nil
		}, rows.ReadPass(g.File)))
		ones := mat.NewDense(n, 1, slices.Repeat([]float64{1}, n))
		within(t, "BBᵀ1", product(b, product(b.T(), ones)).RawMatrix().Data, ones.RawMatrix().Data, 1e-13) // sums of 300 terms around 1
	}
}
