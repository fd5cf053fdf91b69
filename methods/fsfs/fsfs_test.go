package fsfs

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// groups are n rows of d features about d/4 factors, with features of one factor alike, and
// the Gram matrix of the centred columns.
func groups(n, d int, seed uint64) (x [][]float64, g []float64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x = rowstest.ZeroRows(n, d)
	for i := range x {
		factor := make([]float64, d/4+1)
		for f := range factor {
			factor[f] = rng.NormFloat64() * float64(1+f%3)
		}
		for j := range x[i] {
			x[i][j] = factor[j/4] + rng.NormFloat64()*0.1*float64(1+j%4)
		}
	}
	return x, gramOf(x)
}

func gramOf(x [][]float64) []float64 {
	x = rowstest.CentreColumns(x)
	d := len(x[0])
	g := make([]float64, d*d)
	for _, row := range x {
		for j, v := range row {
			for k, w := range row {
				g[j*d+k] += v * w
			}
		}
	}
	return g
}

// naive is the algorithm by its words: the k-th nearest by counting anew at every step. of is λ₂ of two features.
func naive(d, k int, of func(i, j int) float64) (order []int) {
	index := rowstest.ZeroRows(d, d)
	lists, sorted := make([][]int, d), make([][]float64, d)
	for i := range d {
		for j := range i {
			index[i][j] = of(i, j)
			index[j][i] = index[i][j]
		}
	}
	for i := range d {
		lists[i] = slices.DeleteFunc(rowstest.Integers(d), func(j int) bool { return j == i })
		slices.SortStableFunc(lists[i], func(a, b int) int { return cmp.Compare(index[i][a], index[i][b]) })
		for _, j := range lists[i] {
			sorted[i] = append(sorted[i], index[i][j])
		}
	}
	// denser decides between features that are each other's nearest.
	denser := func(i, j int) bool { return slices.Compare(sorted[i], sorted[j]) < 0 }
	left := rowstest.Integers(d)
	nearest := func(i int) (open []int) {
		for _, j := range lists[i] {
			if slices.Contains(left, j) {
				open = append(open, j)
			}
			if len(open) == k {
				break
			}
		}
		return open
	}
	densest := func() (int, float64) {
		at, r := -1, math.Inf(1)
		for _, i := range left {
			if v := index[i][nearest(i)[k-1]]; at < 0 || v < r || v == r && denser(i, at) {
				at, r = i, v
			}
		}
		return at, r
	}
	epsilon := math.Inf(1)
	for len(left) > 1 && k > 0 {
		at, r := densest()
		if len(order) == 0 {
			epsilon = r
		}
		for r > epsilon && k > 1 {
			k--
			at, r = densest()
		}
		if k == 1 && len(order) > 0 {
			break
		}
		order = append(order, at)
		drop := append(nearest(at), at)
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(drop, i) })
		k = min(k, len(left)-1)
	}
	rest := slices.Clone(left)
	slices.SortStableFunc(rest, func(i, j int) int { return slices.Compare(sorted[i], sorted[j]) })
	return append(order, rest...)
}

// smaller is λ₂ as the smaller eigenvalue, by rotation.
func smaller(g []float64, d int) func(i, j int) float64 {
	return func(i, j int) float64 {
		values, _ := rowstest.Jacobi([][]float64{{g[i*d+i], g[i*d+j]}, {g[i*d+j], g[j*d+j]}})
		return values[0]
	}
}

func TestEliminationIsTheNaiveForm(t *testing.T) {
	for seed := range uint64(4) {
		const d = 21
		_, g := groups(80, d, seed)
		for k := range d {
			r := must.Get(Select(t.Context(), gram.Full(g, d), Options{Neighbors: k, K: d}))(t)
			if want := naive(d, k, smaller(g, d)); !slices.Equal(r.Order, want) {
				t.Fatalf("seed %d, first k %d: %v, want %v", seed, k, r.Order, want)
			}
		}
	}
}

