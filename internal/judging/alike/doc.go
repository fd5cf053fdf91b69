// Package alike finds columns that are alike, and explains columns by other columns. It uses only the correlation
// matrix R of the d columns:
//
//  1. [New] computes R from the Gram matrix of centred columns. It sorts the columns by name, so that no answer depends
//     on their order.
//  2. [Matrix.RegressOn] explains columns j by chosen columns S: R_SS·w = R_Sj, R² = wᵀR_Sj.
//  3. [Matrix.FindDependence] finds copies and exact linear combinations by a Cholesky factor with pivots. It also
//     gives each column's variance inflation VIF = 1/(1 − R²) = (R⁻¹)ⱼⱼ.
//  4. [Matrix.FindClusters] divides the columns into clusters, such that one component explains the columns of a
//     cluster.
//  5. [Matrix.ChooseUncorrelated] keeps columns so that no two of them have a correlation above a threshold.
//
// # Exactness
//
// The Gram matrix of n rows is computed from differences from a pilot value, in n/256 chains of 256 multiply-adds.
// Cholesky's factor adds d more terms. So the error of the correlation of columns i and j is at most
//
//	ε·aᵢ·aⱼ,  ε = (256 + n/256 + d)·2⁻⁵²,  aⱼ² = 1 + ((mean − pilot)/sd)²,
//
// aⱼ is the norm of column j minus its pilot, divided by the norm of the column minus its mean. If a combination of
// other columns has the weights w, the share of column j that it leaves is the quadratic form of R in (1, −w). Its
// error is at most
//
//	ε·(aⱼ + Σᵢ aᵢ|wᵢ|)².
//
// A residual share below this bound may be rounding error, and the combination is called exact. The column then differs
// from the combination by at most the root of the bound, about a millionth of its standard deviation. A Gram matrix in
// float64 cannot resolve smaller differences.
//
// References: Sarle, The VARCLUS procedure, SAS/STAT User's Guide (1990), for the clusters and the ratio (1 −
// R²_own)/(1 − R²_next); Harris and Kaiser, Oblique factor analytic solutions by orthogonal transformations,
// Psychometrika 29 (1964), for the rotation; Belsley, Kuh, Welsch, Regression Diagnostics (1980), for variance
// inflation; Kuhn, Building predictive models in R using the caret package, J. Stat. Softw. 28 (2008), for
// findCorrelation; Higham, Analysis of the Cholesky decomposition of a semi-definite matrix (1990), for its rank.
package alike
