// Package align chooses features by diffusion alignment: the features whose similarities between rows best match the
// similarities by long walks on a graph of rows. It needs no labels, and one pass over the rows.
//
//  1. One pass computes G = X̃ᵀX̃ of all rows, and draws a seeded sample of them.
//  2. [github.com/ufs-stream/ufs-stream/internal/survey] makes the graph of the sample and its
//     diffusion kernel K, and computes for every feature the share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ over the sample.
//  3. [Choose] takes, one by one, the features that most raise the alignment of X_SX_Sᵀ with K, from
//     aᵢ = bᵢ·Gᵢᵢ and G, under a novelty floor.
//
// Shares are means over rows, which the sample estimates; squares and products of features are exact over all rows.
//
// This method is ours. It combines two known ideas.
//
// # The kernel
//
// The affinity A = BBᵀ of the graph (package anchor) is symmetric with rows that sum to 1: a random walk between rows
// via their anchors (Coifman and Lafon, Diffusion maps, Applied and Computational Harmonic Analysis 2006). With S =
// VΛVᵀ its eigenvectors are u_c = Bv_c/√λ_c, and after t steps on each side
//
//	K = A²ᵗ = Σ_c λ_c^(2t)·u_c·u_cᵀ,
//
// the inner products of rows in the diffusion map of time t. Walks forget differences between near rows, and keep
// clusters: λ^20 is 0.82 at λ = 0.99 and 0.01 at 0.8. We leave out the constant eigenvector, which has no information
// (L1 = 0), take the 50 leading ones of the others, and none that is concentrated on too few rows by its participation
// ratio 1/Σᵢu_ci⁴ (see package spectral): a few outlying rows are no cluster, but have an eigenvalue near 1.
//
// # The alignment
//
// The similarity of two kernels on the same rows is the cosine of their matrices, their alignment (Cristianini,
// Shawe-Taylor, Elisseeff and Kandola, On kernel-target alignment, NIPS 2001); it is meaningful if both are centred
// (Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment, JMLR 13, 2012). With
// the centred columns X_S of a choice S, whose kernel is X_SX_Sᵀ = Σ_{i∈S}xᵢxᵢᵀ,
//
//	⟨X_SX_Sᵀ, K⟩ = Σ_{i∈S} xᵢᵀKxᵢ      = Σ_{i∈S} aᵢ      =: N
//	‖X_SX_Sᵀ‖²   = tr(X_SᵀX_S·X_SᵀX_S) = Σ_{i,j∈S} Gᵢⱼ²  =: D²
//
// and the alignment is N/(D·‖K‖). Both sums are over the chosen features: a feature that joins adds aᵢ to N, which
// rewards following the graph, and 2Σ_{j∈S}Gᵢⱼ² + Gᵢᵢ² to D², which penalizes redundancy. So a turn costs one column of
// G, and needs no labels, k-means or n×n matrices.
//
// We maximise N/D^p with p = 0.9. Of k equal features the criterion is k^(1−p/2)·a/g^p if they are uncorrelated and
// k^(1−p)·a/g^p if they are the same: with p = 1 a feature that is correlated with the chosen ones counts for nothing,
// though k-means benefits from a direction that several features carry. Over 19 sets with labels at t = 10, p = 0.9 is
// 0.3 points of NMI above p = 1, and 0.4 above p = 0.8.
//
// For counts the survey sets p = 0.7: the clusters of texts have many words each.
//
// # The novelty floor
//
// Alignment follows clusters, which may depend on few of a table's factors. A choice that is to represent a whole table
// needs features of every factor. So a floor φ divides the features: some keep more than the share φ of their own
// variance unexplained by the chosen ones,
//
//	Gᵢᵢ − G_iS·G_SS⁻¹·G_Si > φ·Gᵢᵢ,
//
// and some keep less. While there are any of the first kind none of the second is taken. The unexplained variance is
// computed from the columns of G that the choice needs anyway, by a Cholesky factorisation pivoted by the choice, a row
// of d numbers for each chosen feature. Features with a = 0 (noise, which is always novel) come after both kinds.
//
// A sensor of correlation ρ with its factor keeps 1 − ρ⁴ after another one: 0.19 at 0.95, 0.30 at 0.915, 0.34 at 0.9.
// Of 12 factors with sensors of 0.9 to 0.95 the first 12 choices cover 8 without a floor and with 0.2, and 11 with 0.3.
// On 34 sets with labels a floor of 0.3 costs 0.8 points of NMI, and one of 0.4 another 0.2, and 9 on tables of
// clusters in redundant columns.
//
// # Corrections
//
// With p < 1 a multiple of a chosen feature would raise N/D^p, and so could come before features that add information.
// Multiples are postponed until nothing else is left. Features whose fourth power underflows float64 next to the
// largest one's come last. Equal features are ranked by column order, and reported.
package align
