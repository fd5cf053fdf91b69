// Package rufs ranks features by how well they determine clusters that are robust to outlying rows: Qian and Zhai,
// "Robust unsupervised feature selection" (RUFS, IJCAI 2013).
//
// X is the n×d data matrix, G (n×c) the assignment of rows to clusters, F (c×d) the centres of the clusters, and W
// (d×c) a projection. ‖·‖₂,₁ is the sum of the norms of the rows of a matrix. RUFS minimizes
//
//		‖X − GF‖₂,₁ + νTr(GᵀLG) + α‖XW − G‖₂,₁ + β‖W‖₂,₁   subject to GᵀG = I, G ≥ 0, F ≥ 0.
//
//	 1. Compute L = (I − A)ᵀ(I − A). The matrix A predicts a row's clusters from the clusters of its nearest
//	    rows, by local ridge regression (local.go), so the term with L is small if this works for each row.
//	 2. Compute the first G by k-means, F as the means of the clusters, and W by least squares.
//	 3. Lower the objective in W, by least squares that weigh row i by 1/‖x_iW − g_i‖ and feature j by
//	    1/‖w_j‖ (project.go).
//	 4. Lower it in G, by projected gradients on G ≥ 0 (assign.go).
//	 5. Lower it in F, by least squares that weigh row i by 1/‖x_i − g_iF‖, one row of F after the other
//	    (centres.go). Repeat from step 3 until the objective hardly changes.
//
// Features are ranked by the norms of W's rows. Every step lowers the objective in which each norm is smoothed to
// √(‖·‖² + ε). The program checks this.
//
// # Departures
//
// As in the authors' program, GᵀG = I is replaced by a penalty, ζ/4·‖GᵀG − I‖². Their ζ = 1e7 keeps G at its start; our
// ζ is a hundred times the curvature of the other terms. We leave out further small terms in G and F that their program
// has. The authors update G and F by a projected quasi-Newton method (L-BFGS) and W by L-BFGS. Our steps 3 to 5 lower
// the same objective. The authors start from spectral clustering, while we start from k-means.
//
// The paper does not specify the kernel and the ridge of the local regression, but refers to Gu and Zhou (2009). Our
// kernel is linear with a constant, and our ridge is the mean squared distance of the neighbours. The paper tunes ν, α
// and β with labels. Here they are 1.
//
// F ≥ 0 requires data without negative values. Therefore columns are scaled to 0..1 by default.
package rufs
