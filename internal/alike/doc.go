// Package alike finds columns that are alike, and explains columns by others, using only the correlation matrix R of
// the d columns:
//
//  1. [New] makes R from the Gram matrix of centred columns, in the order of their names, so
//     that no answer depends on the order of the columns.
//  2. [Matrix.RegressOn] explains columns by chosen ones: R_SS·w = R_Sj, R² = wᵀR_Sj.
//  3. [Matrix.FindDependence] finds copies and exact linear combinations by a Cholesky factor with
//     pivots, and each column's variance inflation VIF = 1/(1 − R²) = (R⁻¹)ⱼⱼ.
//  4. [Matrix.FindClusters] divides the columns into clusters that one component explains.
//  5. [Matrix.ChooseUncorrelated] keeps columns so that no two of them are correlated above a threshold.
//
// # Exactness
//
// An entry of the Gram matrix of n rows is a sum of n/256 chains of 256 multiply-adds of differences from a pilot
// value, and Cholesky's factor adds d more terms. So the correlation of columns i and j is off by at most
//
//	ε·aᵢ·aⱼ,  ε = (256 + n/256 + d)·2⁻⁵²,  aⱼ² = 1 + ((mean − pilot)/sd)²,
//
// aⱼ is the norm of column j minus its pilot, divided by the norm of the column minus its mean. The share of column j
// that a combination of other columns with weights w leaves is the quadratic form of R in (1, −w). Its error is at most
//
//	ε·(aⱼ + Σᵢ aᵢ|wᵢ|)².
//
// A residual share below this bound is rounding error, and the combination is called exact. The column then differs
// from the combination by at most the root of the bound, about a millionth of its standard deviation. The Gram matrix
// in float64 cannot resolve smaller differences.
//
// References: Sarle, The VARCLUS procedure, SAS/STAT User's Guide (1990), for the clusters and the ratio (1 −
// R²_own)/(1 − R²_next); Harris and Kaiser, Oblique factor analytic solutions by orthogonal transformations,
// Psychometrika 29 (1964), for the rotation; Belsley, Kuh, Welsch, Regression Diagnostics (1980), for variance
// inflation; Kuhn, Building predictive models in R using the caret package, J. Stat. Softw. 28 (2008), for
// findCorrelation; Higham, Analysis of the Cholesky decomposition of a semi-definite matrix (1990), for its rank.
package alike
