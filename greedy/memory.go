package greedy

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/internal/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// A matrix product is cut into tasks of rowsPerTask rows or colsPerTask columns, which take a few microseconds or
	// more. These numbers are fixed, so that sums do not depend on the number of workers.
	rowsPerTask = 16
	colsPerTask = 512
)

// gramEngine is the engine for a G in memory, in full or as a factor.
//
// The largest diagonal entry of G is scaled to [1/2, 2), and H is scaled likewise, so that f, which is of fourth
// degree in the data, neither overflows nor vanishes. Both scale factors are powers of 4, so scaling is exact.
type gramEngine struct {
	*criterion
	d       int
	gram    *gram.Matrix
	target  *target
	groups  []int   // group of each feature in Algorithm 2, for the targets of further layers
	gUnit   float64 // G in the engine's units is gUnit·G
	hUnit   float64 // H in the engine's units is hUnit·H
	workers int
	team    *kernel.Team

	omegas        [][]float64 // ω_r of each choice r, see stepFrom
	upsilons      [][]float64 // υ_r of each choice r, see stepFrom; the same slices as omegas if H = G in full
	scaledUpsilon []float64   // υ in units in which its products with the unscaled H stay in range
	coef          []float64   // υ_rᵀυ for each earlier choice r
	step          choiceStep
	targetColumns []float64       // scratch for columns of H, residualColumns×c
	rebase        *residualRebase // for a factored H = G; else nil
	upsilonPanel  []float64       // up to upsilonsPerPanel of the υ_r, c numbers each
}

const (
	// residualColumns is the number of columns of the residual target that are computed together.
	residualColumns = 128
	// upsilonsPerPanel is the number of vectors υ_r that one matrix product projects out of these columns.
	upsilonsPerPanel = 32
)

// newGramEngine checks that G and H are finite and computes f⁰, the initial f of the criterion. g0 is the diagonal of
// G. If G is nil, g0 is in the engine's units, and takeFeature must not be called. The cost is about c·d operations for
// c rows of H, or c²·d if H has a root L (see target).
func newGramEngine(g *gram.Matrix, g0 []float64, t *target, workers int) (*gramEngine, error) {
	d := len(g0)
	m := &gramEngine{d: d, gram: g, target: t, workers: workers, team: kernel.NewTeam(workers)}
	m.gUnit = 1
	if g != nil {
		m.gUnit = unitScale(g0)
	}
	scaled := make([]float64, d)
	for i, v := range g0 {
		if scaled[i] = v * m.gUnit; !(v >= 0 && v <= math.MaxFloat64) {
			return nil, errBadEntry("G", i, i, v)
		}
	}
	m.hUnit = m.gUnit
	switch {
	case t.dual == nil && !t.isSelf:
		m.hUnit = unitScale(t.u.Data)
	case g == nil && t.unit > 0:
		m.hUnit = t.unit
	}
	m.step.h = make([]float64, d)
	return m, m.startLayer(scaled, nil)
}

// startLayer computes f⁰, the initial f of the criterion, for a layer without the excluded features. It keeps the slice
// g0, the diagonal of G in the engine's units, without a copy.
func (m *gramEngine) startLayer(g0 []float64, excluded []bool) error {
	f0 := make([]float64, m.d)
	if need := min(residualColumns, m.d) * m.target.height; len(m.targetColumns) < need {
		m.targetColumns, m.upsilonPanel = make([]float64, need), nil
	}
	m.scaledUpsilon = make([]float64, m.target.height)
	for from := 0; from < m.d; from += residualColumns {
		n := min(residualColumns, m.d-from)
		rows := m.targetColumnScratch(n)
		m.target.writeColumns(m.team, rows, m.hUnit, nil, from)
		kernel.Each(m.workers, n, func(i int) {
			if row := rows.Data[i*m.target.height:][:m.target.height]; excluded == nil || !excluded[from+i] {
				f0[from+i] = kernel.Dot(row, row)
			}
		})
	}
	for i, f := range f0 {
		if !(f <= math.MaxFloat64) {
			return m.errNotFinite(i)
		}
	}
	m.criterion = newCriterion(f0, g0, m.target.isSelf, excluded)
	if m.target.isSelf && !m.target.isGram {
		m.rebase = &residualRebase{remainingAtRebase: m.remainingError(), excluded: excluded}
	}
	m.omegas, m.upsilons = nil, nil
	return nil
}

func (m *gramEngine) targetColumnScratch(n int) kernel.Matrix[float64] {
	return kernel.RowMajor(m.targetColumns, n, m.target.height, m.target.height)
}

