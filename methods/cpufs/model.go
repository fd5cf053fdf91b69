package cpufs

import (
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// model has the factors that do not grow with the number of rows, and sums over the rows. Matrices are row-major. The
// d rows of W and of other d×c matrices are in the order of the cells. The slices of factors have one for each side of
// the shape, n_s being the length of side s.
type model struct {
	shape []int
	d, c  int

	a []kernel.Matrix[float64] // A₁, A₂, …: n_s×c
	u []kernel.Matrix[float64] // U₁ᵀ, U₂ᵀ, …: n_s×c, stored as the rows of U_s
	w []float64                // W = U₁ᵀ⊙U₂ᵀ⊙…, d×c

	nextA []kernel.Matrix[float64] // result of nextFactors
	ab    []float64                // scratch for A₁⊙A₂⊙…, d×c
	row   []float64                // scratch for addContraction, c
	lastW []float64                // W and U₁ᵀ, U₂ᵀ, … of the previous iteration
	lastU []kernel.Matrix[float64]

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
	m := model{shape: shape, d: 1, c: components, row: room.Slice[float64](l, components)}
	for _, n := range shape {
		m.d *= n
		m.a = append(m.a, kernel.NewMatrix[float64](l, n, components))
		m.nextA = append(m.nextA, kernel.NewMatrix[float64](l, n, components))
		m.u = append(m.u, kernel.NewMatrix[float64](l, components, n).Trans())
		m.lastU = append(m.lastU, kernel.NewMatrix[float64](l, components, n).Trans())
	}
	for _, x := range []*[]float64{&m.w, &m.xc, &m.p, &m.gw, &m.ab, &m.lastW} {
		*x = room.Slice[float64](l, m.d*components)
	}
	return m
}

func (m *model) keepFactors() {
	copy(m.lastW, m.w)
	for s, u := range m.u {
		copy(m.lastU[s].Data, u.Data)
	}
}

// eachCell calls visit for each cell with its place on each side of the shape. The next call changes place.
func (m *model) eachCell(visit func(cell int, place []int)) {
	place := make([]int, len(m.shape))
	for cell := range m.d {
		visit(cell, place)
		for s := len(place) - 1; s >= 0; s-- { // the last side runs fastest
			if place[s]++; place[s] < m.shape[s] {
				break
			}
			place[s] = 0
		}
	}
}

// khatriRao writes the product of Khatri and Rao of n_s×c factors to dst: the row of a cell is the product, entry by
// entry, of one row of each factor, the row of the cell's place on that side.
func (m *model) khatriRao(dst []float64, factors []kernel.Matrix[float64]) {
	c := m.c
	m.eachCell(func(cell int, place []int) {
		row := dst[cell*c:][:c]
		for s, f := range factors {
			at := f.Data[place[s]*f.RowStride:]
			for k := range row {
				if s == 0 {
					row[k] = at[k*f.ColStride]
				} else {
					row[k] *= at[k*f.ColStride]
				}
			}
		}
	})
}

// addContraction adds to row i of dst, n_s×c, the rows of x, d×c, of all cells in place i of side s, each multiplied, entry
// by entry, by a row of every factor but that of the side s: the row of the cell's place on the factor's side.
func (m *model) addContraction(dst kernel.Matrix[float64], x []float64, factors []kernel.Matrix[float64], s int) {
	c := m.c
	m.eachCell(func(cell int, place []int) {
		row := m.row
		copy(row, x[cell*c:][:c])
		for other, f := range factors {
			if other == s {
				continue
			}
			at := f.Data[place[other]*f.RowStride:]
			for k := range row {
				row[k] *= at[k*f.ColStride]
			}
		}
		at := dst.Data[place[s]*dst.RowStride:]
		for k, v := range row {
			at[k*dst.ColStride] += v
		}
	})
}

// nextFactors returns new A₁, A₂, …, found in turn: A_s ≥ 0 minimizes ‖X − C(A₁⊙A₂⊙…)ᵀ‖² for the other A, which are new
// for the sides before s. As CᵀC = I, each column is a separate problem: column k of A_s is column k of X₍ₛ₎(C⊙A₁⊙…),
// without A_s in the product, divided by the squared norms of columns k of the other A, with negative entries set to 0.
// X₍ₛ₎ is the tensor X unfolded by the side s of the grid. If a norm is 0, any column is a minimum, and it stays
// unchanged. The next call overwrites the results.
func (m *model) nextFactors() []kernel.Matrix[float64] {
	factors := slices.Clone(m.a)
	for s, old := range m.a {
		next := m.nextA[s]
		clear(next.Data)
		m.addContraction(next, m.xc, factors, s)
		divideColumns(next.Data, old.Data, m.squaredColumnNorms(slices.Delete(slices.Clone(factors), s, s+1)))
		factors[s] = next
	}
	return m.nextA
}

func (m *model) updateFactors() {
	m.a, m.nextA = m.nextFactors(), m.a
}

func (m *model) squaredColumnNorms(factors []kernel.Matrix[float64]) []float64 {
	norms := slices.Repeat([]float64{1}, m.c)
	for _, f := range factors {
		for k, v := range columnSquareSums(f.Data, m.c) {
			norms[k] *= v
		}
	}
	return norms
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
	m.khatriRao(m.ab, m.a)
	last := len(m.a) - 1
	norms := kernel.Dot(m.squaredColumnNorms(m.a[:last]), m.squaredColumnNorms(m.a[last:]))
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
