package greedy

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/ufs-stream/ufs-stream/internal/kernel"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// rowsPerTask and colsPerTask cut the products into tasks of a few microseconds
	// or more. They are fixed, so that no sum depends on the number of workers.
	rowsPerTask = 16
	colsPerTask = 512
)

// memory is the engine over a G that fits in memory.
//
// G is used in units in which its largest diagonal entry lies in [1/2, 2), H in
// units of its own, so that f, of fourth degree in the data, neither overflows nor
// vanishes. Both factors are powers of 4, and so exact.
type memory struct {
	*criterion
	d       int
	sym     []float64 // d×d
	target  *Target   // nil: H = G
	groups  []int     // of Algorithm 2, whose target it sums up again for each layer
	without []bool    // rows of H that belong to features of earlier layers; nil for none
	gUnit   float64   // G in the engine's units is gUnit·G
	hUnit   float64
	workers int

	omegas   [][]float64 // ω_r of each choice
	upsilons [][]float64 // υ_r; the same slices where H = G
	scaled   []float64   // υ in units that keep products with the raw H in range
	coef     []float64   // υ_rᵀυ
	step     step
	scratch  [][]float64 // one a settler: settleTogether columns each of δ or γ
}

// newMemory checks G and H and computes f⁰; g0 is the diagonal of G. With a target
// sym may be nil: g0 is then taken to be in the engine's units, and take must not be
// called. Cost d² or c·d.
func newMemory(sym, g0 []float64, target *Target, workers int) (*memory, error) {
	d := len(g0)
	m := &memory{d: d, sym: sym, target: target, workers: workers}
	m.gUnit = 1
	if sym != nil {
		m.gUnit = unitOf(g0)
	}
	scaled := make([]float64, d)
	for i, g := range g0 {
		if scaled[i] = g * m.gUnit; !(g >= 0 && g <= math.MaxFloat64) {
			return nil, badEntry("G", i, i, g)
		}
	}
	height := d
	if target == nil {
		m.hUnit = m.gUnit
	} else {
		height = target.Rows
		m.hUnit = unitOf(target.H)
	}
	m.scaled = make([]float64, height)
	for range min(workers, maxSettlers) {
		m.scratch = append(m.scratch, make([]float64, settleTogether*height))
	}
	m.step.h = make([]float64, d)
	return m, m.begin(scaled, nil)
}

// begin computes f⁰ of a layer, without the features that are out. It keeps g0, in the
// engine's units.
func (m *memory) begin(g0 []float64, out []bool) error {
	f0 := make([]float64, m.d)
	m.settlers(m.d, func(scratch []float64, i int) {
		if out == nil || !out[i] {
			col := m.targetColumn(scratch[:m.height()], i)
			f0[i] = kernel.Dot(col, col)
		}
	})
	for i, f := range f0 {
		if !(f <= math.MaxFloat64) {
			return m.notFinite(i)
		}
	}
	m.criterion = newCriterion(f0, g0, m.target == nil, out)
	m.omegas, m.upsilons = nil, nil
	return nil
}

// next starts another layer.
func (m *memory) next(_ context.Context, out []bool) (*criterion, error) {
	g0 := diagonal(m.sym, m.d)
	floats.Scale(m.gUnit, g0)
	switch {
	case m.groups != nil:
		m.target = partitionTarget(m.sym, m.d, without(m.groups, out), m.workers)
	case m.target == nil || m.target.Own:
		m.without = out
	}
	err := m.begin(g0, out)
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
	matrix, at := "G", func(r int) float64 { return m.sym[i*m.d+r] }
	if m.target != nil {
		matrix, at = "H", func(r int) float64 { return m.target.H[r*m.d+i] }
	}
	for r := range m.scaled {
		if x := at(r); !(math.Abs(x) <= math.MaxFloat64) {
			return badEntry(matrix, r, i, x)
		}
	}
	return badEntry(matrix, i, i, math.NaN())
}

// height is the number of rows of H.
func (m *memory) height() int {
	if m.target == nil {
		return m.d
	}
	return m.target.Rows
}

