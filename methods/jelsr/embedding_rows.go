package jelsr

import (
	"fmt"

	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/ridge"
)

// nextEmbeddingOfRows computes Y for new row weights, as nextEmbedding does, if G is given by a factor X of n rows. The
// symbols are those at embeddingSolver. The columns of Y are the leading eigenvectors of
//
//	TTᵀ = BBᵀ + βXHXᵀ = BBᵀ + β(I − αK⁻¹),   K = XR(XR)ᵀ + αI,
//
// as XHXᵀ = XR·P⁻¹·(XR)ᵀ = (K − αI)K⁻¹. It costs n³ + m·n² flops, and the c leading eigenpairs of a matrix of order n.
func (e *embeddingSolver) nextEmbeddingOfRows() (*embeddingProducts, error) {
	d, n, c := e.graph.D, e.t.Rows, e.c
	e.fillMatrixOfRows()
	found, err := e.eig.Solve(e.t, e.last)
	if err != nil {
		return nil, fmt.Errorf("jelsr: embedding: %w", err)
	}
	e.last = found.Basis
	p, whole := &embeddingProducts{Target: ridge.Target{XY: e.xtY, Y: e.y}}, 1+e.beta
	clear(e.y.Data)
	for j := range c {
		if j >= n || !(-found.Values[j] > noEigenvalue*whole) {
			p.freeColumns++
			p.cost += whole
			continue
		}
		p.cost += whole + found.Values[j]
		kernel.Copy(p.Y.Sub(0, j, n, 1), found.Vectors.Sub(0, j, n, 1))
	}
	p.isTied = c < n && p.freeColumns == 0 && found.Values[c]-found.Values[c-1] <= eigenTolerance*whole
	clear(e.xtY)
	e.r.AddXTransposed(p.Y, kernel.RowMajor(p.XY, d, c, c))
	return p, nil
}

func (e *embeddingSolver) fillMatrixOfRows() {
	n, inverse := e.t.Rows, e.r.P
	clear(e.t.Data)
	for i := range n {
		e.t.Data[i*(n+1)] = -e.beta
	}
	e.r.Chol.HalfInverseTo(e.team, inverse)
	kernel.Syrk(e.team, e.alpha*e.beta, inverse.Trans(), e.t)
	kernel.Syrk(e.team, -1, e.b, e.t)
}
