// Package socfs ranks features by a sparse projection onto clusters that are found simultaneously: Han and Kim,
// "Unsupervised simultaneous orthogonal basis clustering feature selection" (SOCFS, CVPR 2015), from an anchor graph's
// statistics.
//
// X is the centred n×d data matrix, W (d×c) the projection, B (c×c) an orthogonal basis, E (n×c) the encoding of the
// rows, and F an auxiliary variable that keeps negative values out of E:
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖E − F‖²   subject to BᵀB = I, EᵀE = I, F ≥ 0.
//
// If E has orthonormal columns and no negative values, it has one nonzero entry a row. It then represents a clustering,
// and the centres of the clusters are columns of B. The variables are set to their minima in turn:
//
//  1. E = the orthonormal polar factor of XWB + γF, F = max(E, 0), up to 10 times (encode.go);
//  2. B = the polar factor of WᵀXᵀE, plus a little of the previous B if that is not unique;
//  3. W = (XᵀX + λD)⁻¹XᵀEBᵀ, D_ii = 1/(2√(‖wᵢ‖² + ε)) of the previous W (solve.go).
//
// Features are ranked by ‖wᵢ‖. The objective cannot rise; the program checks this.
//
// # On anchors
//
// E and F have one row for each of the n rows, which no small statistic can hold. We restrict E to combinations of the
// anchors, E = B_gA with B_g = ZΔ^(−1/2) of the [anchor.Graph] and A of m×c, so that XᵀE = CᵀA and EᵀE = AᵀSA. Negative
// values are penalized only at the anchors, in the means of E over the rows of each anchor, which are B_gᵀE = SA in
// units of √Δ:
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖SA − F‖²   subject to BᵀB = I, AᵀSA = I, F ≥ 0.
//
// So F is m×c. This is a relaxation: E may be negative in single rows although it is not negative at their anchors. If
// every row is an anchor of its own, S = I, and the problem is the paper's problem. S + τI with τ = 1e-10 replaces S,
// as if each anchor were a further row with almost no weight and without features.
//
// As the length of SA is not constant, step 1 bounds the last term from above by a function that is linear in A and
// equal at the previous A (encode.go). With S = I the bound is the paper's step.
//
// # Settings
//
// X is divided by √(Tr(XᵀX)/d), so that λ and γ have the same meaning for any units and any number of rows. The
// authors' program repeats step 1 50 times in a round. Here each round continues from the previous round, and a
// repetition costs 6·m²·c flops.
//
// λ is given as a share of the λ above which no feature remains at the start, by default a tenth. The paper tunes λ
// over twelve decades with labels, and its authors' program uses 100 for raw data. γ = 100 as in their program. The
// authors start from a random E. We start from the clusters of the anchors in the graph's eigenvectors, so that no seed
// affects the result.
package socfs
