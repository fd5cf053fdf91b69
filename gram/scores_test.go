package gram

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/disk/words/wordstest"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/internal/testing/tabletest"
	"github.com/ufs-stream/ufs-stream/stream"
)

func ranksOf(tb testing.TB, t tabletest.Table, threads, height int) *Histograms {
	h := NewRankHistograms(len(t.Cols), threads)
	t.AddRows(tb, h, 0, t.N(), height)
	return h
}

func scoresFor(tb testing.TB, t tabletest.Table) *Scores {
	p := NewProfile(len(t.Cols))
	t.AddRows(tb, p, 0, t.N(), 100)
	return must.Get(NewScores(ranksOf(tb, t, 2, 100), p))(tb)
}

// midRanks are F of each entry by sorting: NaN of missing ones.
func midRanks(col, weight []float64) []float64 {
	w := func(i int) float64 {
		if weight == nil {
			return 1
		}
		return weight[i]
	}
	var order []int
	whole := 0.0
	for i, x := range col {
		if x == x {
			order = append(order, i)
			whole += w(i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case col[a] < col[b]:
			return -1
		case col[a] > col[b]:
			return 1
		}
		return 0
	})
	f := make([]float64, len(col))
	for i := range f {
		f[i] = math.NaN()
	}
	below := 0.0
	for from := 0; from < len(order); {
		to, at := from, 0.0
		for ; to < len(order) && col[order[to]] == col[order[from]]; to++ {
			at += w(order[to])
		}
		for _, i := range order[from:to] {
			f[i] = (below + at/2) / whole
		}
		below += at
		from = to
	}
	return f
}

// tailOf is Φ(z) without cancellation in the lower tail.
func tailOf(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// Scores of few values are exact: Φ of them is the mid-rank by sorting, in either tail to rounding
// (Φ multiplies an error of z by z, which is below 9 here).
func TestScoresAreExactOfFewValues(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		tab := spreads(9, 1500)
		if weighted {
			for i := range tab.N() {
				tab.Weight = append(tab.Weight, float64(1+i%7)/16)
			}
		}
		s := scoresFor(t, tab)
		for j, col := range tab.Cols {
			if s.columns[j].isUnmapped {
				continue
			}
			for i, f := range midRanks(col, tab.Weight) {
				z := s.Score(j, col[i])
				if math.IsNaN(f) != math.IsNaN(z) {
					t.Fatalf("column %d row %d: %g has the score %g", j, i, col[i], z)
				}
				got, want := tailOf(z), f
				if f > 0.5 {
					got, want = tailOf(-z), 1-f
				}
				if math.Abs(got-want) > 1e-13*want+0x1p-53 {
					t.Fatalf("column %d row %d: Φ of the score of %g is %.17g, its rank %.17g", j, i, col[i], got, want)
				}
			}
		}
	}
}

// The error of the ranks of many values, as RankBins promises it.
func TestScoresRankError(t *testing.T) {
	const n = 200_000
	r := rand.New(rand.NewPCG(4, 4))
	for _, kind := range []struct {
		name  string
		bound float64
		draw  func(i int) float64
	}{
		{"normal", 1e-3, func(int) float64 { return r.NormFloat64() }},
		{"normal about 1000", 1e-3, func(int) float64 { return 1000 + r.NormFloat64() }},
		{"cauchy", 1e-3, func(int) float64 { return r.NormFloat64() / r.NormFloat64() }},
		{"log-normal", 1e-3, func(int) float64 { return math.Exp(3 * r.NormFloat64()) }},
		{"uniform", 1e-3, func(int) float64 { return r.Float64() }},
		{"time stamps", 1e-3, func(int) float64 { return 1.7e9 + 1e4*r.Float64() }},
		{"time stamps and zero", 1e-3, func(i int) float64 { return float64(min(i, 1)) * (1.7e9 + 1e4*r.Float64()) }},
		{"integers", 1e-3, func(int) float64 { return float64(r.IntN(10_000)) }},
		{"half zeros", 1e-3, func(i int) float64 { return float64(i%2) * r.NormFloat64() }},
		{"clipped", 1e-3, func(int) float64 { return min(r.NormFloat64(), 1.5) }},
	} {
		col := make([]float64, n)
		for i := range col {
			col[i] = kind.draw(i)
		}
		s := scoresFor(t, tabletest.Table{Cols: [][]float64{col}})
		worst, sum := 0.0, 0.0
		for i, f := range midRanks(col, nil) {
			e := math.Abs(tailOf(s.Score(0, col[i])) - f)
			worst, sum = max(worst, e), sum+e
		}
		t.Logf("%-22s %5d bins, rank error at most %.1e, on average %.1e", kind.name, len(s.columns[0].keys), worst, sum/n)
		if worst > kind.bound {
			t.Errorf("%s: a rank is wrong by %.2g", kind.name, worst)
		}
	}
}

