package gram

import (
	"fmt"
	"sync"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
)

// Matrix is a positive semidefinite matrix G of order D in one of two forms: in full as D² numbers, or as an r×D factor
// R with G = RᵀR. If R consists of the rows of A themselves, the factor is exact. It is cheap if there are few rows.
// Selectors use columns, products and the diagonal of G, which are the same for both forms up to rounding.
//
// A Matrix must not be copied once it is in use. Methods may be called at the same time.
type Matrix struct {
	D   int
	Sym []float64 // D×D row-major, both triangles; nil for a factor

	// R is the factor, stored by features: R[j*Rank:(j+1)*Rank] is its column j. R is nil if the factor is stored as
	// float32, which Feature and Panels convert to such columns.
	R    []float64
	Rank int // number of rows of R

	narrow *narrowFactor // the factor as float32, instead of R

	dual     []float64 // RRᵀ, see Dual
	makeDual sync.Once

	rotation []float64 // product of the arguments of all Rotate calls, r×r; nil before the first call
}

// Full returns a Matrix of the d×d numbers in sym, row-major with both triangles. It keeps the slice.
func Full(sym []float64, d int) *Matrix { return &Matrix{D: d, Sym: sym} }

// FromFactor returns the matrix RᵀR of d features. r contains R by features, with `rank` rows. It keeps r.
func FromFactor(r []float64, d, rank int) *Matrix { return &Matrix{D: d, R: r, Rank: rank} }

// IsFactor reports whether G is stored as a factor.
func (m *Matrix) IsFactor() bool { return m.R != nil || m.narrow != nil }

// Absent reports whether G has no numbers, i.e. only its order D is known.
func (m *Matrix) Absent() bool { return !m.IsFactor() && m.Sym == nil }

// Check fails if the sizes of the slices do not fit a matrix of order D.
func (m *Matrix) Check() error {
	if m.IsFactor() {
		size := len(m.R)
		if m.narrow != nil {
			size = len(m.narrow.x)
		}
		if size != m.D*m.Rank || m.Sym != nil {
			return fmt.Errorf("gram: a factor of %d numbers, want %d×%d", size, m.D, m.Rank)
		}
		return nil
	}
	if len(m.Sym) != m.D*m.D {
		return fmt.Errorf("gram: a matrix of %d numbers, want %d×%d", len(m.Sym), m.D, m.D)
	}
	return nil
}

// floatFactor returns Rᵀ, which is D×r, for a factor of float64. Its rows are the features.
func (m *Matrix) floatFactor() kernel.Matrix[float64] {
	if m.R == nil {
		panic("gram: no factor of float64")
	}
	return kernel.RowMajor(m.R, m.D, m.Rank, m.Rank)
}

// At returns Gᵢⱼ. For a factor of r rows it costs 2·r flops.
func (m *Matrix) At(i, j int) float64 {
	var room []float64
	if m.narrow != nil {
		room = make([]float64, 2*m.Rank)
	}
	return m.AtWithin(room, i, j)
}

// AtWithin returns G_ij as At does, without an allocation: room has space for 2·Rank numbers, for two features of a factor.
func (m *Matrix) AtWithin(room []float64, i, j int) float64 {
	if !m.IsFactor() {
		return m.Sym[i*m.D+j]
	}
	a := m.Feature(room, i)
	if i == j {
		return kernel.Dot(a, a)
	}
	return kernel.Dot(a, m.Feature(room[len(room)/2:], j))
}

// Diagonal returns the diagonal of G, in O(rD) for a factor.
func (m *Matrix) Diagonal(workers int) []float64 {
	diag := make([]float64, m.D)
	if !m.IsFactor() {
		eachColumn(workers, m.D, func(j int) { diag[j] = m.At(j, j) })
		return diag
	}
	m.eachPanel(workers, func(from int, rows kernel.Matrix[float64]) {
		eachColumn(workers, rows.Rows, func(j int) {
			a := rows.Data[j*m.Rank:][:m.Rank]
			diag[from+j] = kernel.Dot(a, a)
		})
	})
	return diag
}

// Trace returns the sum of the diagonal of G, in O(rD) for a factor.
func (m *Matrix) Trace(workers int) (trace float64) {
	for _, v := range m.Diagonal(workers) {
		trace += v
	}
	return trace
}