func (m *gramEngine) startNextLayer(_ context.Context, excluded []bool) (*criterion, error) {
	g0 := m.gram.Diagonal(m.workers)
	floats.Scale(m.gUnit, g0)
	var err error
	if m.groups != nil {
		m.target, err = partitionTarget(m.team, m.gram, groupsWithout(m.groups, excluded))
	} else {
		err = m.target.startLayer(m.team, excluded)
	}
	if err == nil {
		err = m.startLayer(g0, excluded)
	}
	return m.criterion, err
}

// unitScale returns the power of 4 that scales the largest absolute value of x to [1/2, 2).
func unitScale(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		if v = math.Abs(v); v > largest && v <= math.MaxFloat64 {
			largest = v
		}
	}
	_, e := math.Frexp(largest)
	// 2^1022 is the largest power of 4. If it does not scale `largest` to 1/2, the scaled value is smaller.
	return math.Ldexp(1, max(min(-(e&^1), 1022), -1022))
}

func errBadEntry(matrix string, i, j int, x float64) error {
	return stream.Dataf("", "entry (%d, %d) of %s is %v", i, j, matrix, x)
}

func (m *gramEngine) errNotFinite(i int) error {
	matrix := "H"
	if m.target.isSelf {
		matrix = "G"
	}
	row := make([]float64, m.target.rootWidth())
	m.target.copyFeatureTo(row, 1, i)
	for r, x := range row { // a U stored by entries is finite, so this loop finds nothing
		if !(math.Abs(x) <= math.MaxFloat64) {
			return errBadEntry(matrix, r, i, x)
		}
	}
	return errBadEntry(matrix, i, i, math.NaN())
}

func (m *gramEngine) targetHeight() int { return m.target.height }

// scoreUnit returns the factor that converts scores f/g to the data's units. In the engine's units, f is hUnit² times
// and g is gUnit times as large.
func (m *gramEngine) scoreUnit() float64 { return m.gUnit / m.hUnit / m.hUnit }

func (m *gramEngine) targetColumn(i int) []float64 {
	dst := make([]float64, m.target.height)
	m.target.writeColumns(m.team, kernel.RowMajor(dst, 1, len(dst), len(dst)), m.hUnit, []int{i}, 0)
	return dst
}

func (m *gramEngine) columnTo(dst []float64, i int) []float64 {
	m.gram.ColumnTo(m.workers, dst, i)
	floats.Scale(m.gUnit, dst)
	return dst
}

func (m *gramEngine) columnsTo(dst kernel.Matrix[float64], list []int) {
	m.gram.ColumnsTo(m.workers, dst.Data, list)
	floats.Scale(m.gUnit, dst.Data[:len(list)*m.d])
}

func (m *gramEngine) takeFeature(_ context.Context, p int) (*choiceStep, error) {
	if err := m.rebase.rebaseSmallResidual(m); err != nil {
		return nil, err
	}
	column, upsilon, times := make([]float64, m.d), []float64(nil), []float64(nil)
	if m.rebase != nil {
		upsilon, times = m.upsilonAndProduct(p, column)
	} else {
		m.columnTo(column, p)
	}
	delta := append([]float64(nil), column...)
	m.deflateVector(delta, m.omegas, p)
	// Chosen columns have no residual. Rounding would leave one that may be far larger than other residuals.
	m.clearChosen(delta)
	return m.stepFrom(p, column, delta, upsilon, times), nil
}

// upsilonAndProduct returns the vector υ of feature p (see stepFrom) and Hᵀυ, for a factored H = G. It also writes
// column p of G to the parameter column. Neither υ nor Hᵀυ depends on δ. So the factor R of G is read only once, to
// compute both Hᵀυ and the column.
func (m *gramEngine) upsilonAndProduct(p int, column []float64) (upsilon, times []float64) {
	upsilon = m.residualTargetColumn(p)
	half, r := math.Sqrt(m.hUnit), m.gram.Rank
	pair := make([]float64, 2*r)
	floats.ScaleTo(pair[:r], m.gUnit, m.gram.Feature(pair, p))
	m.target.rootTransposeProductTo(m.workers, pair[r:], floats.ScaleTo(m.scaledUpsilon, half, upsilon))
	floats.Scale(half, pair[r:])
	out := make([]float64, 2*m.d)
	m.gram.AddUps(m.workers, 2, pair, out)
	copy(column, out)
	return upsilon, out[m.d:]
}

func (m *gramEngine) residualTargetColumn(p int) []float64 {
	upsilon := m.targetColumn(p)
	m.deflateVector(upsilon, m.upsilons, p)
	floats.Scale(1/math.Sqrt(m.g[p]), upsilon)
	return upsilon
}

