// Package survey examines a seeded sample of rows and the moments of all rows. For the default method it determines
// the scale and the graph, and decides whether the rows have clusters at all. It proceeds in five steps:
//
//  1. The unit of the columns. If the ranges of most pairs of columns are disjoint, or if one column has most of the
//     variance, the columns have different units, and all get the same variance (scale standard). Numbers that are
//     mostly 0 are considered counts: rows are compared by their cosine (scale none). Otherwise the columns share a
//     unit, and columns of large variance count for more (scale pareto).
//  2. Noise. A column is left out of the graph if the sum of its squared correlations with all other columns is no
//     larger than by chance. The level of chance is computed exactly (see chanceDistribution).
//  3. The graph. Some rows of the sample, the anchors, are the nodes of a graph (package anchor). Its diffusion
//     kernel K (package spectral) gives every column i its share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ.
//  4. The test for clusters. A surrogate W·X, with a matrix W of independent normal numbers, has rows with the
//     covariance of the data and without clusters. If its graph explains as much as the graph of the data, factors
//     explain the data, and greedy is recommended, because it finds factors. Greedy is also recommended if the units
//     differ and the columns are few (see fewColumns).
//  5. The weights. If the data exceed the surrogate, the surrogate's columns get the values of the data's columns. Its
//     graph then gives cᵢ, the part of bᵢ that is due to distributions and covariance. Every column is multiplied by
//     about the root of (bᵢ − cᵢ)/(1 − cᵢ), and the graph is made again. This reduces the influence of directions
//     of large variance without clusters on the distances.
//
// Package align then ranks columns by aᵢ = bᵢ·Gᵢᵢ, G being the Gram matrix of the scaled columns. The shares bᵢ are
// means over rows, for which the sample is enough. G and all other quantities are computed from the moments of all
// rows.
//
// For m anchors and d columns this costs about 8·m²·d flops and the leading eigenpairs of four m×m matrices. With
// 1,000 anchors of 784 columns one processor needs 0.6 to 0.9 s.
package survey
