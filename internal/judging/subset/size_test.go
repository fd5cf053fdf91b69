package subset

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/stream"
)

// knownSets are sets with few and many columns and rows, noise weak and strong.
func knownSets() (sets []set) {
	for _, size := range []struct{ n, d int }{{60, 100}, {200, 60}, {200, 300}, {1000, 100}} {
		for _, kind := range []string{"noise", "leaders", "groups", "mixtures"} {
			for _, factors := range []int{3, 10} {
				for i, noise := range []float64{0.1, 0.3, 0.5} {
					s := set{kind, size.n, size.d, factors, noise, uint64(100*factors + 10*i + size.n)}
					if kind == "noise" {
						s.factors = 0
					}
					sets = append(sets, s)
				}
			}
		}
	}
	return sets
}

// TestColumnLikeNoOther: of eight columns three follow one factor, two a second, two a third, and the last
// none: it is the fourth to keep, and so are a second and a third of its kind, but not if it varies less than
// most, or if there are many such columns: then they are noise.
func TestColumnLikeNoOther(t *testing.T) {
	for seed := range uint64(5) {
		for _, c := range []struct {
			lone   int
			factor float64 // scales the lone columns
			want   int
		}{{0, 1, 3}, {1, 1, 4}, {1, 1.3, 4}, {2, 1, 5}, {3, 1, 6}, {1, 0.5, 3}, {6, 1, 3}} {
			random := rand.New(rand.NewPCG(seed, 9))
			x := mat.NewDense(500, 7+c.lone, nil)
			for i := range 500 {
				f := [3]float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
				for j, of := range []int{0, 0, 0, 1, 1, 2, 2} {
					x.Set(i, j, f[of]+0.1*random.NormFloat64())
				}
				for j := range c.lone {
					x.Set(i, 7+j, random.NormFloat64())
				}
			}
			standardize(x)
			for j := range c.lone {
				col := mat.Col(nil, 7+j, x)
				for i := range col {
					col[i] *= c.factor
				}
				x.SetCol(7+j, col)
			}
			g := &Gram{Matrix: gram.Full(gramOf(x), 7+c.lone), Rows: 500, Threads: 2}
			if got := must.Get(RecommendSize(t.Context(), g))(t); got.Recommended != c.want || c.factor <= 1 && got.Lone != c.want-3 {
				t.Errorf("seed %d, %+v: %d of which %d like no other (%s)", seed, c, got.Recommended, got.Lone, got.Why)
			}
		}
	}
}

// TestRulesKnown counts how often each rule finds the number of factors, or up to a third more: of noisy
// columns, several of a factor carry more information than one. The recommendation was chosen by these counts.
func TestRulesKnown(t *testing.T) {
	right, near := map[string]int{}, map[string]int{}
	sets := knownSets()
	for _, s := range sets {
		size := must.Get(RecommendSize(t.Context(), s.gram()))(t)
		recommended := size.Recommended
		if recommended == 1 && s.factors == 0 {
			recommended = 0 // no recommendation counts as 1
		}
		for _, r := range append(size.Rules, stream.SizeRule{Name: "recommended", K: recommended}) {
			if r.K == s.factors {
				right[r.Name]++
			}
			if r.K >= s.factors && r.K <= s.factors+s.factors/3 {
				near[r.Name]++
			}
		}
	}
	t.Logf("of %d sets right: %v; right or up to a third more: %v", len(sets), right, near)
	for name, least := range map[string]float64{"eigenvalue gap": 0.7, "parallel analysis": 0.7, "information criterion": 0.65, "recommended": 0.8} {
		if got := float64(right[name]) / float64(len(sets)); got < least {
			t.Errorf("%s is right %.2f of the time, want %v", name, got, least)
		}
	}
	if got := float64(near["recommended"]) / float64(len(sets)); got < 0.9 {
		t.Errorf("the recommended number is right or a bit larger %.2f of the time", got)
	}
}

