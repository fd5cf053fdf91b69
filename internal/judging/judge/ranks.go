package judge

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Ranks compares k treatments over N blocks by their ranks within each block.
type Ranks struct {
	Blocks int
	Mean   []float64 // mean rank of each of the k treatments; 1 is the best rank
	// Chi is Friedman's statistic, and P the probability of a value at least as large if all treatments are equally
	// good. F and FP are the statistic of Iman and Davenport, whose test is less conservative, and its probability. All
	// are NaN for fewer than two treatments or blocks.
	Chi, P float64
	F, FP  float64
	// Critical is the least difference of the mean ranks of two treatments that is significant at the level of 5 %
	// (Nemenyi).
	Critical float64
}

// FriedmanTest ranks the treatments of each block by scores[block][treatment]; the largest score has rank 1. Equal
// scores get the mean of their ranks. NaN represents a failed treatment and is ranked last. The tests are recommended
// by Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006), section 3.2.2.
func FriedmanTest(scores [][]float64) Ranks {
	r := Ranks{Blocks: len(scores), Chi: math.NaN(), P: math.NaN(), F: math.NaN(), FP: math.NaN(), Critical: math.NaN()}
	if len(scores) == 0 {
		return r
	}
	r.Mean = make([]float64, len(scores[0]))
	for _, block := range scores {
		for t, rank := range rankWithTies(block) {
			r.Mean[t] += rank / float64(len(scores))
		}
	}
	k, n := float64(len(r.Mean)), float64(len(scores))
	if k < 2 || n < 2 {
		return r
	}
	squares := 0.0
	for _, m := range r.Mean {
		squares += (m - (k+1)/2) * (m - (k+1)/2)
	}
	r.Chi = 12 * n / (k * (k + 1)) * squares
	r.P = mathext.GammaIncRegComp((k-1)/2, r.Chi/2)
	r.F, r.FP = math.Inf(1), 0
	if rest := n*(k-1) - r.Chi; rest > 0 { // rest is 0 if all blocks rank the treatments equally
		r.F = (n - 1) * r.Chi / rest
		d1, d2 := k-1, (k-1)*(n-1)
		r.FP = mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*r.F))
	}
	r.Critical = studentizedRange(len(r.Mean)) / math.Sqrt2 * math.Sqrt(k*(k+1)/(6*n))
	return r
}

// rankWithTies ranks the scores, the largest first. Equal scores get their mean rank.
func rankWithTies(scores []float64) []float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) }) // NaN is considered the least score
	ranks := make([]float64, len(scores))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && cmp.Compare(scores[order[to]], scores[order[from]]) == 0 {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return ranks
}

// studentizedRange returns the value that the range of k independent standard normal numbers exceeds with a probability
// of 5 % (significance). This is the studentized range for infinite degrees of freedom. Published tables end at about
// 20 treatments, and the benchmarks compare more.
func studentizedRange(k int) float64 {
	low, high := 0.0, 20.0 // 20 standard deviations are enough for any k that fits into memory
	for range 60 {
		if middle := (low + high) / 2; chanceOfRangeBelow(middle, k) < 1-significance {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// chanceOfRangeBelow returns the probability that the range of k standard normal numbers is below q. It is
// k·∫φ(z)·(Φ(z) − Φ(z−q))^(k−1) dz, with the normal density φ and distribution function Φ. The integral is computed by
// the trapezoidal rule. It is exact to rounding, because the integrand is smooth and becomes 0 at both ends.
func chanceOfRangeBelow(q float64, k int) float64 {
	const step, end = 1.0 / 32, 10.0
	below := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	sum := 0.0
	for z := -end; z <= end; z += step {
		sum += math.Exp(-z*z/2) * math.Pow(below(z)-below(z-q), float64(k-1))
	}
	return float64(k) * step * sum / math.Sqrt(2*math.Pi)
}

// IndistinguishableSets lists the maximal sets of treatments whose mean ranks differ by less than Critical. Treatments
// are sorted by mean rank, and each set is given by its first and last position in this order, both included.
func (r Ranks) IndistinguishableSets() (sets [][2]int) {
	means := slices.Sorted(slices.Values(r.Mean))
	last := 0
	for from := range means {
		to := from
		for to+1 < len(means) && means[to+1]-means[from] < r.Critical {
			to++
		}
		if to > from && to > last {
			sets = append(sets, [2]int{from, to})
			last = to
		}
	}
	return sets
}
