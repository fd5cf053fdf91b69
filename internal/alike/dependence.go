package alike

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
)

// MostTerms is how many other columns a combination has at most to be listed: beyond, nobody reads it,
// as where there are fewer rows than columns and each column is a combination of all.
const MostTerms = 20

// Dependence says which columns the others determine.
type Dependence struct {
	Rank         int           // of R: the columns less those that are copies or combinations of others
	VIF          []float64     // 1/(1 − R² on all other columns); +Inf where these determine the column
	Copies       []Copies      // by name
	Combinations []Combination // of columns no two of which are copies; those of few terms first
	Longer       int           // further combinations, of more than MostTerms terms
}

// Copies are columns whose correlation with the first of them by name is 1 or −1, to rounding.
type Copies struct {
	Column int
	Of     []Near
}

// Combination is a column that others determine, in standard deviations: xⱼ = Σ wᵢxᵢ.
type Combination struct {
	Column int
	Terms  []Term
	Left   float64 // share of the column's variance that is left
	Bound  float64 // below which that is rounding
}

// Term is a column with its weight.
type Term struct {
	Column int
	Weight float64
}

// Dependence finds copies, combinations and the variance inflation of each column.
//
// Copies come first, pair by pair, and the first of each stands for all. Then Cholesky's factor of the
// others, UᵀU, largest pivot first, has pivots above rounding for a basis B; of the last ones that is
// tested with their weights. The weights of each other column on B are U_BB⁻¹U_Bj, and
//
//	wᵢ²/Pᵢᵢ,  P = R_BB⁻¹,
//
// is what leaving out column i of B would add to what they leave: where that is rounding the
// column takes no part, and weights are fitted anew to the rest. A forward selection among
// all columns looks for fewer terms. A column of B that takes part in no combination has the
// VIF Pᵢᵢ.
//
// Costs d³ flops, nearly all in products, and d²·t² of one core for combinations that have t terms.
func (m *Matrix) Dependence() (*Dependence, error) {
	out := &Dependence{VIF: make([]float64, m.D)}
	rest, copied := m.findCopies(out)
	listed := make(map[string]bool) // combinations, by their columns
	n := len(rest)
	u := m.gather(make([]float64, n*n), rest)
	pivots, rank, err := linalg.Pivoted(u, m.eps)
	if err != nil {
		return nil, err
	}
	order := make([]int, n) // columns by pivot
	for k, p := range pivots {
		order[k] = rest[p]
	}
	for rank > 0 && m.lost(u, order, rank-1) {
		rank--
	}
	out.Rank = rank
	basis := u.Sub(0, 0, rank, rank)
	others := u.Sub(0, rank, rank, n-rank)
	lefts := make([]float64, n-rank)
	for k := range lefts {
		left := 1.0
		for t := range rank {
			v := others.Data[t*n+k]
			left -= v * v
		}
		lefts[k] = left
	}
	linalg.SolveUpper(m.team, basis, others)
	linalg.InvertUpper(m.team, basis)
	inverse := make([]float64, rank) // diagonal of P = U⁻¹U⁻ᵀ
	for i := range inverse {
		row := u.Data[i*n+i:][:rank-i]
		inverse[i] = kernel.Dot(row, row)
		if j := order[i]; 1/inverse[i] <= m.bound(2*m.lever[j]) { // less than a copy would leave
			out.VIF[j] = math.Inf(1)
		} else if out.VIF[j] == 0 {
			out.VIF[j] = inverse[i]
		}
	}
	weights := make([]float64, rank)
	for k, left := range lefts {
		for t := range weights {
			weights[t] = others.Data[t*n+k]
		}
		c := m.combination(order[rank+k], order[:rank], weights, inverse, left)
		out.note(c)
		if fewer, found := m.shorten(c, copied); found && !listed[fewer.key()] {
			c = fewer
			out.note(c)
		}
		if len(c.Terms) > MostTerms {
			out.Longer++
			continue
		}
		listed[c.key()] = true
		out.Combinations = append(out.Combinations, c.solved())
	}
	out.settle()
	return out, nil
}

