// Package u2fs ranks features by how much the error of a regression of the rows' clusters increases without them. It is
// the main part of the method of Villa, Narayanan, Van Huffel, Bertrand and Varon, "Utility metric for unsupervised
// feature selection" (U2FS, PeerJ Computer Science 2021), on an anchor graph's statistics.
//
//  1. Compute U, the c leading eigenvectors of the rows' affinity except the constant one.
//  2. Regress U on all features: W = (XᵀX + λI)⁻¹XᵀU (select.go).
//  3. Remove the feature with the lowest utility. The utility of feature i is the increase of the
//     squared error without it, ‖wᵢ‖²/P_ii with P = (XᵀX + λI)⁻¹ (eliminate.go).
//  4. Update P and W for the remaining features. Repeat from step 3 until no feature remains.
//
// If G = XᵀX is stored as a factor of n rows, P is computed from the inverse of an n×n matrix until only 2n features
// remain (inverse.go).
//
// Features are ranked in the reverse order of their removal, so that one run gives the selection for every k. Features
// that can replace each other have no utility while all of them are present. So one of two similar features is removed
// early and the other remains, while a ranking by weights would treat them alike.
//
// # Departures
//
// In the paper U is computed from a Laplacian of radial basis functions between all rows. Here it is computed from the
// C, B and S of an [anchor.Graph]: XᵀX = G, S = BᵀB = VΣVᵀ, and XᵀU = CᵀVΣ^(−1/2). Columns are centred and scaled by
// default, as in the paper's own program.
//
// If features are dependent, the paper uses a λ far below the smallest positive eigenvalue, so that the elimination
// uses the solution of least norm. In float64 this leaves no correct digits. Therefore we always use λ = 1e-8·Tr(G)/d.
// Utilities that agree to a millionth are considered equal, and then the later column is removed first.
package u2fs
