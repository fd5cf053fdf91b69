package engine

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/greedy/internal/tasks"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Gram is the [Engine] for a Gram matrix G in memory, in full or as a factor.
//
// The largest diagonal entry of G is scaled to [1/2, 2), and H is scaled likewise, so that f, which is of fourth
// degree in the data, neither overflows nor vanishes. Both scale factors are powers of 4, so scaling is exact.
type Gram struct {
	*Criterion
	D       int
	Matrix  *gram.Matrix
	Target  *target.Matrix
	Groups  []int   // group of each feature in Algorithm 2, for the targets of further layers
	GUnit   float64 // G in the engine's units is GUnit·G
	HUnit   float64 // H in the engine's units is HUnit·H
	Workers int
	Team    *kernel.Team

	Omegas        [][]float64 // ω_r of each choice r, see StepFrom
	Upsilons      [][]float64 // υ_r of each choice r, see StepFrom; the same slices as omegas if H = G in full
	scaledUpsilon []float64   // υ in units in which its products with the unscaled H stay in range
	coef          []float64   // υ_rᵀυ for each earlier choice r
	step          Step
	column        []float64       // column of G of the latest choice
	TargetColumns []float64       // scratch for columns of H, ResidualColumns×c
	rebase        *residualRebase // for a factored H = G; else nil
	upsilonPanel  []float64       // up to UpsilonsPerPanel of the υ_r, c numbers each
	panelCoef     []float64       // coefficients of these υ_r for ResidualColumns columns of H
	columnSums    []float64       // scratch of MakeExact, two numbers for each of these columns
}

const (
	// UpsilonsPerPanel is the number of vectors υ_r that one matrix product projects out of these columns.
	UpsilonsPerPanel = 32
)

// NewGram checks that G and H are finite and computes f⁰, the initial f of the criterion. g0 is the diagonal of
// G. If G is nil, g0 is in the engine's units, and TakeFeature must not be called. The cost is about c·d operations for
// c rows of H, or c²·d if H has a root L (see [target.Matrix]).
func NewGram(g *gram.Matrix, g0 []float64, t *target.Matrix, workers int) (*Gram, error) {
	d := len(g0)
	m := &Gram{D: d, Matrix: g, Target: t, Workers: workers, Team: kernel.NewTeam(workers)}
	m.GUnit = 1
	if g != nil {
		m.GUnit = target.UnitScale(g0)
	}
	scaled := make([]float64, d)
	for i, v := range g0 {
		if scaled[i] = v * m.GUnit; !(v >= 0 && v <= math.MaxFloat64) {
			return nil, ErrBadEntry("G", i, i, v)
		}
	}
	m.HUnit = m.GUnit
	switch {
	case t.Dual == nil && !t.IsSelf:
		m.HUnit = target.UnitScale(t.U.Data)
	case g == nil && t.Unit > 0:
		m.HUnit = t.Unit
	}
	m.layOut(nil, d, t.Height)
	return m, m.StartLayer(scaled, nil)
}

func (m *Gram) layOut(l *room.Layout, d, height int) {
	m.TargetColumns = room.Slice[float64](l, min(target.ResidualColumns, d)*height)
	m.upsilonPanel = room.Slice[float64](l, UpsilonsPerPanel*height)
	m.panelCoef = room.Slice[float64](l, UpsilonsPerPanel*min(target.ResidualColumns, d))
	m.columnSums = room.Slice[float64](l, 2*target.ResidualColumns)
	m.scaledUpsilon = room.Slice[float64](l, height)
	m.step.H, m.column = room.Slice[float64](l, d), room.Slice[float64](l, d)
}

func (m *Gram) fitScratchToTarget() {
	if cap(m.scaledUpsilon) < m.Target.Height {
		m.layOut(nil, m.D, m.Target.Height)
	}
	m.scaledUpsilon = m.scaledUpsilon[:m.Target.Height]
}

