package subset

import "math"

// maxEigenvalues is the number of leading eigenvalues among which the largest gap is searched.
const maxEigenvalues = 64

// largestGap returns the k for which the ratio λ_k/λ_{k+1} is largest, and that ratio. values contains the eigenvalues
// λ_1, λ_2, …, descending. It considers only λ_k above the bound edge, because smaller eigenvalues are noise. k is 0 if
// no eigenvalue is above the bound.
func largestGap(values []float64, edge float64) (k int, ratio float64) {
	for i := 0; i+1 < len(values) && values[i] > edge; i++ {
		if r := values[i] / max(values[i+1], values[0]*dependentShare); r > ratio {
			k, ratio = i+1, r
		}
	}
	return k, ratio
}

// noiseEdge returns the largest eigenvalue of G if the columns are unrelated, have the given sums of squares gⱼ, and
// lie in a space of `dims` dimensions. This is the right end of the law of Marchenko and Pastur for columns of unequal
// variances (Silverstein and Choi 1995),
//
//	min over z > max g of z + (z/dims)·Σ gⱼ/(z − gⱼ)
//
// which is g(1 + √(d/dims))² if all gⱼ = g.
func noiseEdge(squares []float64, dims float64) float64 {
	top := 0.0
	for _, g := range squares {
		top = max(top, g)
	}
	if top == 0 {
		return 0
	}
	bound := func(z float64) float64 {
		s := 0.0
		for _, g := range squares {
			s += g / (z - g)
		}
		return z + z/dims*s
	}
	// bound is a convex function. Its minimum is found by golden-section search over log(z/top − 1).
	const golden = 0.6180339887498949
	lo, hi := -30.0, math.Log(1e3*(1+float64(len(squares))/dims))
	z := func(u float64) float64 { return top * (1 + math.Exp(u)) }
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := bound(z(a)), bound(z(b))
	for hi-lo > 1e-6 {
		if fa < fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = bound(z(a))
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = bound(z(b))
		}
	}
	return min(fa, fb)
}

// informationCriterion returns the Bayesian information criterion of the model of Sood and Hastie (their Gaussian
// PCSS model). The subset S is the first k columns of a curve, and R the remaining columns:
//
//	x_S ~ N(μ, C),  x_R = μ_R + W(x_S − μ_S) + ε,  ε ~ N(0, D),  D diagonal
//
// x is a row of the data, μ its mean, and W contains the coefficients by which S predicts R. With the covariance Σ =
// G/n of n rows, the maximum likelihood has Ĉ = Σ_SS, Ŵ = Σ_RS Σ_SS⁻¹ and D̂ = diag(Σ_RR·S), the variances that S
// leaves unexplained. Then
//
//	−2 log L = n·(log det Σ_SS + Σ_{j∉S} log Σ_jj·S + d·(1 + log 2π))
//
// The model has k(k+1)/2 + (d−k)(k+1) parameters in addition to the means, whose number does not depend on k. Terms
// that do not depend on k are omitted. log det Σ_SS is the sum of the logarithms of the curve's pivots divided by n,
// and is passed as logPivots. The sum over j∉S is passed as logLeft.
//
// The paper chooses k by testing the model against an unrestricted covariance, which needs n > d. Schwarz's criterion
// uses the same likelihood and the same number of parameters, and also has a result if n ≤ d. The paper's subset has
// the largest likelihood, but here the subset is greedy's choice.
func informationCriterion(rows float64, d, k int, logPivots, logLeft float64) float64 {
	parameters := float64(k)*float64(k+1)/2 + float64(d-k)*float64(k+1)
	return rows*(logPivots+logLeft) + math.Log(rows)*parameters
}
