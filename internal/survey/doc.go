// Package survey examines a seeded sample of rows and the moments of all rows. For the default method it determines the
// scale, the graph, and whether there are clusters at all.
//
//  1. The columns' unit. If the ranges of most pairs of columns are disjoint, or one column has most of all
//     variance, units differ and every column counts alike (scale standard). Numbers that are mostly 0 are
//     counts: rows are compared by their cosine (scale none). Otherwise columns share a unit, and columns of
//     large variance count for more (scale pareto).
//  2. Columns of noise stay out of the graph: their squared correlations with all others sum to no more
//     than by chance, the level of which is exact (see chanceDistribution).
//  3. The rows of the sample that serve as anchors make a graph among themselves (package anchor), whose diffusion
//     kernel K (package spectral) gives every column its share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ.
//  4. The same is done with a surrogate, W·X with W of independent normals: rows with the covariance of the data and
//     without clusters. The excess of the data over it is not due to factors. Without an excess there are no clusters
//     that a choice could follow, and greedy is used, which finds the factors; also if units differ and columns are
//     few (see fewColumns).
//  5. With an excess, the surrogate's columns adopt the values of the data's, and give the part cᵢ of the share bᵢ that
//     is due to distributions and covariance. Every column is multiplied by about the root of (bᵢ − cᵢ)/(1 − cᵢ), and
//     the graph is made again: this removes from the distances directions of large variance without clusters, which a
//     graph of equally weighted columns follows.
//
// Package align chooses by aᵢ = bᵢ·Gᵢᵢ, with G of all rows: the sample gives the shares, which are means over rows, and
// the moments give all other quantities.
//
// For m anchors and d columns it costs about 8·m²·d flops and the leading eigenpairs of four m×m matrices: with 1,000
// anchors of 784 columns 0.6 to 0.9 s of one processor.
package survey
