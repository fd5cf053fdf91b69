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
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
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

// TestNeighboursFollowTheDefinition: the kNN graph is the paper's, duplicates included, with a given σ and with its own.
func TestNeighboursFollowTheDefinition(t *testing.T) {
	const n, d = 60, 4
	for _, duplicates := range []int{0, 9, n} { // more of them than neighbours
		x := grouped(n, d, 3, 11)
		for i := range duplicates {
			x.SetRow(i, x.RawRowView(0))
		}
		for _, count := range []int{1, 5, n - 1, n + 5} {
			for _, sigma := range []float64{0, 0.7} {
				got := graphOfRows(t, x, count, sigma)
				want := naiveLaplacian(x, min(count, n-1), sigma)
				// Sums of up to 60 weights, a square root, an exponential.
				within(t, fmt.Sprintf("%d duplicates, %d neighbours, sigma %v", duplicates, count, sigma), got.RawMatrix().Data, want.RawMatrix().Data, 1e-13)
			}
		}
	}
}

// TestGraphIsTheFixtures: from the rows of a fixture follows the Laplacian of the fixture, where that is one of nearest rows.
func TestGraphIsTheFixtures(t *testing.T) {
	compared := 0
	for name, f := range fixtures.ReadCases[fixture](t, "eufs") {
		if f.B == nil && f.L != nil {
			compared++
			within(t, name, graphOfRows(t, f.X.dense(), defaultNeighbors, 0).RawMatrix().Data, f.L.dense().RawMatrix().Data, 1e-13)
		}
	}
	if compared == 0 {
		t.Error("no fixture has a graph of nearest rows")
	}
}

// graphOfRows returns L of the engine's kNN graph of the unscaled rows x.
func graphOfRows(t *testing.T, x *mat.Dense, count int, sigma float64) *mat.Dense {
	t.Helper()
	n, d := x.Dims()
	std := &gram.Standardizer{Columns: allFeatures(d), Shift: make([]float64, d), Factor: slices.Repeat([]float64{1}, d),
		Fill: make([]float64, d), Filled: make([]int64, d), Rows: int64(n)}
	s := Setup{Threads: 2, blockRows: 17}.withDefaults(int64(n))
	tab := newTable(serve(x, 13), std, s)
	must.Do(t, tab.loadCopy(t.Context(), s.Scratch))
	g := must.Get(newNeighbourGraph(t.Context(), tab, kernel.NewTeam(2), count, sigma))(t)
	product := make([]float64, n*n)
	g.neighbours.LaplacianTo(2, product, mat.DenseCopyOf(identity(n)).RawMatrix().Data, 0, n, n)
	return mat.NewDense(n, n, product)
}

// naiveLaplacian is D − S, with S of eq. (11).
func naiveLaplacian(x *mat.Dense, count int, sigma float64) *mat.Dense {
	n, d := x.Dims()
	near := make([][]int, n)
	square := mat.NewDense(n, n, nil)
	total := 0.0
	for i := range n {
		for j := range n {
			for c := range d {
				square.Set(i, j, square.At(i, j)+math.Pow(x.At(i, c)-x.At(j, c), 2))
			}
		}
		order := allFeatures(n)
		sort.SliceStable(order, func(a, b int) bool { return square.At(i, order[a]) < square.At(i, order[b]) })
		// A row with more duplicates than neighbours may not be among its own nearest.
		for _, j := range order[:count+1] {
			if j != i && len(near[i]) < count {
				near[i] = append(near[i], j)
				total += square.At(i, j)
			}
		}
	}
	width := sigma * sigma
	if sigma == 0 {
		width = total / float64(n*count)
	}
	l := mat.NewDense(n, n, nil)
	for i := range n {
		for _, j := range near[i] {
			v := 1.0
			if width > 0 {
				v = math.Exp(-square.At(i, j) / width)
			}
			l.Set(i, j, -v)
			l.Set(j, i, -v)
		}
	}
	for i := range n {
		l.Set(i, i, -mat.Sum(l.RowView(i)))
	}
	return l
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
