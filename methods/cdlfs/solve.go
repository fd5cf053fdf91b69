package cdlfs

import (
	"fmt"
	"math"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/stream"
)

const (
	// mu is μ. The paper's experiments have it 1.
	mu = 1
	// nullShare is the share of the largest eigenvalue of G below which an eigenvalue counts as 0, and gapShare the share
	// below which a difference of two does. Their relative error is 1e-13.
	nullShare, gapShare = 1e-12, 1e-10
)

// solver is the state of the iteration. Except for V, the matrices have a row for each column of a dictionary.
type solver struct {
	team  *kernel.Team
	g     *gram.Matrix
	d, c  int
	trace float64 // of G
	ridge *ridge.Solver

	analysis        kernel.Matrix[float64] // V, d×c
	synthesis       kernel.Matrix[float64] // Dᵀ, c×d
	code, gramCode  kernel.Matrix[float64] // Bᵀ and BᵀG, c×d
	gramAnalysis    kernel.Matrix[float64] // VᵀG, c×d
	target          kernel.Matrix[float64] // GB, d×c
	rows            kernel.Matrix[float64] // Aᵀ = XᵀB, n×c, if G is a factor of n rows
	products, inner kernel.Matrix[float64] // AAᵀ, and DᵀD with or without μI, c×c
	chol            linalg.Cholesky
	root, next      []float64 // H^(−1/2), and a column of D
}

func (s *solver) layOut(l *room.Layout, d, rank, c int) {
	for _, to := range []*kernel.Matrix[float64]{&s.synthesis, &s.gramCode, &s.gramAnalysis} {
		*to = kernel.NewMatrix[float64](l, c, d)
	}
	s.target, s.rows = kernel.NewMatrix[float64](l, d, c), kernel.NewMatrix[float64](l, rank, c)
	s.products, s.inner = kernel.NewMatrix[float64](l, c, c), kernel.NewMatrix[float64](l, c, c)
	s.chol.LayOut(l, c)
	s.root, s.next = room.Slice[float64](l, d), room.Slice[float64](l, d)
}

func newSolver(team *kernel.Team, g *gram.Matrix, trace float64, code kernel.Matrix[float64]) *solver {
	s := &solver{team: team, g: g, d: g.D, c: code.Rows, trace: trace, code: code, ridge: ridge.New(team, g, code.Rows)}
	s.layOut(nil, g.D, g.Rank, s.c)
	kernel.Copy(s.synthesis, code) // with orthonormal columns D = V, step 3 makes B = D
	s.updateCodeProducts()
	return s
}

// leadingVectors returns the c leading eigenvectors of G as rows, fewer if the rank of G is less, and whether
// the next eigenvalue is equal to the last one of them.
func leadingVectors(team *kernel.Team, g *gram.Matrix, c int) (vectors kernel.Matrix[float64], isAmbiguous bool, err error) {
	e, err := spectral.LeadingPairs(team, g, c+1)
	if err != nil {
		return vectors, false, fmt.Errorf("cdlfs: %w", err)
	}
	count := 0
	for count < c && e.Values[count] > nullShare*e.Values[0] {
		count++
	}
	isAmbiguous = count == c && c < len(e.Values) && e.Values[c-1]-e.Values[c] <= gapShare*e.Values[0]
	return spectral.ToLoadings(team, g, e.Vectors, e.Values[:count]), isAmbiguous, nil
}

func (s *solver) meanSquare() float64 { return s.trace / float64(s.d) }

// largestTau returns the smallest τ for which V = 0 minimizes the objective with the present A and p = 1.
func (s *solver) largestTau() (most float64) {
	for _, norm := range linalg.RowNorms(s.target.Data, s.c) {
		most = max(most, 2*mu*norm)
	}
	return most
}

func (s *solver) updateCodeProducts() {
	clear(s.gramCode.Data)
	s.g.AddProduct(s.team.Threads(), s.c, s.code.Data, s.gramCode.Data)
	kernel.Copy(s.target, s.gramCode.Trans())
	linalg.MultiplyTo(s.team, s.products, 1, s.code, s.gramCode.Trans())
	linalg.Symmetrize(s.products)
	if s.g.IsFactor() {
		clear(s.rows.Data)
		s.g.Panels(s.team.Threads(), func(from, n int, features []float64) {
			kernel.Gemm(s.team, 1, kernel.RowMajor(features, n, s.g.Rank, s.g.Rank).Trans(), s.code.Sub(0, from, s.c, n).Trans(), s.rows)
		})
	}
}

// updateAnalysis makes step 1 from the norms of the rows of the previous V. tau is τ in units of G.
func (s *solver) updateAnalysis(norms []float64, tau, power float64) error {
	for i, norm := range norms {
		s.root[i] = math.Sqrt(2 / power * math.Pow(norm, 2-power))
	}
	if err := s.ridge.SetWeights(s.root, tau/mu); err != nil {
		return stream.Errorf("{alpha} is lost to rounding next to the features' sums of squares; raise it: %w", err)
	}
	v, _ := s.ridge.Solve(ridge.Target{XY: s.target.Data, Y: s.rows})
	s.analysis = kernel.RowMajor(v, s.d, s.c, s.c)
	return nil
}

func (s *solver) updateCode() error {
	// step 3: Bᵀ = (DᵀD + μI)⁻¹(D + μV)ᵀ
	kernel.Copy(s.code, s.analysis.Trans())
	for i, v := range s.synthesis.Data {
		s.code.Data[i] = v + mu*s.code.Data[i]
	}
	s.multiplySynthesis()
	for j := range s.c {
		s.inner.Data[j*(s.c+1)] += mu
	}
	if err := s.chol.Factor(s.team, s.inner); err != nil {
		return fmt.Errorf("cdlfs: %w", err)
	}
	s.chol.SolveTo(s.team, s.code, s.code)
	s.updateCodeProducts()
	return nil
}

func (s *solver) multiplySynthesis() {
	linalg.MultiplyTo(s.team, s.inner, 1, s.synthesis, s.synthesis.Trans())
	linalg.Symmetrize(s.inner)
}

func (s *solver) objectiveShare(rowNorms []float64, tau, power float64) float64 {
	s.multiplySynthesis()
	value := s.trace - 2*kernel.Dot(s.synthesis.Data, s.gramCode.Data) + kernel.Dot(s.inner.Data, s.products.Data)
	kernel.Copy(s.code, s.analysis.Trans()) // B is not needed until the next step 3
	clear(s.gramAnalysis.Data)
	s.g.AddProduct(s.team.Threads(), s.c, s.code.Data, s.gramAnalysis.Data)
	value += mu * (kernel.Dot(s.code.Data, s.gramAnalysis.Data) - 2*kernel.Dot(s.code.Data, s.gramCode.Data))
	for j := range s.c {
		value += mu * s.products.Data[j*(s.c+1)]
	}
	for _, norm := range rowNorms {
		value += tau * math.Pow(norm, power)
	}
	return value / s.trace
}
