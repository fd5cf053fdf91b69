// Package fspca chooses the k features on which a subspace of m dimensions can have the most variance. It implements
// Tian, Nie, Wang and Li, "Learning feature sparse principal subspace" (FSPCA, NeurIPS 2020), on the Gram matrix G alone.
//
// W is a d×m matrix with orthonormal columns, and only k of its rows may differ from 0 (the paper's problem 3.1):
//
//	max Tr(WᵀGW)   subject to WᵀW = I, ‖W‖₂,₀ ≤ k.
//
// The chosen features are these rows. For given features S the best W consists of the m leading eigenvectors of G_SS.
// If G has rank m or less, the k features with the largest Gᵢᵢ are best (Algorithm 1). Otherwise the paper replaces G
// by a matrix of rank m that is nowhere larger, and equal on the present W, and applies Algorithm 1 to it (Algorithm 2):
//
//  1. Start with the best approximation of rank m of G, P = G_m.
//  2. S = the k features with the largest Pᵢᵢ. If S has not changed, stop.
//  3. W = the m leading eigenvectors of G_SS, and P = GW(WᵀGW)⁺WᵀG. Repeat step 2.
//
// G_m is also the P of step 3 if S contains all features, so that the start is a step like the others. Tr(WᵀGW) cannot
// fall; the program checks this. The result is a local optimum. It is the global one if G has rank m or less.
//
// With G = RᵀR and the left singular vectors U of the columns S of R, P is RᵀUUᵀR (the paper's Algorithm 3). So few
// rows need only their own products, and no inverse.
//
// # Order
//
// The paper leaves the k features unordered. Here they are in descending order of Pᵢᵢ, which is Σ_c λ_c·w_ic² for the
// chosen ones: the parts of Tr(WᵀGW) that the features contribute. The norms ‖wᵢ‖ would be equal for k = m.
//
// # Deviations
//
// The paper's experiments add 0.1 to the diagonal of G, so that WᵀGW has an inverse. This does not change the problem,
// but raises Pᵢᵢ only for the features in S, so that the iteration may stop earlier: of 300 random problems 13 ended
// better without it, and 2 worse. The pseudoinverse of the paper's
// Algorithm 2 needs no such addition, and is used here.
//
// If k = m, the objective is the sum of the k largest Gᵢᵢ, and for standardized features every choice is as good.
// Therefore m is at most k/2 by default.
package fspca