// lost says that pivot k of the factor is rounding beside the columns before it.
func (m *Matrix) lost(u kernel.Matrix[float64], order []int, k int) bool {
	pivot := u.Data[k*u.RowStride+k]
	left := pivot * pivot
	if left > 1e6*m.eps*m.lever[order[k]]*m.lever[order[k]] { // weights of some hundreds and more
		return false
	}
	w := make([]float64, k)
	for t := k - 1; t >= 0; t-- {
		row := u.Data[t*u.RowStride:][:k+1]
		w[t] = (row[k] - kernel.Dot(row[t+1:k], w[t+1:])) / row[t]
	}
	return left <= m.Bound(order[k], order[:k], w)
}

// gather copies the correlations of the columns listed to room.
func (m *Matrix) gather(room []float64, list []int) kernel.Matrix[float64] {
	n := len(list)
	kernel.Each(m.team.Threads(), n, func(a int) {
		from, to := m.row(list[a]), room[a*n:][:n]
		for b, j := range list {
			to[b] = from[j]
		}
	})
	return kernel.RowMajor(room[:n*n], n, n, n)
}

// findCopies returns the columns that are no copies of one before, and which are.
func (m *Matrix) findCopies(out *Dependence) (rest []int, copied []bool) {
	copied = make([]bool, m.D)
	for i := range m.D {
		if copied[i] {
			continue
		}
		rest = append(rest, i)
		var of []Near
		row := m.row(i)
		for j := i + 1; j < m.D; j++ {
			if r := math.Abs(row[j]); !copied[j] && (1-r)*(1+r) <= m.bound(m.lever[i]+m.lever[j]) {
				copied[j], out.VIF[j] = true, math.Inf(1)
				of = append(of, Near{j, row[j]})
			}
		}
		if of != nil {
			out.VIF[i] = math.Inf(1)
			out.Copies = append(out.Copies, Copies{i, of})
		}
	}
	return rest, copied
}

// combination is how the weights on the basis determine column j, without those that are rounding.
func (m *Matrix) combination(j int, basis []int, weights, inverse []float64, left float64) Combination {
	c := Combination{Column: j, Left: left, Bound: m.Bound(j, basis, weights)}
	var terms []int
	for i, w := range weights {
		if w*w/inverse[i] > c.Bound {
			terms = append(terms, basis[i])
		}
	}
	if fitted, exact := m.fit(j, terms); exact {
		return fitted
	}
	for i, w := range weights {
		c.Terms = append(c.Terms, Term{basis[i], w})
	}
	return c
}

// note marks the columns of a combination as determined.
func (d *Dependence) note(c Combination) {
	d.VIF[c.Column] = math.Inf(1)
	for _, t := range c.Terms {
		d.VIF[t.Column] = math.Inf(1)
	}
}

// fit is the combination of exactly these columns for column j, if there is one.
func (m *Matrix) fit(j int, terms []int) (Combination, bool) {
	if len(terms) > MostTerms {
		return Combination{}, false
	}
	r := m.Regress(terms)
	if len(r.Redundant) > 0 {
		return Combination{}, false
	}
	x := r.forward(j)
	c := Combination{Column: j, Left: 1 - kernel.Dot(x, x)}
	w := r.back(x)
	for k, i := range terms {
		c.Terms = append(c.Terms, Term{i, w[k]})
	}
	c.Bound = m.Bound(j, terms, w)
	return c, c.Left <= c.Bound
}

// shortTerms is how many columns a forward selection takes.
const shortTerms = 6