// A value that many rows share among many others has its exact rank up to half of the bin's other rows: here a 64th
// of the normal values' density, 1e-3 of the rows on either side. The bin's other values have its rank too.
func TestScoresOfSharedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	col := make([]float64, 200_000)
	for i := range col {
		if col[i] = 1.3; i%3 > 0 {
			col[i] = r.NormFloat64()
		}
	}
	s := scoresFor(t, tabletest.Table{Cols: [][]float64{col}})
	own, sum := 0.0, 0.0
	for i, f := range midRanks(col, nil) {
		e := math.Abs(tailOf(s.Score(0, col[i])) - f)
		if sum += e; col[i] == 1.3 {
			own = e
		}
	}
	t.Logf("rank error of the shared value %.1e, of all on average %.1e", own, sum/float64(len(col)))
	if own > 1e-3 || sum/float64(len(col)) > 1e-3 {
		t.Errorf("the shared value's rank is wrong by %.2g, all by %.2g on average", own, sum/float64(len(col)))
	}
}

// Scores never fall as values rise, even for values that were not counted.
func TestScoresRise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	tab := spreads(3, 6000)
	s := scoresFor(t, tab)
	for j, col := range tab.Cols {
		probe := slices.Clone(col)
		for range 2000 {
			probe = append(probe, math.Float64frombits(r.Uint64()))
		}
		probe = slices.DeleteFunc(append(probe, 0, 1e300, -1e300), func(x float64) bool { return x != x })
		slices.Sort(probe)
		for i := 1; i < len(probe); i++ {
			if a, b := s.Score(j, probe[i-1]), s.Score(j, probe[i]); b < a || math.IsInf(b, 0) && !s.columns[j].isUnmapped {
				t.Fatalf("column %d: the scores of %g and %g are %g and %g", j, probe[i-1], probe[i], a, b)
			}
		}
	}
}

// For so few values a column's scores equal the scores of any strictly increasing map of it, to the bit.
func TestScoresOfIncreasingMaps(t *testing.T) {
	tab := spreads(6, 900)
	col := tab.Cols[0]
	var maps tabletest.Table
	for _, f := range []func(float64) float64{func(x float64) float64 { return x }, math.Exp, func(x float64) float64 { return x * x * x }, func(x float64) float64 { return 1e6*x + 12345 }} {
		image := make([]float64, len(col))
		for i, x := range col {
			image[i] = f(x)
		}
		maps.Cols = append(maps.Cols, image)
	}
	s := scoresFor(t, maps)
	for i := range col {
		for j := range maps.Cols {
			if a, b := s.Score(0, maps.Cols[0][i]), s.Score(j, maps.Cols[j][i]); a != b {
				t.Fatalf("row %d: %g, and %g of map %d", i, a, b, j)
			}
		}
	}
}

// The state is that of the values: the same bytes for any chunks, threads, order of merging, and
// form of the rows, below and above the number of bins.
func TestRankHistogramsAreOfTheValues(t *testing.T) {
	for _, n := range []int{1, RankBins - 1, RankBins, RankBins + 1, 9000} {
		for _, weighted := range []bool{false, true} {
			tab := spreads(uint64(n), n)
			if weighted {
				for i := range n {
					tab.Weight = append(tab.Weight, float64(1+i%7)/16)
				}
			}
			part := func(from, to, height int) *Histograms {
				h := NewRankHistograms(len(tab.Cols), 2)
				tab.AddRows(t, h, from, to, height)
				return h
			}
			merged := func(a, b *Histograms) *Histograms {
				must.Do(t, a.Merge(b))
				return a
			}
			want := wordstest.EncodeState(t, part(0, n, n))
			sparse := tab
			sparse.Sparse, sparse.Cols = true, tab.Cols[:8]
			dense := tab
			dense.Cols = tab.Cols[:8]
			if !bytes.Equal(wordstest.EncodeState(t, ranksOf(t, sparse, 1, 777)), wordstest.EncodeState(t, ranksOf(t, dense, 1, 3000))) {
				t.Errorf("%d rows: sparse rows differ from dense ones", n)
			}
			for name, h := range map[string]*Histograms{
				"chunks":  part(0, n, 113),
				"threads": ranksOf(t, tab, 8, 1000),
				"thirds":  merged(part(n/3, 2*n/3, 50), merged(part(2*n/3, n, n), part(0, n/3, 91))),
			} {
				if !bytes.Equal(wordstest.EncodeState(t, h), want) {
					t.Errorf("%d rows, weighted %v: other bytes by %s", n, weighted, name)
				}
			}
		}
	}
	wordstest.CheckState(t, ranksOf(t, spreads(2, 4000), 1, 300), func() wordstest.State { return NewRankHistograms(0, 1) })
	if NewRankHistograms(2, 1).Merge(NewHistograms(2, 1)) == nil {
		t.Error("coarse histograms were merged into fine ones")
	}
}

