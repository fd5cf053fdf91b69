package judge

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Summary is the mean and the standard deviation of the results of several runs.
type Summary struct {
	Mean, Std float64 // Std has the divisor Runs-1; it is NaN for fewer than two runs, and Mean is NaN for no runs
	Runs      int
}

// Summarize returns the mean and standard deviation of the results x.
func Summarize(x []float64) Summary {
	s := Summary{Mean: math.NaN(), Std: math.NaN(), Runs: len(x)}
	if len(x) == 0 {
		return s
	}
	// The first value is subtracted from all values, so that equal values have a standard deviation of exactly 0.
	sum := 0.0
	for _, v := range x {
		sum += v - x[0]
	}
	s.Mean = x[0] + sum/float64(len(x))
	if len(x) > 1 {
		squares := 0.0
		for _, v := range x {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.Std = math.Sqrt(squares / float64(len(x)-1))
	}
	return s
}

// Test is the result of a two-sided t-test for equality of two means.
type Test struct {
	T, Freedom float64 // the statistic and its degrees of freedom
	P          float64 // the probability of a |T| at least this large if the means are equal
}

// WelchTest tests whether the samples a and b come from distributions with equal means. Their variances are unknown
// and may differ: Welch, "The generalization of Student's problem when several different population variances are
// involved", Biometrika 34 (1947). If neither sample varies, P is 1 for equal means, otherwise 0. If a sample has
// fewer than two values, all results are NaN.
func WelchTest(a, b []float64) Test {
	if len(a) < 2 || len(b) < 2 {
		return Test{math.NaN(), math.NaN(), math.NaN()}
	}
	sa, sb := Summarize(a), Summarize(b)
	// The squared standard errors of the means.
	ea, eb := sa.Std*sa.Std/float64(len(a)), sb.Std*sb.Std/float64(len(b))
	gap := sa.Mean - sb.Mean
	if ea+eb == 0 {
		t := Test{Freedom: float64(len(a) + len(b) - 2), P: 1}
		if gap != 0 {
			t.T, t.P = math.Copysign(math.Inf(1), gap), 0
		}
		return t
	}
	t := Test{T: gap / math.Sqrt(ea+eb)}
	// The squared errors are divided by their sum, so that squares of tiny errors do not underflow.
	u, v := ea/(ea+eb), eb/(ea+eb)
	t.Freedom = 1 / (u*u/float64(len(a)-1) + v*v/float64(len(b)-1))
	// 2·P(T > |t|) as an incomplete beta function is precise even if the result is tiny.
	t.P = mathext.RegIncBeta(t.Freedom/2, 0.5, t.Freedom/(t.Freedom+t.T*t.T))
	return t
}

// significance is the level of the tests in Table 2 of the greedy paper.
const significance = 0.05

// MarkBest compares the runs of several selections. p[i] is the P of Welch's test of selection i against the selection
// with the largest mean, whose own P is 1. best[i] is true if selection i has the largest mean, or is not significantly
// worse at the level of 5 %. If several selections have the largest mean, all of them are best. A selection without
// runs has P NaN and is not best.
func MarkBest(runs [][]float64) (p []float64, best []bool) {
	p, best = make([]float64, len(runs)), make([]bool, len(runs))
	top := -1
	means := make([]float64, len(runs))
	for i, r := range runs {
		means[i] = Summarize(r).Mean
		if len(r) > 0 && (top < 0 || means[i] > means[top]) {
			top = i
		}
	}
	for i, r := range runs {
		switch {
		case len(r) == 0:
			p[i] = math.NaN()
		case i == top:
			p[i], best[i] = 1, true
		default:
			p[i] = WelchTest(r, runs[top]).P
			best[i] = p[i] >= significance || means[i] == means[top]
		}
	}
	return p, best
}
