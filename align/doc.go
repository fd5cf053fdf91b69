// Package align chooses features by diffusion alignment: the features whose similarities between rows best match the
// similarities given by long walks on a graph of the rows. It needs no labels, and one pass over the rows.
//
//  1. One pass computes G = X̃ᵀX̃ of all rows, and draws a seeded sample of them.
//  2. [github.com/ufs-stream/ufs-stream/internal/survey] makes the graph of the sample and its
//     diffusion kernel K, and computes for every feature the share bᵢ = xᵢᵀKxᵢ/xᵢᵀxᵢ over the sample.
//  3. [Choose] takes, one by one, the features that most raise the alignment of X_SX_Sᵀ with K, from
//     aᵢ = bᵢ·Gᵢᵢ and G, under a novelty floor.
//
// Shares are means over rows, which the sample estimates; squares and products of features are exact over all rows.
//
// We developed this method. It combines two known ideas.
//
// # The kernel
//
// The affinity A = BBᵀ of the graph (package anchor) is symmetric with rows that sum to 1: a random walk between rows
// via their anchors (Coifman and Lafon, Diffusion maps, Applied and Computational Harmonic Analysis 2006). With S =
// VΛVᵀ its eigenvectors are u_c = Bv_c/√λ_c, and after t steps on each side
//
//	K = A²ᵗ = Σ_c λ_c^(2t)·u_c·u_cᵀ,
//
// the inner products of rows in the diffusion map of time t. Walks lose differences between near rows, and keep
// clusters: λ^20 is 0.82 at λ = 0.99 and 0.01 at 0.8. We leave out the constant eigenvector, which has no information
// (L1 = 0), and use the 50 leading ones of the other eigenvectors, except eigenvectors that are concentrated on too few
// rows according to their participation ratio 1/Σᵢu_ci⁴ (see package spectral): a few outlying rows are not a cluster,
// but have an eigenvalue near 1.
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
// G, and labels, k-means and n×n matrices are not needed.
//
// We maximise N/D^p with p = 0.9. For k features with equal a and g the criterion is k^(1−p/2)·a/g^p if they are
// uncorrelated and k^(1−p)·a/g^p if they are copies. So with p = 1 a copy of a chosen feature has no value, although
// k-means benefits from a direction that several features share. Over 19 sets with labels at t = 10, p = 0.9 is 0.3
// points of NMI above p = 1, and 0.4 above p = 0.8.
//
// For counts the survey sets p = 0.7, because each cluster of texts has many words.
//
// # The novelty floor
//
// Alignment follows clusters, which may depend on only a few of a table's factors. A choice that represents a whole
// table needs features of every factor. Therefore a floor φ divides the features into two kinds: features that keep
// more than the share φ of their own variance unexplained by the chosen features,
//
//	Gᵢᵢ − G_iS·G_SS⁻¹·G_Si > φ·Gᵢᵢ,
//
// and features that keep less. Features of the second kind are chosen only after all features of the first kind. The
// unexplained variance is computed from the columns of G that the choice needs anyway, by a Cholesky factorisation
// whose pivots are the chosen features; it needs a row of d numbers for each of them. Features with a = 0 (noise, which
// is always novel) come after both kinds.
//
// A sensor whose correlation with its factor is ρ keeps the share 1 − ρ⁴ after another such sensor: 0.19 for ρ = 0.95,
// 0.30 for 0.915, 0.34 for 0.9. In a table of 12 factors whose sensors have ρ from 0.9 to 0.95, the first 12 chosen
// features cover 8 factors without a floor and with a floor of 0.2, and 11 with 0.3. On 34 sets with labels a floor of
// 0.3 costs 0.8 points of NMI. A floor of 0.4 costs another 0.2 points, and another 9 points on tables of clusters in
// redundant columns.
//
// # Corrections
//
// With p < 1 a multiple of a chosen feature would raise N/D^p, and could be chosen before features that add
// information. Therefore multiples are chosen only when no other features are left. Features whose fourth power
// underflows float64 compared with the largest feature come last. Equal features are in column order, and reported.
package align
