// Package jelsr ranks features by a sparse regression onto clusters of the rows, found jointly with the regression on
// an anchor graph. It implements two methods: Hou, Nie, Li, Yi and Wu, "Joint embedding learning and sparse regression"
// (JELSR), IEEE Transactions on Cybernetics 44 (2014), and Li, Yang, Liu, Zhou and Lu, "Unsupervised feature selection using
// nonnegative spectral analysis" (NDFS), AAAI 2012.
//
// X is the n×d matrix of the centred data, L is the Laplacian of a graph of the rows, and W is the d×c matrix of the
// regression. JELSR minimizes, over W and an embedding Y, n×c,
//
//	Tr(YᵀLY) + β(‖XW − Y‖² + α‖W‖₂,₁)   subject to YᵀY = I,
//
// and NDFS minimizes, over W and labels F, n×c,
//
//	Tr(FᵀLF) + α(‖XW − F‖² + β‖W‖₂,₁) + γ/2·‖FᵀF − I‖²   subject to F ≥ 0.
//
// The norm ‖wᵢ‖ of row i of W measures how much feature i is needed. Both papers start from U = I and repeat three
// steps. Their weight of the row norms enters H = (XᵀX + weight·U)⁻¹.
//
//  1. JELSR: Y becomes the c eigenvectors of L + β(I − XHXᵀ) with the smallest eigenvalues.
//     NDFS: F becomes F∘γF/(MF + γFFᵀF) with M = L + α(I − XHXᵀ), and its columns are scaled to norm 1.
//  2. W becomes HXᵀY in JELSR, and HXᵀF in NDFS.
//  3. U_ii becomes 1/(2‖wᵢ‖). Repeat from step 1 until the objective hardly changes.
//
// # Reduction to the anchor graph
//
// On the anchor graph L = I − BBᵀ with B ≥ 0, n×m. The n rows enter only by the [anchor.Graph]'s G = XᵀX, C = BᵀX and S
// = BᵀB:
//
//   - H is d×d, and W = HXᵀY needs only XᵀY, d×c (regression.go).
//
//   - JELSR's Y consists of the eigenvectors of BBᵀ + βXHXᵀ with the largest eigenvalues. They lie in the span
//     of B and X, so a matrix of order m+d is enough (embedding.go). This is exact: the objective and W are those
//     of the n×n problem.
//
//   - NDFS's F has n·c entries that are updated one by one, which no statistic keeps. We restrict F to F = BQ
//     with Q ≥ 0, m×c. Then F = Z·Δ^(−1/2)Q: each row has the mean of the labels of its anchors, by its weights
//     Z, so F ≥ 0. For such F the objective is exact,
//
//     FᵀF = QᵀSQ,   FᵀLF = QᵀSQ − (SQ)ᵀ(SQ),   XᵀF = CᵀQ,
//
//     and the update uses the gradient with respect to Q, which is Bᵀ times the gradient with respect to F:
//
//     Q ← Q∘γSQ/(BᵀMBQ + γSQ·QᵀSQ),   BᵀMBQ = N·SQ + α(SQ − CHCᵀQ),   N = I − S.
//
//     If every row is one of the anchors, this is the paper's update (ndfs.go). Otherwise the result is the best
//     F of the restricted form. Rows between two clusters then share the labels of their anchors. The weight γ
//     slowly removes labels from such anchors, which hardly affects the selection (options.go).
//
// An iteration costs about d³ flops. JELSR also needs the c leading eigenpairs of a matrix of order m+d. As in the
// papers, JELSR does not exclude the constant vector. It is an eigenvector with the cost β, and is a column of Y if β
// is among the c least costs.
//
// # The graph is not the papers'
//
// JELSR's paper weighs an edge by local linear approximation: the weights are the ones by which a row is best
// reproduced from its nearest rows. NDFS's paper takes exp(−‖xᵢ−xⱼ‖²/σ²) between nearest rows, and L = I −
// D^(−1/2)WD^(−1/2). Both methods here take the anchor graph, W = BBᵀ, which joins rows that share anchors and whose
// degrees are 1. For n×n graphs of the papers the scores differ, and so do figures that are compared with the papers'.
// If every row is an anchor, the graph is still W = BBᵀ.
//
// # Corrections of the papers
//
// If a row of W becomes 0, U is infinite. The papers add a small number to the norms. We compute with U^(−1/2), which
// stays finite (regression.go).
//
// NDFS's paper proves that the objective falls, but assumes M ≥ 0 and no scaling of columns. In fact M has negative
// entries. If this makes the denominator of an update factor not positive, we move MF to the numerator. If a step
// raises the objective, we use the power 1/2, 1/4, … of its factors. With γ = 1e8, none of 400 steps on ORL and Isolet
// needed this. JELSR's objective falls, as its paper proves. The program checks that it does ([Result.Rose]).
//
// NDFS starts from spectral clustering of the anchors (labels.go), while the paper clusters the rows. The start depends
// on the seed. As γ is much larger than the other weights, most labels never change after the start. The same holds for
// the paper's problem on n rows.
package jelsr
