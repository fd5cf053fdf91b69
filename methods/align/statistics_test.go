package align

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/rows/rowstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
)

// gathered is the graph of a table with all its rows as anchors, gathered in parts that end at the
// given rows and are merged.
func gathered(t *testing.T, tab tabletest.Table, height int, ends ...int) *anchor.Graph {
	t.Helper()
	d, n := len(tab.Cols), tab.N()
	profile, sample := gram.NewProfile(d), anchor.NewSampler(d, anchor.SamplerOptions{Rows: n, Seed: 1})
	tab.AddRows(t, profile, 0, n, 64)
	tab.AddRows(t, sample, 0, n, 64)
	std := must.Get(gram.NewStandardizer(profile, tab.Columns(), gram.ScalePareto, gram.FillMean))(t)
	anchors := must.Get(anchor.Random(sample, n, std, 1))(t)
	var all *anchor.Statistics
	var moments *gram.Moments
	from := 0
	for _, to := range append(ends, n) {
		part, m := must.Get(anchor.NewStatistics(anchors, anchor.Options{}))(t), gram.NewMoments(d, gram.Options{})
		tab.AddRows(t, part, from, to, height)
		tab.AddRows(t, m, from, to, height)
		if from = to; all == nil {
			all, moments = part, m
			continue
		}
		must.Do(t, all.Merge(part))
		must.Do(t, moments.Merge(m))
	}
	return must.Get(all.Graph(must.Get(moments.Finish(tab.Columns(), gram.FinishOptions{Scale: gram.ScaleCenter}))(t)))(t)
}

// repeated is n rows around five centres, each row there one to three times.
func repeated(n, d int) (tab tabletest.Table) {
	r := rand.New(rand.NewPCG(1, 9))
	tab.Cols = rowstest.ZeroRows(d, n)
	for i := 0; i < n; {
		row := make([]float64, d)
		for j := range row {
			row[j] = 4*float64((i*(j+3)/7)%5) + r.NormFloat64()*float64(1+j%4)
		}
		for range 1 + r.IntN(3) {
			if i < n {
				for j, x := range row {
					tab.Cols[j][i] = x
				}
				i++
			}
		}
	}
	return tab
}

// TestAlignOfStatistics: with every row an anchor, rows that repeat included, the answer does not
// depend on chunks or shards, and permuted columns have the permuted answer.
func TestAlignOfStatistics(t *testing.T) {
	const d = 14
	tab := repeated(160, d)
	_, want := choice(t, gathered(t, tab, 160), spectral.DefaultDiffusion, Options{K: d})
	for _, c := range []struct {
		height int
		ends   []int
	}{{1, nil}, {7, nil}, {13, []int{90}}, {64, []int{1, 50, 51, 120}}} {
		_, got := choice(t, gathered(t, tab, c.height, c.ends...), spectral.DefaultDiffusion, Options{K: d})
		// Sums of 160 rows; eigenvectors are off by rounding over gaps of 10⁻⁴.
		if !slices.Equal(got.Order, want.Order) || rowstest.RelativeDistance(got.Alignment, want.Alignment) > 1e-9 {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
	to := rand.New(rand.NewPCG(2, 2)).Perm(d)
	_, got := choice(t, gathered(t, tab.PermuteColumns(to), 160), spectral.DefaultDiffusion, Options{K: d})
	for i, j := range want.Order {
		if got.Order[i] != to[j] {
			t.Fatalf("permuted: %v, want %v by %v", got.Order, want.Order, to)
		}
	}
}

// TestEveryRowAnAnchor: then a row's nearest anchor is itself, and it weighs at least 1/K on it,
// as none of its K anchors is nearer; with fewer than K copies of a row also on each of them.
func TestEveryRowAnAnchor(t *testing.T) {
	g := gathered(t, repeated(90, 6), 90)
	if g.M != 90 || g.Rows != 90 {
		t.Fatalf("%d anchors of %d rows", g.M, g.Rows)
	}
	total := 0.0
	for a, v := range g.Delta {
		total += v
		// S_aa·Δ_a is the sum of squared weights on anchor a.
		const least = 1.0 / (anchor.DefaultNeighbors * anchor.DefaultNeighbors)
		if got := g.S[a*g.M+a] * v; !(got >= least*(1-1e-9)) {
			t.Errorf("anchor %d: squared weights of %v, want %v or more", a, got, least)
		}
	}
	if math.Abs(total-90) > 1e-11 {
		t.Errorf("the weights add up to %v, want 90", total)
	}
}
