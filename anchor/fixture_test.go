package anchor

import (
	"math"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

type anchorCase struct {
	Name           string
	X, Anchors     [][]float64
	K              int
	Sqdist         [][]float64
	Z              [][]float64
	Delta          []float64
	A              [][]float64
	DegenerateRows []int `json:"degenerate_rows"`
	UnusedAnchors  []int `json:"unused_anchors"`
}

// rawAnchors makes anchors of raw rows, unscaled as in the fixtures.
func rawAnchors(t *testing.T, tab table, anchors [][]float64) *Anchors {
	t.Helper()
	return must.Get(FromSource(t.Context(), fromRows(anchors), len(anchors), tab.standardizer(t, gram.ScaleNone)))(t)
}

// denseZ runs the rows of tab through the statistics' own search and weights.
func denseZ(t *testing.T, tab table, a *Anchors, k int) (z, nearest [][]float64) {
	t.Helper()
	s := must.Get(NewStatistics(a, Options{Neighbors: k}))(t)
	w := s.newScratch(false)
	z, nearest = zeros(tab.N(), a.M), zeros(tab.N(), k+1)
	for i := range tab.N() {
		a.mapper.mapRows(1, w.points, w.stride, tab.Chunk(i, i+1), 0, 1)
		w.near.SearchTo(w.index, w.distance, kernel.ColMajor(w.points, 1, a.D, w.stride))
		copy(nearest[i], w.distance)
		if w.weighRows(1, k) >= 0 {
			t.Fatalf("row %d overflows", i)
		}
		for e, j := range w.index[:k] {
			z[i][j] += w.weight[e]
		}
	}
	return z, nearest
}

// The numbers of the fixtures have four decimals, so that distances are off by a few
// units of 1e-16 of their size; weights divide by differences of distances, which are
// at least 1e-2 times the distances here.
func TestFixtureAnchor(t *testing.T) {
	for _, fix := range fixtures.ReadCases[anchorCase](t, "anchor") {
		t.Run(fix.Name, fix.run)
	}
}

func (fix *anchorCase) run(t *testing.T) {
	tab := fromRows(fix.X)
	z, nearest := denseZ(t, tab, rawAnchors(t, tab, fix.Anchors), fix.K)
	for i, want := range fix.Sqdist {
		want = slices.Sorted(slices.Values(want))
		checkNear(t, "nearest", nearest[i], [][]float64{want[:fix.K+1]}, 1e-13)
		if slices.Contains(fix.DegenerateRows, i) && nearest[i][0] != nearest[i][fix.K] {
			t.Errorf("row %d: distances %v are not equal", i, nearest[i])
		}
	}
	checkNear(t, "Z", slices.Concat(z...), fix.Z, 1e-12)

	s := tab.statistics(t, rawAnchors(t, tab, fix.Anchors), Options{Neighbors: fix.K}, 3)
	checkNear(t, "Delta", s.delta, [][]float64{fix.Delta}, 1e-12)
	for _, j := range fix.UnusedAnchors {
		if s.delta[j] != 0 {
			t.Errorf("anchor %d is used", j)
		}
	}
	a := affinity(z, s.delta)
	for i, row := range a {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("row %d of A sums to %v", i, sum)
		}
	}
	checkNear(t, "A", slices.Concat(a...), fix.A, 1e-12)
}

type sfufsFile struct {
	X, Anchors [][]float64
	K          int
	Z          [][]float64
	Stats      struct {
		G, ZtX, ZtZ [][]float64
		Delta, Sum  []float64
	}
}

// The statistics about the frame's centre, moved back to 0, equal the fixture's; centred,
// they make the Graph.
func TestFixtureSfufsStatistics(t *testing.T) {
	for _, fix := range fixtures.ReadCases[sfufsFile](t, "sfufs") {
		tab := fromRows(fix.X)
		a := rawAnchors(t, tab, fix.Anchors)
		z, _ := denseZ(t, tab, a, fix.K)
		checkNear(t, "Z", slices.Concat(z...), fix.Z, 1e-11)
		s := tab.statistics(t, a, Options{Neighbors: fix.K}, 13)
		checkNear(t, "Delta", s.delta, [][]float64{fix.Stats.Delta}, 1e-12)
		m, d, n := a.M, a.D, float64(tab.N())
		ztx := matrix(m, d, func(j, k int) float64 { return s.zx[j*d+k] + s.delta[j]*s.frame.center[k] })
		ztz := matrix(m, m, func(j, l int) float64 { return s.zz[min(j, l)*m+max(j, l)] })
		sum := make([]float64, d)
		for _, row := range ztx {
			kernel.Axpy(1, row, sum)
		}
		checkNear(t, "ZtX", slices.Concat(ztx...), fix.Stats.ZtX, 1e-12)
		checkNear(t, "ZtZ", slices.Concat(ztz...), fix.Stats.ZtZ, 1e-12)
		checkNear(t, "sum", sum, [][]float64{fix.Stats.Sum}, 1e-12)

		g := must.Get(s.Graph(tab.gram(t, gram.ScaleCenter)))(t)
		stats := fix.Stats
		checkNear(t, "G", g.G.Sym, matrix(d, d, func(i, j int) float64 { return stats.G[i][j] - stats.Sum[i]*stats.Sum[j]/n }), 1e-12)
		c := matrix(m, d, func(i, j int) float64 {
			return (stats.ZtX[i][j] - stats.Delta[i]*stats.Sum[j]/n) / math.Sqrt(stats.Delta[i])
		})
		w := matrix(m, m, func(i, j int) float64 { return stats.ZtZ[i][j] / math.Sqrt(stats.Delta[i]*stats.Delta[j]) })
		checkNear(t, "C", g.C, c, 1e-12)
		checkNear(t, "S", g.S, w, 1e-12)
	}
}
