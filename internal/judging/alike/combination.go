package alike

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// expressByBasis expresses column j by the columns of the basis, without columns whose weights are rounding errors.
// weights are the weights of the basis columns, inverse is the diagonal of the inverse of their correlation matrix, and
// residual is the unexplained share of column j.
func (m *Matrix) expressByBasis(j int, basis []int, weights, inverse []float64, residual float64) Combination {
	c := Combination{Column: j, Residual: residual, Bound: m.RoundingBound(j, basis, weights)}
	var terms []int
	for i, w := range weights {
		if w*w/inverse[i] > c.Bound {
			terms = append(terms, basis[i])
		}
	}
	if fitted, exact := m.fitCombination(j, terms); exact {
		return fitted
	}
	for i, w := range weights {
		c.Terms = append(c.Terms, Term{basis[i], w})
	}
	return c
}

// fitCombination expresses column j by exactly the columns that terms lists. The second result reports whether these
// determine column j.
func (m *Matrix) fitCombination(j int, terms []int) (Combination, bool) {
	if len(terms) > MostTerms {
		return Combination{}, false
	}
	r := m.RegressOn(terms)
	if len(r.Redundant) > 0 {
		return Combination{}, false
	}
	x := r.coordinatesOf(j)
	c := Combination{Column: j, Residual: 1 - kernel.Dot(x, x)}
	w := r.weightsFromCoordinates(x)
	for k, i := range terms {
		c.Terms = append(c.Terms, Term{i, w[k]})
	}
	c.Bound = m.RoundingBound(j, terms, w)
	return c, c.Residual <= c.Bound
}

// maxShortTerms is the largest number of columns that the forward selection in shortenCombination adds.
const maxShortTerms = 6

// shorteningScratch is scratch space for shortenCombination. Each slice has D numbers. It is reused, because in a table
// of 20,000 columns, 19,500 of them combinations, new scratch space for each combination would be 21 GB of garbage.
type shorteningScratch struct {
	unexplained []float64                // of each column: the variance that the taken columns do not explain
	covariance  []float64                // covariance of each column with the residual of the target column
	rows        [maxShortTerms][]float64 // rows of Cholesky's factor of the taken columns, over all columns
}

func (m *Matrix) newShorteningScratch() *shorteningScratch {
	s := &shorteningScratch{unexplained: make([]float64, m.D), covariance: make([]float64, m.D)}
	for i := range s.rows {
		s.rows[i] = make([]float64, m.D)
	}
	return s
}

// shortenCombination searches all columns except copies for a combination that determines the same column with fewer
// terms. Each step of its forward selection adds the column that explains most of the residual. Afterwards pruneTerms
// removes unnecessary terms.
func (m *Matrix) shortenCombination(c Combination, copied []bool, s *shorteningScratch) (best Combination, found bool) {
	j, termCount := c.Column, len(c.Terms)
	if termCount < 3 {
		return best, false
	}
	unexplained, covariance := s.unexplained, s.covariance
	for i := range unexplained {
		unexplained[i] = 1
	}
	copy(covariance, m.correlationsOf(j))
	var chosen []int
	for len(chosen) < min(termCount-1, maxShortTerms) {
		at, gain := -1, 0.0
		for i, r := range covariance {
			if i == j || copied[i] || unexplained[i] <= 16*m.boundFromLeverSum(2*m.lever[i]) || slices.Contains(chosen, i) {
				continue
			}
			if g := r * r / unexplained[i]; g > gain {
				at, gain = i, g
			}
		}
		if at < 0 {
			return best, false
		}
		row := s.rows[len(chosen)]
		copy(row, m.correlationsOf(at))
		for _, earlier := range s.rows[:len(chosen)] {
			kernel.Axpy(-earlier[at], earlier, row)
		}
		root := math.Sqrt(unexplained[at])
		for i := range row {
			row[i] /= root
			unexplained[i] -= row[i] * row[i]
		}
		kernel.Axpy(-row[j], row, covariance)
		chosen = append(chosen, at)
		if c, exact := m.fitCombination(j, chosen); exact {
			return m.dropUnneededTerms(c), true
		}
	}
	return best, false
}

