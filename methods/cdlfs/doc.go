// Package cdlfs ranks features by a sparse analysis dictionary, which is learned together with a synthesis dictionary. It
// implements Zhu, Hu, Zhang and Zuo, "Coupled dictionary learning for unsupervised feature selection" (CDL-FS, AAAI
// 2016), on the Gram matrix G = XXᵀ alone.
//
// X is d×n, each column a centred row of the table. V (d×c) is the analysis dictionary, D (d×c) the synthesis dictionary
// and A (c×n) the representation of the rows. The paper minimizes, with vᵢ the rows of V and d_j the columns of D,
//
//	‖X − DA‖² + μ‖VᵀX − A‖² + τΣ‖vᵢ‖ᵖ   subject to ‖d_j‖ ≤ 1, 0 < p ≤ 1.
//
// Three steps are repeated, each of which lowers the objective over some of the variables:
//
//  1. V = (G + τ/μ·H)⁻¹XAᵀ with H = diag(p/2·‖vᵢ‖^(p−2)) from the previous V (iteratively reweighted least squares).
//  2. D = the best synthesis dictionary for A, by one column after the other (dictionary.go).
//  3. A = (DᵀD + μI)⁻¹(D + μV)ᵀX.
//
// Features are ranked by ‖vᵢ‖. The objective cannot rise; the program checks this.
//
// # From the Gram matrix
//
// After step 3, A is BᵀX with B = (D + μV)(DᵀD + μI)⁻¹, d×c. So XAᵀ = GB and AAᵀ = BᵀGB, and A itself is not needed.
//
// # Deviations
//
// The paper starts from random dictionaries. Here both start as the c leading eigenvectors of G, the solution for τ = 0
// and c orthonormal columns, so that neither a seed nor the order of the features affects the result. The first step 1
// takes all ‖vᵢ‖ as equal, as the paper does with H = I.
//
// The paper repeats step 1 until V hardly changes, before it goes on. Here one repetition is made in a round, since each
// costs a matrix factor of order d or n, and the next round continues from it. So there are more rounds: on COIL20 and
// warpPIE10P about 200 until the objective falls by less than 1e-5. After 50 rounds 29 and 17
// of the first 50 features are also found after 1,500 rounds, and with these ends 40 and 36 are. The paper solves step 2 by ADMM,
// which need not lower the objective; the convex problem is the same. The authors' program has the weight μτ in place of
// τ/μ. With its μ = 1, which is used here too, both are equal.
//
// τ is given as a share, by default a tenth, of the τ above which V = 0 would be best for the first A and p = 1. The paper
// tunes τ and p with labels.
package cdlfs
