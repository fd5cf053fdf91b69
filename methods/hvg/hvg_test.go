package hvg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// seuratCase has counts by gene and cell, and the results of Seurat. A result is nil if it is not a number.
type seuratCase struct {
	Counts       [][]float64
	Mean         []float64  `json:"vst.mean"`
	Variance     []float64  `json:"vst.variance"`
	Expected     []float64  `json:"vst.variance.expected"`
	Standardized []float64  `json:"vst.variance.standardized"`
	Dispersion   []*float64 `json:"mvp.dispersion.scaled"`

	Loess []struct { // regressions by R
		X, Y, Fitted []float64
		Span         float64
	}
}

// normalize scales each cell to a sum of 10,000.
func normalize(counts [][]float64) [][]float64 {
	out := make([][]float64, len(counts))
	for g := range counts {
		out[g] = slices.Clone(counts[g])
	}
	for c := range counts[0] {
		sum := 0.0
		for g := range counts {
			sum += counts[g][c]
		}
		for g := range counts {
			out[g][c] *= 10_000 / sum
		}
	}
	return out
}

func momentsOf(genes [][]float64) (mean, variance []float64) {
	for _, x := range genes {
		m, v := stat.MeanVariance(x, nil)
		mean, variance = append(mean, m), append(variance, v)
	}
	return mean, variance
}

func isClose(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

// TestScoresOfSeurat compares with the results of Seurat itself.
func TestScoresOfSeurat(t *testing.T) {
	for name, c := range fixtures.ReadCases[seuratCase](t, "hvg") {
		mean, variance := momentsOf(normalize(c.Counts))
		compared := 0
		for g, score := range ScoreSeurat(mean, variance) {
			if want := c.Dispersion[g]; want == nil {
				if score != 1 {
					t.Errorf("%s: gene %d is alone in its interval and scores %v, want 1", name, g, score)
				}
			} else if compared++; !isClose(score, *want, 1e-9) { // both add up some 100 terms
				t.Errorf("%s: gene %d scores %v, Seurat gives it %v", name, g, score, *want)
			}
		}
		if compared < 100 {
			t.Errorf("%s: only %d genes have a scaled dispersion in Seurat", name, compared)
		}
		var x, y []float64
		for g, v := range c.Variance {
			if v > 0 {
				x, y = append(x, math.Log10(c.Mean[g])), append(y, math.Log10(v))
			}
		}
		fitted := FitLoess(x, y, span, 3)
		for g, v := range c.Variance {
			if v == 0 {
				continue
			}
			expected := math.Pow(10, fitted[0])
			fitted = fitted[1:]
			if !isClose(expected/c.Expected[g], 1, 1e-6) { // loess takes weights above 1 − 3e-9 for 1
				t.Errorf("%s: gene %d has the expected variance %v, Seurat expects %v", name, g, expected, c.Expected[g])
			}
			squares := 0.0
			for _, count := range c.Counts[g] {
				z := min((count-c.Mean[g])/math.Sqrt(expected), math.Sqrt(float64(len(c.Counts[g]))))
				squares += z * z
			}
			if score := squares / float64(len(c.Counts[g])-1); !isClose(score, c.Standardized[g], 1e-6) {
				t.Errorf("%s: gene %d has the standardized variance %v, in Seurat %v", name, g, score, c.Standardized[g])
			}
		}
		for i, l := range c.Loess {
			for j, got := range FitLoess(l.X, l.Y, l.Span, 1) {
				if !isClose(got, l.Fitted[j], 1e-6) {
					t.Errorf("%s: regression %d is %v at %v, in R %v", name, i, got, l.X[j], l.Fitted[j])
				}
			}
		}
	}
}

// randomMoments has means as genes have, with ties, and columns without any value.
func randomMoments(rng *rand.Rand, d int) (mean, variance []float64) {
	for range d {
		m := math.Exp(2 * rng.NormFloat64())
		if rng.IntN(4) == 0 {
			m = float64(rng.IntN(3)) / 8
		}
		mean, variance = append(mean, m), append(variance, m*math.Exp(rng.NormFloat64()))
	}
	return mean, variance
}

// naiveScores scores each column by the others in its interval, found by comparing the columns with its ends one by one.
// centre and scale are those of an interval's dispersions.
func naiveScores(mean, level, dispersion, ends []float64, centre, scale func([]float64) float64, alone float64) []float64 {
	interval := func(j int) (n int) {
		for _, end := range ends {
			if level[j] > end {
				n++
			}
		}
		return n
	}
	scores := make([]float64, len(mean))
	for j := range mean {
		var others []float64
		for i := range mean {
			if mean[i] > 0 && interval(i) == interval(j) {
				others = append(others, dispersion[i])
			}
		}
		switch {
		case mean[j] == 0:
			scores[j] = noScore
		case len(others) == 1:
			scores[j] = alone
		default:
			scores[j] = (dispersion[j] - centre(others)) / scale(others)
		}
	}
	return scores
}

// TestScoresEqualNaiveTwins: the scores are those of the definitions, and permuting columns permutes them.
func TestScoresEqualNaiveTwins(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 55))
		mean, variance := randomMoments(rng, 30+rng.IntN(300))
		var level, logs, ratio, means, ends, quantiles []float64
		for j, m := range mean {
			level, ratio = append(level, math.Log1p(m)), append(ratio, variance[j]/m)
			logs = append(logs, math.Log(variance[j]/m))
			if m > 0 {
				means = append(means, m)
			}
		}
		low, high := math.Log1p(slices.Min(means)), math.Log1p(slices.Max(means))
		for i := 1.0; i < 20; i++ {
			ends = append(ends, low+i*(high-low)/20)
		}
		slices.Sort(means)
		for p := 10; p <= 100; p += 5 {
			at := float64(p) / 100 * float64(len(means)-1)
			left := int(math.Floor(at))
			right := min(left+1, len(means)-1)
			quantiles = append(quantiles, means[left]+(at-float64(left))*(means[right]-means[left]))
		}
		median := func(x []float64) float64 {
			x = slices.Sorted(slices.Values(x))
			return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
		}
		deviation := func(x []float64) float64 {
			m := median(x)
			var away []float64
			for _, v := range x {
				away = append(away, math.Abs(v-m))
			}
			return median(away) * 1.482602218505602
		}
		medians, _ := ScoreCellRanger(mean, variance)
		for name, pair := range map[string][2][]float64{
			"seurat":      {ScoreSeurat(mean, variance), naiveScores(mean, level, logs, ends, func(x []float64) float64 { return stat.Mean(x, nil) }, func(x []float64) float64 { return stat.StdDev(x, nil) }, 1)},
			"cell_ranger": {medians, naiveScores(mean, mean, ratio, quantiles, median, deviation, noScore)},
		} {
			for j, got := range pair[0] {
				if !isClose(got, pair[1][j], 1e-9) {
					t.Errorf("seed %d, %s: column %d scores %v, want %v", seed, name, j, got, pair[1][j])
				}
			}
		}
		order := rng.Perm(len(mean))
		var mean2, variance2 []float64
		for _, j := range order {
			mean2, variance2 = append(mean2, mean[j]), append(variance2, variance[j])
		}
		permuted, _ := ScoreCellRanger(mean2, variance2)
		for i, s := range ScoreSeurat(mean2, variance2) {
			if want := ScoreSeurat(mean, variance)[order[i]]; !isClose(s, want, 1e-9) || permuted[i] != medians[order[i]] {
				t.Errorf("seed %d: column %d scores %v and %v in another order, want %v and %v", seed, order[i], s, permuted[i], want, medians[order[i]])
			}
		}
	}
}

