// Package survey looks at a seeded sample of rows, with the moments of all rows beside it, and answers what
// the default needs before it can choose: at which scale, by which graph, and whether there are clusters at all.
//
//  1. The columns' unit. If the ranges of most pairs of columns are disjoint, or one column has most of all
//     variance, units differ and every column counts alike (standard). Otherwise columns share a unit, and loud
//     ones may count for more (pareto). Columns that are 0 almost everywhere are counts: rows are compared by the cosine.
//  2. Columns of noise stay out of the graph: those whose squared correlations with all others sum to no more
//     than chance (see noise.go).
//  3. The rows of the sample that serve as anchors make a graph among themselves (package anchor), whose diffusion
//     kernel K (package spectral) gives every column its share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ.
//  4. The same is done with W·X, W of independent normals: it has the covariance of the data and no clusters.
//     What a column's share has beyond that of the surrogate is due to clusters, and not to factors. If no more
//     than chance is left, there are no clusters that a choice could follow.
//  5. If there are, every column is weighted by the root of that excess, and the graph is made again. So
//     directions that are loud and tell nothing, which every graph of all columns follows, leave the distances.
//
// The vector a that package align chooses by is aᵢ = bᵢ·Gᵢᵢ with Gᵢᵢ of all rows.
package survey
