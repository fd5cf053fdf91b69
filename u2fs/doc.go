// Package u2fs keeps the features without which the clusters of the rows are regressed worst:
// the core of Villa, Narayanan, Van Huffel, Bertrand and Varon, "Utility metric for unsupervised
// feature selection" (U2FS, PeerJ Computer Science 2021), from an anchor graph's statistics.
//
//  1. U, the c leading eigenvectors of the rows' affinity without the constant one;
//  2. regress U on all features, W = (XᵀX + λI)⁻¹XᵀU (select.go);
//  3. take the feature away whose utility is lowest; the utility of feature i is what the squared
//     error rises by without it, ‖wᵢ‖²/P_ii with P = (XᵀX + λI)⁻¹ (eliminate.go);
//  4. P and W of the features that are left follow from those before; on to 3, until one is left.
//
// Where G is a factor of n rows, P goes by the inverse of an n×n matrix until 2n features are left
// (inverse.go).
//
// The ranking is the order of elimination, the last first, so that any k shares the run. Features
// that stand in for each other have no utility while both are there: of two alike one goes early
// and the other stays, which tells this from ranking by weights.
//
// # What is different here
//
// The paper's U comes from a Laplacian of radial basis functions between all rows; ours from the
// anchor graph, as [anchor.Graph] has it: XᵀX = G and XᵀU = CᵀVΣ^(−1/2), S = BᵀB = VΣVᵀ. The
// paper's own program centres and scales columns; so does the default here.
//
// Where features depend on each other the paper takes λ far below the smallest positive
// eigenvalue, so that elimination is by least norm. That leaves no digits in float64; we always
// take λ = 1e-8·Tr(G)/d. Utilities that agree to a millionth count as equal, and then the later
// column goes.
package u2fs
