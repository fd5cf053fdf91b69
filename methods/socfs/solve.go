package socfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
)

const (
	// epsilon keeps D finite if a row of W is 0. Rows of W for relevant features have norms of 1e-2 and more, because the
	// columns of E have length 1, which is also the mean length of features.
	epsilon = 1e-10
	// leastShare replaces λ = 0. It is a share of the λ above which W = 0 would be best at the start.
	leastShare = 1e-9
	// inertia is the weight with which updateBasis adds the previous B. It is far above rounding errors, and too small to
	// affect the row norms of W.
	inertia = 1e-6
)

// solver is the state of the iteration. All products with X are computed with X/√unit in place of X.
type solver struct {
	team     *kernel.Team
	g        *anchor.Graph
	d, c     int
	unit     float64 // Tr(G)/d
	encoding *encoding
	b        kernel.Matrix[float64] // B, c×c
	w        kernel.Matrix[float64] // W, d×c
	xe       kernel.Matrix[float64] // XᵀE = CᵀA, d×c
	rows     kernel.Matrix[float64] // B_g, n×m, if G is a factor of n rows
	root     []float64              // D^(−1/2)
	ridge    *ridge.Solver
}

func (s *solver) updateFeatureProducts() {
	clear(s.xe.Data)
	kernel.Gemm(s.team, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d).Trans(), s.encoding.a, s.xe)
}

// largestLambda returns the smallest λ for which W = 0 minimizes the objective with the first E, see the package
// comment.
func (s *solver) largestLambda() (most float64) {
	for i := range s.d {
		row := s.xe.Data[i*s.c:][:s.c]
		most = max(most, 2*math.Sqrt(kernel.Dot(row, row)))
	}
	return most
}

// solveInitial computes the first W, with D = I/2. This is the D of a W whose rows have norm 1.
func (s *solver) solveInitial(lambda float64) error {
	for i := range s.root {
		s.root[i] = math.Sqrt2
	}
	return s.solveProjection(lambda)
}

func (s *solver) updateEncodingTarget() {
	wb := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w, s.b, wb)
	clear(s.encoding.target.Data)
	kernel.Gemm(s.team, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d), wb, s.encoding.target)
}

// updateBasis computes B, the polar factor of WᵀXᵀE. This matrix is rank deficient if the columns of E add up to a
// constant vector, as is the case for indicators of clusters. Then B would not be unique, and rounding errors would
// decide. Therefore a little of the previous B is added. The objective still cannot rise.
func (s *solver) updateBasis() error {
	s.updateFeatureProducts()
	t := kernel.RowMajor(make([]float64, s.c*s.c), s.c, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w.Trans(), s.xe, t)
	kernel.Axpy(inertia*math.Sqrt(kernel.Dot(t.Data, t.Data)), s.b.Data, t.Data)
	b, err := polarFactor(t)
	s.b = b
	return err
}

func (s *solver) updateProjection(lambda float64) error {
	for i, norm := range linalg.RowNorms(s.w.Data, s.c) {
		s.root[i] = math.Sqrt(2 * math.Sqrt(norm*norm+epsilon))
	}
	return s.solveProjection(lambda)
}

// solveProjection computes W = (G + λD)⁻¹XᵀEBᵀ (step 3 of the package comment, with G = XᵀX), for X divided by √unit.
// The ridge solver uses the unscaled X and λ·unit, and returns W/√unit, so its result is multiplied by √unit.
func (s *solver) solveProjection(lambda float64) error {
	if err := s.ridge.SetWeights(s.root, lambda*s.unit); err != nil {
		return fmt.Errorf("socfs: regression with lambda = %v: %w", lambda, err)
	}
	unit := math.Sqrt(s.unit)
	y := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, unit, s.xe, s.b.Trans(), y)
	target := ridge.Target{XY: y.Data}
	if s.rows.Rows > 0 {
		ab := kernel.RowMajor(make([]float64, s.g.M*s.c), s.g.M, s.c, s.c)
		kernel.Gemm(s.team, 1, s.encoding.a, s.b.Trans(), ab)
		target.Y = kernel.RowMajor(make([]float64, s.rows.Rows*s.c), s.rows.Rows, s.c, s.c)
		kernel.Gemm(s.team, 1, s.rows, ab, target.Y)
	}
	s.w.Data, _ = s.ridge.Solve(target)
	for i := range s.w.Data {
		s.w.Data[i] *= unit
	}
	return nil
}

// totalObjective returns ‖XW − EBᵀ‖² + λΣ√(‖wᵢ‖² + ε) + γ‖SA − F‖² of the package comment. ‖EBᵀ‖² is c.
func (s *solver) totalObjective(lambda, gamma float64) float64 {
	wt, wg := make([]float64, s.c*s.d), make([]float64, s.c*s.d)
	kernel.Copy(kernel.RowMajor(wt, s.c, s.d, s.d), s.w.Trans())
	s.g.G.AddProduct(s.team.Threads(), s.c, wt, wg)
	wb := kernel.RowMajor(make([]float64, s.d*s.c), s.d, s.c, s.c)
	kernel.Gemm(s.team, 1, s.w, s.b, wb)
	value := float64(s.c) + kernel.Dot(wt, wg)/s.unit - 2*kernel.Dot(wb.Data, s.xe.Data)
	for _, norm := range linalg.RowNorms(s.w.Data, s.c) {
		value += lambda * math.Sqrt(norm*norm+epsilon)
	}
	return value + gamma*s.encoding.sumSquaredNegatives()
}
