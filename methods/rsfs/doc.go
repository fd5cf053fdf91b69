// Package rsfs ranks features by a sparse regression onto clusters of the rows, in which single entries of the clusters
// may be wrong: Shi, Du and Shen, "Robust spectral learning for unsupervised feature selection" (RSFS, ICDM 2014).
//
// X is the n×d matrix of the rows, L the Laplacian of a graph of the rows, Y (n×c) their clusters, W (d×c) the
// regression, and Z (n×c) the errors of the clusters. RSFS minimizes
//
//	Tr(YᵀLY) + α‖Y − XW − Z‖² + β‖W‖₂,₁ + ν‖Z‖₁   subject to YᵀY = I, Y ≥ 0.
//
// YᵀY = I is replaced by the penalty γ/2·‖YᵀY − I‖² with a large γ. Three steps are repeated (update.go):
//
//  1. W becomes (XᵀX + β/α·D)⁻¹Xᵀ(Y − Z) with D_ii = 1/(2‖wᵢ‖) from the previous W. At first D = I.
//  2. Z becomes the entries of Y − XW, moved towards 0 by ν/(2α).
//  3. Y becomes Y∘√((L⁻Y + γY + αA⁺)/(L⁺Y + αY + γYYᵀY + αA⁻)) with A = XW + Z. M⁺ and M⁻ are the positive and
//     negative parts of a matrix, M = M⁺ − M⁻. The columns of Y are then scaled to length 1.
//
// Features are ranked by the norms ‖wᵢ‖ of the rows of W. A large ν leaves Z = 0, and the method is NDFS's of package
// jelsr.
//
// # The graph
//
// L is the Laplacian of robust local learning (graph.go). Row i predicts its own clusters from its k nearest rows N_i,
// with the weights
//
//	S_ij = exp(−‖xᵢ − xⱼ‖²/σ²) / Σ_{l∈N_i} exp(−‖xᵢ − x_l‖²/σ²)   for j ∈ N_i, otherwise 0.
//
// If Y has entries 0 and 1, the errors in the l1 norm, Σᵢ‖yᵢ − Σⱼ S_ij yⱼ‖₁, are Σᵢⱼ S_ij‖yᵢ − yⱼ‖² = Tr(YᵀLY) with
//
//	L = D − S − Sᵀ,   D the diagonal matrix of the row sums of S + Sᵀ.
//
// Rows and their neighbours cannot be found from a small statistic. Therefore the method works on anchors that are rows
// held in memory: all rows, or a seeded sample of them. On these it solves the paper's own problem.
//
// # Departures
//
// We had the authors' program and the paper's abstract, but not its text. The program does not contain its graph, nor a
// width of the kernel. Our σ² is the mean squared distance of a row from its k nearest rows.
//
// The program starts Y from clusters of the c eigenvectors of L with the smallest eigenvalues, as entries 0 and 1. An
// update multiplies entries, so 0 remains 0, and no row would change its cluster. As in NDFS's paper, 0.2 is added to
// all entries. Which labels change depends on γ: with the program's γ = 1e8 hardly any does.
//
// The program does not check that the objective falls, and measures the penalty in another norm than the one that its
// update lowers. With the root in step 3 neither a fall nor, after the scaling of columns, its opposite is proved. If Y
// would raise the objective, we take a lower power of the factors: 1/4, 1/8 and so on, and at last keep Y. Steps 1 and 2
// minimize over W (by an upper bound of its norms) and Z, so that they cannot raise it. The program checks that the
// objective falls.
//
// The authors tune α, β and ν with labels over seven decades. Our α is 1. β and ν are shares, by default a tenth, of the
// β above which W = 0 and of the ν above which Z = 0 would be best at the start. Columns are standardized, as the
// regression has no constant term.
package rsfs
