package rowsparse

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

const (
	// epsilon keeps D finite if a row of W is 0.
	epsilon = 1e-8
	// nullShare: a direction w has no cost, apart from rounding, if wᵀMw is below this share of ‖M‖. The relative error of
	// M is about 1e-14.
	nullShare = 1e-8
	// normErrorShare is the largest relative error of W's row norms for which a ranking is meaningful.
	normErrorShare = 1e-4
)

// Solver minimizes Tr(WᵀMW) + γΣ(‖wᵢ‖² + ε)^(p/2) over WᵀW = I, with p = 1 from [NewSolver].
type Solver struct {
	d, c  int
	gamma float64
	power float64 // p
	base  float64 // a number that is added to the objective
	form  Matrix
	norm  float64                // the largest norm of a column of M; negative until computed
	warm  kernel.Matrix[float64] // last eigenvectors, from which the next computation starts
}

// NewSolver returns a Solver for the matrix f of order d, c dimensions and the weight γ.
func NewSolver(f Matrix, d, c int, gamma float64) *Solver {
	return &Solver{d: d, c: c, gamma: gamma, power: 1, form: f, norm: -1}
}

// rowWeights returns the diagonal of D, p/2·(‖wᵢ‖² + ε)^(p/2−1), for the norms of the rows of W.
func (s *Solver) rowWeights(norms []float64) []float64 {
	q := make([]float64, len(norms))
	for i, v := range norms {
		q[i] = s.power / 2 * math.Pow(v*v+epsilon, s.power/2-1)
	}
	return q
}

func (s *Solver) rowPenalty(norms []float64) (sum float64) {
	for _, v := range norms {
		sum += math.Pow(v*v+epsilon, s.power/2)
	}
	return sum
}

// MatrixChanged must be called after the numbers of the matrix have changed. The next update starts from the last W.
func (s *Solver) MatrixChanged() { s.norm = -1 }

// IsZero reports whether M is 0, so that no W is better than another.
func (s *Solver) IsZero() bool { return s.matrixNorm() == 0 }

func (s *Solver) matrixNorm() float64 {
	if s.norm < 0 {
		s.norm = s.form.largestColumnNorm()
	}
	return s.norm
}

// SolverBytes bounds the memory of a Solver and of its matrix for n rows of d features and c dimensions, except the d×d
// numbers of a [Full].
func SolverBytes(n int64, d, c int) int64 {
	vectors := 8 * int64(d) * int64(8*c+64) // W's, with their bases and products
	if IsWide(n, d) {
		rows := int(n)
		return vectors + 8*(4*n*n+n*int64(d)) + linalg.LowRankBytes(rows, d, 2*c+4) + // U, its axes, L, LV and T
			linalg.SmallestFormBytes(d, pairCount(d, c), linalg.EigenOptions{}) + kernel.TeamBytes(d, rows)
	}
	return vectors + 8*int64(d)*int64(d) + // A
		linalg.SmallestBytes(d, pairCount(d, c), linalg.EigenOptions{}) + linalg.CholeskyBytes(d) + kernel.TeamBytes(d, d)
}

// Projection is the projection W that an update has found.
type Projection struct {
	W         kernel.Matrix[float64] // d×c
	Norms     []float64              // of W's rows
	Objective float64
	Slack     float64 // bound of the rounding error of the objective
	gap       float64 // difference of nextValue and the largest used eigenvalue; +Inf for c = d
	nextValue float64 // smallest eigenvalue that W does not use
}

// AllowedRise bounds the rounding errors of the objectives of u and of the projection before. A rise by no more may be none.
func (u *Projection) AllowedRise(before *Projection) float64 {
	return u.Slack + float64(len(u.Norms))*0x1p-52*(math.Abs(before.Objective)+math.Abs(u.Objective)) // the sums over d rows round too
}

