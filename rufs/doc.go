// Package rufs ranks features by how they tell clusters that stray rows do not disturb: Qian and
// Zhai, "Robust unsupervised feature selection" (RUFS, IJCAI 2013).
//
// X is the n×d data, G n×c the clusters of the rows, F c×d their centres, W d×c a projection, and
// ‖·‖₂,₁ the sum of the norms of rows:
//
//		‖X − GF‖₂,₁ + νTr(GᵀLG) + α‖XW − G‖₂,₁ + β‖W‖₂,₁   subject to GᵀG = I, G ≥ 0, F ≥ 0.
//
//	 1. L = (I − A)ᵀ(I − A), where A predicts a row's clusters from those of its nearest rows by
//	    ridge regression there (local.go): what is asked for is that each row can be so predicted;
//	 2. G from k-means, one variable after the other to a lower objective from then on:
//	 3. W of the least squares that weigh row i by 1/‖x_iW − g_i‖ and feature j by 1/‖w_j‖ (project.go);
//	 4. G by projected gradients, on G ≥ 0 (assign.go);
//	 5. F of the least squares that weigh row i by 1/‖x_i − g_iF‖, a row of F after the other
//	    (centres.go); on to 3 until the objective settles.
//
// Features are ranked by the norms of W's rows. Every step lowers the objective, with each norm
// smoothed to √(‖·‖² + ε); that is checked.
//
// # Departures
//
// As in the authors' program GᵀG = I is a penalty, ζ/4·‖GᵀG − I‖². Theirs has ζ = 1e7, which
// holds G to where it starts; ours is a hundred times the curvature of the other terms. The
// program's further small terms in G and F are left out. The authors update G and F by a projected quasi-Newton method
// (L-BFGS) and W by L-BFGS; the steps above lower the same objective, and two of them have their
// minimum in closed form. They start from spectral clustering, we from k-means.
//
// The paper leaves the local regression's kernel and ridge to Gu and Zhou (2009): ours is linear
// with a constant, and its ridge the mean squared distance of the neighbours. ν, α and β are tuned
// with labels in the paper; here they are 1.
//
// F ≥ 0 wants data without negative values: columns from 0 to 1 by default.
package rufs
