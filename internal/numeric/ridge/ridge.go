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
	"cmp"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
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

	root     []float64              // R
	features []float64              // blockFeatures rows of (XR)ᵀ; nil if G is given in full
	y        kernel.Matrix[float64] // K⁻¹Y, n×c; empty if G is given in full
	w        kernel.Matrix[float64] // d×c
}

// Target is the target of a regression.
type Target struct {
	XY []float64              // XᵀY, d×c row-major
	Y  kernel.Matrix[float64] // Y, n×c; unused if G is given in full
}

// New returns a Solver for the Gram matrix g and targets of c columns. It does not copy g, so g must not change. It needs
// the memory that [LayOut] declares.
func New(team *kernel.Team, g *gram.Matrix, c int) *Solver {
	s := LayOut(nil, g.D, g.Rank, c)
	s.team, s.g = team, g
	return s
}

// LayOut takes the memory of a Solver for d features and targets of c columns from l. If G is given by a factor, rank is
// the number of rows of the factor, otherwise 0.
func LayOut(l *room.Layout, d, rank, c int) *Solver {
	s, order := &Solver{}, cmp.Or(rank, d)
	s.P = kernel.NewMatrix[float64](l, order, order)
	s.Chol.LayOut(l, order)
	if rank > 0 {
		s.features = room.Slice[float64](l, min(blockFeatures, d)*rank)
		s.y = kernel.NewMatrix[float64](l, rank, c)
	}
	s.w = kernel.NewMatrix[float64](l, d, c)
	return s
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
	n := s.g.Rank
	clear(s.P.Data)
	s.g.Panels(s.team.Threads(), func(first, count int, features []float64) {
		for from := 0; from < count; from += blockFeatures {
			h := min(blockFeatures, count-from)
			kernel.Each(s.team.Threads(), h, func(k int) {
				to, root := s.features[k*n:][:n], s.root[first+from+k]
				for i, x := range features[(from+k)*n:][:n] {
					to[i] = root * x
				}
			})
			kernel.Syrk(s.team, 1, kernel.RowMajor(s.features, h, n, n).Trans(), s.P)
		}
	})
}

// Solve returns the solution W, d×c row-major, for a target of c columns, and the penalty Tr(WᵀR⁻²W). The penalty omits
// the rows of W for which the entry of R is 0. The next Solve overwrites W.
func (s *Solver) Solve(to Target) (w []float64, penalty float64) {
	w = s.w.Data
	if s.g.IsFactor() {
		s.Chol.SolveTo(s.team, s.y, to.Y)
		clear(w)
		s.AddXTransposed(s.y, s.w)
		s.multiplyByRoot(w, w) // (XR)ᵀK⁻¹Y
	} else {
		s.multiplyByRoot(w, to.XY)
		s.Chol.SolveTo(s.team, s.w, s.w) // P⁻¹RXᵀY
	}
	penalty = kernel.Dot(w, w) // here w is R⁻¹W; the next line makes it W
	s.multiplyByRoot(w, w)
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
func (s *Solver) multiplyByRoot(dst, from []float64) {
	c := s.w.Cols
	for i, root := range s.root {
		for j, v := range from[i*c:][:c] {
			dst[i*c+j] = root * v
		}
	}
}
