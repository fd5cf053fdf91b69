// Package ridge solves the weighted least squares problem that row-sparse regressions solve repeatedly.
//
// The problem is: for X of n rows and d columns, a target Y of n rows and c columns, a weight w and a diagonal matrix
// R, find the d×c matrix W that minimizes ‖XW − Y‖² + w·Tr(WᵀR⁻²W). With G = XᵀX its solution is
//
//	W = (G + wR⁻²)⁻¹XᵀY = R·P⁻¹·R·XᵀY,   P = RGR + wI,
//
// which is finite even if R has a 0: in that case W has a row of zeros. If G is given by a factor, which is X itself,
// the solution is computed as
//
//	W = R·(XR)ᵀ·K⁻¹·Y,   K = XR(XR)ᵀ + wI,
//
// with a matrix of order n instead of d. Both formulas give the same W, because (XR)ᵀK = P(XR)ᵀ.
package ridge

import (
	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// Solver finds the W that minimizes ‖XW − Y‖² + w·Tr(WᵀR⁻²W) for one Gram matrix G = XᵀX, any target Y and any diagonal
// R. G is a full matrix or is given by its factor X.
type Solver struct {
	team *kernel.Team
	g    *gram.Matrix

	// Results of the last SetWeights. P is the matrix P for a full G, or K for a factor; the caller may overwrite it.
	// Chol is its Cholesky factor. Trace is its trace, which is an upper bound of its largest eigenvalue.
	P     kernel.Matrix[float64]
	Chol  linalg.Cholesky
	Trace float64

	root []float64 // R
}

// Target is the target of a regression.
type Target struct {
	XY []float64              // XᵀY, d×c row-major
	Y  kernel.Matrix[float64] // Y, n×c; unused if G is given in full
}

// New returns a Solver for the Gram matrix g. It does not copy g, so g must not change.
func New(team *kernel.Team, g *gram.Matrix) *Solver {
	n := g.D
	if g.IsFactor() {
		n = g.Rank
	}
	return &Solver{team: team, g: g, P: kernel.RowMajor(make([]float64, n*n), n, n, n)}
}

// SolverBytes returns an upper bound of the memory of a Solver for d features and c columns, including the W that Solve
// returns. If G is given by a factor, rank is the number of rows of the factor, otherwise 0.
func SolverBytes(d, rank, c int) int64 {
	order, block := d, 0
	if rank > 0 {
		order, block = rank, min(blockFeatures, d)
	}
	return 8*int64(order)*int64(order) + linalg.CholeskyBytes(order) + 8*int64(block)*int64(rank) + 8*int64(rank)*int64(c) + 8*int64(d)*int64(c+1)
}

// blockFeatures is the number of rows of the d×n matrix (XR)ᵀ, one for each feature, that are computed at a time.
const blockFeatures = 256

// SetWeights sets the matrix R and the weight w of the penalty w·Tr(WᵀR⁻²W). root is the diagonal of R: d numbers, none
// of them negative. The Solver keeps root without copying it. SetWeights then factors P or, if G is given by a factor,
// K. This costs d³/3 or n²d flops. If w is so small compared with G that it is lost to rounding, the error wraps
// [linalg.ErrNotPositiveDefinite].
func (s *Solver) SetWeights(root []float64, weight float64) error {
	s.root = root
	if s.g.IsFactor() {
		s.fillRowProducts()
	} else {
		s.fillScaledGram()
	}
	s.Trace = 0
	for i := range s.P.Rows {
		at := i * (s.P.Rows + 1)
		s.P.Data[at] += weight
		s.Trace += s.P.Data[at]
	}
	return s.Chol.Factor(s.team, s.P)
}

// fillScaledGram writes RGR to s.P, R being the diagonal matrix of s.root.
func (s *Solver) fillScaledGram() {
	d := s.g.D
	for i, rowFactor := range s.root {
		row := s.P.Data[i*d:][:d]
		for j, v := range s.g.Sym[i*d:][:d] {
			row[j] = rowFactor * v * s.root[j]
		}
	}
}

// fillRowProducts writes the upper triangle of XR(XR)ᵀ to s.P, R being the diagonal matrix of s.root, and X the factor
// of G.
func (s *Solver) fillRowProducts() {
	d, n := s.g.D, s.g.Rank
	clear(s.P.Data)
	room := make([]float64, min(blockFeatures, d)*n)
	s.g.Panels(s.team.Threads(), func(first, count int, features []float64) {
		for from := 0; from < count; from += blockFeatures {
			h := min(blockFeatures, count-from)
			kernel.Each(s.team.Threads(), h, func(k int) {
				to, root := room[k*n:][:n], s.root[first+from+k]
				for i, x := range features[(from+k)*n:][:n] {
					to[i] = root * x
				}
			})
			kernel.Syrk(s.team, 1, kernel.RowMajor(room, h, n, n).Trans(), s.P)
		}
	})
}

// Solve returns the solution W, d×c row-major, for a target of c columns, and the penalty Tr(WᵀR⁻²W). The penalty omits
// the rows of W for which the entry of R is 0.
func (s *Solver) Solve(to Target, c int) (w []float64, penalty float64) {
	d := s.g.D
	w = make([]float64, d*c)
	m := kernel.RowMajor(w, d, c, c)
	if s.g.IsFactor() {
		y := kernel.RowMajor(make([]float64, s.g.Rank*c), s.g.Rank, c, c)
		s.Chol.SolveTo(s.team, y, to.Y)
		s.AddXTransposed(y, m)
		s.multiplyByRoot(w, w, c) // (XR)ᵀK⁻¹Y
	} else {
		s.multiplyByRoot(w, to.XY, c)
		s.Chol.SolveTo(s.team, m, m) // P⁻¹RXᵀY
	}
	penalty = kernel.Dot(w, w) // here w is R⁻¹W; the next line makes it W
	s.multiplyByRoot(w, w, c)
	return w, penalty
}

// AddXTransposed adds XᵀY to the d×c matrix xy, Y being the n×c matrix y. G must be given by its factor X.
func (s *Solver) AddXTransposed(y, xy kernel.Matrix[float64]) {
	r := s.g.Rank
	s.g.Panels(s.team.Threads(), func(from, count int, features []float64) {
		kernel.Gemm(s.team, 1, kernel.RowMajor(features, count, r, r), y, xy.Sub(from, 0, count, xy.Cols))
	})
}

// multiplyByRoot multiplies the d×c matrix `from` by the diagonal matrix R and writes the product to dst, which may be
// the same slice as `from`.
func (s *Solver) multiplyByRoot(dst, from []float64, c int) {
	for i, root := range s.root {
		for j, v := range from[i*c:][:c] {
			dst[i*c+j] = root * v
		}
	}
}
