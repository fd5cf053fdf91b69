package alike

import (
	"cmp"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// MostTerms is the largest number of other columns in a listed combination. Longer combinations are not useful to
// people. They occur, for example, if there are fewer rows than columns, because each column then is a combination of
// all the others.
const MostTerms = 20

// Dependence lists the columns that are determined by other columns.
type Dependence struct {
	Rank         int           // rank of the correlations: the number of columns without copies and combinations of others
	VIF          []float64     // 1/(1 − R²), all other columns explaining the share R² of a column; +Inf if they determine it
	Copies       []Copies      // in order of name
	Combinations []Combination // combinations with few terms come first; copies occur in none
	Longer       int           // number of combinations with more than MostTerms terms, which are not listed
}

// Copies lists columns whose correlation with Column is ±1 up to rounding. Column is the first of these by name.
type Copies struct {
	Column int
	Of     []Near // the other columns
}

// Combination is a column determined by other columns, in units of standard deviations: xⱼ = Σ wᵢxᵢ.
type Combination struct {
	Column   int
	Terms    []Term
	Residual float64 // unexplained share of the column's variance
	Bound    float64 // if Residual is below Bound, it is rounding error
}

// Term is a column of a combination with its weight.
type Term struct {
	Column int
	Weight float64
}

// FindDependence finds copies, exact combinations, and the variance inflation of each column.
//
// Copies are found first, by comparing pairs. The first column of each set of copies represents the set. Then the
// correlations R of the representatives are factored as UᵀU by Cholesky's method, the largest pivot first. This gives a
// basis B: the columns whose pivots are above rounding error. Small pivots are tested once more, because large weights
// increase the rounding error (see isPivotRounding). B expresses every column j outside B with the weights w =
// U_BB⁻¹U_Bj, and
//
//	wᵢ²/Pᵢᵢ,  P = R_BB⁻¹,
//
// is the increase of the unexplained share of column j if column i of B is left out. If the increase is rounding error,
// column i is left out and the other weights are fitted again. A forward selection among all columns then searches for
// a combination with fewer terms. A column of B that occurs in no combination has the VIF Pᵢᵢ.
//
// It costs d³ flops, nearly all in matrix products. For combinations of t terms it also costs d²·t² flops on one core.
func (m *Matrix) FindDependence() (*Dependence, error) {
	out := &Dependence{VIF: make([]float64, m.D)}
	rest, copied := m.findCopies(out)
	listed := make(map[string]bool) // the combinations found so far, by their columns
	n := len(rest)
	u := m.gatherCorrelations(room.MakeSlice[float64](n*n), rest)
	pivots, rank, err := linalg.FactorPivoted(u, m.eps)
	if err != nil {
		return nil, err
	}
	order := make([]int, n) // columns in the order of their pivots
	for k, p := range pivots {
		order[k] = rest[p]
	}
	for rank > 0 && m.isPivotRounding(u, order, rank-1) {
		rank--
	}
	out.Rank = rank
	basis := u.Sub(0, 0, rank, rank)
	others := u.Sub(0, rank, rank, n-rank)
	residuals := make([]float64, n-rank)
	for k := range residuals {
		residual := 1.0
		for t := range rank {
			v := others.Data[t*n+k]
			residual -= v * v
		}
		residuals[k] = residual
	}
	linalg.SolveUpper(m.team, basis, others)
	linalg.InvertUpper(m.team, basis)
	inverse := make([]float64, rank) // diagonal of P = U⁻¹U⁻ᵀ
	for i := range inverse {
		row := u.Data[i*n+i:][:rank-i]
		inverse[i] = kernel.Dot(row, row)
		if j := order[i]; 1/inverse[i] <= m.boundFromLeverSum(2*m.lever[j]) { // a copy would leave as much
			out.VIF[j] = math.Inf(1)
		} else if out.VIF[j] == 0 {
			out.VIF[j] = inverse[i]
		}
	}
	weights, short := make([]float64, rank), m.newShorteningScratch()
	for k, residual := range residuals {
		for t := range weights {
			weights[t] = others.Data[t*n+k]
		}
		c := m.expressByBasis(order[rank+k], order[:rank], weights, inverse, residual)
		out.markColumnsDetermined(c)
		if fewer, found := m.shortenCombination(c, copied, short); found && !listed[fewer.columnsKey()] {
			c = fewer
			out.markColumnsDetermined(c)
		}
		if len(c.Terms) > MostTerms {
			out.Longer++
			continue
		}
		listed[c.columnsKey()] = true
		out.Combinations = append(out.Combinations, c.solveForLargest())
	}
	out.sortCombinations()
	return out, nil
}

// isPivotRounding reports whether pivot k of the factor u is rounding error if all columns before it are in the basis.
// Column t of u belongs to column order[t] of m.
func (m *Matrix) isPivotRounding(u kernel.Matrix[float64], order []int, k int) bool {
	pivot := u.Data[k*u.RowStride+k]
	residual := pivot * pivot
	if residual > 1e6*m.eps*m.lever[order[k]]*m.lever[order[k]] { // a rounding error of this size would need weights of several hundred
		return false
	}
	w := make([]float64, k)
	for t := k - 1; t >= 0; t-- {
		row := u.Data[t*u.RowStride:][:k+1]
		w[t] = (row[k] - kernel.Dot(row[t+1:k], w[t+1:])) / row[t]
	}
	return residual <= m.RoundingBound(order[k], order[:k], w)
}

func (m *Matrix) gatherCorrelations(memory []float64, columns []int) kernel.Matrix[float64] {
	n := len(columns)
	kernel.Each(m.team.Threads(), n, func(a int) {
		from, to := m.correlationsOf(columns[a]), memory[a*n:][:n]
		for b, j := range columns {
			to[b] = from[j]
		}
	})
	return kernel.RowMajor(memory[:n*n], n, n, n)
}

func (m *Matrix) findCopies(out *Dependence) (notCopies []int, copied []bool) {
	copied = make([]bool, m.D)
	for i := range m.D {
		if copied[i] {
			continue
		}
		notCopies = append(notCopies, i)
		var copies []Near
		row := m.correlationsOf(i)
		for j := i + 1; j < m.D; j++ {
			if r := math.Abs(row[j]); !copied[j] && (1-r)*(1+r) <= m.boundFromLeverSum(m.lever[i]+m.lever[j]) {
				copied[j], out.VIF[j] = true, math.Inf(1)
				copies = append(copies, Near{j, row[j]})
			}
		}
		if copies != nil {
			out.VIF[i] = math.Inf(1)
			out.Copies = append(out.Copies, Copies{i, copies})
		}
	}
	return notCopies, copied
}

func (d *Dependence) markColumnsDetermined(c Combination) {
	d.VIF[c.Column] = math.Inf(1)
	for _, t := range c.Terms {
		d.VIF[t.Column] = math.Inf(1)
	}
}

func (d *Dependence) sortCombinations() {
	slices.SortStableFunc(d.Combinations, func(a, b Combination) int {
		return cmp.Or(cmp.Compare(len(a.Terms), len(b.Terms)), cmp.Compare(a.Column, b.Column), slices.Compare(a.sortedColumns(), b.sortedColumns()))
	})
}
