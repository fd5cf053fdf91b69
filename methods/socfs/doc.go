// Package socfs ranks features by a sparse projection onto clusters, which are found together with the projection. It
// implements Han and Kim, "Unsupervised simultaneous orthogonal basis clustering feature selection" (SOCFS, CVPR 2015),
// on an anchor graph's statistics.
//
// X is the centred n×d data matrix, W (d×c) the projection, B (c×c) an orthogonal basis, E (n×c) the encoding of the
// rows, and F (n×c) an auxiliary variable that penalizes negative values in E. SOCFS minimizes
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖E − F‖²   subject to BᵀB = I, EᵀE = I, F ≥ 0.
//
// If E has orthonormal columns and no negative values, it has one nonzero entry in each row. It then represents a
// clustering, and the columns of B are the centres of the clusters. Three steps are repeated, each of which minimizes
// over some of the variables:
//
//  1. E = the orthonormal polar factor of XWB + γF, then F = max(E, 0), up to 10 times (encode.go).
//  2. B = the polar factor of WᵀXᵀE. If that is not unique, a little of the previous B is added.
//  3. W = (XᵀX + λD)⁻¹XᵀEBᵀ with D_ii = 1/(2√(‖wᵢ‖² + ε)) from the previous W (solve.go).
//
// Features are ranked by ‖wᵢ‖. The objective cannot rise; the program checks this.
//
// # On anchors
//
// E and F have one row for each of the n rows, which no small statistic can hold. We restrict E to combinations of the
// anchors. With B_g = ZΔ^(−1/2), the B of the [anchor.Graph], E is B_gA for an m×c matrix A, so that XᵀE = CᵀA and EᵀE
// = AᵀSA. Negative values are penalized only in the means of E over the rows of each anchor. These means, in units of
// √Δ, are B_gᵀE = SA:
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖SA − F‖²   subject to BᵀB = I, AᵀSA = I, F ≥ 0.
//
// So F is m×c. This is a relaxation: E may be negative in single rows, even if the means at their anchors are not. If
// every row is an anchor of its own, S = I, and the problem is the paper's problem. S is replaced by S + τI with τ =
// 1e-10, as if each anchor were a further row with almost no weight and without features.
//
// As the length of SA is not constant, step 1 replaces the last term by an upper bound that is linear in A and equal to
// it at the previous A (encode.go). With S = I this is the paper's step.
//
// # Settings
//
// X is divided by √(Tr(XᵀX)/d), so that λ and γ have the same meaning for any units and any number of rows. The
// authors' program repeats step 1 50 times in a round. Here 10 times are enough, as each round continues from the
// previous round. A repetition costs 6·m²·c flops.
//
// λ is given as a share, by default a tenth, of the λ above which W = 0 would be best at the start. The paper tunes λ
// over twelve decades with labels, and its authors' program uses 100 for raw data. γ is 100 as in their program. The
// authors start from a random E. We start from clusters of the anchors in the graph's eigenvectors, so that no seed
// affects the result.
package socfs
