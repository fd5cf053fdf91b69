// Package cpufs ranks features that lie on a grid (pixels, pixels × bands, sensor × time) through a tensor model of the
// table: CPUFS and its nonnegative variant CPUFSnn, in memory or in passes over rows that stay on disk.
//
// The grid has N ≥ 2 sides of lengths n₁, …, n_N. With X the n×d rows, d = n₁·…·n_N, the feature in the places (i₁, …, i_N)
// in column (…(i₁·n₂ + i₂)·n₃ + …) + i_N, and c components,
//
//	‖X − C(A₁⊙…⊙A_N)ᵀ‖² + ν·Tr(CᵀLF) + α‖XW − F‖² + β‖W‖₂,₁ + η‖C − F‖²   // eq. (2)
//
// is minimized over A_s n_s×c ≥ 0, CᵀC = I, F ≥ 0 and W = U₁ᵀ⊙…⊙U_Nᵀ, ⊙ being the product of Khatri and Rao: a row of W
// is a row of U₁ᵀ times a row of U₂ᵀ and so on, entry by entry. So U₁ has weights for the rows of the picture, U₂ for its
// columns, and U₃ for its bands. The score of a feature is the length of its row of W. For N = 2 the paper calls A₁ and
// A₂ A and B, and U₁ and U₂ U and V. An iteration updates each of the following while the others are fixed:
//
//	A_s    in turn, the minimum over nonnegative matrices, from XᵀC
//	C      orthogonal Procrustes: the polar factor of Q = 2X(A₁⊙…⊙A_N) − νLF + 2ηF
//	F      max(0, (αXW + ηC − ½νLᵀC)/(α + η))
//	U_s    gradient steps in turn (Options.Steps of each) with backtracking, from G = XᵀX
//	       and P = XᵀF; projected onto U_s ≥ 0 for CPUFSnn (section 4.6)
//
// The objective cannot rise, except by rounding. Its terms over rows follow from ‖X‖², XᵀC, G, P and sums over rows.
//
// # Passes
//
// One pass scans the rows (for G, ‖X‖², and a sample for the start), and one assigns them to the clusters of the start
// and finds their weights on the anchors. With the graph of nearest neighbours, the n×n Laplacian is sparse and in
// memory. Set-up then needs two more passes for each part of the rows whose neighbours are found at a time, and an
// iteration needs two passes: one forms Q, and the other, once C is known, F, P and XᵀC. With the anchor graph, L = I
// − BBᵀ with K entries in a row of B. Set-up then needs one more pass, which forms the first Q, and an iteration needs
// one. It forms the rows of F and of the following Q together, but Q without its share of BBᵀF, which is added when
// BᵀF is complete. If G does not fit, or is larger than the rows, every product with it is a further pass.
//
// # Mended and filled in
//
// The bracket in line 7 closes after LᵀC, as in eq. (3). V^⊙2 is V∘V. As CᵀC = I, the paper's multiplicative rule for
// each A gives its exact minimum, but only if XᵀC times the other A is not negative. C may have negative entries. So the
// exact minimum, cut at 0, is used in place of the rule, which also lets an entry that was once 0 grow again. C starts as
// the scaled indicator of clusters found by k-means. With η = 10⁵ it hardly leaves its start, so a random start ranks by
// chance, and a start with negative entries makes columns of A vanish. Each U starts uniform, scaled by the one factor
// for which XW fits F best. Steps are never of a fixed length. StartRandom is the start of the authors' program, normal
// numbers for C and their positive part for F, except that C is their polar factor, because the first A needs CᵀC = I.
//
// Chen, Guan, Li, Unsupervised feature selection via graph regularized nonnegative CP decomposition, IEEE Transactions
// on Pattern Analysis and Machine Intelligence 45 (2023). Armijo, Minimization of functions having Lipschitz continuous
// first partial derivatives, Pacific J. Math. 16 (1966), and Bertsekas, On the Goldstein-Levitin-Polyak gradient
// projection method, IEEE Trans. Automatic Control 21 (1976), for the condition that ends backtracking.
package cpufs