// StartLayer computes f⁰, the initial f of the criterion, for a layer without the excluded features. It keeps the slice
// g0, the diagonal of G in the engine's units, without a copy.
func (m *Gram) StartLayer(g0 []float64, excluded []bool) error {
	f0 := make([]float64, m.D)
	m.fitScratchToTarget()
	for from := 0; from < m.D; from += target.ResidualColumns {
		n := min(target.ResidualColumns, m.D-from)
		rows := m.TargetColumnScratch(n)
		m.Target.WriteColumns(m.Team, rows, m.HUnit, nil, from)
		kernel.Each(m.Workers, n, func(i int) {
			if row := rows.Data[i*m.Target.Height:][:m.Target.Height]; excluded == nil || !excluded[from+i] {
				f0[from+i] = kernel.Dot(row, row)
			}
		})
	}
	for i, f := range f0 {
		if !(f <= math.MaxFloat64) {
			return m.errNotFinite(i)
		}
	}
	m.Criterion = NewCriterion(f0, g0, m.Target.IsSelf, excluded)
	if m.Target.IsSelf && !m.Target.IsGram {
		m.rebase = &residualRebase{remainingAtRebase: m.RemainingError(), excluded: excluded}
	}
	m.Omegas, m.Upsilons = nil, nil
	return nil
}

// TargetColumnScratch returns scratch for n columns of H, one in each row. It is valid until the next call.
func (m *Gram) TargetColumnScratch(n int) kernel.Matrix[float64] {
	return kernel.RowMajor(m.TargetColumns, n, m.Target.Height, m.Target.Height)
}

// StartNextLayer implements Engine: it starts another layer, without the excluded features.
func (m *Gram) StartNextLayer(_ context.Context, excluded []bool) (*Criterion, error) {
	g0 := m.Matrix.Diagonal(m.Workers)
	floats.Scale(m.GUnit, g0)
	var err error
	if m.Groups != nil {
		m.Target, err = target.NewPartition(m.Team, m.Matrix, target.GroupsWithout(m.Groups, excluded))
	} else {
		err = m.Target.StartLayer(m.Team, excluded)
	}
	if err == nil {
		err = m.StartLayer(g0, excluded)
	}
	return m.Criterion, err
}

func (m *Gram) errNotFinite(feature int) error {
	matrix := "H"
	if m.Target.IsSelf {
		matrix = "G"
	}
	row := make([]float64, m.Target.RootWidth())
	m.Target.CopyFeatureTo(row, 1, feature)
	for r, x := range row { // a U stored by entries is finite, so this loop finds nothing
		if !(math.Abs(x) <= math.MaxFloat64) {
			return ErrBadEntry(matrix, r, feature, x)
		}
	}
	return ErrBadEntry(matrix, feature, feature, math.NaN())
}

// TargetHeight returns the number of rows of H in the form in which it is stored.
func (m *Gram) TargetHeight() int { return m.Target.Height }

// ScoreUnit returns the factor that converts scores f/g to the data's units. In the engine's units, f is HUnit² times
// and g is GUnit times as large.
func (m *Gram) ScoreUnit() float64 { return m.GUnit / m.HUnit / m.HUnit }

// TargetColumnTo writes column i of H in the engine's units to dst, and returns dst.
func (m *Gram) TargetColumnTo(dst []float64, i int) []float64 {
	m.Target.WriteColumns(m.Team, kernel.RowMajor(dst, 1, len(dst), len(dst)), m.HUnit, []int{i}, 0)
	return dst
}

// ColumnTo writes column i of G in the engine's units to dst, and returns dst.
func (m *Gram) ColumnTo(dst []float64, i int) []float64 {
	m.Matrix.ColumnTo(m.Workers, dst, i)
	floats.Scale(m.GUnit, dst)
	return dst
}

// ColumnsTo writes the listed columns of G in the engine's units to the rows of dst.
func (m *Gram) ColumnsTo(dst kernel.Matrix[float64], list []int) {
	m.Matrix.ColumnsTo(m.Workers, dst.Data, list)
	floats.Scale(m.GUnit, dst.Data[:len(list)*m.D])
}

