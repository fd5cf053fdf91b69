package gram

// PairSums has the sums of columns x and y about their pilots, over the rows that have both: the number of these rows,
// Σ(x - s), Σ(y - t) and Σ(x - s)(y - t).
type PairSums struct {
	Rows       int64
	X, Y, Both float64
}

// MomentsOfSums returns the moments of a table whose sums another program has computed. p has the Rows of the table and
// the Pilot, Min and Max of each column. pair(i, j) returns the sums of columns i ≤ j; the sums of a column with itself
// are of its observed entries. If memory does not suffice, the error is a *stream.MemoryError.
func MomentsOfSums(p *Profile, pair func(i, j int) PairSums, opt Options) (*Moments, error) {
	d := len(p.Columns)
	m := NewMoments(d, opt)
	m.Profile = *p
	m.Profile.Seen, m.Profile.Weight = p.Rows, float64(p.Rows)
	var missing []int
	for j := range m.Profile.Columns {
		c, own := &m.Profile.Columns[j], pair(j, j)
		c.Observed, c.Weight, c.Sum, c.Squares, c.Rising = own.Rows, float64(own.Rows), own.X, own.Both, false
		if c.Missing.Nulls = p.Rows - own.Rows; own.Rows < p.Rows {
			missing = append(missing, j)
		}
	}
	if err := m.allocateForMissing(missing, false); err != nil {
		return nil, err
	}
	for i := range d {
		for j := i; j < d; j++ {
			m.g[i*d+j] = pair(i, j).Both
		}
	}
	for k, col := range m.missing {
		for j := range d {
			s := pair(min(col, j), max(col, j))
			if j < col {
				s.X, s.Y = s.Y, s.X
			}
			c := &m.Profile.Columns[j]
			m.cross[k*d+j] = c.Sum - s.Y // of the rows that have j, and lack col
			if l := m.slot[j]; l >= k {
				m.bothMissing[k*len(m.missing)+l] = float64(p.Rows - m.Profile.Columns[col].Observed - c.Observed + s.Rows)
			}
		}
	}
	return m, nil
}
