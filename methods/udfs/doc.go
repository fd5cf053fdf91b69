// Package udfs ranks features by how well they distinguish each row from its neighbourhood: Yang, Shen, Ma, Huang and
// Zhou, "ℓ2,1-norm regularized discriminative feature selection for unsupervised learning" (UDFS, IJCAI 2011).
//
// A patch consists of a row and its k nearest rows, which are the columns of X_i (d×(k+1)). The matrix H subtracts the
// mean of a patch. UDFS minimizes over W, d×c,
//
//	Tr(WᵀMW) + γ‖W‖₂,₁   subject to WᵀW = I,                                        eq. (9)
//	M = Σ_i X_iH(HX_iᵀX_iH + λI)⁻¹HX_iᵀ                                             eq. (8)
//
// and ranks features by the norms of W's rows:
//
//  1. Find the k nearest rows of each row (select.go).
//  2. Compute M, d×d, as a sum over patches (patches.go): M = XᵀLX with a sparse n×n matrix L. If there
//     are at least twice as many features as rows, M is stored as this product (form.go).
//  3. Starting from D = I, compute W, the c eigenvectors of M + γD with the smallest eigenvalues, and set
//     D_ii = 1/(2√(‖wᵢ‖² + ε)). Repeat until the objective hardly changes (solve.go).
//
// Rows and their neighbours cannot be found from a small statistic. Therefore rows are kept in memory, by default a
// seeded sample of all rows. With the neighbours known, M is a sum over the rows.
//
// # Departures
//
// ε = 1e-8 keeps D finite if a row of W is 0, and gives an objective that cannot rise. The program checks this. If more
// than c directions have no cost, for example because features outnumber rows, rounding errors alone determine the
// paper's first W. We start from the mean over all possible W instead.
//
// The paper tunes λ and γ with labels, over ten decades. Our defaults k = 5, λ = 1000 and γ = 0.1 are from its authors'
// programs. scikit-feature's UDFS cannot be used as a reference, because its patches use the neighbours of a wrong row.
//
// The constraint WᵀW = I does not involve the data. Therefore features that hardly vary have a low cost and a high
// rank, and by default all columns are scaled to equal length.
package udfs
