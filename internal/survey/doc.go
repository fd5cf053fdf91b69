// Package survey looks at a seeded sample of rows and the moments of all rows, and answers what
// the default needs before it can choose: at which scale, by which graph, and whether there are clusters at all.
//
//  1. The columns' unit. If the ranges of most pairs of columns are disjoint, or one column has most of all
//     variance, units differ and every column counts alike (scale standard). Numbers that are 0 almost everywhere are
//     counts: rows are compared by their cosine (scale none). Otherwise columns share a unit, and loud ones count for
//     more (scale pareto).
//  2. Columns of noise stay out of the graph: those whose squared correlations with all others sum to no more
//     than chance, the level of which is exact (see chance).
//  3. The rows of the sample that serve as anchors make a graph among themselves (package anchor), whose diffusion
//     kernel K (package spectral) gives every column its share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ.
//  4. The same is done with a surrogate, W·X with W of independent normals: rows with the covariance of the data and without
//     clusters. What the data have beyond it is not of factors. If that is nothing, there are no clusters that a choice
//     could follow, and greedy finds the factors. So it does if units differ and columns are few (see fewColumns).
//  5. If there are, the surrogate's columns adopt the values of the data's, which leaves cᵢ of the share bᵢ to distributions
//     and covariance. Every column is multiplied by about the root of (bᵢ − cᵢ)/(1 − cᵢ), and the graph is made again: directions that are loud and tell of no cluster, which a graph
//     of all columns alike follows, leave the distances.
//
// Package align chooses by aᵢ = bᵢ·Gᵢᵢ, with G of all rows: a sample carries shares, which are means over
// rows, and the moments have the rest.
//
// Costs for m anchors and d columns some 8·m²·d flops and the leading eigenpairs of four m×m matrices: with 1,000 anchors
// of 784 columns 0.6 to 0.9 s of one processor.
package survey