// TestChooseLaws: neither the number of threads, nor the columns' order, nor a common factor changes the result
// by a bit; G is as it was.
func TestChooseLaws(t *testing.T) {
	s := set{"mixtures", 150, 140, 5, 0.4, 8}
	x := s.data()
	g := gramOf(x)
	before := slices.Clone(g)
	ask := func(sym []float64, threads int) *stream.Size {
		return must.Get(RecommendSize(t.Context(), &Gram{Matrix: gram.Full(sym, s.d), Rows: int64(s.n), Threads: threads}))(t)
	}
	want := ask(g, 1)
	if !slices.Equal(g, before) {
		t.Error("G has changed")
	}
	same := func(what string, got *stream.Size) {
		if got.Recommended != want.Recommended || got.Why != want.Why || !slices.Equal(got.Rules, want.Rules) {
			t.Errorf("%s: %+v\nwant %+v", what, got, want)
		}
	}
	same("8 threads", ask(g, 8))
	for i := range before {
		before[i] *= 0x1p20
	}
	same("scaled", ask(before, 2))
	moved := mat.NewDense(s.n, s.d, nil)
	for to, from := range rand.New(rand.NewPCG(2, 2)).Perm(s.d) {
		moved.SetCol(to, mat.Col(nil, from, x))
	}
	same("permuted", ask(gramOf(moved), 2))
}

// TestGapTwin: the leading eigenvalues agree with a dense solver, and G is as it was to the last bit.
func TestGapTwin(t *testing.T) {
	for _, s := range []set{{"groups", 100, 30, 3, 0.3, 1}, {"mixtures", 300, 200, 6, 0.3, 1}} {
		g := s.gram()
		before := slices.Clone(g.Sym)
		got := must.Get(spectral.LeadingPairs(kernel.NewTeam(2), g.Matrix, 9))(t).Values
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(s.d, before), false)
		want := e.Values(nil)
		for i, v := range got {
			if w := want[s.d-1-i]; v < w*(1-1e-9) || v > w*(1+1e-9) {
				t.Errorf("%+v: eigenvalue %d is %v, want %v", s, i+1, v, w)
			}
		}
		if !slices.Equal(g.Sym, before) {
			t.Errorf("%+v: G has changed", s)
		}
	}
	for _, c := range []struct {
		values []float64
		edge   float64
		want   int
	}{{[]float64{9, 8, 2, 1, 0.1}, 1.5, 2}, {[]float64{9, 8, 2, 1, 0.1}, 0.5, 4}, {[]float64{1, 1}, 2, 0}, {[]float64{5, 1}, 2, 1}, {nil, 0, 0}} {
		if k, _ := largestGap(c.values, c.edge); k != c.want {
			t.Errorf("%v above %v: %d, want %d", c.values, c.edge, k, c.want)
		}
	}
}

// TestSizeBytes: all memory that Choose allocates, garbage too, is within SizeBytes.
func TestSizeBytes(t *testing.T) {
	for _, s := range []set{{"mixtures", 300, 260, 5, 0.4, 1}, {"mixtures", 100, 600, 5, 0.4, 1}} {
		g := s.gram()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		must.Get(RecommendSize(t.Context(), g))(t)
		runtime.ReadMemStats(&after)
		if used := int64(after.TotalAlloc - before.TotalAlloc); used > SizeBytes(s.d, 0, 0) {
			t.Errorf("%+v: %d bytes, want %d at most", s, used, SizeBytes(s.d, 0, 0))
		}
	}
}

// TestChooseEdges: few columns and rows, copies, and more columns asked for than the rank.
func TestChooseEdges(t *testing.T) {
	for _, size := range []struct{ n, d int }{{2, 1}, {3, 1}, {2, 5}, {3, 5}, {5, 3}, {4, 80}, {100, 2}} {
		s := set{"noise", size.n, size.d, 0, 1, 3}
		x := s.data()
		if size.d > 2 {
			x.SetCol(1, mat.Col(nil, 0, x)) // a copy
		}
		got := must.Get(RecommendSize(t.Context(), &Gram{Matrix: gram.Full(gramOf(x), size.d), Rows: int64(size.n), Threads: 1}))(t)
		if got.Recommended < 1 || got.Recommended > size.d || len(got.Rules) != 4 || got.Why == "" {
			t.Errorf("%+v: got %+v, want a size from 1 to d, four rules and a reason", size, got)
		}
		for _, r := range got.Rules {
			if r.K < 0 || r.K > size.d || r.Why == "" {
				t.Errorf("%+v: got rule %+v, want a size from 0 to d and a reason", size, r)
			}
		}
	}
}

// TestSilentRules: rules that have nothing to go by agree with none: of two columns that go together
// one is worth keeping, as the others say.
func TestSilentRules(t *testing.T) {
	const n, r = 20, 0.7
	size := must.Get(RecommendSize(t.Context(), &Gram{Matrix: gram.Full([]float64{n, n * r, n * r, n}, 2), Rows: n, Threads: 1}))(t)
	if size.Recommended != 1 || strings.Contains(size.Why, "no number") {
		t.Errorf("%d: %s, by %+v", size.Recommended, size.Why, size.Rules)
	}
}
