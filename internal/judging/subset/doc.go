// Package subset judges subsets of the columns of a matrix X, n×d, using only its Gram matrix G = XᵀX. It determines
// how many columns are worth choosing, and whether a choice is better than chance. It has four parts:
//
//  1. A [Curve] takes columns one after the other. It records by how much each column reduces the residual ‖X − P_S
//     X‖², P_S being the projection on the columns S taken so far. It also keeps the residual of every other column.
//  2. [RecommendSize] recommends a number of columns. It applies four rules: the gap of G's eigenvalues, the elbow
//     of the curve, parallel analysis, and the Bayesian information criterion of the model of Sood and Hastie.
//  3. [Appraise] decides for every chosen column whether it added more than noise when it was chosen.
//  4. [Compare] compares the share that a choice explains with the shares of random choices of as many columns, and of
//     greedy's choices from unrelated columns.
//
// The null hypothesis is that the entries of each column are permuted independently. Permuting does not change the
// norms of columns. Their directions become independent of each other and uniform in the n−1 dimensions that are left
// after centring. So the squared cosine of two columns has the distribution Beta(1/2, (n−2)/2), exactly for normal
// columns and approximately for other columns. Its mean 1/(n−1) is exact for any columns. G of a permuted copy is
// therefore a Wishart matrix, which can be drawn by Bartlett's decomposition without the rows.
//
// References: Horn, A rationale and test for the number of factors in factor analysis, Psychometrika 1965, for parallel
// analysis; Dobriban and Owen, Deterministic parallel analysis, JRSS B 2019, for repeating it on residuals; Sood and
// Hastie, A statistical view of column subset selection, arXiv 2307.12892, for the model; Satopää et al., Finding a
// "kneedle" in a haystack, 2011, for the elbow; Odell and Feiveson, A numerical procedure to generate a sample
// covariance matrix, JASA 1966, for Bartlett's decomposition.
package subset