// ColumnTo writes column j of G to dst. For a factor of r rows it costs 2·r·D flops.
func (m *Matrix) ColumnTo(workers int, dst []float64, j int) {
	if !m.IsFactor() {
		copy(dst, m.Sym[j*m.D:][:m.D])
		return
	}
	clear(dst)
	m.AddUp(workers, m.Feature(make([]float64, m.Rank), j), dst)
}

// AddUp adds Rᵀz to y, for r numbers z and D numbers y, with 2·r·D flops. It panics if G is stored in full.
func (m *Matrix) AddUp(workers int, z, y []float64) {
	if m.narrow != nil {
		m.addProductOfFewRows(kernel.NewTeam(workers).Threads(), 1, z, y)
		return
	}
	kernel.Gemv(workers, m.D, m.Rank, m.floatFactor().Data, m.Rank, z, y)
}

// unpackedRows is the number of rows of Z that AddUps multiplies by R at a time if Z has few rows, because kernel.Gemm
// then does not pack R. If Z has more than a few times this number of rows, packing is worth its time.
const unpackedRows = 16

// AddUps adds Z·R to Y in 2·k·r·D flops, for row-major k×r numbers Z and k×D numbers Y. It panics if G is not a factor.
func (m *Matrix) AddUps(threads, k int, z, y []float64) {
	team := kernel.NewTeam(threads)
	if m.narrow != nil && k <= maxDirectRows {
		m.addProductOfFewRows(team.Threads(), k, z, y)
		return
	}
	together := k
	if k <= 4*unpackedRows {
		together = unpackedRows
	}
	m.eachPanel(team.Threads(), func(at int, rows kernel.Matrix[float64]) {
		for i := 0; i < k; i += together {
			h := min(together, k-i)
			kernel.Gemm(team, 1, kernel.RowMajor(z[i*m.Rank:], h, m.Rank, m.Rank), rows.Trans(), kernel.RowMajor(y[i*m.D:], h, m.D, m.D).Sub(0, at, h, rows.Rows))
		}
	})
}

// Row returns column j of G. If G is stored in full, the result is a view. Otherwise it is written to the slice `room`,
// which must have D numbers.
func (m *Matrix) Row(workers int, room []float64, j int) []float64 {
	if !m.IsFactor() {
		return m.Sym[j*m.D:][:m.D]
	}
	m.ColumnTo(workers, room, j)
	return room
}

// ColumnsTo writes the listed columns of G to the rows of dst, len(list)×D. For a factor this is one product, which
// costs 2·r·D flops for each column.
func (m *Matrix) ColumnsTo(threads int, dst []float64, list []int) {
	if !m.IsFactor() {
		for i, j := range list {
			copy(dst[i*m.D:], m.Sym[j*m.D:][:m.D])
		}
		return
	}
	some := make([]float64, len(list)*m.Rank)
	for i, j := range list {
		copy(some[i*m.Rank:], m.Feature(some[i*m.Rank:], j))
	}
	clear(dst[:len(list)*m.D])
	m.AddUps(threads, len(list), some, dst)
}

// AddProduct adds X·G to Y, both of k rows of D numbers. It costs 2·k·D² flops if G is stored in full. For a factor it
// costs 4·k·r·D flops, and needs k·r numbers of scratch memory.
func (m *Matrix) AddProduct(threads, k int, x, y []float64) {
	team, to, from := kernel.NewTeam(threads), kernel.RowMajor(y, k, m.D, m.D), kernel.RowMajor(x, k, m.D, m.D)
	if !m.IsFactor() {
		kernel.Gemm(team, 1, from, kernel.RowMajor(m.Sym, m.D, m.D, m.D), to)
		return
	}
	down := kernel.RowMajor(make([]float64, k*m.Rank), k, m.Rank, m.Rank)
	m.eachPanel(threads, func(at int, rows kernel.Matrix[float64]) {
		kernel.Gemm(team, 1, from.Sub(0, at, k, rows.Rows), rows, down)
	})
	m.AddUps(threads, k, down.Data, y)
}

