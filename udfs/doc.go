// Package udfs ranks features by how well they tell each row's neighbourhood apart: Yang, Shen,
// Ma, Huang and Zhou, "ℓ2,1-norm regularized discriminative feature selection for unsupervised
// learning" (UDFS, IJCAI 2011).
//
// A patch is a row and its k nearest rows, in the columns of X_i (d×(k+1)); H centres it. UDFS
// minimizes over W, d×c,
//
//	Tr(WᵀMW) + γ‖W‖₂,₁   subject to WᵀW = I,                                        eq. (9)
//	M = Σ_i X_iH(HX_iᵀX_iH + λI)⁻¹HX_iᵀ                                             eq. (8)
//
// and ranks by the norms of W's rows:
//
//  1. the k nearest rows of each (select.go);
//  2. M, d×d, patch by patch (patches.go): M = XᵀLX, where the n×n L has few entries; where features
//     outnumber rows by two to one, M stays that product (form.go);
//  3. W = the c eigenvectors of M + γD with the smallest eigenvalues, from D = I;
//     D_ii = 1/(2√(‖wᵢ‖² + ε)); again until the objective settles (solve.go).
//
// M needs neighbours, which no small statistic holds: rows are held in memory, by default those
// of a seeded sample. M itself adds up over rows once the neighbours are known.
//
// # Departures
//
// ε = 1e-8 keeps D finite where a row of W vanishes, and makes the objective one that cannot
// rise; that is checked. Where more than c directions cost nothing, as where features outnumber
// rows, the paper leaves the first W to rounding: we start from the mean over all choices.
//
// The paper tunes λ and γ over ten decades with labels. The defaults are those of its authors'
// programs: k = 5, λ = 1000, γ = 0.1. scikit-feature's UDFS is no yardstick: its patches take the
// neighbours of another row.
//
// As WᵀW = I does not constrain XW, features that hardly vary cost little and rank high: hence
// columns of one length by default.
package udfs
