package gram

// Keep reduces g in place to the features whose source column is wanted. wanted has one element for each column of the
// source. The only cost is moving the kept numbers.
func (g *Gram) Keep(wanted []bool) {
	places := wantedPlaces(g.Columns, wanted)
	if len(places) == g.D {
		return
	}
	g.keepFeatures(places)
	if g.Held != nil {
		g.Held.keepFeatures(places)
	}
	g.Columns, g.Mean, g.Std = keepPlaces(g.Columns, places), keepPlaces(g.Mean, places), keepPlaces(g.Std, places)
	g.Offset = keepPlaces(g.Offset, places)
	g.Filled, g.Missing = keepPlaces(g.Filled, places), keepPlaces(g.Missing, places)
}

// Keep reduces s in place to the features whose source column is wanted; wanted has one
// element for each column of the source.
func (s *Standardizer) Keep(wanted []bool) {
	kept := wantedPlaces(s.Columns, wanted)
	s.Columns, s.Shift, s.Factor, s.Fill = keepPlaces(s.Columns, kept), keepPlaces(s.Shift, kept), keepPlaces(s.Factor, kept), keepPlaces(s.Fill, kept)
	s.Mean, s.Std, s.Filled = keepPlaces(s.Mean, kept), keepPlaces(s.Std, kept), keepPlaces(s.Filled, kept)
	s.offset, s.column = keepPlaces(s.offset, kept), keepPlaces(s.column, kept)
}

func wantedPlaces(columns []int, wanted []bool) (places []int) {
	for k, j := range columns {
		if wanted[j] {
			places = append(places, k)
		}
	}
	return places
}

// keepPlaces moves the elements at the kept indices, which ascend, to the front of x.
func keepPlaces[T any](x []T, places []int) []T {
	for n, k := range places {
		x[n] = x[k]
	}
	return x[:len(places)]
}
