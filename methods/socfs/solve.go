package socfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
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
	encoding encoding
	b        kernel.Matrix[float64] // B, c×c
	w        kernel.Matrix[float64] // W, d×c
	norms    []float64              // ‖wᵢ‖
	xe       kernel.Matrix[float64] // XᵀE = CᵀA, d×c
	rows     kernel.Matrix[float64] // B_g, n×m, if G is a factor of n rows
	root     []float64              // D^(−1/2)
	ridge    *ridge.Solver

	nextB              kernel.Matrix[float64] // c×c
	product, wtProduct kernel.Matrix[float64] // d×c and c×d
	rowTarget          kernel.Matrix[float64] // B_gABᵀ, n×c
}

func (s *solver) layOut(l *room.Layout, m, d, rank, c int) {
	s.encoding.layOut(l, m, c)
	s.b, s.nextB = kernel.NewMatrix[float64](l, c, c), kernel.NewMatrix[float64](l, c, c)
	s.xe, s.product = kernel.NewMatrix[float64](l, d, c), kernel.NewMatrix[float64](l, d, c)
	s.wtProduct, s.rowTarget = kernel.NewMatrix[float64](l, c, d), kernel.NewMatrix[float64](l, rank, c)
	s.root = room.Slice[float64](l, d)
}

func (s *solver) updateFeatureProducts() {
	linalg.MultiplyTo(s.team, s.xe, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d).Trans(), s.encoding.a)
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
	linalg.MultiplyTo(s.team, s.product, 1, s.w, s.b)
	linalg.MultiplyTo(s.team, s.encoding.target, 1/math.Sqrt(s.unit), kernel.RowMajor(s.g.C, s.g.M, s.d, s.d), s.product)
}

// updateBasis computes B, the polar factor of WᵀXᵀE. This matrix is rank deficient if the columns of E add up to a
// constant vector, as is the case for indicators of clusters. Then B would not be unique, and rounding errors would
// decide. Therefore a little of the previous B is added. The objective still cannot rise.
func (s *solver) updateBasis() error {
	s.updateFeatureProducts()
	t := s.nextB
	linalg.MultiplyTo(s.team, t, 1, s.w.Trans(), s.xe)
	kernel.Axpy(inertia*math.Sqrt(kernel.Dot(t.Data, t.Data)), s.b.Data, t.Data)
	s.b, s.nextB = t, s.b
	return replaceByPolarFactor(t)
}

func (s *solver) updateProjection(lambda float64) error {
	for i, norm := range s.norms {
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
	linalg.MultiplyTo(s.team, s.product, unit, s.xe, s.b.Trans())
	if s.rows.Rows > 0 {
		ab := s.encoding.scratch
		linalg.MultiplyTo(s.team, ab, 1, s.encoding.a, s.b.Trans())
		linalg.MultiplyTo(s.team, s.rowTarget, 1, s.rows, ab)
	}
	w, _ := s.ridge.Solve(ridge.Target{XY: s.product.Data, Y: s.rowTarget})
	for i := range w {
		w[i] *= unit
	}
	s.w, s.norms = kernel.RowMajor(w, s.d, s.c, s.c), linalg.RowNorms(w, s.c)
	return nil
}

// totalObjective returns ‖XW − EBᵀ‖² + λΣ√(‖wᵢ‖² + ε) + γ‖SA − F‖² of the package comment. ‖EBᵀ‖² is c.
func (s *solver) totalObjective(lambda, gamma float64) float64 {
	wt, wg := s.product.Data, s.wtProduct.Data
	kernel.Copy(kernel.RowMajor(wt, s.c, s.d, s.d), s.w.Trans())
	clear(wg)
	s.g.G.AddProduct(s.team.Threads(), s.c, wt, wg)
	value := float64(s.c) + kernel.Dot(wt, wg)/s.unit
	linalg.MultiplyTo(s.team, s.product, 1, s.w, s.b)
	value -= 2 * kernel.Dot(s.product.Data, s.xe.Data)
	for _, norm := range s.norms {
		value += lambda * math.Sqrt(norm*norm+epsilon)
	}
	return value + gamma*s.encoding.sumSquaredNegatives()
}
