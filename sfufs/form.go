package sfufs

import (
	"context"
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// matrixForm is the matrix M of a Graph, stored in the form that the iterations use. Under [Scatter] it is M/u, u being
// the mean diagonal entry of G.
type matrixForm interface {
	// loadMatrix computes M(α) of matrix.go, or XᵀLX for FUFS, and returns its norms.
	loadMatrix(ctx context.Context, method Method, alpha float64) (matrixNorms, error)
	// minimizeCost finds the W that minimizes Tr(Wᵀ(M + γ·diag(q))W). A nil q means zeros. If warm is not empty, the
	// search starts from its columns.
	minimizeCost(gamma float64, q []float64, warm kernel.Matrix[float64]) (*wUpdate, error)
	// costOf returns Tr(WᵀMW).
	costOf(u *wUpdate) float64
	// inverseDiagonal returns a multiple of the diagonal of (M + τI)⁻¹. It is called only under WᵀW = I.
	inverseDiagonal(tau float64) ([]float64, error)
}

// matrixNorms has norms and the diagonal of a matrix M.
type matrixNorms struct {
	norm     float64   // the largest norm of a column of M, in the coordinates of the eigenproblem
	noise    float64   // bound on the rounding error of M in Tr(WᵀMW)
	diagonal []float64 // diagonal of M, under WᵀW = I
}

func newMatrixForm(g *anchor.Graph, team *kernel.Team, opt Options) (matrixForm, error) {
	if g.G.IsFactor() {
		return newFactoredForm(g, team, opt)
	}
	return newFullForm(g, team, opt)
}

// fullForm is the matrixForm that has M in full, as d×d numbers.
type fullForm struct {
	d, l    int
	team    *kernel.Team
	costs   *costMatrix
	m       []float64 // M, d×d, symmetric in full
	a       []float64 // d×d; the solver reads the upper triangle
	eig     *linalg.Smallest
	scatter *scatterReduction // nil under WᵀW = I
}

func newFullForm(g *anchor.Graph, team *kernel.Team, opt Options) (*fullForm, error) {
	d, l := g.D, opt.Clusters
	s := &fullForm{
		d: d, l: l, team: team, costs: newCostMatrix(g, team, opt.Method),
		eig: linalg.NewSmallest(team, d, l, linalg.EigenOptions{}),
	}
	s.layOut(nil, d, opt.Constraint)
	if opt.Constraint == Identity {
		return s, nil
	}
	return s, s.scatter.factorScatter(s, g.G.Sym)
}

func (s *fullForm) layOut(l *room.Layout, d int, constraint Constraint) {
	s.m, s.a = room.Slice[float64](l, d*d), room.Slice[float64](l, d*d)
	if constraint == Scatter {
		s.scatter = &scatterReduction{x: kernel.NewMatrix[float64](l, d, d)}
		s.scatter.reducedM, s.scatter.scaled = room.Slice[float64](l, d*d), room.Slice[float64](l, d*d)
	}
}

func (s *fullForm) loadMatrix(ctx context.Context, method Method, alpha float64) (k matrixNorms, err error) {
	if err := s.costs.matrixTo(ctx, s.m, method, alpha); err != nil {
		return k, err
	}
	k.noise = roundingNoise(s.l, s.d, columnNorm(s.m, s.d))
	if s.scatter != nil {
		s.scatter.reduceMatrix(s)
		k.norm = columnNorm(s.scatter.reducedM, s.d)
		k.noise /= s.scatter.unit * ridge // for M/u, and because columns of W may have length √(1/ρ)
		return k, nil
	}
	k.norm = columnNorm(s.m, s.d)
	for i := range s.d {
		k.diagonal = append(k.diagonal, s.m[i*s.d+i])
	}
	return k, nil
}

// roundingNoise returns an upper bound of the error of Tr(WᵀMW) from the rounding of the d×d matrix M of the given
// norm, W having l columns.
func roundingNoise(l, d int, norm float64) float64 {
	return float64(l) * math.Sqrt(float64(d)) * 0x1p-52 * norm
}