// stepFrom computes the step of p from its column of G and the residual δ of that column. It overwrites δ with ω. Sums
// are over the earlier choices r:
//
//	δ = G₍:,p₎ − Σ ω_r ω_r[p],  ω = δ/√δ_p
//	γ = H₍:,p₎ − Σ υ_r ω_r[p],  υ = γ/√δ_p
//	h = Hᵀυ − Σ (υ_rᵀυ) ω_r
//
// upsilon and times = Hᵀυ are nil if they are not computed yet.
func (m *gramEngine) stepFrom(p int, column, delta, upsilon, times []float64) *choiceStep {
	omega := delta
	floats.Scale(1/math.Sqrt(m.g[p]), omega)
	switch {
	case m.target.isGram:
		upsilon = omega
	case upsilon == nil:
		upsilon = m.residualTargetColumn(p)
	}
	m.residualProductTo(m.step.h, upsilon, times)
	m.rebase.addBasisVector(m, p)
	m.omegas, m.upsilons = append(m.omegas, omega), append(m.upsilons, upsilon)

	s := &m.step
	s.omega, s.column = omega, column
	s.score = kernel.Dot(upsilon, upsilon)
	norm := math.Sqrt(s.score)
	s.hErr.reach = roundingBound(m.targetHeight()) * norm
	s.hErr.norm = (roundingBound(m.targetHeight()) + roundingBound(m.turn)) * math.Sqrt(m.upsilonSquares) * norm
	return s
}

// deflateVector subtracts Σ ω_r[p]·vectors[r], summed over the earlier choices r, from x.
func (m *gramEngine) deflateVector(x []float64, vectors [][]float64, p int) {
	kernel.Each(m.workers, taskCount(len(x), colsPerTask), func(task int) {
		from, to := taskRange(task, colsPerTask, len(x))
		for r, v := range vectors {
			kernel.Axpy(-m.omegas[r][p], v[from:to], x[from:to])
		}
	})
}

func (m *gramEngine) clearChosen(x []float64) {
	for i, ok := range m.chosen {
		if ok {
			x[i] = 0
		}
	}
}

// residualProductTo writes h = Hᵀυ − Σ (υ_rᵀυ) ω_r, summed over the earlier choices r. One worker computes each
// element. times is Hᵀυ, or nil if it is not computed yet.
func (m *gramEngine) residualProductTo(h, upsilon, times []float64) {
	d := m.d
	m.coef = append(m.coef[:0], make([]float64, len(m.upsilons))...)
	kernel.Each(m.workers, taskCount(len(m.upsilons), rowsPerTask), func(task int) {
		from, to := taskRange(task, rowsPerTask, len(m.upsilons))
		for r := from; r < to; r++ {
			m.coef[r] = kernel.Dot(m.upsilons[r], upsilon)
		}
	})
	if times != nil {
		copy(h, times)
	} else {
		m.targetProductTo(h, upsilon)
	}
	kernel.Each(m.workers, taskCount(d, colsPerTask), func(task int) {
		from, to := taskRange(task, colsPerTask, d)
		for r, v := range m.omegas {
			kernel.Axpy(-m.coef[r], v[from:to], h[from:to])
		}
	})
}

func (m *gramEngine) targetProductTo(h, x []float64) {
	// The factor √hUnit is applied before and after the product, so that neither x nor the products leave float64's range.
	half := math.Sqrt(m.hUnit)
	floats.ScaleTo(m.scaledUpsilon, half, x)
	clear(h)
	m.target.addTransposeProduct(m.workers, h, m.scaledUpsilon)
	floats.Scale(half, h)
}

// Bytes returns the memory that Select needs besides G, if G is a full matrix: see [FactorBytes] for a factor. k of d
// features are chosen, and c is the number of groups of Algorithm 2, 0 for Algorithm 1.
func Bytes(d, k, c int) int64 {
	numbers := int64(d) * int64(k+24)
	height := c
	if c > 0 {
		// For the target of another layer, for υ_r, and for ω_r of earlier layers, which reduce the data's residual.
		numbers += int64(c)*int64(2*d+k) + int64(d)*int64(k)
	} else {
		height = d
	}
	return 8*(numbers+workVectors*int64(height)) + kernel.TeamBytes(d, height)
}

// workVectors is the number of vectors of the target's height that an engine holds, in addition to one for each turn.
const workVectors = residualColumns + upsilonsPerPanel + 4

// FactorBytes returns the memory that Select needs besides G, if G is a factor of `rank` rows, to choose k of d
// features. rows is the number of rows of the target's own factor U. The memory is for the dual matrix of the factor of
// G, for the target's K and its root L (see target), for the vectors of all turns, and for a block of columns.
func FactorBytes(d, k, rank, rows int) int64 {
	numbers := int64(d)*int64(2*k+24) + int64(rank)*int64(rank) + int64(rows)*int64(rows) + 2*int64(rows)*int64(k)
	return 8*(numbers+(workVectors+residualColumns)*int64(rows)) + linalg.RootBytes(rows) + kernel.TeamBytes(d, max(rank, rows)) + gram.PanelBytes(rank)
}
