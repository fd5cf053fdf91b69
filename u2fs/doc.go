// Package u2fs keeps the features whose removal would most increase the error of regressing the clusters of the rows:
// the core of Villa, Narayanan, Van Huffel, Bertrand and Varon, "Utility metric for unsupervised feature selection"
// (U2FS, PeerJ Computer Science 2021), from an anchor graph's statistics.
//
//  1. U, the c leading eigenvectors of the rows' affinity without the constant one;
//  2. regress U on all features, W = (XᵀX + λI)⁻¹XᵀU (select.go);
//  3. remove the feature with the lowest utility; the utility of feature i is the increase of the
//     squared error without it, ‖wᵢ‖²/P_ii with P = (XᵀX + λI)⁻¹ (eliminate.go);
//  4. update P and W for the remaining features; back to 3, until none is left.
//
// If G is a factor of n rows, P is given by the inverse of an n×n matrix until 2n features are left (inverse.go).
//
// The ranking is the order of elimination, the last first, so that one run serves any k. Features that can replace each
// other have no utility while both are present: of two similar ones one is removed early and the other stays, unlike in
// a ranking by weights.
//
// # Departures
//
// The paper's U comes from a Laplacian of radial basis functions between all rows; ours from the anchor graph, with the
// statistics of [anchor.Graph]: XᵀX = G and XᵀU = CᵀVΣ^(−1/2), S = BᵀB = VΣVᵀ. The paper's own program centres and
// scales columns; so does the default here.
//
// If features are dependent the paper takes λ far below the smallest positive eigenvalue, so that elimination is by
// least norm. That leaves no digits in float64; we always take λ = 1e-8·Tr(G)/d. Utilities that agree to a millionth
// count as equal, and then the later column is removed.
package u2fs
