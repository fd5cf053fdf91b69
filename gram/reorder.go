package gram

import "slices"

// Reorder moves column order[j] of p to position j. order must be a permutation.
func (p *Profile) Reorder(order []int) {
	p.Columns = permutedCopy(p.Columns, order)
	if p.Present != nil {
		p.Present = permutedCopy(p.Present, order)
	}
}

// Reorder moves column order[j] of m to position j, in O(d²). It works in place, except that it copies the sums of
// columns with missing entries.
func (m *Moments) Reorder(order []int) {
	d := len(m.Columns)
	m.Profile.Reorder(order)
	if m.g != nil {
		eachSwap(order, func(i, j int) { swapSymmetric(m.g, d, i, j) })
	}
	dm, to := len(m.missing), inversePermutation(order)
	if dm == 0 {
		return
	}
	missing, row := make([]int, dm), make([]float64, d)
	for k, j := range m.missing {
		missing[k] = to[j]
	}
	slices.Sort(missing)
	slot, was := make([]int, d), make([]int, dm) // was[i] is the former slot of column i of missing
	for j := range slot {
		slot[j] = -1
	}
	for k, j := range missing {
		slot[j], was[k] = k, m.slot[order[j]]
	}
	cross, both := make([]float64, dm*d), make([]float64, dm*dm)
	for k, old := range was {
		copy(row, m.cross[old*d:][:d])
		for j, from := range order {
			cross[k*d+j] = row[from]
		}
		for l := k; l < dm; l++ {
			both[k*dm+l] = m.bothMissing[min(old, was[l])*dm+max(old, was[l])]
		}
	}
	m.missing, m.slot, m.cross, m.bothMissing = missing, slot, cross, both
}

// Reorder moves column order[j] of h to position j.
func (h *Histograms) Reorder(order []int) { h.columns = permutedCopy(h.columns, order) }

func permutedCopy[T any](x []T, order []int) []T {
	y := make([]T, len(x))
	for j, from := range order {
		y[j] = x[from]
	}
	return y
}

// inversePermutation returns the new position of each column, given the old column at each position.
func inversePermutation(order []int) []int {
	to := make([]int, len(order))
	for j, from := range order {
		to[from] = j
	}
	return to
}

// eachSwap replaces a permutation by exchanges of two positions, at most one for each position, and calls swap.
func eachSwap(order []int, swap func(i, j int)) {
	placeOf := make([]int, len(order))  // present position of each column
	columnAt := make([]int, len(order)) // column at each position
	for j := range placeOf {
		placeOf[j], columnAt[j] = j, j
	}
	for j, from := range order {
		k := placeOf[from]
		if k == j {
			continue
		}
		swap(j, k)
		columnAt[k] = columnAt[j]
		placeOf[columnAt[k]], columnAt[j], placeOf[from] = k, from, j
	}
}

// swapSymmetric exchanges rows and columns i and j of a symmetric d×d matrix, of which only the upper triangle is
// stored.
func swapSymmetric(g []float64, d, i, j int) {
	at := func(a, b int) *float64 { return &g[min(a, b)*d+max(a, b)] }
	for k := range d {
		if k == i || k == j {
			continue
		}
		x, y := at(i, k), at(j, k)
		*x, *y = *y, *x
	}
	x, y := at(i, i), at(j, j)
	*x, *y = *y, *x
}
