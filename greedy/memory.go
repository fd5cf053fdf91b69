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
	// rowsPerTask and colsPerTask cut the products into tasks of a few microseconds
	// or more. They are fixed, so that no sum depends on the number of workers.
	rowsPerTask = 16
	colsPerTask = 512
)

// memory is the engine over a G that fits in memory, in full or as a factor.
//
// G is used in units in which its largest diagonal entry lies in [1/2, 2), H in
// units of its own, so that f, of fourth degree in the data, neither overflows nor
// vanishes. Both factors are powers of 4, and so exact.
type memory struct {
	*criterion
	d       int
	gram    *gram.Matrix
	target  *target
	groups  []int   // of Algorithm 2, whose target it sums up again for each layer
	gUnit   float64 // G in the engine's units is gUnit·G
	hUnit   float64
	workers int
	team    *kernel.Team

	omegas   [][]float64 // ω_r of each choice
	upsilons [][]float64 // υ_r; the same slices where H = G in full
	scaled   []float64   // υ in units that keep products with the raw H in range
	coef     []float64   // υ_rᵀυ
	step     step
	rows     []float64 // residualColumns×c: columns of the target
	base     *rebase   // of a factored H = G; nil of others
	some     []float64 // together×c: some of υ_r
}

const (
	// residualColumns of the residual target are computed at a time.
	residualColumns = 128
	// together υ_r are taken out of them at a time.
	together = 32
)

// newMemory checks G and H and computes f⁰; g0 is the diagonal of G. G may be nil: g0 is then taken
// to be in the engine's units, and take must not be called. Cost d² or c·d, c²·d where H has a root.
func newMemory(g *gram.Matrix, g0 []float64, t *target, workers int) (*memory, error) {
	d := len(g0)
	m := &memory{d: d, gram: g, target: t, workers: workers, team: kernel.NewTeam(workers)}
	m.gUnit = 1
	if g != nil {
		m.gUnit = unitOf(g0)
	}
	scaled := make([]float64, d)
	for i, v := range g0 {
		if scaled[i] = v * m.gUnit; !(v >= 0 && v <= math.MaxFloat64) {
			return nil, badEntry("G", i, i, v)
		}
	}
	m.hUnit = m.gUnit
	switch {
	case t.dual == nil && !t.self:
		m.hUnit = unitOf(t.u.Data)
	case g == nil && t.unit > 0:
		m.hUnit = t.unit
	}
	m.step.h = make([]float64, d)
	return m, m.begin(scaled, nil)
}

// begin computes f⁰ of a layer, without the features that are out. It keeps g0, in the
// engine's units.
func (m *memory) begin(g0 []float64, out []bool) error {
	f0 := make([]float64, m.d)
	if need := min(residualColumns, m.d) * m.target.rows; len(m.rows) < need {
		m.rows, m.some = make([]float64, need), nil
	}
	m.scaled = make([]float64, m.target.rows)
	for from := 0; from < m.d; from += residualColumns {
		n := min(residualColumns, m.d-from)
		rows := m.block(n)
		m.target.rowsTo(m.team, rows, m.hUnit, nil, from)
		kernel.Each(m.workers, n, func(i int) {
			if row := rows.Data[i*m.target.rows:][:m.target.rows]; out == nil || !out[from+i] {
				f0[from+i] = kernel.Dot(row, row)
			}
		})
	}
	for i, f := range f0 {
		if !(f <= math.MaxFloat64) {
			return m.notFinite(i)
		}
	}
	m.criterion = newCriterion(f0, g0, m.target.self, out)
	if m.target.self && !m.target.same {
		m.base = &rebase{left: m.remaining(), out: out}
	}
	m.omegas, m.upsilons = nil, nil
	return nil
}

// block is room for n columns of the target.
func (m *memory) block(n int) kernel.Matrix[float64] {
	return kernel.RowMajor(m.rows, n, m.target.rows, m.target.rows)
}

// next starts another layer.
func (m *memory) next(_ context.Context, out []bool) (*criterion, error) {
	g0 := m.gram.Diagonal(m.workers)
	floats.Scale(m.gUnit, g0)
	var err error
	if m.groups != nil {
		m.target, err = partitionTarget(m.team, m.gram, without(m.groups, out))
	} else {
		err = m.target.begin(m.team, out)
	}
	if err == nil {
		err = m.begin(g0, out)
	}
	return m.criterion, err
}

