package judge

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// tailByDefinition integrates the density of Student's T with nu degrees of freedom from t to infinity, by Simpson's
// rule over s in (0, 1) with x = t/s.
func tailByDefinition(t, nu float64) float64 {
	logGamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	constant := math.Exp(logGamma((nu+1)/2)-logGamma(nu/2)) / math.Sqrt(nu*math.Pi)
	density := func(s float64) float64 {
		if s == 0 {
			return 0
		}
		x := t / s
		return constant * math.Exp(-(nu+1)/2*math.Log1p(x*x/nu)) * t / (s * s)
	}
	const steps = 1 << 16
	sum := density(0) + density(1)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * density(float64(i)/steps)
	}
	return sum / steps / 3
}

// TestCorrelationPValue: the p-value by its definition, from a numeric integral and from the distribution.
func TestCorrelationPValue(t *testing.T) {
	for _, n := range []float64{4, 5, 10, 47, 300} {
		for _, r := range []float64{0.001, 0.1, -0.3, 0.5, -0.9, 0.999} {
			statistic := math.Abs(r) * math.Sqrt((n-2)/(1-r*r))
			got := CorrelationPValue(r, n)
			if want := 2 * tailByDefinition(statistic, n-2); math.Abs(got-want) > 1e-8*want+1e-10 {
				t.Errorf("r %v, n %v: got %v, want %v by the integral", r, n, got, want)
			}
			if want := 2 * (distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 2}).Survival(statistic); math.Abs(got-want) > 1e-9*want {
				t.Errorf("r %v, n %v: got %v, want %v by the distribution", r, n, got, want)
			}
		}
	}
	for _, c := range []struct{ r, n, want float64 }{{1, 9, 0}, {-1, 9, 0}, {0, 9, 1}, {0.5, 2, math.NaN()}, {math.NaN(), 9, math.NaN()}, {0.5, 0, math.NaN()}} {
		if got := CorrelationPValue(c.r, c.n); got != c.want && (got == got || c.want == c.want) {
			t.Errorf("r %v, n %v: got %v, want %v", c.r, c.n, got, c.want)
		}
	}
}
