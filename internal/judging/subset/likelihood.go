package subset

import "math"

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
