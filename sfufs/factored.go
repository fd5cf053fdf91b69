package sfufs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// factoredForm stores M as a product, if features outnumber the n rows of the data and G = RᵀR is given by its factor
// R. The rows of R = X̃ are the centred rows of the data:
//
//	M(α) = RᵀTR,  T = αL(L + αI)⁻¹ = α/(1+α)·[I − αB(αI + N)⁻¹Bᵀ],
//
// by Woodbury's identity. B is the n×m matrix of the anchor graph, L = I − BBᵀ and N = I − BᵀB, as in matrix.go.
// Likewise XᵀLX = RᵀLR. M + γQ is the sum of a diagonal matrix and a matrix of low rank, and so is G/u + ρI: see
// [linalg.LowRank]. Under WᵀW = I, i.e. without the metric G/u + ρI, the rows of R must be orthogonal. So R is rotated
// to its principal axes, which leaves G unchanged.
type factoredForm struct {
	d, l    int
	team    *kernel.Team
	graph   *anchor.Graph
	b       kernel.Matrix[float64] // B, n×m
	a       *linalg.LowRank        // M + γQ, with the metric under Scatter
	eig     *linalg.Smallest
	scatter bool

	shifted, h kernel.Matrix[float64] // (αI + N)/α and the H of smoothFactor, m×n, under SFUFS
	chol       linalg.Cholesky        // of shifted
	t          kernel.Matrix[float64] // T, n×n, under Identity
}

func newFactoredForm(g *anchor.Graph, team *kernel.Team, opt Options) (*factoredForm, error) {
	f := &factoredForm{d: g.D, l: opt.Clusters, team: team, graph: g, scatter: opt.Constraint == Scatter}
	n := g.G.Rank
	if f.scatter {
		squares, trace := g.G.Diagonal(team.Threads()), 0.0
		for _, v := range squares {
			trace += v
		}
		unit := trace / float64(g.D)
		if !(unit > 0 && unit <= math.MaxFloat64) {
			return nil, errAllConstant(trace)
		}
		f.a = linalg.NewPencil(team, g.G, g.D, n, 1/math.Sqrt(unit), squares, func() []float64 { return g.G.Dual(team.Threads()) }, ridge)
	} else {
		axes := kernel.RowMajor(slices.Clone(g.G.Dual(team.Threads())), n, n, n)
		lambda, err := linalg.SymmetricEigen(team, axes)
		if err != nil {
			return nil, fmt.Errorf("sfufs: products of the rows: %w", err)
		}
		g.G.Rotate(team.Threads(), axes.Data)
		f.a = linalg.NewLowRank(team, kernel.RowMajor(g.G.R, g.D, n, n), 1, lambda)
	}
	f.b = kernel.RowMajor(g.B(team.Threads()), n, g.M, g.M)
	f.layOut(nil, n, g.M, opt)
	f.eig = linalg.NewSmallest(team, f.a.Length(), opt.Clusters, linalg.EigenOptions{})
	return f, nil
}

func (f *factoredForm) layOut(l *room.Layout, n, m int, opt Options) {
	if opt.Method == SFUFS {
		f.shifted, f.h = kernel.NewMatrix[float64](l, m, m), kernel.NewMatrix[float64](l, m, n)
		f.chol.LayOut(l, m)
	}
	if opt.Constraint == Identity {
		f.t = kernel.NewMatrix[float64](l, n, n)
	}
}

// smoothFactor returns the matrix T of factoredForm as share·(I − HᵀH) with H m×n, in m²n flops.
func (f *factoredForm) smoothFactor(method Method, alpha float64) (share float64, h kernel.Matrix[float64], err error) {
	m, shifted := f.b.Cols, f.shifted
	if method == FUFS {
		return 1, f.b.Trans(), nil
	}
	for i, s := range f.graph.S {
		shifted.Data[i] = -s / alpha
	}
	for i := range m {
		shifted.Data[i*m+i] = 1 + (1-f.graph.S[i*m+i])/alpha
	}
	if err := f.chol.Factor(f.team, shifted); err != nil {
		return 0, h, fmt.Errorf("sfufs: alpha = %v on top of the anchor graph's Laplacian: %w", alpha, err)
	}
	f.chol.HalfSolveTo(f.team, f.h, f.b.Trans())
	return alpha / (1 + alpha), f.h, nil
}

func (f *factoredForm) smoothingMatrix(share float64, h kernel.Matrix[float64]) kernel.Matrix[float64] {
	n, t := f.b.Rows, f.t
	clear(t.Data)
	kernel.Syrk(f.team, -share, h.Trans(), t)
	kernel.MirrorUpper(f.team.Threads(), t)
	for i := range n {
		t.Data[i*n+i] += share
	}
	return t
}

func (f *factoredForm) loadMatrix(ctx context.Context, method Method, alpha float64) (k matrixNorms, err error) {
	if err := ctx.Err(); err != nil {
		return k, err
	}
	share, h, err := f.smoothFactor(method, alpha)
	if err != nil {
		return k, err
	}
	if f.scatter {
		if err := f.a.SetSmooth(share, h); err != nil {
			return k, fmt.Errorf("sfufs: %w", err)
		}
		k.norm, k.noise = f.a.TopEigenvalue(), roundingNoise(f.l, f.d, f.a.TopWithoutMetric())/ridge
		return k, nil
	}
	t := f.smoothingMatrix(share, h)
	if err := f.a.SetMiddle(t); err != nil {
		return k, fmt.Errorf("sfufs: %w", err)
	}
	k.diagonal = f.a.QuadraticForms(t)
	k.norm = f.a.LargestColumnNorm()
	k.noise = roundingNoise(f.l, f.d, k.norm)
	return k, nil
}

func (f *factoredForm) minimizeCost(gamma float64, q []float64, warm kernel.Matrix[float64]) (*wUpdate, error) {
	d, l := f.d, f.l
	var diagonal []float64
	if q != nil {
		diagonal = make([]float64, d)
		for i, v := range q {
			diagonal[i] = gamma * v
		}
	}
	f.a.SetDiagonal(diagonal)
	e, err := f.eig.SolveForm(f.a, warm)
	if err != nil {
		return nil, fmt.Errorf("sfufs: %w", err)
	}
	u := &wUpdate{w: make([]float64, d*l), basis: e.Basis, matrixNorm: f.a.Norm()}
	kernel.Copy(kernel.RowMajor(u.w, d, l, l), f.a.Vectors(e.Vectors).Trans())
	u.fillBounds(e, d, l, f.a.Times)
	return u, nil
}

func (f *factoredForm) costOf(u *wUpdate) float64 {
	length := u.basis.Rows
	rows := kernel.RowMajor(make([]float64, f.l*length), f.l, length, length)
	kernel.Copy(rows, u.basis.Sub(0, 0, length, f.l).Trans())
	return f.a.Trace(rows)
}

func (f *factoredForm) inverseDiagonal(tau float64) ([]float64, error) {
	diagonal, err := f.a.DiagonalInverse(tau)
	for i := range diagonal {
		diagonal[i] *= tau
	}
	return diagonal, err
}
