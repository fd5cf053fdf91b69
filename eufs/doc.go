// Package eufs ranks features by how well they separate clusters of rows, without labels. It has EUFS (Wang, Tang,
// Liu, "Embedded unsupervised feature selection", AAAI 2015) and HUFS, its successor with a tree over the features
// (Wang, Wang, Tang, Aggarwal, Ranganath, Liu, "Exploiting hierarchical structures for unsupervised feature
// selection", SDM 2017). X is n×d, U is n×k with orthonormal columns and no negative entry (the clusters), and V is
// d×k. The score of a feature is the length of its row of V.
//
//	EUFS  min ‖X − UVᵀ‖₂,₁ + α‖V‖₂,₁ + β Tr(UᵀLU)
//	HUFS  min ‖X − UVᵀ‖₂,₁ + β‖V‖₂,₁ + α Σ_G Σ_c ‖v_G^c‖
//
// L is the normalized Laplacian of a graph of the rows, G is a node of the tree, and v_G^c has the entries of column c
// of V for the features of G. Both problems are solved by the alternating direction method of multipliers. E is a copy
// of X − UVᵀ, Z is a copy of U without negative entries, and in HUFS P is a copy of the groups of V. M = X − E + Y₂/μ.
// Y₁, Y₂ and Y₃ are the multipliers of Z, E and P, and μ weighs the differences from these copies.
//
//  1. [Prepare] reads the rows once, keeps a copy in the narrowest type that is exact,
//     and makes the parts common to all settings: the start (k-means on a sample, then all rows by
//     their nearest centre), the graph, V = XᵀU.
//  2. [Problem.Solve] iterates: pass A over X and M updates E and M, and computes MᵀU,
//     from which V follows; pass B over M computes N, whose polar factor is the next U (TSQR,
//     package linalg); a third pass goes over the few numbers of each row and updates U.
//
// Records of the rows are in memory or in files (stream.Scratch). The same code reads both, a block of rows at a time.
// E, Q (see passA) and Y₂ are never stored, nor is any n×n matrix. A row needs 8·d bytes for M (4·d in float32), d
// values of X and 4k + 1 more numbers. Results have the same bits in memory and in files, for any number of workers and
// however the source cuts its rows.
//
// # The graphs
//
// Up to 20,000 rows, rows i and j are joined if one of them is among the 5 nearest of the other (one direction is
// enough). As in eq. (11) and (12), the weight is s_ij = exp(−‖x_i − x_j‖²/σ²) and L = D − S, D being the diagonal matrix
// of the row sums of S. The paper leaves σ open: σ² is the mean of ‖x_i − x_j‖² over the 5 nearest of all rows. For more
// rows, L = I − BBᵀ of the anchor graph (package anchor), whose row sums are 1. B has 5 entries a row, so that L·U = U −
// B(BᵀU).
//
// # The papers' slips
//
// These are mended, because only the following steps are minimizers. EUFS's threshold of V is α/μ (eq. 21 prints α), Z
// and N have (β/μ)·LU and (β/μ)·LZ (eq. 30 prints β), and μ is min(ρμ, μ_max) (eq. 35 prints max). HUFS has P = MV, M
// being the 0/1 matrix from features to groups (the text has P = V), and the argument of P is MV − Y₃/μ. The objectives
// may rise between iterations.
//
// # Settings
//
// Columns are scaled to length 1, as the papers assume. The start must have orthonormal columns: from U = 0 the
// iteration never moves. If the weight of the row sparsity, α in EUFS and β in HUFS, is [Problem.AlphaMax] or more, V
// becomes 0 and stays 0, so this weight is best given as a share of AlphaMax. If μ₀, the first μ, is below ten times
// this weight, V is 0 in the first iterations, in which the start and the graph alone determine U. If μ₀ is below β, N
// is so ill-conditioned that rounding decides. A warning reports this. HUFS without a tree makes the same step of V as
// EUFS, but has other iterates: HUFS updates Z after U, and EUFS before U.
package eufs
