package target

import (
	"math"

	"github.com/ufs-stream/ufs-stream/anchor"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
)

// NewSpectral returns the spectral embedding of the rows as target, T = U. The columns of U are the l leading
// eigenvectors of the affinity matrix A = BBᵀ, each of norm 1, without the constant eigenvector. B is the n×m matrix of
// the anchor graph, and C = BᵀX̃. They separate the clusters of the graph (the targets of MCFS: Cai, Zhang and He, KDD
// 2010). With S = BᵀB = VΣVᵀ, U = BVΣ^(−1/2), so that
//
//	H = UᵀX̃ = Σ^(−1/2)VᵀC,  ‖U‖² = l.
//
// T has fewer columns if the graph has fewer eigenvectors. It costs the eigenpairs of an m×m matrix and 2lmd flops.
func NewSpectral(team *kernel.Team, g *anchor.Graph, l int) (*Graph, []string, error) {
	e, err := spectral.Embed(team, g, l)
	if err != nil {
		return nil, nil, err
	}
	l = len(e.Values)
	t := selection.Target{Rows: l, H: make([]float64, l*g.D)}
	if g.Columns != nil {
		g.Columns.Map(team.Threads(), l, e.Vectors.Data, func(j int, y []float64) {
			for i, v := range y {
				t.H[i*g.D+j] = v
			}
		})
	} else {
		kernel.Gemm(team, 1, e.Vectors, kernel.RowMajor(g.C, g.M, g.D, g.D), kernel.RowMajor(t.H, l, g.D, g.D))
	}
	for i, sigma := range e.Values {
		row := t.H[i*g.D:][:g.D]
		for j := range row {
			row[j] /= math.Sqrt(sigma)
		}
	}
	return &Graph{Matrix: NewGiven(t, g.D), TotalSquares: float64(l)}, e.Warnings, nil
}

// NewComponents returns the leading principal components of the data as target, each of norm 1: T = XVΛ^(−1/2), with
// the eigenvalues Λ and the unit eigenvectors V of G = XᵀX, so that
//
//	H = TᵀX = Λ^(1/2)Vᵀ,  ‖T‖² = q.
//
// It overwrites the loadings Vᵀ by H.
func NewComponents(c *spectral.Components) *Graph {
	q, d := c.Loadings.Rows, c.Loadings.Cols
	t := selection.Target{Rows: q, H: c.Loadings.Data}
	for i, value := range c.Values {
		row := t.H[i*d:][:d]
		for j := range row {
			row[j] *= math.Sqrt(value)
		}
	}
	return &Graph{Matrix: NewGiven(t, d), TotalSquares: float64(q)}
}
