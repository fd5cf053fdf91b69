package gram

// Keep reduces g in place to the features whose source column is wanted; wanted has
// one element for each column of the source. Cost O(D²).
func (g *Gram) Keep(wanted []bool) {
	var kept []int
	for k, j := range g.Columns {
		if wanted[j] {
			kept = append(kept, k)
		}
	}
	n := len(kept)
	if n == g.D {
		return
	}
	// An entry never moves to a higher index, so ascending order overwrites nothing unread.
	for a, i := range kept {
		for b, j := range kept {
			g.Sym[a*n+b] = g.Sym[i*g.D+j]
		}
		g.Columns[a], g.Mean[a], g.Std[a] = g.Columns[i], g.Mean[i], g.Std[i]
		g.Filled[a], g.Missing[a] = g.Filled[i], g.Missing[i]
	}
	g.D = n
	g.Sym = g.Sym[:n*n]
	g.Columns, g.Mean, g.Std = g.Columns[:n], g.Mean[:n], g.Std[:n]
	g.Filled, g.Missing = g.Filled[:n], g.Missing[:n]
}

// Keep reduces s in place to the features whose source column is wanted; wanted has one
// element for each column of the source.
func (s *Standardizer) Keep(wanted []bool) {
	n := 0
	for k, j := range s.Columns {
		if !wanted[j] {
			continue
		}
		s.Columns[n], s.Shift[n], s.Factor[n], s.Fill[n] = j, s.Shift[k], s.Factor[k], s.Fill[k]
		s.Mean[n], s.Std[n], s.Filled[n] = s.Mean[k], s.Std[k], s.Filled[k]
		s.offset[n], s.column[n] = s.offset[k], s.column[k]
		n++
	}
	s.Columns, s.Shift, s.Factor, s.Fill = s.Columns[:n], s.Shift[:n], s.Factor[:n], s.Fill[:n]
	s.Mean, s.Std, s.Filled = s.Mean[:n], s.Std[:n], s.Filled[:n]
	s.offset, s.column = s.offset[:n], s.column[:n]
}
