package trust

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// table makes n points of d columns: noise, and in the first columns the centres of clusters.
func table(seed uint64, n, d, clusters, informative int) *anchor.Anchors {
	r := rand.New(rand.NewPCG(seed, 1))
	a := &anchor.Anchors{M: n, D: d, Points: make([]float64, n*d)}
	centre := make([]float64, clusters*informative)
	for i := range centre {
		centre[i] = 2 * r.NormFloat64()
	}
	for i := range n {
		for j := range d {
			v := 3 + r.NormFloat64()
			if j < informative {
				v += centre[i%clusters*informative+j]
			}
			a.Points[i*d+j] = v
		}
	}
	return a
}

func judged(t *testing.T, a *anchor.Anchors, threads int) anchor.Trust {
	t.Helper()
	got := must.Get(CompareGraph(context.Background(), a, anchor.DefaultNeighbors, threads, false))(t)
	if atOnce := must.Get(CompareGraph(context.Background(), a, anchor.DefaultNeighbors, threads, true))(t); atOnce != got {
		t.Errorf("%+v, both at once %+v", got, atOnce)
	}
	return got
}

// Clusters in some of the columns are structure, and noise of any shape is none.
func TestClustersAreStructureAndNoiseIsNone(t *testing.T) {
	for seed := range uint64(3) {
		if got := judged(t, table(seed, 150, 60, 4, 15), 2); !got.HasStructure() || !got.IsTrusted() {
			t.Errorf("clusters, seed %d: %+v", seed, got)
		}
		for _, shape := range [][2]int{{40, 300}, {200, 30}, {300, 8}} {
			if got := judged(t, table(seed, shape[0], shape[1], 1, 0), 2); got.HasStructure() || got.IsTrusted() {
				t.Errorf("noise %v, seed %d: %+v", shape, seed, got)
			}
		}
	}
}

// Threads change no bit. The columns' order changes the rounding of distances, and so the eighth
// digit at most; the permutations go with the columns, equal ones included.
func TestThreadsAndColumnsOrder(t *testing.T) {
	a := table(7, 120, 40, 3, 10)
	for i := range a.M { // two equal columns
		a.Points[i*a.D+20] = a.Points[i*a.D+3]
	}
	want := judged(t, a, 1)
	if got := judged(t, a, 3); got != want {
		t.Errorf("3 threads: %+v, 1: %+v", got, want)
	}
	b := &anchor.Anchors{M: a.M, D: a.D, Points: make([]float64, len(a.Points))}
	order := rand.New(rand.NewPCG(3, 3)).Perm(a.D)
	for i := range a.M {
		for to, from := range order {
			b.Points[i*a.D+to] = a.Points[i*a.D+from]
		}
	}
	got := judged(t, b, 1)
	for _, pair := range [][2]float64{{got.Value, want.Value}, {got.Chance, want.Chance}, {got.FewValue, want.FewValue}, {got.FewChance, want.FewChance}} {
		if math.Abs(pair[0]-pair[1]) > 1e-8 {
			t.Errorf("permuted: %+v, want %+v", got, want)
		}
	}
}

// A permuted copy has each column's values in another order, and equal columns in different ones; a column
// of XᵀX is the naive one's.
func TestPermutedAndColumn(t *testing.T) {
	a := table(9, 50, blockColumns+3, 2, 4)
	for i := range a.M {
		a.Points[i*a.D+1] = a.Points[i*a.D]
	}
	p := pickSpreadAnchors(a)
	p.team = kernel.NewTeam(1)
	q := p.permutedCopy()
	column := func(p *points, j int) (v []float64) {
		for i := range p.m {
			v = append(v, p.x[i*p.d+j])
		}
		return v
	}
	for _, j := range []int{0, 1, 2, blockColumns, blockColumns + 2} {
		x, y := column(p, j), column(q, j)
		if slices.Equal(x, y) {
			t.Errorf("column %d is where it was", j)
		}
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			t.Errorf("column %d has other values", j)
		}
	}
	if slices.Equal(column(q, 0), column(q, 1)) {
		t.Error("equal columns were permuted alike")
	}
	centred := func(j int) []float64 {
		x, mean := column(p, j), 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for i := range x {
			x[i] -= mean
		}
		return x
	}
	c := p.newCentredProducts()
	got := c.productColumn(5)
	own := centred(5)
	for j := range p.d {
		want, square := 0.0, 0.0
		for i, v := range centred(j) {
			want, square = want+v*own[i], square+v*v
		}
		// Sums of 50 products of numbers below 20.
		if math.Abs(got[j]-want) > 1e-11 || math.Abs(c.squares[j]-square) > 1e-11 {
			t.Fatalf("column %d: %v and %v, want %v and %v", j, got[j], c.squares[j], want, square)
		}
	}
}

// More points than are looked at are spread evenly, in order.
func TestSome(t *testing.T) {
	a := &anchor.Anchors{M: maxPoints + 500, D: 1, Points: make([]float64, maxPoints+500)}
	for i := range a.Points {
		a.Points[i] = float64(i)
	}
	p := pickSpreadAnchors(a)
	if p.m != maxPoints || len(p.x) != maxPoints || p.x[0] != 0 || p.x[maxPoints-1] != float64(a.M-2) || !slices.IsSorted(p.x) {
		t.Errorf("%d points, from %v to %v", p.m, p.x[0], p.x[len(p.x)-1])
	}
}