func (m *Matrix) dropUnneededTerms(c Combination) Combination {
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
			if fewer, exact := m.fitCombination(c.Column, others); exact && len(others) > 0 {
				c, again = fewer, true
				break
			}
		}
	}
	return c
}

// solveForLargest solves the combination for the column with the largest weight, because this column is usually the
// total of the others. If weights are equal, it solves for the first column by name. It sorts the terms by weight, and
// terms of equal weight by name.
func (c Combination) solveForLargest() Combination {
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
	c = Combination{Column: first.Column, Residual: c.Residual / scale, Bound: c.Bound / scale}
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

// HasColumn reports whether a column occurs in the combination.
func (c Combination) HasColumn(j int) bool {
	return c.Column == j || slices.ContainsFunc(c.Terms, func(t Term) bool { return t.Column == j })
}

func (c Combination) sortedColumns() []int {
	list := []int{c.Column}
	for _, t := range c.Terms {
		list = append(list, t.Column)
	}
	slices.Sort(list)
	return list
}

func (c Combination) columnsKey() string { return fmt.Sprint(c.sortedColumns()) }

// Regression explains columns of a Matrix by linear combinations of chosen columns.
type Regression struct {
	Basis     []int // the chosen columns, in order, except the Redundant ones
	Redundant []int // the chosen columns that are combinations of chosen columns before them

	m *Matrix
	l [][]float64 // rows of the lower Cholesky factor of the correlations of Basis
}

// Explanation is the explanation of one column by the basis of a Regression.
type Explanation struct {
	Weights []float64 // weights of the basis columns, in standard deviations
	R2      float64   // explained share of the column's variance
	Exact   bool      // the residual is rounding error; then R2 is 1, and weights within rounding error are 0
}

// RegressOn prepares to explain columns by k chosen ones: it factors their matrix of correlations, in k³/3 flops.
func (m *Matrix) RegressOn(chosen []int) *Regression {
	r := &Regression{m: m}
	for _, j := range chosen {
		row := r.coordinatesOf(j)
		residual := 1 - kernel.Dot(row, row)
		if w := r.weightsFromCoordinates(row); residual <= m.RoundingBound(j, r.Basis, w) {
			r.Redundant = append(r.Redundant, j)
			continue
		}
		r.l, r.Basis = append(r.l, append(row, math.Sqrt(residual))), append(r.Basis, j)
	}
	return r
}

func (r *Regression) coordinatesOf(column int) []float64 {
	x := make([]float64, len(r.Basis)) // L⁻¹R_Sj
	for t, i := range r.Basis {
		x[t] = (r.m.correlation(i, column) - kernel.Dot(r.l[t][:t], x[:t])) / r.l[t][t]
	}
	return x
}

func (r *Regression) weightsFromCoordinates(coordinates []float64) []float64 {
	w := append([]float64{}, coordinates...) // will become L⁻ᵀx
	for t := len(w) - 1; t >= 0; t-- {
		w[t] /= r.l[t][t]
		kernel.Axpy(-w[t], r.l[t][:t], w[:t])
	}
	return w
}

// ExplainColumn explains column j, which must not be in the basis, by the k columns of the basis, in 2k² flops.
func (r *Regression) ExplainColumn(j int) Explanation {
	x := r.coordinatesOf(j)
	e := Explanation{Weights: r.weightsFromCoordinates(x)}
	residual := 1 - kernel.Dot(x, x)
	bound := r.m.RoundingBound(j, r.Basis, e.Weights)
	e.R2, e.Exact = min(max(1-residual, 0), 1), residual <= bound
	if e.Exact {
		e.R2 = 1
		for k, w := range e.Weights {
			if w*w <= bound {
				e.Weights[k] = 0
			}
		}
	}
	return e
}
