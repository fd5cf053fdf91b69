// Package greedy chooses the features that best reconstruct all others, without
// labels, one at a time: Farahat, Ghodsi, Kamel, "Efficient greedy feature selection
// for unsupervised learning", Knowledge and Information Systems 35 (2013).
//
// X is the n×d data, each row an observation, P_S the projection on the span of the
// chosen columns S, and F(S) = ‖X − P_S X‖²_F what they leave unexplained. Of all
// columns the next one chosen leaves least. Everything is a function of G = XᵀX:
//
//  1. f⁰ᵢ = ‖H₍:,i₎‖² and g⁰ᵢ = Gᵢᵢ, with H = G (Algorithm 1).
//  2. Choose p = argmax fᵢ/gᵢ; equal scores within 1e-9 go to the lowest column
//     (criterion.go, guard.go).
//  3. δ = G₍:,p₎ − Σ ω_r ω_r[p], ω = δ/√δ_p; γ = H₍:,p₎ − Σ υ_r ω_r[p], υ = γ/√δ_p
//     (memory.go).
//  4. f ← f − 2 ω∘(Hᵀυ − Σ (υ_rᵀυ) ω_r) + ‖υ‖² ω∘ω, g ← g − ω∘ω (Theorem 2); on to 2.
//
// The partition-based Algorithm 2 reconstructs the c sums of random groups of
// columns B instead, with H = BᵀX (Theorem 3): c·d numbers for d². [SelectTarget]
// takes any other H.
//
// [Select] works on a G in memory, in full or as a factor. [SelectStream] works on rows if d² numbers do not fit; it
// makes the same choices in far fewer passes than k. [SelectSketched] needs no f⁰, which costs n·d²: a sketch of the
// rows names candidates, among which its choice is exact. Results have the same bits for any number of workers and
// any memory.
//
// Deviations from the paper: f, which drifts in the recursion, is recomputed from G and H whenever its rounding error
// could change a choice. At the rank of the data the paper would go on to choose noise; here a second layer is chosen
// among the other features as if the first were absent, with a warning. And columns can be kept, that is, chosen
// first.
package greedy