// Dual returns RRᵀ, r×r row-major with both triangles. Its eigenvalues other than 0 are the eigenvalues of G. Dual
// computes it once, in r²·D flops, and keeps it, so the result must not be changed. Dual panics if G is stored in full.
func (m *Matrix) Dual(threads int) []float64 {
	m.makeDual.Do(func() {
		dual := kernel.RowMajor(make([]float64, m.Rank*m.Rank), m.Rank, m.Rank, m.Rank)
		team := kernel.NewTeam(threads)
		m.eachPanel(threads, func(_ int, rows kernel.Matrix[float64]) { kernel.Syrk(team, 1, rows.Trans(), dual) })
		kernel.MirrorUpper(threads, dual)
		m.dual = dual.Data
	})
	return m.dual
}

// Rotate replaces a factor R by VᵀR in place, for an orthogonal V, r×r row-major. G stays the same up to rounding. It
// costs 2·r²·D flops. No other method may be running. Rotate panics if the factor is stored as float32.
func (m *Matrix) Rotate(threads int, v []float64) {
	const block = 512 // features
	team, turn := kernel.NewTeam(threads), kernel.RowMajor(v, m.Rank, m.Rank, m.Rank)
	room := make([]float64, min(block, m.D)*m.Rank)
	for from := 0; from < m.D; from += block {
		n := min(block, m.D-from)
		clear(room)
		kernel.Gemm(team, 1, m.floatFactor().Sub(from, 0, n, m.Rank), turn, kernel.RowMajor(room, n, m.Rank, m.Rank))
		copy(m.R[from*m.Rank:], room[:n*m.Rank])
	}
	if m.rotation != nil { // V₁V₂
		both := make([]float64, m.Rank*m.Rank)
		kernel.Gemm(team, 1, kernel.RowMajor(m.rotation, m.Rank, m.Rank, m.Rank), turn, kernel.RowMajor(both, m.Rank, m.Rank, m.Rank))
		v = both
	}
	m.rotation = v
	m.makeDual, m.dual = sync.Once{}, nil
}

// RotateToFactor returns VᵀB, V being the product of all rotations. B is r×cols row-major. Its rows belong to the
// original rows of the factor, and rows of the result to the present rows. Without a rotation the result is B itself.
func (m *Matrix) RotateToFactor(threads, cols int, b []float64) []float64 {
	if m.rotation == nil {
		return b
	}
	out := make([]float64, len(b))
	kernel.Gemm(kernel.NewTeam(threads), 1, kernel.RowMajor(m.rotation, m.Rank, m.Rank, m.Rank).Trans(), kernel.RowMajor(b, m.Rank, cols, cols), kernel.RowMajor(out, m.Rank, cols, cols))
	return out
}

// Scale multiplies row and column j of G by factor[j].
func (m *Matrix) Scale(workers int, factor []float64) {
	if m.narrow != nil {
		for j, f := range factor {
			m.narrow.scaleFeature(j, f)
		}
		return
	}
	if m.IsFactor() {
		eachColumn(workers, m.D, func(j int) {
			for i := range m.Rank {
				m.R[j*m.Rank+i] *= factor[j]
			}
		})
		return
	}
	kernel.Each(workers, m.D, func(i int) {
		for j, v := range m.Sym[i*m.D:][:m.D] {
			// Multiply by one factor after the other, because their product may leave float64's range.
			m.Sym[i*m.D+j] = v * min(factor[i], factor[j]) * max(factor[i], factor[j])
		}
	})
}

func (m *Matrix) reduceToFeatures(features []int) {
	n := len(features)
	if m.Absent() {
		m.D = n
		return
	}
	// No entry moves to a higher index, so in ascending order no entry is overwritten before it is read.
	if m.narrow != nil {
		m.narrow.reduceToFeatures(m.Rank, features)
		m.D = n
		return
	}
	if m.IsFactor() {
		for k, j := range features {
			copy(m.R[k*m.Rank:][:m.Rank], m.R[j*m.Rank:])
		}
		m.D, m.R = n, m.R[:n*m.Rank]
		return
	}
	for a, i := range features {
		for b, j := range features {
			m.Sym[a*n+b] = m.Sym[i*m.D+j]
		}
	}
	m.D, m.Sym = n, m.Sym[:n*n]
}
