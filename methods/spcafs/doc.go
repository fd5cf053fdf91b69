// Package spcafs ranks features by principal components that need few of them. It implements Li, Nie, Bian, Wu and Li,
// "Sparse PCA via ℓ2,p-norm regularization for unsupervised feature selection" (SPCAFS, IEEE TPAMI 2021), on the Gram
// matrix G alone.
//
// X is the n×d centred data. SPCAFS minimizes over W, d×m with rows wᵢ, the error of the reconstruction from m
// components and a penalty, with 0 < p ≤ 1:
//
//		‖X − XWWᵀ‖² + λΣ‖wᵢ‖ᵖ = Tr(G) − Tr(WᵀGW) + λΣ‖wᵢ‖ᵖ   subject to WᵀW = I.
//
//	 1. Start with D = I.
//	 2. W = the m eigenvectors of λD − G with the smallest eigenvalues.
//	 3. D = diag(p/2·‖wᵢ‖^(p−2)). Repeat step 2 until the objective hardly falls.
//
// Features are ranked by ‖wᵢ‖. The objective cannot rise, which the program checks. The minimum is local.
//
// # Few rows
//
// If G is a factor RᵀR of few rows, λD − G + cI is a diagonal matrix less a product of few rows. c is the largest
// eigenvalue of G, which makes the matrix positive semidefinite and changes no eigenvector (see [linalg.NewDeficit]).
//
// # Departures
//
// D is p/2·(‖wᵢ‖² + ε)^(p/2−1) with ε = 1e-8, so that it stays finite if a row of W vanishes. The penalty is smoothed by
// the same ε, so that the objective still cannot rise.
//
// If G has a rank below m, W has as many columns as the rank. Further columns would explain nothing, and the penalty
// alone would choose them.
//
// G is divided by its trace, so that λ has the same meaning for any units and any number of rows. λ may be a share of the
// λ at which the penalty of the first W is as large as the variance that it explains, and is 0.1 of this by default. The
// paper tunes λ, p and m with labels.
//
// The objective is that of the paper; public programs (gaoyl-group/FEN-PCAFS) take the same steps.
//
// [linalg.NewDeficit]: https://pkg.go.dev/github.com/ufs-stream/ufs-stream/internal/numeric/linalg#NewDeficit
package spcafs
