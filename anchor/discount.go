package anchor

import "fmt"

// Discount multiplies the weight of every row by γ in (0, 1], in O(m² + m·D): all sums, while
// Rows stays what was read. The graph is then that of rows of these weights: with V their
// diagonal, Δ = ZᵀV1 and B = V^(1/2)ZΔ^(−1/2). It fails, with s unchanged, for another γ.
func (s *Statistics) Discount(gamma float64) error {
	if s.broken != nil {
		return s.broken
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
