package gram

// Keep reduces g in place to the features whose source column is wanted; wanted has
// one element for each column of the source. Costs the moving of what is kept.
func (g *Gram) Keep(wanted []bool) {
	kept := places(g.Columns, wanted)
	if len(kept) == g.D {
		return
	}
	g.keep(kept)
	if g.Held != nil {
		g.Held.keep(kept)
	}
	g.Columns, g.Mean, g.Std = take(g.Columns, kept), take(g.Mean, kept), take(g.Std, kept)
	g.Offset = take(g.Offset, kept)
	g.Filled, g.Missing = take(g.Filled, kept), take(g.Missing, kept)
}

// Keep reduces s in place to the features whose source column is wanted; wanted has one
// element for each column of the source.
func (s *Standardizer) Keep(wanted []bool) {
	kept := places(s.Columns, wanted)
	s.Columns, s.Shift, s.Factor, s.Fill = take(s.Columns, kept), take(s.Shift, kept), take(s.Factor, kept), take(s.Fill, kept)
	s.Mean, s.Std, s.Filled = take(s.Mean, kept), take(s.Std, kept), take(s.Filled, kept)
	s.offset, s.column = take(s.offset, kept), take(s.column, kept)
}

// places are the places of the wanted columns in a list of columns.
func places(columns []int, wanted []bool) (kept []int) {
	for k, j := range columns {
		if wanted[j] {
			kept = append(kept, k)
		}
	}
	return kept
}

// take moves the elements at the places kept, which ascend, to the front of x.
func take[T any](x []T, kept []int) []T {
	for n, k := range kept {
		x[n] = x[k]
	}
	return x[:len(kept)]
}
