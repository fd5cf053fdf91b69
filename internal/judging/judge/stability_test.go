package judge

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestAgreement(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		what              string
		sets              [][]int
		d                 int
		jaccard, nogueira float64
	}{
		{"one alone", [][]int{{1}}, 3, nan, nan},
		{"the same, in other orders", [][]int{{0, 1}, {1, 0}, {0, 1}}, 4, 1, 1},
		{"all features", [][]int{{0, 1}, {0, 1}}, 2, 1, nan},
		{"nothing", [][]int{{}, {}}, 2, 1, nan},
		// s² = 1/2 for each of 4 features; k̄/d = 1/2: 1 − (1/2)/(1/4) = −1.
		{"disjoint halves", [][]int{{0, 1}, {2, 3}}, 4, 0, -1},
		// p = 1, 1/2, 1/2, 0; s² = 0, 1/2, 1/2, 0: 1 − (1/4)/(1/4) = 0.
		{"one of two", [][]int{{0, 1}, {0, 2}}, 4, 1.0 / 3, 0},
		// Sizes 1 and 2: p = 1, 1/2, 0; mean s² = 1/6, k̄/d = 1/2.
		{"other sizes", [][]int{{0}, {0, 1}}, 3, 0.5, 1 - 4.0/6},
	} {
		s := MeasureStability(c.sets, c.d)
		equal(t, c.what, []float64{s.Jaccard, s.Nogueira}, []float64{c.jaccard, c.nogueira}, 1e-15)
		if s.Resamples != len(c.sets) {
			t.Errorf("%s: %d resamples", c.what, s.Resamples)
		}
	}
}

// TestAgreementChance: random selections have about no stability, however many are
// selected, while Jaccard rises with the share.
func TestAgreementChance(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	const d, m = 200, 40
	for _, k := range []int{10, 100, 190} {
		sets := make([][]int, m)
		for i := range sets {
			sets[i] = random.Perm(d)[:k]
		}
		s := MeasureStability(sets, d)
		// The mean of 200 variances of 40 draws: their spread is some 1/√(200·40·2).
		if math.Abs(s.Nogueira) > 0.03 {
			t.Errorf("%d of %d at random: %v", k, d, s.Nogueira)
		}
		if want := float64(k) / float64(2*d-k); math.Abs(s.Jaccard-want) > 0.03 {
			t.Errorf("%d of %d at random: Jaccard %v, want about %v", k, d, s.Jaccard, want)
		}
	}
}

// TestAgreementIntervalTwin: the interval is that of the paper's formula over the whole matrix of
// what was selected.
func TestAgreementIntervalTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	const d, m = 25, 7
	sets, z := make([][]int, m), make([][d]float64, m)
	for i := range sets {
		sets[i] = random.Perm(d)[:2+random.IntN(12)]
		for _, f := range sets[i] {
			z[i][f] = 1
		}
	}
	s := MeasureStability(sets, d)
	var mean [d]float64 // of the columns of z
	size := 0.0
	for f := range d {
		for i := range m {
			mean[f] += z[i][f] / m
		}
		size += mean[f]
	}
	var phi [m]float64
	average := 0.0
	for i := range m {
		own, common := 0.0, 0.0
		for f := range d {
			own += z[i][f]
			common += z[i][f] * mean[f] / d
		}
		phi[i] = (common - own*size/(d*d) + s.Nogueira/2*(2*own*size/(d*d)-own/d-size/d+1)) / (size / d * (1 - size/d))
		average += phi[i] / m
	}
	variance := 0.0
	for i := range m {
		variance += 4.0 / (m * m) * (phi[i] - average) * (phi[i] - average)
	}
	half := 1.959963984540054 * math.Sqrt(variance)
	equal(t, "interval", []float64{s.Low, s.High}, []float64{s.Nogueira - half, s.Nogueira + half}, 1e-13)
}

// TestAgreementIntervalCovers: of independent selections the interval has the measure's own value,
// which ever more selections come to, about 95 times in 100.
func TestAgreementIntervalCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	const d, k, m, trials = 60, 12, 40, 400
	draw := func(m int) [][]int { // the first features are likelier than the last
		sets := make([][]int, m)
		for i := range sets {
			in := make([]bool, d)
			for len(sets[i]) < k {
				if f := int(d * math.Pow(random.Float64(), 2.5)); !in[f] {
					in[f] = true
					sets[i] = append(sets[i], f)
				}
			}
		}
		return sets
	}
	truth, covered := MeasureStability(draw(3_000), d).Nogueira, 0
	for range trials {
		if s := MeasureStability(draw(m), d); s.Low <= truth && truth <= s.High {
			covered++
		}
	}
	// 95 % less what 40 selections are short of infinitely many, and three standard deviations.
	if share := float64(covered) / trials; share < 0.88 || share > 0.99 {
		t.Errorf("%v of the intervals have %v", share, truth)
	}
}

// TestAgreementPermuted: names of features and the order of selections do not matter.
func TestAgreementPermuted(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	const d, m = 30, 6
	sets, renamed := make([][]int, m), make([][]int, m)
	names, order := random.Perm(d), random.Perm(m)
	for i := range sets {
		sets[i] = random.Perm(d)[:3+random.IntN(9)]
		for _, f := range sets[i] {
			renamed[order[i]] = append(renamed[order[i]], names[f])
		}
	}
	a, b := MeasureStability(sets, d), MeasureStability(renamed, d)
	equal(t, "renamed", []float64{a.Jaccard, a.Nogueira}, []float64{b.Jaccard, b.Nogueira}, 1e-14)
}
