package judge

import (
	"cmp"
	"math"
	"slices"
)

// PairedTest is the result of Wilcoxon's signed-rank test of pairs (a, b).
type PairedTest struct {
	Pairs int     // number of pairs that differ
	Plus  float64 // sum of the ranks of the pairs with a > b
	Minus float64 // sum of the ranks of the pairs with a < b
	P     float64 // two-sided: the probability of sums at least as unequal if neither side tends to be larger
	Above float64 // one-sided: the probability of a Plus at least as large
}

// maxExactPairs is the largest number of pairs for which [WilcoxonTest] computes the exact distribution. Above it, the
// normal approximation differs from the exact probability by less than 0.003, also if many ranks are equal.
const maxExactPairs = 50

// WilcoxonTest tests whether the scores a tend to be larger or smaller than the scores b of the same blocks, such as
// data sets or runs: Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945). It ranks the
// absolute differences; equal ones get the mean of their ranks, and pairs without a difference are left out. NaN
// represents a failure, which is worse than any score. For up to 50 pairs that differ the probabilities are exact, also
// with equal ranks: every assignment of signs to these ranks is equally probable. For more pairs, they come from the
// normal distribution with the variance of these ranks and a correction for continuity. Without pairs, P and Above are
// NaN. If no pair differs, they are 1. The slices must have the same length.
func WilcoxonTest(a, b []float64) PairedTest {
	if len(a) == 0 {
		return PairedTest{P: math.NaN(), Above: math.NaN()}
	}
	var differences, sizes []float64
	for i := range a {
		if d := differenceWithFailures(a[i], b[i]); d != 0 {
			differences, sizes = append(differences, d), append(sizes, -math.Abs(d)) // the largest score has rank 1
		}
	}
	t := PairedTest{Pairs: len(differences)}
	ranks := rankWithTies(sizes)
	for i, d := range differences {
		if d > 0 {
			t.Plus += ranks[i]
		} else {
			t.Minus += ranks[i]
		}
	}
	above := chanceOfRankSum
	if t.Pairs > maxExactPairs {
		above = approximateChanceOfRankSum
	}
	t.Above = above(ranks, t.Plus)
	t.P = min(1, 2*min(t.Above, above(ranks, t.Minus)))
	return t
}

func differenceWithFailures(a, b float64) float64 {
	switch failedA, failedB := math.IsNaN(a), math.IsNaN(b); {
	case failedA && failedB:
		return 0
	case failedA:
		return math.Inf(-1)
	case failedB:
		return math.Inf(1)
	}
	return a - b
}

// chanceOfRankSum returns the probability that the sum of a random subset of the ranks, to which each rank belongs with
// probability 1/2, is at least sum. Ranks are multiples of 1/2.
func chanceOfRankSum(ranks []float64, sum float64) float64 {
	chances, most := []float64{1}, 0 // chances[s] is the probability that the sum is s/2
	for _, rank := range ranks {
		step := int(2 * rank)
		next := make([]float64, most+step+1)
		for s, chance := range chances {
			next[s] += chance / 2
			next[s+step] += chance / 2
		}
		chances, most = next, most+step
	}
	above := 0.0
	for _, chance := range slices.Backward(chances[int(2*sum):]) { // from the least
		above += chance
	}
	return min(above, 1)
}

func approximateChanceOfRankSum(ranks []float64, sum float64) float64 {
	mean, variance := 0.0, 0.0
	for _, rank := range ranks { // each contributes rank or 0 with equal probability
		mean, variance = mean+rank/2, variance+rank*rank/4
	}
	return math.Erfc((sum-mean-0.5)/math.Sqrt(2*variance)) / 2
}

// AdjustHolm corrects the probabilities of several tests for their number: if all tests below a level are called
// significant, the probability that any of them is so by chance is at most this level. Holm, "A simple
// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). NaN stays, and does not
// count as a test.
func AdjustHolm(p []float64) []float64 {
	adjusted, order := slices.Clone(p), []int(nil)
	for i, x := range p {
		if !math.IsNaN(x) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = least
	}
	return adjusted
}
