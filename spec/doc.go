// Package spec ranks features by how closely they follow the spectrum of a graph of the rows, from an anchor graph
// alone: Zhao and Liu, "Spectral feature selection for supervised and unsupervised learning" (SPEC), ICML 2007.
//
// A graph of the n rows has the affinity W, the degrees D and the normalized Laplacian L = I − D^(−1/2)WD^(−1/2), with
// eigenpairs (λⱼ, ξⱼ), 0 = λ₁ ≤ … ≤ λₙ ≤ 2 and ξ₁ = D^(1/2)1. For a feature f, n values, with f̂ = D^(1/2)f/‖D^(1/2)f‖
// and αⱼ = f̂ᵀξⱼ, the paper scores
//
//	φ₁ = f̂ᵀγ(L)f̂ = Σⱼ γ(λⱼ)αⱼ²                       lower is better
//	φ₂ = φ₁ / (1 − α₁²)                               lower is better
//	φ₃ = Σⱼ₌₂..ₖ (γ(2) − γ(λⱼ))αⱼ²                     higher is better
//
// φ₂ omits the trivial eigenvector, which every feature with a large mean follows, and φ₃ uses only the k leading
// eigenvectors, which indicate clusters. γ is any increasing function of the eigenvalues; here γ(λ) = λʳ for whole r,
// by default λ itself.
//
// # Reduction to the anchor graph
//
// In the anchor graph W = A = BBᵀ and D = I, so that ξ₁ = 1/√n, L = I − BBᵀ, and an
// eigenvector of S = BᵀB with the eigenvalue σ > 0 makes ξ = Bv/√σ with λ = 1 − σ. All other
// eigenvalues of L are 1. For a centred feature x̃, with c = Bᵀx̃ its column of C,
//
//	x̃ᵀLʳx̃ = x̃ᵀx̃ − cᵀ(I + N + … + N^(r−1))c,   N = I − S,
//	x̃ᵀξⱼ = cᵀvⱼ/√σⱼ,
//
// because 1 − λʳ = σ(1 + λ + … + λ^(r−1)). The mean μ of a feature contributes nμ² to the square of f along ξ₁. As λ₁ =
// 0, it affects only the length of f.
//
// The program centres features, so that α₁ = 0 and φ₁ = φ₂, and with γ(λ) = λ both are the Laplacian score
// ([Options.Mean] makes them differ). Only the diagonal of G, C and S are used:
//
//  1. [Select] computes the scores, d numbers;
//  2. equal ones are in column order, constant features last.
package spec
