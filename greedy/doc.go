// Package greedy chooses, one at a time and without labels, the features that best reconstruct all others: Farahat,
// Ghodsi, Kamel, "Efficient greedy feature selection for unsupervised learning", Knowledge and Information Systems 35
// (2013).
//
// X is the n×d data, and each row is an observation. P_S is the projection on the span of the chosen columns S, and
// F(S) = ‖X − P_S X‖²_F is the part of X that they leave unexplained. The next column chosen is the one that reduces F
// most. Everything is a function of G = XᵀX:
//
//  1. f⁰ᵢ = ‖H₍:,i₎‖² and g⁰ᵢ = Gᵢᵢ, with H = G (Algorithm 1).
//  2. Choose p = argmax fᵢ/gᵢ; equal scores within 1e-9 go to the lowest column
//     (internal/engine: Criterion).
//  3. δ = G₍:,p₎ − Σ ω_r ω_r[p], ω = δ/√δ_p; γ = H₍:,p₎ − Σ υ_r ω_r[p], υ = γ/√δ_p
//     (internal/engine: Gram).
//  4. f ← f − 2 ω∘(Hᵀυ − Σ (υ_rᵀυ) ω_r) + ‖υ‖² ω∘ω, g ← g − ω∘ω (Theorem 2); go to 2.
//
// The partition-based Algorithm 2 reconstructs the sums B of c random groups of columns instead, with H = BᵀX (Theorem
// 3). It needs c·d numbers in place of d². [SelectTarget] accepts any other H.
//
// [Select] works on a G in memory, in full or as a factor. If d² numbers do not fit, [SelectStream] works on rows, and
// makes the same choices in far fewer passes than k. [SelectSketched] avoids f⁰, which costs n·d² flops: a sketch of
// the rows names candidates, and the choice among these candidates is exact. Results have the same bits for any number
// of workers and any memory.
//
// Deviations from the paper: the methods of this package standardize columns by default (gram.ScaleStandard: mean 0 and
// standard deviation 1), so that no unit decides. The paper chooses from the columns as they are, which is
// gram.ScaleNone, and a column of larger variance then counts more. f drifts in the recursion, so it is recomputed from G and H whenever its rounding error
// could change a choice. At the rank of the data the paper would go on to choose noise; here a second layer is chosen
// among the other features as if the first were absent, with a warning. Finally, the caller can keep columns, which
// are then chosen first.
package greedy