// fitNaively solves the weighted least squares of the definition by QR, in the powers of x − at. It returns the value and
// the slope.
func fitNaively(x, y []float64, at float64, size int) (value, slope float64) {
	distances := make([]float64, len(x))
	for i := range x {
		distances[i] = math.Abs(x[i] - at)
	}
	reach := slices.Sorted(slices.Values(distances))[size-1]
	a, b := mat.NewDense(len(x), 3, nil), mat.NewDense(len(x), 1, nil)
	for i, d := range distances {
		if d >= reach {
			continue
		}
		u3 := (d / reach) * (d / reach) * (d / reach)
		w := math.Sqrt((1 - u3) * (1 - u3) * (1 - u3))
		u := (x[i] - at) / reach
		a.SetRow(i, []float64{w, w * u, w * u * u})
		b.Set(i, 0, w*y[i])
	}
	var out mat.Dense
	if err := out.Solve(a, b); err != nil {
		return math.NaN(), math.NaN()
	}
	return out.At(0, 0), out.At(1, 0) / reach
}

func TestLoessEqualsNaiveTwin(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 56))
		n := 20 + rng.IntN(200)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			if x[i] = rng.NormFloat64(); rng.IntN(5) == 0 {
				x[i] = math.Round(4*x[i]) / 4
			}
			y[i] = math.Sin(x[i]) + rng.NormFloat64()/5
		}
		share := 0.3 + 0.7*rng.Float64()
		slices.Sort(x)
		size := int(float64(n)*share + 1e-5)
		for _, at := range append(cutCells(x, cellShare*share*float64(n)), x...) {
			value, slope := fitLocally(x, y, at, size)
			wantValue, wantSlope := fitNaively(x, y, at, size)
			if !isClose(value, wantValue, 1e-8) || !isClose(slope, wantSlope, 1e-7) { // the normal equations of 3 terms lose up to half of the digits
				t.Errorf("seed %d, %d points, span %v: %v and slope %v at %v, want %v and %v", seed, n, share, value, slope, at, wantValue, wantSlope)
			}
		}
	}
}

// TestLoessOfFewPoints: polynomials of lower degree are fitted if the points determine no other.
func TestLoessOfFewPoints(t *testing.T) {
	for name, c := range map[string]struct{ x, y, want []float64 }{
		"none":         {},
		"one":          {[]float64{2}, []float64{5}, []float64{5}},
		"all at one x": {[]float64{1, 1, 1, 1}, []float64{1, 2, 3, 6}, []float64{3, 3, 3, 3}},
		"a parabola":   {[]float64{0, 1, 2, 3, 4, 5}, []float64{0, 1, 4, 9, 16, 25}, []float64{0, 1, 4, 9, 16, 25}},
	} {
		if got := FitLoess(c.x, c.y, 1, 1); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return isClose(a, b, 1e-9) }) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
