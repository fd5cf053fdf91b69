package sfufs

import (
	"context"
	"fmt"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/internal/memory/room"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/linalg"
)

// This file computes the matrix of SFUFS. The package comment defines L, X, W and F; [anchor.Graph] defines B, C and G.
// For fixed W the best F of eq. (2.3) solves (L + αI)F = αXW. With this F the objective is Tr(WᵀMW) + γ‖W‖₂,₁,
//
//	M(α) = αXᵀ(I − α(L + αI)⁻¹)X.
//
// With L = I − BBᵀ, N = I − S and S = BᵀB, Woodbury's identity turns this into
//
//	M(α) = α/(1+α)·[G − α·CᵀY],   Y = (αI + N)⁻¹C,
//
// which is a difference of two large terms if a direction costs little. As αY = C − NY,
//
//	M(α) = α/(1+α)·[(G − CᵀC) + CᵀNY].
//
// Both terms are positive semidefinite. The first is XᵀLX, and the second, as (αI + N)Y = C, is
//
//	CᵀNY = Yᵀ(αI + N)NY = α·YᵀNY + (NY)ᵀ(NY).
//
// The form CᵀNY is used, because it costs one product and the last form two. It is as precise as the last form, because
// ‖αY‖ + ‖NY‖ ≤ 2‖C‖. Only G − CᵀC loses digits by cancellation, with an error of about 2⁻⁵³‖G‖. So if the graph
// explains nearly all of a direction of X, the cost of that direction is known only to this error.

// panelColumns is the number of columns of Y in memory at a time. With so wide a panel matrix products run at full
// speed. A panel needs 4 MB for 2,000 anchors.
const panelColumns = 256

// costMatrix computes M of a Graph for any α.
type costMatrix struct {
	graph     *anchor.Graph
	team      *kernel.Team
	c         kernel.Matrix[float64] // m×d
	projected []float64              // G − CᵀC, d×d, upper triangle
	n         kernel.Matrix[float64] // N, m×m; this and the following fields are for SFUFS
	y, ny     []float64              // panels of Y and NY, m×panel
	chol      linalg.Cholesky
}

func newCostMatrix(g *anchor.Graph, team *kernel.Team, method Method) *costMatrix {
	c := &costMatrix{graph: g, team: team, c: kernel.RowMajor(g.C, g.M, g.D, g.D)}
	c.layOut(nil, g.D, g.M, method)
	copy(c.projected, g.G.Sym)
	kernel.Syrk(team, -1, c.c.Trans(), kernel.RowMajor(c.projected, g.D, g.D, g.D))
	for i := range c.n.Data {
		c.n.Data[i] = -g.S[i]
	}
	return c
}

func (c *costMatrix) layOut(l *room.Layout, d, m int, method Method) {
	c.projected = room.Slice[float64](l, d*d)
	if method == SFUFS {
		c.n = kernel.NewMatrix[float64](l, m, m)
		c.chol.LayOut(l, m)
		c.y, c.ny = room.Slice[float64](l, m*min(panelColumns, d)), room.Slice[float64](l, m*min(panelColumns, d))
	}
}

// matrixTo writes M for the method of c and α, symmetric in full, to dst, d×d. SFUFS costs m³/3 + 4·m²·d + m·d² flops.
func (c *costMatrix) matrixTo(ctx context.Context, dst []float64, method Method, alpha float64) error {
	d := c.graph.D
	copy(dst, c.projected)
	if method == SFUFS {
		if err := c.addSmoothTerm(ctx, dst, alpha); err != nil {
			return err
		}
		for i := range d {
			row := dst[i*d+i : (i+1)*d]
			for j := range row {
				row[j] *= alpha / (1 + alpha)
			}
		}
	}
	kernel.MirrorUpper(c.team.Threads(), kernel.RowMajor(dst, d, d, d))
	return nil
}

// addSmoothTerm adds CᵀNY to the upper triangle of dst. The lower triangle is undefined afterwards.
func (c *costMatrix) addSmoothTerm(ctx context.Context, dst []float64, alpha float64) error {
	d, m := c.graph.D, c.graph.M
	diagonal := func(shift float64) {
		for i := range m {
			c.n.Data[i*m+i] = shift + (1 - c.graph.S[i*m+i])
		}
	}
	diagonal(alpha)
	if err := c.chol.Factor(c.team, c.n); err != nil {
		return fmt.Errorf("sfufs: alpha = %v on top of the anchor graph's Laplacian: %w", alpha, err)
	}
	diagonal(0)
	for j := 0; j < d; j += panelColumns {
		if err := ctx.Err(); err != nil {
			return err
		}
		wide := min(panelColumns, d-j)
		y := kernel.RowMajor(c.y, m, wide, wide)
		ny := kernel.RowMajor(c.ny, m, wide, wide)
		c.chol.SolveTo(c.team, y, c.c.Sub(0, j, m, wide))
		clear(c.ny[:m*wide])
		kernel.Gemm(c.team, 1, c.n, y, ny)
		kernel.Gemm(c.team, 1, c.c.Sub(0, 0, m, j+wide).Trans(), ny, kernel.RowMajor(dst, d, d, d).Sub(0, j, j+wide, wide))
	}
	return nil
}

// Matrix returns M, d×d, symmetric and stored in full, for the method and α of opt:
// Tr(WᵀMW) is the objective without row norms. The Graph is not modified.
func Matrix(ctx context.Context, g *anchor.Graph, opt Options) ([]float64, error) {
	if err := opt.Validate(g.D); err != nil {
		return nil, err
	}
	opt = opt.WithDefaults(g.D)
	if g.G.IsFactor() {
		opt.Constraint = Identity
		f, err := newFactoredForm(g, kernel.NewTeam(opt.Threads), opt)
		if err != nil {
			return nil, err
		}
		if _, err := f.loadMatrix(ctx, opt.Method, opt.Alpha); err != nil {
			return nil, err
		}
		f.a.SetDiagonal(nil)
		return f.a.ToFull().Data, nil
	}
	m := make([]float64, g.D*g.D)
	if err := newCostMatrix(g, kernel.NewTeam(opt.Threads), opt.Method).matrixTo(ctx, m, opt.Method, opt.Alpha); err != nil {
		return nil, err
	}
	return m, nil
}
