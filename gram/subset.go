package gram

// Keep reduces g in place to the features whose source column is wanted. wanted has one element for each column of the
// source. Keep costs no more than moving the kept numbers.
func (g *Gram) Keep(wanted []bool) {
	places := wantedIndices(g.Columns, wanted)
	if len(places) == g.D {
		return
	}
	g.reduceToFeatures(places)
	if g.Held != nil {
		g.Held.reduceToFeatures(places)
	}
	g.Columns, g.Mean, g.Std = keepIndices(g.Columns, places), keepIndices(g.Mean, places), keepIndices(g.Std, places)
	g.Offset = keepIndices(g.Offset, places)
	g.Filled, g.Missing = keepIndices(g.Filled, places), keepIndices(g.Missing, places)
}

// Keep reduces s in place to the features whose source column is wanted; wanted has one
// element for each column of the source.
func (s *Standardizer) Keep(wanted []bool) {
	kept := wantedIndices(s.Columns, wanted)
	s.Columns, s.Shift, s.Factor, s.Fill = keepIndices(s.Columns, kept), keepIndices(s.Shift, kept), keepIndices(s.Factor, kept), keepIndices(s.Fill, kept)
	s.Mean, s.Std, s.Filled = keepIndices(s.Mean, kept), keepIndices(s.Std, kept), keepIndices(s.Filled, kept)
	s.offset, s.column = keepIndices(s.offset, kept), keepIndices(s.column, kept)
}

func wantedIndices(columns []int, wanted []bool) (places []int) {
	for k, j := range columns {
		if wanted[j] {
			places = append(places, k)
		}
	}
	return places
}

// keepIndices moves the elements of x at the listed indices, which are ascending, to the front of x.
func keepIndices[T any](x []T, places []int) []T {
	for n, k := range places {
		x[n] = x[k]
	}
	return x[:len(places)]
}