// minimizeTrace computes the W with WᵀW = I that minimizes Tr(Wᵀ(M + γD)W) for D = diag(q).
func (s *Solver) minimizeTrace(q []float64) (*Projection, error) {
	d, c := s.d, s.c
	weights := make([]float64, d)
	var size float64
	for i, v := range q {
		weights[i] = s.gamma * v
		size = max(size, weights[i])
	}
	e, err := s.form.smallestPairs(weights, s.warm)
	if err != nil {
		return nil, fmt.Errorf("projection: %w", err)
	}
	s.warm = e.Basis
	w := kernel.RowMajor(make([]float64, d*c), d, c, c)
	kernel.Copy(w, e.Vectors.Sub(0, 0, d, c))
	u := &Projection{W: w, Norms: make([]float64, d), Objective: s.form.traceCost(w), gap: math.Inf(1), nextValue: math.Inf(1)}
	for i := range d {
		row := w.Data[i*c:][:c]
		u.Norms[i] = math.Sqrt(kernel.Dot(row, row))
	}
	u.Objective += s.base + s.gamma*s.rowPenalty(u.Norms)
	if len(e.Values) > c {
		u.nextValue = e.Values[c]
		u.gap = u.nextValue - e.Values[c-1]
	}
	// The error of the eigenpairs is at most 4·tol + residual, and tol is √d·2⁻⁴⁹ of the norm. The slack is twice this
	// error, plus the rounding error of the products in M.
	u.Slack = float64(c) * 9 * math.Sqrt(float64(d)) * 0x1p-49 * (s.matrixNorm() + size)
	return u, nil
}

// HasKnownNorms reports whether the row norms of W are accurate. The error of M is √d·2⁻⁵² of its norm. By the theorem
// of Davis and Kahan, it rotates the space of the c columns of W by at most √c times this error divided by the gap
// u.gap.
func (s *Solver) HasKnownNorms(u *Projection) bool {
	return math.Sqrt(float64(s.d)*float64(s.c))*0x1p-52*s.matrixNorm() <= normErrorShare*u.gap
}

// setMeanDiagonal sets q to the D of the package comment, for the mean of ‖wᵢ‖² over all W whose directions have no
// cost. This mean is c·P_ii/Tr(P), with P the projection on the directions without cost. P ≈ τ(M + τI)⁻¹ with τ =
// nullShare·‖M‖ depends smoothly on M, while the eigenvectors themselves are determined only by rounding.
func (s *Solver) setMeanDiagonal(q []float64) error {
	squares, err := s.form.inverseDiagonal(nullShare * s.matrixNorm())
	if err != nil {
		return fmt.Errorf("start of the projection: %w", err)
	}
	var trace float64
	for _, v := range squares {
		trace += v
	}
	for i, v := range squares {
		q[i] = 0.5 / math.Sqrt(float64(s.c)*v/trace+epsilon)
	}
	return nil
}

// FirstUpdate computes the first W, with D = I. If more than c directions have no cost, it uses the D of
// setMeanDiagonal instead, and isMean is true.
func (s *Solver) FirstUpdate() (u *Projection, isMean bool, err error) {
	q := make([]float64, s.d)
	for i := range q {
		q[i] = 1
	}
	if u, err = s.minimizeTrace(q); err != nil {
		return nil, false, err
	}
	if !(s.gamma > 0 && s.matrixNorm() > 0 && u.nextValue-s.gamma <= nullShare*s.matrixNorm()) {
		return u, false, nil
	}
	if err := s.setMeanDiagonal(q); err != nil {
		return nil, false, err
	}
	s.warm = kernel.Matrix[float64]{}
	u, err = s.minimizeTrace(q)
	return u, true, err
}

// NextUpdate computes the W that follows u: the one for D_ii = 1/(2√(‖wᵢ‖² + ε)) with the rows wᵢ of the W of u.
func (s *Solver) NextUpdate(u *Projection) (*Projection, error) {
	return s.minimizeTrace(s.rowWeights(u.Norms))
}

// SavedState returns the values that a stage must save in addition to M, for a run that needs the Projections
// in the list, without their W, later.
func (s *Solver) SavedState(list ...*Projection) []any {
	w := &s.warm
	values := []any{&w.Data, &w.Rows, &w.Cols, &w.RowStride, &w.ColStride}
	for _, x := range list {
		values = append(values, &x.Norms, &x.Objective, &x.gap, &x.nextValue, &x.Slack)
	}
	return values
}

// AreTied reports whether the norms of two rows of W count as equal, the first being at least the second: they agree to
// 1e-10. In a row of W that γD keeps small, the eigenvectors have an error of about 1e-13.
func AreTied(larger, norm float64) bool { return norm >= larger*(1-1e-10)-1e-12 }
