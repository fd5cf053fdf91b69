// Package rufs ranks features by how well they determine clusters that are robust to outlying rows: Qian and Zhai,
// "Robust unsupervised feature selection" (RUFS, IJCAI 2013).
//
// X is the n×d data matrix, G (n×c) contains the clusters of the rows, F (c×d) their centres, W (d×c) is a projection,
// and ‖·‖₂,₁ the sum of the norms of rows:
//
//		‖X − GF‖₂,₁ + νTr(GᵀLG) + α‖XW − G‖₂,₁ + β‖W‖₂,₁   subject to GᵀG = I, G ≥ 0, F ≥ 0.
//
//	 1. L = (I − A)ᵀ(I − A), where A predicts a row's clusters from those of its nearest rows by
//	    local ridge regression (local.go): each row should be predictable in this way;
//	 2. G starts from k-means; from then on one variable after the other lowers the objective:
//	 3. W by least squares that weigh row i by 1/‖x_iW − g_i‖ and feature j by 1/‖w_j‖ (project.go);
//	 4. G by projected gradients, on G ≥ 0 (assign.go);
//	 5. F by least squares that weigh row i by 1/‖x_i − g_iF‖, one row of F after the other
//	    (centres.go); back to 3 until the objective settles.
//
// Features are ranked by the norms of W's rows. Every step lowers the objective, with each norm smoothed to √(‖·‖² +
// ε). The program checks this.
//
// # Departures
//
// As in the authors' program, GᵀG = I is replaced by a penalty, ζ/4·‖GᵀG − I‖². Their program has ζ = 1e7, which keeps
// G at its start; our ζ is a hundred times the curvature of the other terms. Further small terms in G and F of their
// program are left out. The authors update G and F by a projected quasi-Newton method (L-BFGS) and W by L-BFGS. The
// steps above lower the same objective, and the minimum of two of them has a closed form. The authors start from
// spectral clustering, we start from k-means.
//
// For the kernel and the ridge of the local regression the paper refers to Gu and Zhou (2009). Our kernel is linear
// with a constant, and our ridge is the mean squared distance of the neighbours. The paper tunes ν, α and β with
// labels; here they are 1.
//
// F ≥ 0 needs data without negative values: columns are scaled to 0..1 by default.
package rufs