// λ₂ is the smaller eigenvalue: the same from the definition, for a rotation of the two, and 0
// for multiples.
func TestIndex(t *testing.T) {
	x, g := groups(50, 8, 9)
	for i := range 8 {
		for j := range 8 {
			a, b, c := g[i*8+i], g[j*8+j], g[i*8+j]
			want := (a + b - math.Sqrt((a-b)*(a-b)+4*c*c)) / 2
			if got := compressionIndex(a, b, c); math.Abs(got-want) > 1e-14*(a+b) || i == j && got > 1e-14*a {
				t.Errorf("%d, %d: %v, want %v", i, j, got, want)
			}
		}
	}
	sin, cos := math.Sincos(0.7)
	for i := range x {
		x[i][0], x[i][5] = cos*x[i][0]-sin*x[i][5], sin*x[i][0]+cos*x[i][5]
		x[i][7] = -1e8 * x[i][6]
	}
	turned := gramOf(x)
	of := func(g []float64, i, j int) float64 { return compressionIndex(g[i*8+i], g[j*8+j], g[i*8+j]) }
	if a, b := of(g, 0, 5), of(turned, 0, 5); math.Abs(a-b) > 1e-12*a {
		t.Errorf("rotated from %v to %v", a, b)
	}
	if v := of(turned, 6, 7); v > 1e-12*g[6*8+6] {
		t.Errorf("a multiple is %v away", v)
	}
}

// With one feature wanted a group, each group has one.
func TestGroups(t *testing.T) {
	const d = 40
	_, g := groups(400, d, 5)
	r := must.Get(Select(t.Context(), gram.Full(g, d), Options{K: d / 4}))(t)
	seen := make(map[int]bool)
	for _, i := range r.Order[:d/4] {
		seen[i/4] = true
	}
	if len(seen) != d/4 {
		t.Errorf("the %d features %v are of %d groups", d/4, r.Order, len(seen))
	}
}

func TestLaws(t *testing.T) {
	const d = 60
	x, g := groups(200, d, 6)
	for _, k := range []int{1, 2, 7, 30, 59, 60} {
		want := must.Get(Select(t.Context(), gram.Full(g, d), Options{K: k, Threads: 1}))(t)
		if len(want.Order) < k || len(want.Turns) != len(want.Order) {
			t.Errorf("k = %d: %d features, %d turns", k, len(want.Order), len(want.Turns))
		}
		got := must.Get(Select(t.Context(), gram.Full(g, d), Options{K: k, Threads: 8}))(t)
		if !slices.Equal(got.Order, want.Order) || !slices.Equal(got.Turns, want.Turns) || got.Neighbors != want.Neighbors {
			t.Errorf("k = %d: 8 threads choose %v, one %v", k, got.Order, want.Order)
		}
		columns := rand.New(rand.NewPCG(1, uint64(k))).Perm(d)
		turned := rowstest.ZeroRows(len(x), d)
		for i := range x {
			for j, f := range columns {
				turned[i][j] = x[i][f]
			}
		}
		got = must.Get(Select(t.Context(), gram.Full(gramOf(turned), d), Options{K: k}))(t)
		for i, j := range got.Order {
			if i >= len(want.Order) || columns[j] != want.Order[i] {
				t.Errorf("k = %d, rank %d: permuted columns choose %d", k, i+1, columns[j])
				break
			}
		}
	}
	// Twice the units: λ₂ is four times as large, and no choice changes.
	twice := slices.Clone(g)
	for i := range twice {
		twice[i] *= 4
	}
	a, b := must.Get(Select(t.Context(), gram.Full(g, d), Options{K: 9}))(t), must.Get(Select(t.Context(), gram.Full(twice, d), Options{K: 9}))(t)
	for i := range a.Turns {
		a.Turns[i] *= 4
	}
	if !slices.Equal(a.Order, b.Order) || !slices.Equal(a.Turns, b.Turns) {
		t.Errorf("other units choose %v, %v", a.Order, b.Order)
	}
}

func TestEdges(t *testing.T) {
	if r := must.Get(Select(t.Context(), gram.Full([]float64{4}, 1), Options{K: 1}))(t); !slices.Equal(r.Order, []int{0}) {
		t.Errorf("one feature: %v", r.Order)
	}
	// All alike, constant ones too: column order decides.
	for _, v := range []float64{0, 3} {
		g := slices.Repeat([]float64{v}, 25)
		for k := 1; k <= 5; k++ {
			if r := must.Get(Select(t.Context(), gram.Full(g, 5), Options{K: k}))(t); len(r.Order) < k || r.Order[0] != 0 {
				t.Errorf("equal features, k = %d: %v", k, r.Order)
			}
		}
	}
	_, err := Select(t.Context(), gram.Full(nil, 0), Options{K: 3, Neighbors: -1, Threads: -1})
	rowstest.CheckRefusal(t, err, "no features", "k = 3", "neighbors = -1", "threads = -1")
}
