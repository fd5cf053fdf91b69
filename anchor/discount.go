package anchor

import "fmt"

// Discount multiplies the weight of every row by γ in (0, 1], in O(m² + m·D): all sums are scaled, while Rows remains
// as read. The graph is then the graph of rows of these weights: with V their diagonal, Δ = ZᵀV1 and B =
// V^(1/2)ZΔ^(−1/2). It fails, with s unchanged, for another γ.
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
