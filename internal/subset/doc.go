// Package subset judges subsets of the columns of a matrix X, n×d, using only its Gram matrix G = XᵀX: how many columns
// are worth choosing, and whether a choice is better than chance.
//
//  1. A [Curve] walks through columns in order: it has the reduction of the residual
//     ‖X − P_S X‖² by each column, and the residual of each column.
//  2. [RecommendSize] applies four rules for the number of columns, and recommends one: the gap of G's eigenvalues, the elbow
//     of the curve, parallel analysis, and the Bayesian information criterion of the model of Sood and Hastie.
//  3. [Appraise] decides for every chosen column whether it adds more than noise at its turn.
//  4. [Compare] compares the share that a choice explains with random choices of as many columns,
//     and with the choices of the same method from unrelated columns.
//
// The null hypothesis is that columns are permuted: X with the entries of each column permuted independently. This does
// not change the lengths of columns. Their directions become independent of each other and uniform in the n−1
// dimensions that centring leaves, so that the squared cosine of two columns is Beta(1/2, (n−2)/2), exactly so for
// normal columns. Its mean 1/(n−1) is exact for any columns. So the distribution of G of a permuted copy does not
// depend on the rows. It is a Wishart matrix, drawn by Bartlett's decomposition.
//
// References: Horn, A rationale and test for the number of factors in factor analysis, Psychometrika 1965, for parallel
// analysis; Dobriban and Owen, Deterministic parallel analysis, JRSS B 2019, for repeating it on residuals; Sood and
// Hastie, A statistical view of column subset selection, arXiv 2307.12892, for the model; Satopää et al., Finding a
// "kneedle" in a haystack, 2011, for the elbow; Odell and Feiveson, A numerical procedure to generate a sample
// covariance matrix, JASA 1966, for Bartlett's decomposition.
package subset
