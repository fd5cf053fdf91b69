// Package socfs ranks features by a sparse projection onto clusters that are found simultaneously: Han and Kim,
// "Unsupervised simultaneous orthogonal basis clustering feature selection" (SOCFS, CVPR 2015), from an anchor graph's
// statistics.
//
// X is the centred n×d data, W d×c the projection, B c×c an orthogonal basis, E n×c the encoding of the rows, and F an
// auxiliary variable that keeps negative values out of E:
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖E − F‖²   subject to BᵀB = I, EᵀE = I, F ≥ 0.
//
// E with orthonormal columns and no negative values has one nonzero a row: a clustering, whose centres are columns of
// B. One variable after the other is set to its minimum:
//
//  1. E = the orthonormal polar factor of XWB + γF, F = max(E, 0), up to 10 times (encode.go);
//  2. B = the polar factor of WᵀXᵀE, plus a little of the previous B if that is not unique;
//  3. W = (XᵀX + λD)⁻¹XᵀEBᵀ, D_ii = 1/(2√(‖wᵢ‖² + ε)) of the previous W (solve.go).
//
// Features are ranked by ‖wᵢ‖. The objective cannot rise; that is checked.
//
// # On anchors
//
// E and F have a row for each of n, which no small statistic can hold. We restrict E to combinations of the anchors, E
// = B_gA with B_g = ZΔ^(−1/2) of the [anchor.Graph] and A m×c, so that XᵀE = CᵀA and EᵀE = AᵀSA; and we penalize
// negative values at the anchors only: of the mean of E over the rows of each anchor, B_gᵀE = SA in units of √Δ:
//
//	‖XW − EBᵀ‖² + λ‖W‖₂,₁ + γ‖SA − F‖²   subject to BᵀB = I, AᵀSA = I, F ≥ 0.
//
// So F is m×c. This is a relaxation: single rows may be negative while their anchors are not. If every row is an anchor
// of its own, S = I, and the problem is the paper's. S + τI with τ = 1e-10 replaces S, as if each anchor were a further
// row of almost no weight and without features.
//
// As SA has no constant length, step 1 bounds the last term from above by a function that is linear in A and equal at
// the previous A (encode.go). With S = I the bound is the paper's step.
//
// # Settings
//
// X is divided by √(Tr(XᵀX)/d), so that λ and γ mean the same for any units and any number of rows. The authors'
// program takes 50 turns of step 1 in a round; each round continues from the previous one, and a turn costs 6·m²·c
// flops.
//
// λ is a share of the λ that leaves no feature at the start, by default a tenth; the paper tunes it over twelve decades
// with labels, and its authors' program has 100 for raw data. γ = 100 as there. The authors start from a random E; we
// start from the clusters of the anchors in the graph's eigenvectors, so that no seed affects the result.
package socfs