// scoreUnit: f is in units of hUnit², g in units of gUnit.
func (m *memory) scoreUnit() float64 { return m.gUnit / m.hUnit / m.hUnit }

// targetColumn writes H₍:,i₎ in the engine's units.
func (m *memory) targetColumn(dst []float64, i int) []float64 {
	if m.target == nil {
		floats.ScaleTo(dst, m.hUnit, m.sym[i*m.d:(i+1)*m.d])
	} else {
		for r := range dst {
			dst[r] = m.hUnit * m.target.H[r*m.d+i]
		}
	}
	for r, gone := range m.without {
		if gone {
			dst[r] = 0
		}
	}
	return dst
}

// take computes the step of p from its column of G.
func (m *memory) take(_ context.Context, p int) (*step, error) {
	column := floats.ScaleTo(make([]float64, m.d), m.gUnit, m.sym[p*m.d:(p+1)*m.d])
	delta := append([]float64(nil), column...)
	m.deflate(delta, m.omegas, p)
	// The chosen columns have no residual; rounding would leave one of their own
	// magnitude, which may be far above the others.
	m.clearChosen(delta)
	return m.stepFrom(p, column, delta), nil
}

// stepFrom computes the step of p from its column of G and the residual of that, δ,
// which becomes ω:
//
//	δ = G₍:,p₎ − Σ ω_r ω_r[p],  ω = δ/√δ_p
//	γ = H₍:,p₎ − Σ υ_r ω_r[p],  υ = γ/√δ_p
//	h = Hᵀυ − Σ (υ_rᵀυ) ω_r
func (m *memory) stepFrom(p int, column, delta []float64) *step {
	root := math.Sqrt(m.g[p])
	omega := delta
	floats.Scale(1/root, omega)
	upsilon := omega
	if m.target != nil {
		upsilon = m.targetColumn(make([]float64, m.height()), p)
		m.deflate(upsilon, m.upsilons, p)
		floats.Scale(1/root, upsilon)
	}
	m.productTo(m.step.h, upsilon)
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

// productTo writes h = Hᵀυ − Σ (υ_rᵀυ) ω_r, each element by one worker.
func (m *memory) productTo(h, upsilon []float64) {
	d := m.d
	m.coef = append(m.coef[:0], make([]float64, len(m.upsilons))...)
	kernel.Each(m.workers, tasks(len(m.upsilons), rowsPerTask), func(task int) {
		from, to := span(task, rowsPerTask, len(m.upsilons))
		for r := from; r < to; r++ {
			m.coef[r] = kernel.Dot(m.upsilons[r], upsilon)
		}
	})
	m.timesTarget(h, upsilon)
	kernel.Each(m.workers, tasks(d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, d)
		for r, v := range m.omegas {
			kernel.Axpy(-m.coef[r], v[from:to], h[from:to])
		}
	})
}

// timesTarget writes h = Hᵀx.
func (m *memory) timesTarget(h, x []float64) {
	d := m.d
	// √hUnit before and after, so that neither x nor the products leave the range.
	half := math.Sqrt(m.hUnit)
	floats.ScaleTo(m.scaled, half, x)
	clear(h)
	if m.target == nil {
		kernel.Gemv(m.workers, d, d, m.sym, d, m.scaled, h)
	}
	kernel.Each(m.workers, tasks(d, colsPerTask), func(task int) {
		from, to := span(task, colsPerTask, d)
		out := h[from:to]
		if m.target != nil {
			for r, u := range m.scaled {
				kernel.Axpy(u, m.target.H[r*d+from:r*d+to], out)
			}
		}
		floats.Scale(half, out)
	})
}

// Bytes is the memory Select needs beside G to choose k of d features, with c groups
// (0 for Algorithm 1).
func Bytes(d, k, c int) int64 {
	numbers := int64(d) * int64(k+24)
	if c > 0 {
		// The target of another layer, υ_r, and ω_r of the layers before for what they leave.
		numbers += int64(c)*int64(2*d+k+maxSettlers*settleTogether) + int64(d)*int64(k)
	} else {
		numbers += int64(d) * maxSettlers * settleTogether
	}
	return 8 * numbers
}