// TakeFeature implements Engine: it adds p to the chosen features and returns its effect on the criterion.
func (m *Gram) TakeFeature(_ context.Context, p int) (*Step, error) {
	if err := m.rebase.rebaseSmallResidual(m); err != nil {
		return nil, err
	}
	column, upsilon, times := m.column, []float64(nil), []float64(nil)
	if m.rebase != nil {
		upsilon, times = m.upsilonAndProduct(p, column)
	} else {
		m.ColumnTo(column, p)
	}
	delta := append([]float64(nil), column...)
	m.DeflateVector(delta, m.Omegas, p)
	// Chosen columns have no residual. Rounding would leave one that may be far larger than other residuals.
	m.ClearChosen(delta)
	return m.StepFrom(p, column, delta, upsilon, times), nil
}

// upsilonAndProduct returns the vector υ of feature p (see StepFrom) and Hᵀυ, for a factored H = G. It also writes
// column p of G to the parameter column. Neither υ nor Hᵀυ depends on δ. So the factor R of G is read only once, to
// compute both Hᵀυ and the column.
func (m *Gram) upsilonAndProduct(p int, column []float64) (upsilon, times []float64) {
	upsilon = m.residualTargetColumn(p)
	half, r := math.Sqrt(m.HUnit), m.Matrix.Rank
	pair := make([]float64, 2*r)
	floats.ScaleTo(pair[:r], m.GUnit, m.Matrix.Feature(pair, p))
	m.Target.RootTransposeProductTo(m.Workers, pair[r:], floats.ScaleTo(m.scaledUpsilon, half, upsilon))
	floats.Scale(half, pair[r:])
	out := make([]float64, 2*m.D)
	m.Matrix.AddUps(m.Workers, 2, pair, out)
	copy(column, out)
	return upsilon, out[m.D:]
}

func (m *Gram) residualTargetColumn(feature int) []float64 {
	upsilon := m.TargetColumnTo(make([]float64, m.Target.Height), feature)
	m.DeflateVector(upsilon, m.Upsilons, feature)
	floats.Scale(1/math.Sqrt(m.G[feature]), upsilon)
	return upsilon
}

// StepFrom computes the step of p from its column of G and the residual δ of that column. It overwrites δ with ω. Sums
// are over the earlier choices r:
//
//	δ = G₍:,p₎ − Σ ω_r ω_r[p],  ω = δ/√δ_p
//	γ = H₍:,p₎ − Σ υ_r ω_r[p],  υ = γ/√δ_p
//	h = Hᵀυ − Σ (υ_rᵀυ) ω_r
//
// upsilon and times = Hᵀυ are nil if they are not computed yet.
func (m *Gram) StepFrom(p int, column, delta, upsilon, times []float64) *Step {
	omega := delta
	floats.Scale(1/math.Sqrt(m.G[p]), omega)
	switch {
	case m.Target.IsGram:
		upsilon = omega
	case upsilon == nil:
		upsilon = m.residualTargetColumn(p)
	}
	m.ResidualProductTo(m.step.H, upsilon, times)
	m.rebase.addBasisVector(m, p)
	m.Omegas, m.Upsilons = append(m.Omegas, omega), append(m.Upsilons, upsilon)

	s := &m.step
	s.Omega, s.Column = omega, column
	s.Score = kernel.Dot(upsilon, upsilon)
	norm := math.Sqrt(s.Score)
	s.HErr.Reach = RoundingBound(m.TargetHeight()) * norm
	s.HErr.Norm = (RoundingBound(m.TargetHeight()) + RoundingBound(m.Turn)) * math.Sqrt(m.UpsilonSquares) * norm
	return s
}

// DeflateVector subtracts Σ ω_r[p]·vectors[r], summed over the earlier choices r, from x.
func (m *Gram) DeflateVector(x []float64, vectors [][]float64, p int) {
	kernel.Each(m.Workers, tasks.TaskCount(len(x), tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, len(x))
		for r, v := range vectors {
			kernel.Axpy(-m.Omegas[r][p], v[from:to], x[from:to])
		}
	})
}

