package anchor

import "fmt"

// Discount multiplies the weight of every row by γ in (0, 1], in O(m² + m·D) for m anchors of D columns. It scales all
// sums, but not Rows. The graph is then the graph of weighted rows. See [Graph] for its Z, Δ and B. With V the diagonal
// matrix of the weights, Δ = diag(ZᵀV1) and B = V^(1/2)ZΔ^(−1/2). If γ is not in (0, 1] it fails, with s unchanged.
func (s *Statistics) Discount(gamma float64) error {
	if s.brokenErr != nil {
		return s.brokenErr
	}
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("anchor: a discount of %v: want more than 0 and up to 1", gamma)
	}
	for _, sums := range [][]float64{s.delta, s.zx, s.zz} {
		for i := range sums {
			sums[i] *= gamma
		}
	}
	return nil
}
