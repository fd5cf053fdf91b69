package gram

import "fmt"

// minWeight is the smallest sum of weights that a discount may leave. With less weight, sums of squares of values about
// 1e-100 would underflow.
const minWeight = 1e-100

// Discount multiplies the weight of every row by γ in (0, 1], in O(d). Counts of rows and entries are unchanged. If
// rows of age 0 are merged after each Discount, the result is the profile of all rows with the weights γ^age, up to
// rounding. If γ is not in (0, 1] or leaves almost no weight, Discount fails, and p is unchanged.
func (p *Profile) Discount(gamma float64) error {
	if err := p.checkDiscount(gamma); err != nil {
		return err
	}
	p.discountSums(gamma)
	return nil
}

func (p *Profile) checkDiscount(gamma float64) error {
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("gram: a discount of %v: want more than 0 and up to 1", gamma)
	}
	if gamma == 1 {
		return nil
	}
	if p.Rows > 0 && p.Weight*gamma < minWeight {
		return fmt.Errorf("gram: a discount of %v leaves rows without weight", gamma)
	}
	for j := range p.Columns {
		if c := &p.Columns[j]; c.Observed > 0 && c.Weight*gamma < minWeight {
			return fmt.Errorf("gram: a discount of %v leaves no weight of column %d, which had no value for long", gamma, j)
		}
	}
	return nil
}

func (p *Profile) discountSums(gamma float64) {
	p.Weight *= gamma
	for j := range p.Columns {
		c := &p.Columns[j]
		c.Weight *= gamma
		c.Sum *= gamma
		c.Squares *= gamma
	}
}

// Discount does the same as [Profile.Discount] for all sums of m, in O(d²).
func (m *Moments) Discount(gamma float64) error {
	if err := m.checkDiscount(gamma); err != nil {
		return err
	}
	m.discountSums(gamma)
	for _, sums := range [][]float64{m.g, m.cross, m.bothMissing} {
		multiplyAll(sums, gamma)
	}
	return nil
}

// Discount multiplies every weight in h by γ in (0, 1]. If γ is not in this range, Discount fails, and h is unchanged.
func (h *Histograms) Discount(gamma float64) error {
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("gram: a discount of %v: want more than 0 and up to 1", gamma)
	}
	for j := range h.columns {
		c := &h.columns[j]
		c.zero *= gamma
		c.missing *= gamma
		for i := range c.bins {
			c.bins[i].count *= gamma
		}
	}
	return nil
}

func multiplyAll(x []float64, factor float64) {
	for i := range x {
		x[i] *= factor
	}
}