// Missing entries stay missing, or have the score of 0; sparse rows have the scores less that of 0.
func TestScoresMapChunks(t *testing.T) {
	tab := spreads(12, 400)
	s := scoresFor(t, tab)
	c := tab.Chunk(0, 400)
	var dst stream.Chunk
	for _, fill := range []Fill{FillMean, FillZero, FillPairwise} {
		must.Do(t, s.To(&dst, c, fill))
		for j, col := range tab.Cols {
			for i, x := range col {
				want := s.Score(j, x)
				if x != x && fill == FillZero && !s.columns[j].isUnmapped {
					want = s.Score(j, 0)
				}
				if got := dst.Col(j)[i]; got != want && (got == got || want == want) {
					t.Fatalf("column %d row %d, %v: %g, want %g", j, i, fill, got, want)
				}
			}
		}
	}
	if s.To(&dst, &stream.Chunk{Cols: 3}, FillMean) == nil {
		t.Error("a chunk of other columns was mapped")
	}
	sparse := tab
	sparse.Sparse, sparse.Cols = true, tab.Cols[:8]
	s = scoresFor(t, sparse)
	var thin stream.Chunk
	must.Do(t, s.To(&thin, sparse.Chunk(0, 400), FillMean))
	for i := range 400 {
		for e := thin.Sparse.RowPtr[i]; e < thin.Sparse.RowPtr[i+1]; e++ {
			j := int(thin.Sparse.Index[e])
			want := s.Score(j, tab.Cols[j][i])
			if !s.columns[j].isUnmapped {
				want -= s.Score(j, 0)
			}
			if thin.Sparse.Value[e] != want {
				t.Fatalf("sparse column %d row %d: %g, want %g", j, i, thin.Sparse.Value[e], want)
			}
		}
	}
}

// The profile that follows from the table equals the profile of the mapped rows: for few values to rounding, for many
// to the width of a bin: scores of 30,000 rows span about 8, and there are 1,024 bins at least.
func TestScoresProfile(t *testing.T) {
	for n, near := range map[int]float64{700: 1e-12, 30_000: 8.0 / 1024} {
		for _, sparse := range []bool{false, true} {
			for _, fill := range []Fill{FillMean, FillZero} {
				tab := spreads(uint64(n), n)
				if tab.Sparse = sparse; sparse {
					tab.Cols = tab.Cols[:8]
				}
				raw, mapped := NewProfile(len(tab.Cols)), NewProfile(len(tab.Cols))
				tab.AddRows(t, raw, 0, n, 128)
				h := ranksOf(t, tab, 1, 999)
				s := must.Get(NewScores(h, raw))(t)
				var dst stream.Chunk
				must.Do(t, s.To(&dst, tab.Chunk(0, n), fill))
				must.Do(t, mapped.Add(&dst))
				got := s.Profile(h, raw, fill, sparse)
				for j := range tab.Cols {
					a, b := &got.Columns[j], &mapped.Columns[j]
					if a.Observed != b.Observed || a.Missing != b.Missing || math.Abs(a.Weight-b.Weight) > near {
						t.Fatalf("%d rows, column %d: %+v, want %+v", n, j, a, b)
					}
					m, sd := got.Spread(j, fill)
					wantMean, wantSD := mapped.Spread(j, fill)
					if math.Abs(m-wantMean) > near || math.Abs(sd-wantSD) > near {
						t.Errorf("%d rows, column %d: mean %g and sd %g, want %g and %g", n, j, m, sd, wantMean, wantSD)
					}
				}
			}
		}
	}
}

// BenchmarkScores measures the cost of counting and of mapping a value.
func BenchmarkScores(b *testing.B) {
	const d, rows = 784, 2048
	r := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []struct {
		name string
		draw func() float64
	}{
		{"pixels", func() float64 { return max(float64(r.IntN(1275))-1020, 0) }},
		{"normals", r.NormFloat64},
	} {
		tab := tabletest.Table{Cols: make([][]float64, d)}
		for j := range tab.Cols {
			tab.Cols[j] = make([]float64, 4*rows)
			for i := range tab.Cols[j] {
				tab.Cols[j][i] = kind.draw()
			}
		}
		c := tab.Chunk(0, rows)
		c.Missing = nil
		s := scoresFor(b, tab)
		h := ranksOf(b, tab, 1, rows)
		var dst stream.Chunk
		s.threads = 1
		for name, step := range map[string]func() error{
			"count": func() error { return h.Add(c) },
			"map":   func() error { return s.To(&dst, c, FillMean) },
		} {
			b.Run(fmt.Sprintf("%s/%s", kind.name, name), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, step())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(d*rows), "ns/value")
			})
		}
	}
}
