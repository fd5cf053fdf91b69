package subset

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/testing/long"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// compared compares greedy's choice of k of the set with chance.
func compared(t *testing.T, s set, k int) *Chance {
	t.Helper()
	g := s.gram()
	order := must.Get(greedy.Select(t.Context(), g.Matrix, greedy.Options{K: k}))(t).Order
	return must.Get(Compare(t.Context(), Choice{Matrix: g.Matrix, Rows: g.Rows, Chosen: order, Seed: s.seed, Threads: 2}))(t)
}

// TestCompareNoise: over 20 seeds of pure noise greedy's choice is no better than its choice
// of permuted columns, but for one time in 40 that the bound allows; on sets with factors it
// always is, and better than random ones.
func TestCompareNoise(t *testing.T) {
	const seeds = 20
	for _, size := range long.TakeCases(2, []struct{ n, d int }{{60, 100}, {200, 60}, {1000, 100}}) {
		for _, k := range []int{size.d / 20, size.d / 10} {
			trusted := 0
			for seed := range uint64(seeds) {
				if c := compared(t, set{"noise", size.n, size.d, 0, 1, seed}, k); c.Better && c.Related {
					trusted++
				}
			}
			t.Logf("%+v, k = %d: noise is trusted %d times of %d", size, k, trusted, seeds)
			if trusted > 3 {
				t.Errorf("%+v, k = %d: noise is trusted %d times of %d", size, k, trusted, seeds)
			}
			for _, kind := range []string{"leaders", "groups", "mixtures"} {
				for seed := range uint64(5) {
					s := set{kind, size.n, size.d, 5, 0.5, seed}
					if c := compared(t, s, k); !c.Better || !c.Related {
						t.Errorf("%+v, k = %d: got %+v, want Better and Related", s, k, *c)
					}
				}
			}
		}
	}
}

// TestReachedTwin: the approximation for many columns is close to greedy's result on draws: within a tenth of
// its advantage over random columns.
func TestReachedTwin(t *testing.T) {
	team := kernel.NewTeam(2)
	random := rand.New(rand.NewPCG(6, 6))
	for _, size := range []struct{ dims, d, k int }{{200, 300, 30}, {199, 60, 6}, {60, 400, 15}, {1000, 100, 10}} {
		squares, keys := make([]float64, size.d), make([]uint64, size.d)
		for i := range squares {
			squares[i], keys[i] = 1, uint64(i)
		}
		var shares []float64
		for range 20 {
			g := drawPermutedGram(team, squares, keys, size.dims, random)
			order := must.Get(greedy.Select(t.Context(), gram.Full(g, size.d), greedy.Options{K: size.k}))(t)
			shares = append(shares, 1-order.Error[size.k-1])
		}
		want, _ := meanAndDeviation(shares)
		got := newNullModel(squares, float64(size.dims)).greedyExplained(size.k) / float64(size.d)
		own := float64(size.k) / float64(size.d)
		atRandom := own + (1-own)*float64(size.k)/float64(size.dims)
		if math.Abs(got-want) > 0.2*(want-atRandom) {
			t.Errorf("%+v: %v, of draws %v; at random %v", size, got, want, atRandom)
		}
	}
}

// TestCompareLaws: threads change nothing; permuting the columns, with their keys, changes
// the shares by rounding alone.
func TestCompareLaws(t *testing.T) {
	s := set{"mixtures", 120, 90, 4, 0.5, 3}
	x := s.data()
	random := rand.New(rand.NewPCG(7, 7))
	c := Choice{Matrix: gram.Full(gramOf(x), s.d), Rows: int64(s.n), Chosen: random.Perm(s.d)[:9], Seed: 1, Threads: 1}
	for range s.d {
		c.Keys = append(c.Keys, random.Uint64())
	}
	want := must.Get(Compare(t.Context(), c))(t)
	c.Threads = 8
	if got := must.Get(Compare(t.Context(), c))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("8 threads: %+v, want %+v", got, want)
	}
	perm := random.Perm(s.d)
	moved, keys, place := mat.NewDense(s.n, s.d, nil), make([]uint64, s.d), make([]int, s.d)
	for to, from := range perm {
		moved.SetCol(to, mat.Col(nil, from, x))
		keys[to], place[from] = c.Keys[from], to
	}
	c.Matrix, c.Keys = gram.Full(gramOf(moved), s.d), keys
	for i, j := range c.Chosen {
		c.Chosen[i] = place[j]
	}
	got := must.Get(Compare(t.Context(), c))(t)
	if math.Abs(got.Value-want.Value) > 1e-9 || math.Abs(got.Random-want.Random) > 1e-9 || math.Abs(got.Spread-want.Spread) > 1e-9 {
		t.Errorf("permuted: %+v, want %+v", got, want)
	}
	// Lengths are equal but for rounding, which orders the columns of the draw.
	if math.Abs(got.Permuted-want.Permuted) > 1e-6 || got.Better != want.Better || got.Related != want.Related {
		t.Errorf("permuted: %+v, want %+v", got, want)
	}
}

// TestCompareUncentred: columns with a common mean explain each other in a permuted copy too.
func TestCompareUncentred(t *testing.T) {
	s := set{"noise", 300, 40, 0, 1, 2}
	x := s.data()
	const mean = 3
	x.Apply(func(_, _ int, v float64) float64 { return v + mean }, x)
	c := Choice{Matrix: gram.Full(gramOf(x), s.d), Rows: int64(s.n), Weight: float64(s.n), Seed: 1, Threads: 2}
	for range s.d {
		c.Mean = append(c.Mean, mean)
	}
	c.Chosen = must.Get(greedy.Select(t.Context(), c.Matrix, greedy.Options{K: 4}))(t).Order
	if got := must.Get(Compare(t.Context(), c))(t); got.Related || math.Abs(got.Value-got.Permuted) > 0.01 {
		t.Errorf("a common mean counts as a relation: %+v", *got)
	}
}

// TestCompareEdges: there is no comparison without enough to compare.
func TestCompareEdges(t *testing.T) {
	g, few := set{"noise", 40, 12, 0, 1, 1}.gram(), set{"noise", 40, 5, 0, 1, 1}.gram()
	for _, c := range []Choice{
		{Matrix: gram.Full(g.Sym, 12), Rows: 40},
		{Matrix: gram.Full(g.Sym, 12), Rows: 2, Chosen: []int{1, 2}},
		{Matrix: gram.Full(g.Sym, 12), Rows: 40, Chosen: []int{0, 1, 2, 3, 4, 5, 6}, Keep: 7},
		{Matrix: gram.Full(few.Sym, 5), Rows: 40, Chosen: []int{0, 1}},
		{Matrix: gram.Full([]float64{5}, 1), Rows: 10, Chosen: []int{0}},
	} {
		if got := must.Get(Compare(t.Context(), c))(t); got != nil {
			t.Errorf("%+v: got %+v, want no comparison", c, got)
		}
	}
	if got := must.Get(Compare(t.Context(), Choice{Matrix: gram.Full(g.Sym, 12), Rows: 40, Chosen: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}))(t); got == nil || got.K != 6 {
		t.Errorf("all columns: %+v", got)
	}
}