// ClearChosen sets the entries of chosen features in x to 0.
func (m *Gram) ClearChosen(x []float64) {
	for i, ok := range m.Chosen {
		if ok {
			x[i] = 0
		}
	}
}

// ResidualProductTo writes h = Hᵀυ − Σ (υ_rᵀυ) ω_r, summed over the earlier choices r. One worker computes each
// element. times is Hᵀυ, or nil if it is not computed yet.
func (m *Gram) ResidualProductTo(h, upsilon, times []float64) {
	d := m.D
	m.coef = append(m.coef[:0], make([]float64, len(m.Upsilons))...)
	kernel.Each(m.Workers, tasks.TaskCount(len(m.Upsilons), tasks.RowsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.RowsPerTask, len(m.Upsilons))
		for r := from; r < to; r++ {
			m.coef[r] = kernel.Dot(m.Upsilons[r], upsilon)
		}
	})
	if times != nil {
		copy(h, times)
	} else {
		m.TargetProductTo(h, upsilon)
	}
	kernel.Each(m.Workers, tasks.TaskCount(d, tasks.ColsPerTask), func(task int) {
		from, to := tasks.TaskRange(task, tasks.ColsPerTask, d)
		for r, v := range m.Omegas {
			kernel.Axpy(-m.coef[r], v[from:to], h[from:to])
		}
	})
}

// TargetProductTo writes Hᵀx, d numbers in the engine's units, to h.
func (m *Gram) TargetProductTo(h, x []float64) {
	// The factor √HUnit is applied before and after the product, so that neither x nor the products leave float64's range.
	half := math.Sqrt(m.HUnit)
	floats.ScaleTo(m.scaledUpsilon, half, x)
	clear(h)
	m.Target.AddTransposeProduct(m.Workers, h, m.scaledUpsilon)
	floats.Scale(half, h)
}

// GramBytes implements greedy.Bytes: it returns the memory of a selection in addition to G in full.
func GramBytes(d, k, c int) int64 {
	return room.Measure(func(l *room.Layout) {
		LayOutChoice(l, d, k, cmp.Or(c, d))
		// Two further layers: their criteria with f⁰ and g⁰, and the data's residual.
		layOutCriterion(l, d)
		layOutCriterion(l, d)
		room.Slice[float64](l, 6*d)
		if c > 0 { // the targets of two layers, υ_r, and ω_r of earlier layers, which reduce the data's residual
			room.Slice[float64](l, c*(2*d+k)+d*k)
		}
	})
}

// LayOutChoice takes from l the memory to choose k of d features for a target of `height` rows, apart from G, the target
// and the vectors υ.
func LayOutChoice(l *room.Layout, d, k, height int) {
	LayOutSelection(l, d, k)
	new(Gram).layOut(l, d, height)
	l.Add(kernel.TeamBytes(d, height))
}

// WorkVectors is the number of vectors of the target's height that an engine holds, in addition to one for each turn.
const WorkVectors = target.ResidualColumns + UpsilonsPerPanel + 4

// FactorBytes implements greedy.FactorBytes: it returns the memory of a selection in addition to a factor of G.
func FactorBytes(d, k, rank, rows int) int64 {
	numbers := int64(d)*int64(2*k+24) + int64(rank)*int64(rank) + int64(rows)*int64(rows) + 2*int64(rows)*int64(k)
	return 8*(numbers+(WorkVectors+target.ResidualColumns)*int64(rows)) + linalg.RootBytes(rows) + kernel.TeamBytes(d, max(rank, rows)) + gram.PanelBytes(rank)
}

// ErrBadEntry returns the error for a matrix whose entry x at (i, j) is not finite.
func ErrBadEntry(matrix string, i, j int, x float64) error {
	return stream.Dataf("", "entry (%d, %d) of %s is %v", i, j, matrix, x)
}
