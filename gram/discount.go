package gram

import "fmt"

// leastWeight is the weight below which nothing is discounted further: sums of squares of
// values about 1e-100 would leave float64's range.
const leastWeight = 1e-100

// Discount multiplies the weight of every row by γ in (0, 1], in O(d): all sums, while numbers
// of rows and entries stay what was read. Discounting, then merging rows added later, gives the
// statistics of all rows with the weights γ^age, up to rounding. It fails, with p unchanged, for
// another γ, or one that leaves next to no weight.
func (p *Profile) Discount(gamma float64) error {
	if err := p.discountable(gamma); err != nil {
		return err
	}
	p.discount(gamma)
	return nil
}

func (p *Profile) discountable(gamma float64) error {
	if !(gamma > 0 && gamma <= 1) {
		return fmt.Errorf("gram: a discount of %v: want more than 0 and up to 1", gamma)
	}
	if gamma == 1 {
		return nil
	}
	if p.Rows > 0 && p.Weight*gamma < leastWeight {
		return fmt.Errorf("gram: a discount of %v leaves rows without weight", gamma)
	}
	for j := range p.Columns {
		if c := &p.Columns[j]; c.Observed > 0 && c.Weight*gamma < leastWeight {
			return fmt.Errorf("gram: a discount of %v leaves no weight of column %d, which had no value for long", gamma, j)
		}
	}
	return nil
}

func (p *Profile) discount(gamma float64) {
	p.Weight *= gamma
	for j := range p.Columns {
		c := &p.Columns[j]
		c.Weight *= gamma
		c.Sum *= gamma
		c.Squares *= gamma
	}
}

// Discount is [Profile.Discount] for all sums of m, in O(d²).
func (m *Moments) Discount(gamma float64) error {
	if err := m.discountable(gamma); err != nil {
		return err
	}
	m.discount(gamma)
	for _, sums := range [][]float64{m.g, m.cross, m.both} {
		multiply(sums, gamma)
	}
	return nil
}

// Discount multiplies every count of h by γ in (0, 1]. It fails, with h unchanged, for another.
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

func multiply(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
