package gram

import "slices"

// Reorder makes column j of p what column order[j] was; order is a permutation.
func (p *Profile) Reorder(order []int) {
	p.Columns = gathered(p.Columns, order)
	if p.Present != nil {
		p.Present = gathered(p.Present, order)
	}
}

// Reorder makes column j of m what column order[j] was, in O(d²) and in place, but for what
// belongs to columns with missing entries, which is copied as when they become more.
func (m *Moments) Reorder(order []int) {
	d := len(m.Columns)
	m.Profile.Reorder(order)
	if m.g != nil {
		swaps(order, func(i, j int) { swapSymmetric(m.g, d, i, j) })
	}
	dm, to := len(m.missing), inverse(order)
	if dm == 0 {
		return
	}
	missing, row := make([]int, dm), make([]float64, d)
	for k, j := range m.missing {
		missing[k] = to[j]
	}
	slices.Sort(missing)
	slot, was := make([]int, d), make([]int, dm) // was: the slot that each had
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
			both[k*dm+l] = m.both[min(old, was[l])*dm+max(old, was[l])]
		}
	}
	m.missing, m.slot, m.cross, m.both = missing, slot, cross, both
}

// Reorder makes column j of h what column order[j] was.
func (h *Histograms) Reorder(order []int) { h.columns = gathered(h.columns, order) }

// gathered is x in another order.
func gathered[T any](x []T, order []int) []T {
	y := make([]T, len(x))
	for j, from := range order {
		y[j] = x[from]
	}
	return y
}

// inverse says where each column goes.
func inverse(order []int) []int {
	to := make([]int, len(order))
	for j, from := range order {
		to[from] = j
	}
	return to
}

// swaps takes a permutation apart into exchanges of two places, at most one a place.
func swaps(order []int, swap func(i, j int)) {
	at := make([]int, len(order)) // where a column is now
	is := make([]int, len(order)) // which column is at a place now
	for j := range at {
		at[j], is[j] = j, j
	}
	for j, from := range order {
		k := at[from]
		if k == j {
			continue
		}
		swap(j, k)
		is[k] = is[j]
		at[is[k]], is[j], at[from] = k, from, j
	}
}

// swapSymmetric exchanges rows and columns i and j of a symmetric d×d matrix of which the upper
// triangle is there.
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
