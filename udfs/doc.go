// Package udfs ranks features by how well they distinguish each row from its neighbourhood: Yang, Shen, Ma, Huang and
// Zhou, "ℓ2,1-norm regularized discriminative feature selection for unsupervised learning" (UDFS, IJCAI 2011).
//
// A patch is a row and its k nearest rows, in the columns of X_i (d×(k+1)); H centres it. UDFS
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
// M needs neighbours, which no small statistic provides: rows are kept in memory, by default a seeded sample. Given the
// neighbours, M adds up over rows.
//
// # Departures
//
// ε = 1e-8 keeps D finite if a row of W vanishes, and gives an objective that cannot rise; that is checked. If more
// than c directions cost nothing, as when features outnumber rows, the paper leaves the first W to rounding: we start
// from the mean over all choices.
//
// The paper tunes λ and γ over ten decades with labels. The defaults are as in its authors' programs: k = 5, λ =
// 1000, γ = 0.1. scikit-feature's UDFS is no reference: its patches use the neighbours of a wrong row.
//
// As WᵀW = I does not constrain XW, features that hardly vary cost little and rank high: therefore columns are scaled
// to one length by default.
package udfs
