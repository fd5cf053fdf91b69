package gram

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Merge adds the moments of the argument, whose rows follow the rows of the receiver, in O(d²). The receiver keeps its
// pilots, and exact identities convert the sums of the argument to them. See [Moments] for x̃, G̃ and A. Let t be the
// argument's pilots minus the receiver's, so that x̃' = x̃ + t for observed entries. For each row of weight w, let μᵢ be 1
// if its entry of column i is missing, and otherwise 0, and νᵢ = 1 − μᵢ. Then
//
//	G̃'ᵢⱼ = G̃ᵢⱼ + tⱼ·Sᵢⱼ + tᵢ·Sⱼᵢ + tᵢtⱼ·Oᵢⱼ   S = Σ w x̃ᵢ νⱼ, O = Σ w νᵢ νⱼ
//	A'ₖᵢ = Aₖᵢ + tᵢ·Σ w μₖ νᵢ
//
// Moments of dense and sparse rows are merged in the same way. Up to rounding, the result equals one pass over both
// inputs, and does not depend on the order of merging. Merging empty moments changes nothing. The argument is unchanged.
// If it has other columns, or memory does not suffice (*stream.MemoryError), Merge fails, and the receiver is unchanged.
func (m *Moments) Merge(o *Moments) error {
	if len(m.Profile.Columns) != len(o.Profile.Columns) {
		return fmt.Errorf("gram: cannot merge %d columns with %d", len(m.Profile.Columns), len(o.Profile.Columns))
	}
	if o.g != nil {
		if err := m.allocateForMissing(o.missing, false); err != nil {
			return err
		}
		m.mergeMatrices(o)
	}
	return m.Profile.Merge(&o.Profile)
}

// MergedBytes bounds the memory, as computed by [Bytes], that m will need after merging o, or needs now if o is nil.
func (m *Moments) MergedBytes(o *Moments) int64 {
	missing := len(m.missing)
	if o != nil {
		for _, j := range o.missing {
			if j >= len(m.slot) || m.slot[j] < 0 {
				missing++
			}
		}
	}
	return Bytes(len(m.Profile.Columns), missing)
}

// SetLimit changes Options.Limit, the number of bytes that m may use, for all later calls.
func (m *Moments) SetLimit(limit int64) { m.opt.Limit = Options{Limit: limit}.withDefaults().Limit }

func (m *Moments) mergeMatrices(other *Moments) {
	d := len(m.Profile.Columns)
	t := make([]float64, d)    // pilot of o - pilot of m
	lost := make([]float64, d) // for each column, Σ w m over the rows of o
	for j := range t {
		a, b := &m.Profile.Columns[j], &other.Profile.Columns[j]
		if a.Observed > 0 && b.Observed > 0 { // otherwise m adopts o's pilot, or every x̃ of o is 0
			t[j] = b.Pilot - a.Pilot
		}
		lost[j] = other.Profile.Weight - b.Weight
	}
	// observedSum returns S[i, j]: Σ w x̃ᵢ over the rows of o in which column j is observed.
	observedSum := func(i, j int) float64 { return other.Profile.Columns[i].Sum - other.crossAt(j, i) }
	kernel.Each(m.opt.Threads, d, func(i int) {
		for j := i; j < d; j++ {
			g := other.g[i*d+j]
			if t[i] != 0 || t[j] != 0 {
				g += float64(t[j]*observedSum(i, j)) + float64(t[i]*observedSum(j, i)) + float64(t[i]*t[j])*(other.Profile.Weight-lost[i]-lost[j]+other.bothMissingAt(i, j))
			}
			m.g[i*d+j] += g
		}
		for k, col := range other.missing {
			s := m.slot[col]
			m.cross[s*d+i] += other.cross[k*d+i] + t[i]*(lost[col]-other.bothMissingAt(col, i))
		}
	})
	for k, col := range other.missing {
		for l := k; l < len(other.missing); l++ {
			m.bothMissing[m.slot[col]*len(m.missing)+m.slot[other.missing[l]]] += other.bothMissing[k*len(other.missing)+l]
		}
	}
}

// errNotAmong is the error of a subtraction of rows that are not among the rows of the statistics.
var errNotAmong = errors.New("gram: more rows are to be subtracted than there are")

// Subtract removes the rows of o from m, in O(d²). The rows must have been added to m. Up to rounding, relative to the
// sums before, the sums equal the sums of the other rows. Minima and maxima do not change: they are bounds of the values
// that remain. Subtract changes o. After an error neither can be used.
func (m *Moments) Subtract(o *Moments) error {
	d, p, q := len(m.Profile.Columns), &m.Profile, &o.Profile
	if d != len(q.Columns) || q.Rows > p.Rows || q.Rows > 0 && o.g == nil || o.g != nil && m.g == nil {
		return errNotAmong
	}
	squares, rising := make([]float64, d), make([]bool, d)
	for j := range p.Columns {
		c, lost := &p.Columns[j], &q.Columns[j]
		squares[j], rising[j] = c.Squares, c.Rising
		if lost.Observed > c.Observed || lost.Observed > 0 && (lost.Min < c.Min || lost.Max > c.Max) {
			return errNotAmong
		}
	}
	if o.g != nil {
		q.discountSums(-1)
		for _, sums := range [][]float64{o.g, o.cross, o.bothMissing} {
			multiplyElements(sums, -1)
		}
		if err := m.allocateForMissing(o.missing, false); err != nil {
			return err
		}
		m.mergeMatrices(o)
	}
	q.negateCounts()
	if err := p.Merge(q); err != nil {
		return err
	}
	if p.Rows == 0 {
		none := m.Another()
		none.Profile, none.Profile.Weight = *p, 0
		*m = *none
	}
	for j := range p.Columns {
		c := &p.Columns[j]
		c.Rising = rising[j]
		if c.Observed == 0 {
			m.forgetColumn(j)
		} else if centred := c.Squares - c.Sum*c.Sum/c.Weight; centred <= minCentredShare*squares[j] {
			c.Squares = c.Sum * c.Sum / c.Weight // the rest is the rounding error of the sums before
			if m.g != nil {
				m.g[j*d+j] = c.Squares
			}
		}
	}
	return p.checkCounts()
}

func (m *Moments) forgetColumn(j int) {
	c, d := &m.Profile.Columns[j], len(m.Profile.Columns) // the sums are rounding errors of the sums before
	*c = ColumnProfile{Missing: c.Missing, Rising: c.Rising}
	for i := range d {
		if m.g != nil {
			m.g[min(i, j)*d+max(i, j)] = 0
		}
	}
	for k := range m.missing {
		m.cross[k*d+j] = 0
	}
}

// Discount multiplies the weight of every row in all sums of m by γ in (0, 1], in O(d²), as [Profile.Discount] does.
func (m *Moments) Discount(gamma float64) error {
	if err := m.Profile.checkDiscount(gamma); err != nil {
		return err
	}
	m.Profile.discountSums(gamma)
	for _, sums := range [][]float64{m.g, m.cross, m.bothMissing} {
		multiplyElements(sums, gamma)
	}
	return nil
}

func multiplyElements(elements []float64, factor float64) {
	for i := range elements {
		elements[i] *= factor
	}
}

// Reorder moves column order[j] of m to position j, in O(d²). It works in place, except that it copies the sums of
// columns with missing entries.
func (m *Moments) Reorder(order []int) {
	d := len(m.Profile.Columns)
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
	cross, both := layOutMissingSums(nil, d, dm)
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