// unitOf is the power of 4 that brings the largest of x into [1/2, 2).
func unitOf(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		if v = math.Abs(v); v > largest && v <= math.MaxFloat64 {
			largest = v
		}
	}
	_, e := math.Frexp(largest)
	// 2^1022 is the largest power of 4; numbers that small are best left small.
	return math.Ldexp(1, max(min(-(e&^1), 1022), -1022))
}

func badEntry(matrix string, i, j int, x float64) error {
	return stream.Dataf("", "entry (%d, %d) of %s is %v", i, j, matrix, x)
}

// notFinite names the first bad entry of column i of H.
func (m *memory) notFinite(i int) error {
	matrix := "H"
	if m.target.self {
		matrix = "G"
	}
	row := make([]float64, m.target.width())
	m.target.featureTo(row, 1, i)
	for r, x := range row { // none of a thin U, which is finite
		if !(math.Abs(x) <= math.MaxFloat64) {
			return badEntry(matrix, r, i, x)
		}
	}
	return badEntry(matrix, i, i, math.NaN())
}

// height is the number of rows of H.
func (m *memory) height() int { return m.target.rows }

// scoreUnit: f is in units of hUnit², g in units of gUnit.
func (m *memory) scoreUnit() float64 { return m.gUnit / m.hUnit / m.hUnit }

// targetColumn is H₍:,i₎ in the engine's units.
func (m *memory) targetColumn(i int) []float64 {
	dst := make([]float64, m.target.rows)
	m.target.rowsTo(m.team, kernel.RowMajor(dst, 1, len(dst), len(dst)), m.hUnit, []int{i}, 0)
	return dst
}

// columnTo writes G₍:,i₎ in the engine's units.
func (m *memory) columnTo(dst []float64, i int) []float64 {
	m.gram.ColumnTo(m.workers, dst, i)
	floats.Scale(m.gUnit, dst)
	return dst
}

// columnsTo writes the columns of G listed to the rows of dst.
func (m *memory) columnsTo(dst kernel.Matrix[float64], list []int) {
	m.gram.ColumnsTo(m.workers, dst.Data, list)
	floats.Scale(m.gUnit, dst.Data[:len(list)*m.d])
}

// take computes the step of p from its column of G.
func (m *memory) take(_ context.Context, p int) (*step, error) {
	if err := m.base.renew(m); err != nil {
		return nil, err
	}
	column, upsilon, times := make([]float64, m.d), []float64(nil), []float64(nil)
	if m.base != nil {
		upsilon, times = m.ahead(p, column)
	} else {
		m.columnTo(column, p)
	}
	delta := append([]float64(nil), column...)
	m.deflate(delta, m.omegas, p)
	// The chosen columns have no residual; rounding would leave one of their own
	// magnitude, which may be far above the others.
	m.clearChosen(delta)
	return m.stepFrom(p, column, delta, upsilon, times), nil
}

// ahead is υ of p and Hᵀυ for a factored H = G, where they do not wait for δ: R passes by once for
// them and for the column of G, which it writes.
func (m *memory) ahead(p int, column []float64) (upsilon, times []float64) {
	upsilon = m.residualTarget(p)
	half, r := math.Sqrt(m.hUnit), m.gram.Rank
	pair := make([]float64, 2*r)
	floats.ScaleTo(pair[:r], m.gUnit, m.gram.Feature(pair, p))
	m.target.downTo(m.workers, pair[r:], floats.ScaleTo(m.scaled, half, upsilon))
	floats.Scale(half, pair[r:])
	out := make([]float64, 2*m.d)
	m.gram.AddUps(m.workers, 2, pair, out)
	copy(column, out)
	return upsilon, out[m.d:]
}

// residualTarget is υ of p: what is left of its column of H, over √g_p.
func (m *memory) residualTarget(p int) []float64 {
	upsilon := m.targetColumn(p)
	m.deflate(upsilon, m.upsilons, p)
	floats.Scale(1/math.Sqrt(m.g[p]), upsilon)
	return upsilon
}

