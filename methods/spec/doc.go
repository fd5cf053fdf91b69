// Package spec ranks features by how closely they follow the leading eigenvectors of a graph of the rows. It needs only
// an anchor graph. Zhao and Liu, "Spectral feature selection for supervised and unsupervised learning" (SPEC), ICML
// 2007.
//
// A graph of n rows has the affinity W, the degrees D and the normalized Laplacian L = I − D^(−1/2)WD^(−1/2). The
// eigenpairs of L are (λⱼ, ξⱼ) with 0 = λ₁ ≤ … ≤ λₙ ≤ 2 and ξ₁ = D^(1/2)1. A feature f consists of n values. With f̂ =
// D^(1/2)f/‖D^(1/2)f‖ and αⱼ = f̂ᵀξⱼ, the paper defines three scores:
//
//	φ₁ = f̂ᵀγ(L)f̂ = Σⱼ γ(λⱼ)αⱼ²                       lower is better
//	φ₂ = φ₁ / (1 − α₁²)                               lower is better
//	φ₃ = Σⱼ₌₂..ₖ (γ(2) − γ(λⱼ))αⱼ²                     higher is better
//
// φ₂ omits the trivial eigenvector ξ₁, which every feature with a large mean follows. φ₃ uses only the k leading
// eigenvectors, which indicate clusters. γ may be any increasing function of the eigenvalues. Here γ(λ) = λʳ for a
// whole number r, which is 1 by default.
//
// # Reduction to the anchor graph
//
// In the anchor graph W = A = BBᵀ and D = I, so that ξ₁ = 1/√n and L = I − BBᵀ. An eigenvector v of S = BᵀB with the
// eigenvalue σ > 0 gives ξ = Bv/√σ with λ = 1 − σ. All other eigenvalues of L are 1. For a centred feature x̃, with c =
// Bᵀx̃ its column of C,
//
//	x̃ᵀLʳx̃ = x̃ᵀx̃ − cᵀ(I + N + … + N^(r−1))c,   N = I − S,
//	x̃ᵀξⱼ = cᵀvⱼ/√σⱼ,
//
// because 1 − λʳ = σ(1 + λ + … + λ^(r−1)). The mean μ of a feature adds nμ² to α₁² and to the squared length of f,
// before scaling to f̂. As λ₁ = 0, it affects φ₁ only by the length.
//
// The program centres features, so that α₁ = 0 and φ₁ = φ₂. With γ(λ) = λ both are the Laplacian score. [Options.Mean]
// makes φ₁ and φ₂ differ. Only C, S and the diagonal of G are used.
//
//  1. [Select] computes the scores, d numbers.
//  2. Features are ranked by score. Equal scores are in column order, and constant features are last.
package spec
