// Package u2fs keeps the features whose removal would most increase the error of regressing the clusters of the rows:
// the main part of the method of Villa, Narayanan, Van Huffel, Bertrand and Varon, "Utility metric for unsupervised
// feature selection" (U2FS, PeerJ Computer Science 2021), from an anchor graph's statistics.
//
//  1. compute U, the c leading eigenvectors of the rows' affinity without the constant one;
//  2. regress U on all features, W = (XᵀX + λI)⁻¹XᵀU (select.go);
//  3. remove the feature with the lowest utility; the utility of feature i is the increase of the
//     squared error without it, ‖wᵢ‖²/P_ii with P = (XᵀX + λI)⁻¹ (eliminate.go);
//  4. update P and W for the remaining features; back to 3, until none is left.
//
// If G = XᵀX is stored as a factor R of n rows, G = RᵀR, P is computed from the inverse of an n×n matrix until only 2n
// features are left (inverse.go).
//
// Features are ranked in the reverse order of their removal, so that one run gives the selection for every k. Features
// that can replace each other have no utility while both are present. Of two similar features one is removed early and
// the other remains, unlike in a ranking by weights.
//
// # Departures
//
// In the paper U is computed from a Laplacian of radial basis functions between all rows. Here it is computed from the
// anchor graph. With C, B and S of [anchor.Graph]: XᵀX = G, S = BᵀB = VΣVᵀ, and XᵀU = CᵀVΣ^(−1/2). The paper's own
// program centres and scales columns, and so does the default here.
//
// If features are dependent, the paper uses a λ far below the smallest positive eigenvalue, so that the elimination
// uses the least norm solution. In float64 this leaves no correct digits. Therefore we always use λ = 1e-8·Tr(G)/d.
// Utilities that agree to a millionth are considered equal, and then the later column is removed.
package u2fs
