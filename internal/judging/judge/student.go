package judge

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// CorrelationPValue returns the two-sided p-value of a correlation r of n rows: P(|T| ≥ |r|·√((n − 2)/(1 − r²))) for
// Student's T with n − 2 degrees of freedom. It is computed as a regularized incomplete beta function, so that small
// values keep their digits. Without a degree of freedom the result is NaN.
func CorrelationPValue(r, n float64) float64 {
	if !(n > 2) || math.IsNaN(r) {
		return math.NaN()
	}
	return mathext.RegIncBeta((n-2)/2, 0.5, (1-r)*(1+r))
}
