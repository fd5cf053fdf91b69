// Package jelsr ranks features by how much a sparse regression onto clusters of the rows needs them, optimizing
// clusters and regression jointly, and using only an anchor graph: Hou, Nie, Li, Yi and Wu, "Joint embedding learning
// and sparse regression" (JELSR), IEEE Transactions on Cybernetics 2014, and Li, Yang, Liu, Zhou and Lu, "Unsupervised
// feature selection using nonnegative spectral analysis" (NDFS), AAAI 2012.
//
// X is the n×d matrix of the centred data, L is the Laplacian of a graph of the rows, and W is the d×c regression.
// JELSR minimizes, over W and an embedding Y, n×c,
//
//	Tr(YᵀLY) + β(‖XW − Y‖² + α‖W‖₂,₁)   subject to YᵀY = I,
//
// and NDFS, over W and labels F, n×c,
//
//	Tr(FᵀLF) + α(‖XW − F‖² + β‖W‖₂,₁) + γ/2·‖FᵀF − I‖²   subject to F ≥ 0.
//
// The norm ‖wᵢ‖ of row i of W measures how much feature i is needed. Both papers alternate, starting from U = I, with H
// = (XᵀX + weight·U)⁻¹ for the weight of the row norms:
//
//  1. JELSR: Y = the c eigenvectors of L + β(I − XHXᵀ) with the smallest eigenvalues;
//     NDFS: F ← F∘γF/(MF + γFFᵀF), M = L + α(I − XHXᵀ), and every column of F to length 1;
//  2. W = HXᵀY, or HXᵀF;
//  3. U_ii = 1/(2‖wᵢ‖); on to 1 until the objective settles.
//
// # Reduction to the anchor graph
//
// On the anchor graph L = I − BBᵀ with B ≥ 0, n×m, and the n rows enter only by the [anchor.Graph]'s G = XᵀX, C = BᵀX
// and S = BᵀB:
//
//   - H is d×d, and W = HXᵀY needs only XᵀY, d×c (regression.go).
//
//   - JELSR's Y lies in the span of B and X, as the eigenvectors of BBᵀ + βXHXᵀ with the largest eigenvalues, which
//     come from a matrix of order m+d (embedding.go). Nothing is relaxed: objective and W are those of the n×n problem.
//
//   - NDFS's F has n·c independent entries that are multiplied one by one, and no statistic keeps these. We restrict it
//     to F = BQ with Q ≥ 0, m×c: labels of the anchors that every row averages by its weights, F = Z·Δ^(−1/2)Q, and so
//     F ≥ 0. For these the objective is exact,
//
//     FᵀF = QᵀSQ,   FᵀLF = QᵀSQ − (SQ)ᵀ(SQ),   XᵀF = CᵀQ,
//
//     and the update uses the gradient by Q, which is Bᵀ times the gradient by F:
//
//     Q ← Q∘γSQ/(BᵀMBQ + γSQ·QᵀSQ),   BᵀMBQ = N·SQ + α(SQ − CHCᵀQ),   N = I − S.
//
//     If every row is one of the anchors this is the paper's update, and keeps F = BQ
//     (ndfs.go). Otherwise the answer is the best of a smaller set. Rows between two clusters
//     cannot choose one without their anchors: γ withdraws labels from such anchors, ever
//     more slowly, which hardly affects the selection (options.go).
//
// An iteration costs about d³ flops, and for JELSR also the c leading eigenpairs of order m+d. JELSR keeps the constant
// vector, as the papers do. It is an eigenvector with the cost β, and is a column of Y if β is among the c least costs.
//
// # Corrections of the papers
//
// A row of W that vanishes makes U infinite. The papers add a small number; we compute with
// U^(−1/2), which needs none (regression.go).
//
// NDFS's paper proves that the objective falls for M ≥ 0, and without scaling the columns. But M has negative entries.
// Therefore, if the denominator of the factor is not positive, MF is moved to the numerator, and if a step raises the
// objective, the power 1/2, 1/4, … of its factor is used. With γ = 1e8 none of 400 steps was shortened on ORL and
// Isolet. JELSR's objective falls, as its paper proves; the program checks that it does ([Result.Rose]).
//
// NDFS starts from spectral clustering of the anchors (labels.go), and in the paper from spectral clustering of the
// rows. The start depends on the seed. As γ is much larger than the other weights, most labels are those of the start,
// also in the paper's problem on n rows.
package jelsr
