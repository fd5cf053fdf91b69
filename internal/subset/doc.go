// Package subset judges subsets of the columns of a matrix X, n×d, from its Gram matrix
// G = XᵀX alone: how many columns are worth choosing, and whether a choice is better than
// chance.
//
//  1. A [Curve] walks through columns in their order: what each takes off the residual
//     ‖X − P_S X‖², and what it leaves of each column.
//  2. [Choose] asks four rules for a number of columns, and recommends one: the gap of G's
//     eigenvalues, the elbow of the curve, parallel analysis, and the Bayesian information
//     criterion of the model of Sood and Hastie.
//  3. [Appraise] asks of every chosen column whether it adds more than noise does at its turn.
//  4. [Compare] sets what a choice explains beside random choices of as many columns, and
//     beside what the same method reaches on columns that have nothing to do with each other.
//
// The null hypothesis is that of permuted columns: X with the entries of each column
// permuted, each column by itself. Lengths stay, directions become independent of each other
// and uniform in the n−1 dimensions that centring leaves, so that the squared cosine of two
// columns is Beta(1/2, (n−2)/2), exactly where columns are normal. Its mean 1/(n−1) is exact
// for any columns. So G of a permuted copy has a law that needs no rows: a Wishart matrix,
// drawn by Bartlett's decomposition where a draw is wanted.
//
// References: Horn, A rationale and test for the number of factors in factor analysis,
// Psychometrika 1965, for parallel analysis; Dobriban and Owen, Deterministic parallel
// analysis, JRSS B 2019, for repeating it on residuals; Sood and Hastie, A statistical view of
// column subset selection, arXiv 2307.12892, for the model; Satopää et al., Finding a
// "kneedle" in a haystack, 2011, for the elbow; Odell and Feiveson, A numerical procedure to
// generate a sample covariance matrix, JASA 1966, for Bartlett's decomposition.
package subset