// stepFrom computes the step of p from its column of G and the residual of that, δ,
// which becomes ω:
//
//	δ = G₍:,p₎ − Σ ω_r ω_r[p],  ω = δ/√δ_p
//	γ = H₍:,p₎ − Σ υ_r ω_r[p],  υ = γ/√δ_p
//	h = Hᵀυ − Σ (υ_rᵀυ) ω_r
//
// given υ and times = Hᵀυ where they are known; else nil.
func (m *memory) stepFrom(p int, column, delta, upsilon, times []float64) *step {
	omega := delta
	floats.Scale(1/math.Sqrt(m.g[p]), omega)
	switch {
	case m.target.same:
		upsilon = omega
	case upsilon == nil:
		upsilon = m.residualTarget(p)
	}
	m.productTo(m.step.h, upsilon, times)
	m.base.add(m, p)
	m.omegas, m.upsilons = append(m.omegas, omega), append(m.upsilons, upsilon)

	s := &m.step
	s.omega, s.column = omega, column
	s.score = kernel.Dot(upsilon, upsilon)
	norm := math.Sqrt(s.score)
	s.hErr.reach = rounding(m.height()) * norm
	s.hErr.norm = (rounding(m.height()) + rounding(m.turn)) * math.Sqrt(m.spent) * norm
	return s
}

// deflate subtracts Σ vectors_r ω_r[p] from x.
func (m *memory) deflate(x []float64, vectors [][]float64, p int) {
	kernel.Each(m.workers, tasks(len(x), colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, len(x))
		for r, v := range vectors {
			kernel.Axpy(-m.omegas[r][p], v[from:to], x[from:to])
		}
	})
}

func (m *memory) clearChosen(x []float64) {
	for i, ok := range m.chosen {
		if ok {
			x[i] = 0
		}
	}
}

// productTo writes h = Hᵀυ − Σ (υ_rᵀυ) ω_r, each element by one worker; times is Hᵀυ, or nil.
func (m *memory) productTo(h, upsilon, times []float64) {
	d := m.d
	m.coef = append(m.coef[:0], make([]float64, len(m.upsilons))...)
	kernel.Each(m.workers, tasks(len(m.upsilons), rowsPerTask), func(task int) {
		from, to := span(task, rowsPerTask, len(m.upsilons))
		for r := from; r < to; r++ {
			m.coef[r] = kernel.Dot(m.upsilons[r], upsilon)
		}
	})
	if times != nil {
		copy(h, times)
	} else {
		m.timesTarget(h, upsilon)
	}
	kernel.Each(m.workers, tasks(d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, d)
		for r, v := range m.omegas {
			kernel.Axpy(-m.coef[r], v[from:to], h[from:to])
		}
	})
}

// timesTarget writes h = Hᵀx.
func (m *memory) timesTarget(h, x []float64) {
	// √hUnit before and after, so that neither x nor the products leave the range.
	half := math.Sqrt(m.hUnit)
	floats.ScaleTo(m.scaled, half, x)
	clear(h)
	m.target.addTimes(m.workers, h, m.scaled)
	floats.Scale(half, h)
}

// Bytes is the memory Select needs beside G in full to choose k of d features, with c groups
// (0 for Algorithm 1).
func Bytes(d, k, c int) int64 {
	numbers := int64(d) * int64(k+24)
	height := c
	if c > 0 {
		// The target of another layer, υ_r, and ω_r of the layers before for what they leave.
		numbers += int64(c)*int64(2*d+k) + int64(d)*int64(k)
	} else {
		height = d
	}
	return 8*(numbers+blockRows*int64(height)) + kernel.TeamBytes(d, height)
}

// blockRows is how many vectors as long as the target is high an engine holds beside those of turns.
const blockRows = residualColumns + together + 4

// FactorBytes is what Select needs beside a factor of so many rows to choose k of d features for a
// target whose own factor has so many: RRᵀ, the target's and its root, the vectors of turns, and
// what a block of columns takes.
func FactorBytes(d, k, rank, rows int) int64 {
	numbers := int64(d)*int64(2*k+24) + int64(rank)*int64(rank) + int64(rows)*int64(rows) + 2*int64(rows)*int64(k)
	return 8*(numbers+(blockRows+residualColumns)*int64(rows)) + linalg.RootBytes(rows) + kernel.TeamBytes(d, max(rank, rows)) + gram.PanelBytes(rank)
}
