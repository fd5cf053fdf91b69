package anchor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// rows are all rows of the table, for a factor.
func (t table) rows(tb testing.TB) *gram.Rows {
	r := gram.NewRows(len(t.Cols), int64(t.N()), 2, false)
	t.AddRows(tb, r, 0, t.N(), 64)
	return r
}

// factored is the graph of rows that come with the factor.
func (t table) factored(tb testing.TB, a *Anchors, opt Options) *Graph {
	tb.Helper()
	opt.Later = true
	g := must.Get(t.rows(tb).Finish(t.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(tb)
	return must.Get(must.Get(NewStatistics(a, opt))(tb).Graph(g))(tb)
}

// The graph of a factor's rows is that of the rows as they pass by, under every scale, with missing
// entries, constant columns and equal rows; it has B besides, and the rows of G.
func TestFactoredGraphIsTheGraph(t *testing.T) {
	const n, m, k = 130, 20, 4
	for _, missing := range []bool{false, true} {
		tab := clusters(n, 8, 3)
		if missing {
			tab = tab.holes()
		}
		tab.Cols = slices.Insert(tab.Cols, 2, slices.Repeat([]float64{7}, n)) // constant
		for _, col := range tab.Cols {
			col[100], col[101] = col[3], col[3]
		}
		for _, scale := range scales {
			t.Run(fmt.Sprintf("%v/missing=%v", scale, missing), func(t *testing.T) {
				a := tab.random(t, m, scale)
				want := tab.graph(t, a, Options{Neighbors: k})
				got := tab.factored(t, tab.random(t, m, scale), Options{Neighbors: k, Threads: 3})
				if got.Rows != want.Rows || got.M != m || got.D != want.D {
					t.Fatalf("%d rows, %d anchors, %d features", got.Rows, got.M, got.D)
				}
				near := func(what string, got, want []float64) {
					t.Helper()
					scale := slices.Max(want) - slices.Min(want)
					for i, v := range got {
						if len(got) != len(want) || math.Abs(v-want[i]) > 1e-9*scale {
							t.Fatalf("%s %d is %v, want %v", what, i, v, want[i])
						}
					}
				}
				near("Delta", got.Delta, want.Delta)
				near("S", got.S, want.S)
				near("C", got.C, want.C)
				b := got.B(2)
				var s, c float64
				for i := range n {
					s += b[i*m+1] * b[i*m+4]
					c += b[i*m+2] * got.G.R[3*n+i]
				}
				near("BᵀB", []float64{s, 0, 1}, []float64{want.S[1*m+4], 0, 1})
				near("BᵀX", []float64{c, 0, 100}, []float64{want.C[2*want.D+3], 0, 100})
				again := tab.factored(t, tab.random(t, m, scale), Options{Neighbors: k, Threads: 1})
				if !slices.Equal(again.C, got.C) || !slices.Equal(again.S, got.S) {
					t.Error("workers change bits")
				}
			})
		}
	}
}

// Rows that are kept are drawn as a sample draws them, and make the same anchors.
func TestAnchorsOfKeptRows(t *testing.T) {
	tab := clusters(90, 6, 4).holes()
	rows, sampler := tab.rows(t), tab.sampler(t, 40)
	drawn := DrawnOf(rows, 40, 1)
	for _, scale := range scales {
		std := tab.standardizer(t, scale)
		a, b := must.Get(Random(sampler, 30, std, 2))(t), must.Get(Random(drawn, 30, std, 2))(t)
		if a.Digest != b.Digest || !slices.Equal(a.Points, b.Points) {
			t.Errorf("%v: other anchors", scale)
		}
		c := must.Get(KMeans(t.Context(), sampler, 5, std, KMeansOptions{Seed: 3}))(t)
		d := must.Get(KMeans(t.Context(), drawn, 5, std, KMeansOptions{Seed: 3}))(t)
		if c.Digest != d.Digest {
			t.Errorf("%v: other centres", scale)
		}
	}
	if drawn.Len() != 40 || DrawnOf(rows, 1000, 1).Len() != 90 {
		t.Errorf("%d rows drawn", drawn.Len())
	}
	if _, err := Random(drawn, 41, tab.standardizer(t, gram.ScaleNone), 2); err == nil {
		t.Error("more anchors than rows")
	}
}

// Statistics whose rows come later take no rows before, and later only rows of a factor.
func TestLaterTakesNoRows(t *testing.T) {
	tab := clusters(60, 5, 5)
	a := tab.random(t, 12, gram.ScaleStandard)
	s := must.Get(NewStatistics(a, Options{Later: true}))(t)
	if err := s.Add(tab.Chunk(0, 10)); err == nil {
		t.Error("rows were added")
	}
	if _, err := s.Graph(tab.gram(t, gram.ScaleCenter)); err == nil {
		t.Error("a matrix in full has no rows")
	}
	g := must.Get(tab.rows(t).Finish(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)
	if _, err := tab.statistics(t, a, Options{}, 64).Graph(g); err == nil {
		t.Error("statistics with rows were joined with a factor")
	}
}

// The graph of wide points on themselves, by products, is that of the points by search.
func TestAmongWidePoints(t *testing.T) {
	const m, k = 30, 3
	r := rand.New(rand.NewPCG(1, 9))
	wide := make([]float64, m*wideColumns)
	for i := range m {
		for j := range wideColumns {
			wide[i*wideColumns+j] = 5 + float64(i%3)*float64(j%7)/20 + r.NormFloat64()
		}
	}
	for i := range m { // a constant column, without which the points are too narrow for products
		wide[(i+1)*wideColumns-1] = 2
	}
	copy(wide[4*wideColumns:5*wideColumns], wide[:wideColumns]) // two equal points
	got := must.Get(Among(wide, m, wideColumns, Options{Neighbors: k, Threads: 2}))(t)
	narrow, d := make([]float64, m*(wideColumns-1)), wideColumns-1
	for i := range m {
		copy(narrow[i*d:(i+1)*d], wide[i*wideColumns:])
	}
	want := must.Get(Among(narrow, m, d, Options{Neighbors: k, Threads: 2}))(t)
	for i, v := range got.S {
		if math.Abs(v-want.S[i]) > 1e-9 {
			t.Fatalf("S %d is %v, want %v", i, v, want.S[i])
		}
	}
	// Wide points have no C; AddCross gives its products.
	e := make([]float64, 4*m)
	for i := range e {
		e[i] = math.Sin(float64(i))
	}
	product := func(g *Graph, d int) []float64 {
		y := make([]float64, 4*d)
		g.AddCross(2, 4, e, y)
		return y
	}
	a, b := product(got, wideColumns), product(want, d)
	for i := range 4 {
		for j := range d {
			if v, w := a[i*wideColumns+j], b[i*d+j]; got.C != nil || math.Abs(v-w) > 1e-9 {
				t.Fatalf("row %d of EC, column %d is %v, want %v", i, j, v, w)
			}
		}
	}
}
