package cpufs

import (
	"math"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// model has the factors that do not grow with the number of rows, and sums over the rows. Matrices are row-major. The
// d rows of W and of other d×c matrices are in the order of the cells.
type model struct {
	n1, n2, d, c int

	a, b []float64 // A n₁×c, B n₂×c
	u, v []float64 // U c×n₁, V c×n₂
	w    []float64 // W = Uᵀ⊙Vᵀ, d×c

	nextA, nextB []float64    // results of nextAB
	ab           []float64    // scratch for A⊙B, d×c
	last         [3][]float64 // W, U and V of the previous iteration

	squares float64   // ‖X‖²
	xc      []float64 // XᵀC, d×c
	p       []float64 // P = XᵀF, d×c
	gw      []float64 // GW, d×c
	sums    rowSums
}

// rowSums has the sums over rows that the objective needs.
type rowSums struct {
	ff  float64 // ‖F‖²
	cf  float64 // ‖C − F‖²
	clf float64 // Tr(CᵀLF)
}

func (s *rowSums) addSums(other rowSums) {
	s.ff += other.ff
	s.cf += other.cf
	s.clf += other.clf
}

func newModel(l *room.Layout, shape []int, components int) model {
	m := model{n1: shape[0], n2: shape[1], d: shape[0] * shape[1], c: components}
	take := func(rows int, matrices ...*[]float64) {
		for _, x := range matrices {
			*x = room.Slice[float64](l, rows*components)
		}
	}
	take(m.d, &m.w, &m.xc, &m.p, &m.gw, &m.ab, &m.last[0])
	take(m.n1, &m.a, &m.u, &m.nextA, &m.last[1])
	take(m.n2, &m.b, &m.v, &m.nextB, &m.last[2])
	return m
}

func (m *model) keepFactors() {
	for i, x := range [][]float64{m.w, m.u, m.v} {
		copy(m.last[i], x)
	}
}

// khatriRao writes A⊙B to dst: row h·n₂ + g is row h of A times row g of B, entry by entry.
func (m *model) khatriRao(dst, a, b []float64) {
	c := m.c
	for cell := range m.d {
		h, g, row := cell/m.n2, cell%m.n2, dst[cell*c:][:c]
		for k := range row {
			row[k] = a[h*c+k] * b[g*c+k]
		}
	}
}

// composeW writes W = Uᵀ⊙Vᵀ to dst. u and v may also be changes of U and V.
func (m *model) composeW(dst, u, v []float64) {
	c := m.c
	for cell := range m.d {
		h, g, row := cell/m.n2, cell%m.n2, dst[cell*c:][:c]
		for k := range row {
			row[k] = u[k*m.n1+h] * v[k*m.n2+g]
		}
	}
}

// nextAB returns the A ≥ 0 that minimizes ‖X − C(A⊙B)ᵀ‖² for the current B, and then the B ≥ 0 that minimizes it for
// this A. As CᵀC = I, each column is a separate problem: column a_k of A is column k of X₍₁₎(C⊙B) divided by the
// squared norm of column b_k of B, with negative entries set to 0. X₍₁₎ is the tensor X unfolded by the rows of the
// grid. If b_k = 0, any a_k is a minimum, and a_k stays unchanged. The next call overwrites the results.
func (m *model) nextAB() (a, b []float64) {
	c := m.c
	a, b = m.nextA, m.nextB
	clear(a)
	clear(b)
	for cell := range m.d {
		h, g := cell/m.n2, cell%m.n2
		for k, x := range m.xc[cell*c:][:c] {
			a[h*c+k] += x * m.b[g*c+k]
		}
	}
	divideColumns(a, m.a, columnSquareSums(m.b, c))
	for cell := range m.d {
		h, g := cell/m.n2, cell%m.n2
		for k, x := range m.xc[cell*c:][:c] {
			b[g*c+k] += x * a[h*c+k]
		}
	}
	divideColumns(b, m.b, columnSquareSums(a, c))
	return a, b
}

func (m *model) updateAB() {
	a, b := m.nextAB()
	m.a, m.b, m.nextA, m.nextB = a, b, m.a, m.b
}

// divideColumns divides column k of x by norm[k], which is a squared norm, and sets negative entries to 0. If norm[k]
// is 0, the column is copied from old.
func divideColumns(x, old, norm []float64) {
	for i := range x {
		if d := norm[i%len(norm)]; d > 0 {
			x[i] = max(x[i]/d, 0)
		} else {
			x[i] = old[i]
		}
	}
}

func columnSquareSums(x []float64, columns int) []float64 {
	s := make([]float64, columns)
	for i, v := range x {
		s[i%columns] += v * v
	}
	return s
}

// objectiveValue returns the value of eq. (2), and the sum of the absolute values of its terms as size.
func (m *model) objectiveValue(o *Options) (value, size float64) {
	m.khatriRao(m.ab, m.a, m.b)
	norms := kernel.Dot(columnSquareSums(m.a, m.c), columnSquareSums(m.b, m.c))
	lengths := 0.0
	for _, s := range linalg.RowNorms(m.w, m.c) {
		lengths += s
	}
	for _, t := range []struct{ weight, x float64 }{
		{1, m.squares}, {-2, kernel.Dot(m.ab, m.xc)}, {1, norms},
		{o.Nu, m.sums.clf},
		{o.Alpha, kernel.Dot(m.w, m.gw)}, {-2 * o.Alpha, kernel.Dot(m.w, m.p)}, {o.Alpha, m.sums.ff},
		{o.Beta, lengths},
		{o.Eta, m.sums.cf},
	} {
		value += t.weight * t.x
		size += math.Abs(t.weight * t.x)
	}
	// The term Tr(CᵀLF) of eq. (2) is a difference too, of terms that are at most ‖C‖‖F‖.
	return value, size + o.Nu*math.Sqrt(float64(m.c)*m.sums.ff)
}
