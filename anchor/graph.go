package anchor

// Graph is the anchor graph of n rows and d scaled features, in the small matrices
// that selectors work from. With Z the n×m weights of rows on anchors (each row sums
// to 1), Δ = diag(Zᵀ1), B = ZΔ^(−1/2), A = BBᵀ the n×n affinity and L = I − A its
// Laplacian (eq. 2.6 of SFUFS gives D = I), and X̃ the centred features,
//
//	G = X̃ᵀX̃   C = BᵀX̃   S = BᵀB
//
// so that XᵀLX = G − CᵀC and XᵀAᵗX = CᵀS^(t−1)C for t ≥ 1: L1 = 0, so that centring
// changes nothing. An anchor that no row uses has Δ = 0 and rows of zeros.
//
// A Graph is read-only to selectors, who may run at the same time.
type Graph struct {
	Rows  int64     // n
	M, D  int       // anchors, features
	Delta []float64 // m
	G     []float64 // d×d, symmetric, stored in full
	C     []float64 // m×d row-major
	S     []float64 // m×m, symmetric, stored in full
}