// shorten looks for a combination of fewer terms for the same column, among all columns but copies: it takes
// the one that explains most of what is left of it, turn by turn, and then leaves out what is not needed.
func (m *Matrix) shorten(c Combination, copied []bool) (best Combination, found bool) {
	j, than := c.Column, len(c.Terms)
	if than < 3 {
		return best, false
	}
	var rows [][]float64 // of Cholesky's factor of the taken columns: what they have in common with all
	left := make([]float64, m.D)
	for i := range left {
		left[i] = 1
	}
	rest := slices.Clone(m.row(j)) // what is left of j, times each column
	var taken []int
	for len(taken) < min(than-1, shortTerms) {
		at, gain := -1, 0.0
		for i, r := range rest {
			if i == j || copied[i] || left[i] <= 16*m.bound(2*m.lever[i]) || slices.Contains(taken, i) {
				continue
			}
			if g := r * r / left[i]; g > gain {
				at, gain = i, g
			}
		}
		if at < 0 {
			return best, false
		}
		row := slices.Clone(m.row(at))
		for _, before := range rows {
			kernel.Axpy(-before[at], before, row)
		}
		root := math.Sqrt(left[at])
		for i := range row {
			row[i] /= root
			left[i] -= row[i] * row[i]
		}
		kernel.Axpy(-row[j], row, rest)
		rows, taken = append(rows, row), append(taken, at)
		if c, exact := m.fit(j, taken); exact {
			return m.prune(c), true
		}
	}
	return best, false
}

// prune leaves out terms without which the combination stays exact, the least weight first.
func (m *Matrix) prune(c Combination) Combination {
	for again := true; again; {
		again = false
		terms := slices.Clone(c.Terms)
		slices.SortFunc(terms, func(a, b Term) int { return cmp.Compare(math.Abs(a.Weight), math.Abs(b.Weight)) })
		for _, t := range terms {
			var others []int
			for _, o := range c.Terms {
				if o.Column != t.Column {
					others = append(others, o.Column)
				}
			}
			if fewer, exact := m.fit(c.Column, others); exact && len(others) > 0 {
				c, again = fewer, true
				break
			}
		}
	}
	return c
}

// solved is the combination solved for the column of the largest weight, which is the total rather
// than a part, the first by name where weights are equal; the terms are by weight, then by name.
func (c Combination) solved() Combination {
	all := append([]Term{{c.Column, -1}}, c.Terms...)
	slices.SortFunc(all, func(a, b Term) int { return cmp.Compare(a.Column, b.Column) })
	at := 0
	for k, t := range all {
		if math.Abs(t.Weight) > (1+1e-6)*math.Abs(all[at].Weight) {
			at = k
		}
	}
	first := all[at]
	scale := first.Weight * first.Weight
	c = Combination{Column: first.Column, Left: c.Left / scale, Bound: c.Bound / scale}
	for k, t := range all {
		if k != at {
			c.Terms = append(c.Terms, Term{t.Column, -t.Weight / first.Weight})
		}
	}
	slices.SortFunc(c.Terms, func(a, b Term) int {
		if x, y := math.Abs(a.Weight), math.Abs(b.Weight); math.Abs(x-y) > 1e-6*max(x, y) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(a.Column, b.Column)
	})
	return c
}

// Has says whether a column takes part in the combination.
func (c Combination) Has(j int) bool {
	return c.Column == j || slices.ContainsFunc(c.Terms, func(t Term) bool { return t.Column == j })
}

// columns of the combination, ascending.
func (c Combination) columns() []int {
	list := []int{c.Column}
	for _, t := range c.Terms {
		list = append(list, t.Column)
	}
	slices.Sort(list)
	return list
}

// key tells combinations of other columns apart.
func (c Combination) key() string { return fmt.Sprint(c.columns()) }

// settle puts the combinations in order: few terms first, then by name.
func (d *Dependence) settle() {
	slices.SortStableFunc(d.Combinations, func(a, b Combination) int {
		return cmp.Or(cmp.Compare(len(a.Terms), len(b.Terms)), cmp.Compare(a.Column, b.Column), slices.Compare(a.columns(), b.columns()))
	})
}
