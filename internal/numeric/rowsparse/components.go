package rowsparse

import (
	"errors"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

// eigenOptions: the eigenvalues of λD − G that follow the wanted ones are dense, so that convergence needs 20 to 130 steps,
// and fewer with more guards. For 100 rows of 800 features a step takes 1 ms, and the dense solver 1 s.
var eigenOptions = linalg.EigenOptions{Guard: 12, Steps: 1000}

// negatedGram is the matrix M = −scale·G of a Gram matrix G. The solver finds pairs of d×d numbers, or of the low-rank
// matrix M + shift·I if G is a factor.
type negatedGram struct {
	g            *gram.Matrix
	team         *kernel.Team
	scale, shift float64   // shift is the largest eigenvalue of scale·G
	full         []float64 // M + diag(q), d×d
	lowRank      *linalg.LowRank
	eig          *linalg.Smallest
}

// NewComponentSolver returns a Solver for M = −G/Tr(G) with the exponent p, and the projection W on the given principal
// components, which minimizes the objective for γ = 0. The function weigh returns γ; its arguments are the
// share of the variance that W explains, and Σ‖wᵢ‖ᵖ. 1 is added to the objective. Memory is bounded by [ComponentSolverBytes].
func NewComponentSolver(team *kernel.Team, g *gram.Matrix, start *spectral.Components, power float64, weigh func(explained, penalty float64) float64) (*Solver, *Projection) {
	c, trace := len(start.Values), g.Trace(team.Threads())
	m := &negatedGram{g: g, team: team, scale: 1 / trace, shift: start.Values[0] / trace}
	m.eig = linalg.NewSmallest(team, g.D, pairCount(g.D, c), eigenOptions)
	if g.IsFactor() {
		m.lowRank = linalg.NewDeficit(team, g, g.D, g.Rank, math.Sqrt(m.scale))
	} else {
		m.full = make([]float64, g.D*g.D)
	}
	s := &Solver{d: g.D, c: c, power: power, base: 1, form: m, norm: -1}
	u := &Projection{Norms: make([]float64, g.D), gap: math.Inf(1), nextValue: math.Inf(1)}
	explained := 0.0
	for i, value := range start.Values {
		explained += value / trace
		for j, v := range start.Loadings.Data[i*g.D:][:g.D] {
			u.Norms[j] = math.Hypot(u.Norms[j], v)
		}
	}
	penalty := s.rowPenalty(u.Norms)
	s.gamma = weigh(explained, penalty)
	u.Objective, u.Slack = 1-explained+s.gamma*penalty, float64(c)*1e-13 // of the eigenvalues and of the loadings
	return s, u
}

// ComponentSolverBytes bounds the memory of NewComponentSolver and of the updates for c components, without G. If rank is
// not 0, G is a factor of `rank` rows.
func ComponentSolverBytes(d, rank, c int) int64 {
	vectors := 8 * int64(d) * int64(8*c+64) // W's, with their bases and products
	if rank > 0 {
		return vectors + gram.PanelBytes(rank) + linalg.LowRankBytes(rank, d, 2*(c+eigenOptions.Guard)+4) +
			linalg.SmallestFormBytes(d, pairCount(d, c), eigenOptions) + kernel.TeamBytes(d, rank)
	}
	return vectors + 8*int64(d)*int64(d) + linalg.SmallestBytes(d, pairCount(d, c), eigenOptions) + kernel.TeamBytes(d, d)
}

func (m *negatedGram) largestColumnNorm() float64 { return m.shift }

func (m *negatedGram) smallestPairs(q []float64, warm kernel.Matrix[float64]) (linalg.Eigen, error) {
	if m.lowRank == nil {
		d := m.g.D
		kernel.Each(m.team.Threads(), d, func(i int) {
			row := m.full[i*d:][:d]
			for j, v := range m.g.Sym[i*d:][:d] {
				row[j] = -m.scale * v
			}
			row[i] += q[i]
		})
		return m.eig.Solve(kernel.RowMajor(m.full, d, d, d), warm)
	}
	diagonal := make([]float64, len(q))
	for i, v := range q {
		diagonal[i] = v + m.shift
	}
	m.lowRank.SetDiagonal(diagonal)
	e, err := m.eig.SolveForm(m.lowRank, warm)
	for i := range e.Values {
		e.Values[i] -= m.shift
	}
	return e, err
}

func (m *negatedGram) traceCost(w kernel.Matrix[float64]) float64 {
	rows := kernel.RowMajor(make([]float64, len(w.Data)), w.Cols, w.Rows, w.Rows)
	kernel.Copy(rows, w.Trans())
	product := make([]float64, len(w.Data))
	m.g.AddProduct(m.team.Threads(), w.Cols, rows.Data, product)
	return -m.scale * kernel.Dot(rows.Data, product)
}

func (m *negatedGram) inverseDiagonal(float64) ([]float64, error) {
	return nil, errors.New("rowsparse: every direction has another cost than 0")
}
