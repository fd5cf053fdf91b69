package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// demsar is Table 6 of Demšar (2006): AUC of C4.5 with its parameters m and cf, alone and
// together, on 14 sets. Of voting the paper ranks two equal figures before it rounded them.
func demsar() [][]float64 {
	return [][]float64{
		{0.763, 0.768, 0.771, 0.798}, {0.599, 0.591, 0.590, 0.569}, {0.954, 0.971, 0.968, 0.967},
		{0.628, 0.661, 0.654, 0.657}, {0.882, 0.888, 0.886, 0.898}, {0.936, 0.931, 0.916, 0.931},
		{0.661, 0.668, 0.609, 0.685}, {0.583, 0.583, 0.563, 0.625}, {0.775, 0.838, 0.866, 0.875},
		{1.000, 1.000, 1.000, 1.000}, {0.940, 0.962, 0.965, 0.962}, {0.619, 0.666, 0.614, 0.669},
		{0.972, 0.981, 0.975, 0.9749}, {0.957, 0.978, 0.946, 0.970},
	}
}

// TestFriedman: the paper's own figures, to the digits that it prints.
func TestFriedman(t *testing.T) {
	r := FriedmanTest(demsar())
	near := func(what string, got, want, tolerance float64) {
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s is %v, the paper says %v", what, got, want)
		}
	}
	for i, want := range []float64{3.143, 2.000, 2.893, 1.964} {
		near("a mean rank", r.Mean[i], want, 0.0005)
	}
	near("χ²", r.Chi, 9.28, 0.005)
	near("F", r.F, 3.69, 0.005)
	near("the critical difference", r.Critical, 1.25, 0.005)
	// It rejects at 5 %, but no pair differs by 1.25, as the paper remarks.
	if !(r.FP < 0.05 && r.P < 0.05) {
		t.Errorf("P of F %v, of χ² %v, want less than 0.05", r.FP, r.P)
	}
	if got := r.IndistinguishableSets(); !slices.Equal(got, [][2]int{{0, 3}}) {
		t.Errorf("alike are %v", got)
	}
	// At 10 % the paper has 1.05, and separates C4.5 from the two with m, but not cf from m+cf.
	r.Critical = 1.05
	if got := r.IndistinguishableSets(); !slices.Equal(got, [][2]int{{0, 2}, {2, 3}}) {
		t.Errorf("alike at 10 %% are %v", got)
	}
}

// TestStudentizedRange: Table 5a of the same paper, q at 5 % over √2 for 2 to 10 treatments.
func TestStudentizedRange(t *testing.T) {
	for i, want := range []float64{1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164} {
		if got := studentizedRange(i+2) / math.Sqrt2; math.Abs(got-want) > 0.001 { // it rounds 2.3437 down
			t.Errorf("%d treatments: %v, want %v", i+2, got, want)
		}
	}
}

// TestChanceOfChance: where nothing differs, the tests reject in about 5 % of the cases.
func TestChanceOfChance(t *testing.T) {
	const tries = 500
	r := rand.New(rand.NewPCG(1, 2))
	var chi, f float64
	for range tries {
		scores := make([][]float64, 12)
		for b := range scores {
			for range 6 {
				scores[b] = append(scores[b], r.Float64())
			}
		}
		x := FriedmanTest(scores)
		if x.P < 0.05 {
			chi++
		}
		if x.FP < 0.05 {
			f++
		}
	}
	// Five deviations of a binomial share of 500 are 4.9 points; χ² is known to be too careful.
	if chi > f || math.Abs(f/tries-0.05) > 0.049 {
		t.Errorf("rejected by χ² in %v, by F in %v of all cases", chi/tries, f/tries)
	}
}

// TestRanksAreLawful: a failure is last, the order of treatments and any rising function of
// the scores change nothing, and ranks add up.
func TestRanksAreLawful(t *testing.T) {
	nan := math.NaN()
	if got := rankWithTies([]float64{0.5, nan, 0.7, 0.5, nan}); !slices.Equal(got, []float64{2.5, 4.5, 1, 2.5, 4.5}) {
		t.Errorf("ranks %v", got)
	}
	r := rand.New(rand.NewPCG(3, 4))
	scores, turned := make([][]float64, 9), make([][]float64, 9)
	order := r.Perm(5)
	for b := range scores {
		for range 5 {
			scores[b] = append(scores[b], float64(r.IntN(6)))
		}
		for _, j := range order {
			turned[b] = append(turned[b], math.Exp(scores[b][j])*3-7)
		}
	}
	x, y := FriedmanTest(scores), FriedmanTest(turned)
	sum := 0.0
	for i, j := range order {
		sum += x.Mean[i]
		if math.Abs(x.Mean[j]-y.Mean[i]) > 1e-12 {
			t.Errorf("treatment %d has mean rank %v, moved %v", j, x.Mean[j], y.Mean[i])
		}
	}
	if math.Abs(sum-15) > 1e-12 || math.Abs(x.Chi-y.Chi) > 1e-9 {
		t.Errorf("ranks add up to %v, want 15; χ² %v and %v", sum, x.Chi, y.Chi)
	}
	for _, few := range [][][]float64{nil, {{1, 2}}, {{1}, {2}}} {
		if x := FriedmanTest(few); !math.IsNaN(x.Chi) || !math.IsNaN(x.Critical) || x.IndistinguishableSets() != nil {
			t.Errorf("Friedman(%v) = %+v, want no statistic, as there is too little to rank", few, x)
		}
	}
	same := FriedmanTest([][]float64{{3, 2, 1}, {3, 2, 1}, {3, 2, 1}})
	if !math.IsInf(same.F, 1) || same.FP != 0 {
		t.Errorf("all blocks agree: %+v", same)
	}
}
