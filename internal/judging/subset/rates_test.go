package subset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// drawnTable is a table of one kind, with factors, noise and rates that the seed draws.
func drawnTable(kind string, n, d int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 77))
	studentT := func() float64 { // with 3 degrees of freedom
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
	}
	factors, noise, width, rate := max(2, min(d/4, 2+r.IntN(8))), 0.3+0.7*r.Float64(), 3+r.IntN(6), 0.01+0.09*r.Float64()
	weights := mat.NewDense(d, factors, nil)
	for j := range d {
		for f := range factors {
			switch {
			case kind == "mixtures" || kind == "heavy mixtures":
				weights.Set(j, f, r.NormFloat64()/math.Sqrt(float64(factors)))
			case f == j%factors && (kind != "thirds" || j < 2*d/3):
				weights.Set(j, f, 1)
			}
		}
	}
	x, z := mat.NewDense(n, d, nil), make([]float64, max(d, factors))
	for i := range n {
		for f := range z {
			if z[f] = r.NormFloat64(); kind == "heavy mixtures" {
				z[f] = studentT()
			}
		}
		for j := range d {
			own, shared := r.NormFloat64(), mat.Dot(weights.RowView(j), mat.NewVecDense(factors, z[:factors]))
			v := shared + noise*own
			switch kind {
			case "blocks":
				if v = own; j < (d+1)/2 {
					v = math.Sqrt(0.6)*z[j/width] + math.Sqrt(0.4)*own
				}
			case "rare flags":
				v = float64(map[bool]int{true: 1}[v > 1.3*math.Sqrt(1+noise*noise)])
			case "noise":
				v = own
			case "heavy noise":
				v = studentT()
			case "log-normal noise":
				v = math.Exp(1.5 * own)
			case "noise of flags":
				v = float64(map[bool]int{true: 1}[r.Float64() < rate])
			}
			x.Set(i, j, v)
		}
	}
	standardize(x)
	x.Apply(func(i, j int, v float64) float64 { // a flag that was never set
		if v != v {
			return 0
		}
		return v
	}, x)
	return x
}

// TestRatesOfTrust: greedy's choice from tables with structure of any kind is trusted, and one from noise with
// any tails is not. Of 20 seeds (5 from 100 columns on) of each of 10 kinds, with 3 numbers of rows from 100 to
// 2,000, 5 of columns from 8 to 500 and k from 2 to d/4, at most 5 % of a cell of structure was not trusted,
// and at least 95 % of a cell of noise, except one of flags with 80 %. The test runs few of them: one of 60 may
// go astray if there is structure, and 4 if there is none.
func TestRatesOfTrust(t *testing.T) {
	for kinds, structure := range map[string]bool{"structure": true, "noise": false} {
		list := []string{"groups", "mixtures", "thirds", "blocks", "heavy mixtures", "rare flags"}
		if !structure {
			list = []string{"noise", "heavy noise", "log-normal noise", "noise of flags"}
		}
		total, wrong := 0, 0
		for _, kind := range list {
			for _, d := range []int{8, 12, 30, 90} {
				for seed := range uint64(2) {
					g := gram.Full(gramOf(drawnTable(kind, 400, d, seed+100*uint64(d))), d)
					for k := range setOf(2, max(2, d/4)) {
						order := must.Get(greedy.Select(t.Context(), g, greedy.Options{K: k}))(t).Order
						c := must.Get(Compare(t.Context(), Choice{Matrix: g, Rows: 400, Chosen: order, Seed: 1, Threads: 2}))(t)
						if c == nil {
							continue
						}
						total++
						if (c.Better || c.Related) != structure {
							t.Logf("%s, %d columns, k = %d, seed %d: %+v", kind, d, k, seed, *c)
							wrong++
						}
					}
				}
			}
		}
		t.Logf("%s: %d of %d judged wrongly", kinds, wrong, total)
		if most := map[bool]int{true: total / 60, false: total / 15}[structure]; total < 50 || wrong > most {
			t.Errorf("%s: %d of %d judged wrongly, want at most %d", kinds, wrong, total, most)
		}
	}
}

// setOf is the set of some numbers.
func setOf(numbers ...int) map[int]bool {
	set := make(map[int]bool)
	for _, n := range numbers {
		set[n] = true
	}
	return set
}

// TestAllSubsets: if there are few choices the share of beaten ones is exact, and greedy's choice of one column
// is the best of all. The twin counts by the bits of a number.
func TestAllSubsets(t *testing.T) {
	s := set{"mixtures", 100, 12, 3, 0.5, 4}
	g := s.gram()
	for k := 1; k <= 5; k++ {
		order := must.Get(greedy.Select(t.Context(), g.Matrix, greedy.Options{K: k}))(t).Order
		got := must.Get(CompareRandom(t.Context(), Choice{Matrix: g.Matrix, Rows: g.Rows, Chosen: order, Seed: 3, Threads: 2}))(t)
		all, fewer, most := 0, 0, 0.0
		for bits := range 1 << s.d {
			var chosen []int
			for j := range s.d {
				if bits>>j&1 == 1 {
					chosen = append(chosen, j)
				}
			}
			if len(chosen) != k {
				continue
			}
			all++
			share := ExplainedShare(g.Matrix, chosen, 1)
			if most = max(most, share); share < got.Value-1e-8 {
				fewer++
			}
		}
		if want := float64(fewer) / float64(all); got.Draws != all || math.Abs(got.Beaten-want) > 1e-9 || math.Abs(got.Best-most) > 1e-9 {
			t.Errorf("k = %d: %d choices, %v beaten, the best %v; want %d, %v, %v", k, got.Draws, got.Beaten, got.Best, all, want, most)
		}
		if k == 1 && got.Value != got.Best {
			t.Errorf("greedy's first column explains %v, the best %v", got.Value, got.Best)
		}
	}
}

// TestNextSubset: every choice comes once, rising, and their number is the binomial coefficient.
func TestNextSubset(t *testing.T) {
	for d := 1; d <= 9; d++ {
		for k := 1; k <= d; k++ {
			subsets, last := combin.NewCombinationGenerator(d, k), []int(nil)
			for range countSubsets(d, k) {
				if !subsets.Next() {
					t.Fatalf("%d of %d: no choice after %v", k, d, last)
				}
				subset := subsets.Combination(nil)
				if slices.Compare(last, subset) >= 0 || !slices.IsSorted(subset) || subset[k-1] >= d {
					t.Fatalf("%d of %d: %v after %v", k, d, subset, last)
				}
				last = subset
			}
			if last[0] != d-k || subsets.Next() {
				t.Errorf("%d of %d end with %v", k, d, last)
			}
		}
	}
	if n := countSubsets(30, 3); n != 4060 {
		t.Errorf("%d choices of 3 of 30, want 4,060", n)
	}
	if n := countSubsets(100_000, 5_000); n <= maxSubsets {
		t.Errorf("%d choices of 5,000 of 100,000, want more than %d", n, maxSubsets)
	}
}
