package anchor

// Keep reduces s in place to the columns that are wanted; wanted has one element for
// each. Which rows are kept does not change. Cost O(rows·d).
func (s *Sampler) Keep(wanted []bool) {
	var kept []int
	for j, want := range wanted {
		if want {
			kept = append(kept, j)
		}
	}
	for i := range s.rows {
		row := s.rows[i].values
		// An entry never moves to a higher index, so ascending order overwrites nothing unread.
		for k, j := range kept {
			row[k] = row[j]
		}
		s.rows[i].values = row[:len(kept):len(kept)]
	}
	s.d, s.free = len(kept), nil
}

// Reorder makes column j of s what column order[j] was; order is a permutation. Which rows are
// kept does not change. Cost O(rows·d).
func (s *Sampler) Reorder(order []int) {
	was := make([]float64, s.d)
	for i := range s.rows {
		row := s.rows[i].values
		copy(was, row)
		for j, from := range order {
			row[j] = was[from]
		}
	}
}
