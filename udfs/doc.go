// Package udfs ranks features by how well they distinguish each row from its neighbourhood: Yang, Shen, Ma, Huang and
// Zhou, "ℓ2,1-norm regularized discriminative feature selection for unsupervised learning" (UDFS, IJCAI 2011).
//
// A patch consists of a row and its k nearest rows, which are the columns of X_i (d×(k+1)); H centres the patch. UDFS
// minimizes over W, d×c,
//
//	Tr(WᵀMW) + γ‖W‖₂,₁   subject to WᵀW = I,                                        eq. (9)
//	M = Σ_i X_iH(HX_iᵀX_iH + λI)⁻¹HX_iᵀ                                             eq. (8)
//
// and ranks by the norms of W's rows:
//
//  1. find the k nearest rows of each (select.go);
//  2. M, d×d, patch by patch (patches.go): M = XᵀLX, where the n×n L has few entries; if features
//     outnumber rows by two to one, M stays that product (form.go);
//  3. W = the c eigenvectors of M + γD with the smallest eigenvalues, from D = I;
//     D_ii = 1/(2√(‖wᵢ‖² + ε)); again until the objective settles (solve.go).
//
// M needs neighbours, which cannot be found from a small statistic. Therefore rows are kept in memory, by default a
// seeded sample of them. Given the neighbours, M is a sum over the rows.
//
// # Departures
//
// ε = 1e-8 keeps D finite if a row of W is 0, and gives an objective that cannot rise; the program checks this. If more
// than c directions cost nothing, for example because features outnumber rows, the first W of the paper is determined
// only by rounding errors. We start from the mean over all possible W instead.
//
// The paper tunes λ and γ over ten decades with labels. The defaults are as in its authors' programs: k = 5, λ = 1000,
// γ = 0.1. scikit-feature's UDFS cannot be used as a reference, because its patches use the neighbours of a wrong row.
//
// As WᵀW = I does not constrain XW, features that hardly vary have a low cost and a high rank. Therefore columns are
// scaled to equal length by default.
package udfs
